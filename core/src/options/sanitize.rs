//! Options of `sanitize` and `check`.

use alloc::{format, string::String};

use super::read::{choice, Example, Reader};
use crate::{
    budget::Budget,
    error::{Code, Error},
    json::Node,
    naming::Naming,
    report::Allow,
};

choice! {
    /// What becomes of `$ref`.
    Refs {
        /// Replaced by its target.
        Inline = "inline",
        /// Kept, where the dialect can say it.
        Keep = "keep",
    }
}

choice! {
    /// What becomes of a schema from which no type can be inferred.
    Untyped {
        /// Left without a type.
        Keep = "keep",
        /// The dialect's "any".
        Any = "any",
        /// `"string"`: a guess, for those who ask for it.
        String = "string",
    }
}

choice! {
    /// What becomes of constraints that the dialect cannot say.
    Hints {
        /// Said in the description.
        Describe = "describe",
        /// Dropped.
        Drop = "drop",
    }
}

impl Allow {
    pub(crate) const CHOICES: &'static [(&'static str, Allow)] = &[
        (Allow::Same.as_str(), Allow::Same),
        (Allow::Encoded.as_str(), Allow::Encoded),
        (Allow::Closed.as_str(), Allow::Closed),
        (Allow::Wider.as_str(), Allow::Wider),
        (Allow::Any.as_str(), Allow::Any),
    ];
}

/// Options of `sanitize` and `check`. `None` is the dialect's own default.
///
/// ```
/// use toolwire::SanitizeOptions;
/// let options = SanitizeOptions::new("codex-wire").max_bytes(None);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SanitizeOptions {
    /// The dialect to write. Required: no schema is right for every API.
    pub dialect: String,
    /// What becomes of `$ref`.
    pub refs: Option<Refs>,
    /// What becomes of a schema without a type.
    pub untyped: Option<Untyped>,
    /// What becomes of constraints the dialect cannot say.
    pub hints: Option<Hints>,
    /// The most loss that is accepted.
    pub allow: Allow,
    /// Size in bytes above which the dialect compacts; `Some(None)` turns that off.
    pub max_bytes: Option<Option<usize>>,
    /// The most nodes that inlining may produce.
    pub max_nodes: Option<usize>,
    /// The most steps that the call may take: visits, copies and comparisons of nodes. By default a number that grows
    /// with the schema.
    pub max_steps: Option<usize>,
    /// Bindings only: return unchanged parts as the caller's own objects instead of copies.
    pub share: bool,
    /// How messages spell option names.
    pub(crate) naming: Naming,
    /// Only the dialect's own grammar counts, and none of its alternatives: what else the request holds must be taken
    /// by the same.
    pub(crate) alone: bool,
}

pub(super) const KNOWN: &[&str] =
    &["dialect", "refs", "untyped", "hints", "allow", "maxBytes", "maxNodes", "maxSteps", "share"];
const EXAMPLE: Example = Example { function: "sanitize", input: "schema", option: "dialect", value: "\"codex\"" };

impl SanitizeOptions {
    /// Options for a dialect, everything else at its default.
    pub fn new(dialect: impl Into<String>) -> Self {
        SanitizeOptions {
            dialect: dialect.into(),
            refs: None,
            untyped: None,
            hints: None,
            allow: Allow::Any,
            max_bytes: None,
            max_nodes: None,
            max_steps: None,
            share: false,
            naming: Naming::Camel,
            alone: false,
        }
    }

    /// Sets [`Self::allow`].
    #[must_use]
    pub fn allow(mut self, allow: Allow) -> Self {
        self.allow = allow;
        self
    }

    /// Sets [`Self::refs`].
    #[must_use]
    pub fn refs(mut self, refs: Refs) -> Self {
        self.refs = Some(refs);
        self
    }

    /// Sets [`Self::untyped`].
    #[must_use]
    pub fn untyped(mut self, untyped: Untyped) -> Self {
        self.untyped = Some(untyped);
        self
    }

    /// Sets [`Self::hints`].
    #[must_use]
    pub fn hints(mut self, hints: Hints) -> Self {
        self.hints = Some(hints);
        self
    }

    /// Sets [`Self::max_bytes`]; `None` is no limit.
    #[must_use]
    pub fn max_bytes(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.max_bytes = Some(bytes.into());
        self
    }

    /// Sets [`Self::max_nodes`].
    #[must_use]
    pub fn max_nodes(mut self, nodes: usize) -> Self {
        self.max_nodes = Some(nodes);
        self
    }

    /// Sets [`Self::max_steps`].
    #[must_use]
    pub fn max_steps(mut self, steps: usize) -> Self {
        self.max_steps = Some(steps);
        self
    }

    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        SanitizeOptions::of(&Reader::new(node, naming, KNOWN, &EXAMPLE)?, naming, &EXAMPLE)
    }

    /// The options among those of a function that has more.
    pub(super) fn of(reader: &Reader<'_, '_>, naming: Naming, example: &Example) -> Result<Self, Error> {
        let dialect = reader.text("dialect")?.ok_or_else(|| {
            Error::new(
                Code::InvalidOption,
                "/dialect",
                format!(
                    "expected a dialect, because no schema is right for every API, found none; for example `{}`",
                    naming.example(example)
                ),
            )
        })?;
        Ok(SanitizeOptions {
            dialect,
            refs: reader.choice("refs", Refs::CHOICES)?,
            untyped: reader.choice("untyped", Untyped::CHOICES)?,
            hints: reader.choice("hints", Hints::CHOICES)?,
            allow: reader.choice("allow", Allow::CHOICES)?.unwrap_or_default(),
            max_bytes: reader.limit("maxBytes")?,
            max_nodes: reader.count("maxNodes")?,
            max_steps: reader.count("maxSteps")?,
            share: reader.flag("share")?.unwrap_or_default(),
            naming,
            alone: false,
        })
    }

    /// The same for another dialect, as far as that has the options.
    pub(crate) fn in_dialect(mut self, dialect: &str, known: &[&str]) -> Self {
        self.dialect = dialect.into();
        self.refs = self.refs.filter(|_| known.contains(&"refs"));
        self.untyped = self.untyped.filter(|_| known.contains(&"untyped"));
        self.hints = self.hints.filter(|_| known.contains(&"hints"));
        self.max_bytes = self.max_bytes.filter(|_| known.contains(&"maxBytes"));
        self.max_nodes = self.max_nodes.filter(|_| known.contains(&"maxNodes"));
        self
    }

    /// What a call on a schema may do.
    pub(crate) fn budget(&self, schema: &Node<'_>) -> Budget {
        Budget::new(schema.values_read(), self.max_steps).spelled(self.naming)
    }

    /// A call that works, for messages.
    pub(crate) fn example(&self) -> String {
        self.naming.example(&EXAMPLE)
    }

    /// The names of the options that are set and that only some dialects have.
    pub(crate) fn dialect_options(&self) -> impl Iterator<Item = &'static str> {
        [
            ("refs", self.refs.is_some()),
            ("untyped", self.untyped.is_some()),
            ("hints", self.hints.is_some()),
            ("maxBytes", self.max_bytes.is_some()),
            ("maxNodes", self.max_nodes.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, set)| set.then_some(name))
    }
}
