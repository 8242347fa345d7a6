//! Options of `sanitize` and `check`.

use alloc::{format, string::String};

use super::{
    read::{Example, Reader},
    table::{choice, options, readable},
};
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
    /// What a schema describes.
    Use {
        /// The arguments of a tool.
        Tool = "tool",
        /// The answer itself: a response format, also called structured output.
        Response = "response",
        /// The result of a tool: the `outputSchema` of MCP, which clients read.
        Output = "output",
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

readable!(Allow, reader name: reader.choice(name, Allow::CHOICES), word: format!("\"{}\"", word.as_str()));

options! {
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
        "dialect" dialect: String = String::new(), read(dialect), set(by hand);
        /// What the schema describes. APIs hold response formats to other rules than tools.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{options::Use, sanitize, SanitizeOptions};
        /// let options = SanitizeOptions::new("openai-strict").used_as(Use::Response);
        /// let schema = json!({"type": "array", "items": {"type": "string"}});
        /// let rewritten = sanitize(&schema, &options)?;
        /// assert_eq!(rewritten.schema["required"], json!(["response"]));
        /// # Ok::<(), toolwire::Error>(())
        /// ```
        "use" used_as: Use = Use::Tool, set(by hand);
        /// The name of the property that holds the answer if the API wants an object and the schema describes something
        /// else.
        "wrapper" wrapper: String = String::from("response"), set(by hand);
        /// What becomes of `$ref`.
        "refs" refs: Option<Refs> = None, set(|refs: Refs| refs.into());
        /// What becomes of a schema from which no type can be inferred.
        "untyped" untyped: Option<Untyped> = None, set(|untyped: Untyped| untyped.into());
        /// What becomes of constraints that the dialect cannot say.
        "hints" hints: Option<Hints> = None, set(|hints: Hints| hints.into());
        /// The most loss that is accepted; beyond it the error is `too-lossy`.
        "allow" allow: Allow = Allow::Any;
        /// Size in bytes above which the dialect compacts; `Some(None)` turns that off.
        "maxBytes" max_bytes: Option<Option<usize>> = None, set(|bytes: impl Into<Option<usize>>| Some(bytes.into()));
        /// The most nodes that inlining may produce.
        "maxNodes" max_nodes: Option<usize> = None, set(|nodes: usize| nodes.into());
        /// The most work of one call, in steps: visits, copies and comparisons of nodes. By default a number that grows
        /// with the schema.
        "maxSteps" max_steps: Option<usize> = None, set(|steps: usize| steps.into());
        /// The chat template that the server runs: the name of its file, or of a model. Templates refuse schemas that
        /// the server accepts.
        "template" template: Option<String> = None, set(|template: impl Into<String>| Some(template.into()));
        /// Bindings only: return unchanged parts as the caller's own objects instead of copies.
        "share" share: bool = false, set(by hand);
    } with {
        /// How messages spell option names.
        pub(crate) naming: Naming = Naming::Camel, read(naming);
        /// Only the dialect's own grammar counts, and none of its alternatives: what else the request holds must be
        /// taken by the same.
        pub(crate) alone: bool = false;
        /// A root that describes no object is put under a property, as in a response format whose root must be one.
        pub(crate) wraps_root: bool = false;
    }
    forward ($) schema_setters
}

const EXAMPLE: Example = Example { function: "sanitize", input: "schema", option: "dialect", value: "\"codex\"" };

/// # Errors
/// `invalid-option` if the options name no dialect.
pub(super) fn dialect(reader: &Reader<'_, '_>, name: &str) -> Result<Option<String>, Error> {
    let dialect = reader.text(name)?.ok_or_else(|| {
        let expected = "expected a dialect, because no schema is right for every API, found none";
        Error::new(Code::InvalidOption, format!("/{name}"), format!("{expected}; for example `{}`", reader.example()))
    })?;
    Ok(Some(dialect))
}

#[allow(clippy::unnecessary_wraps, reason = "other fields may be wrong")]
fn naming(reader: &Reader<'_, '_>) -> Result<Naming, Error> {
    Ok(reader.naming())
}

impl SanitizeOptions {
    /// Options for a dialect, everything else at its default.
    pub fn new(dialect: impl Into<String>) -> Self {
        SanitizeOptions { dialect: dialect.into(), ..Self::at_default() }
    }

    /// Sets [`Self::used_as`].
    #[must_use]
    pub fn used_as(mut self, purpose: Use) -> Self {
        self.used_as = purpose;
        self
    }

    /// Sets [`Self::wrapper`].
    #[must_use]
    pub fn wrapper(mut self, name: impl Into<String>) -> Self {
        self.wrapper = name.into();
        self
    }

    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::at_default())
    }

    /// The same for another dialect, as far as that has the options.
    pub(crate) fn in_dialect(mut self, dialect: &str, known: &[&str]) -> Self {
        self.dialect = dialect.into();
        self.refs = self.refs.filter(|_| known.contains(&"refs"));
        self.untyped = self.untyped.filter(|_| known.contains(&"untyped"));
        self.hints = self.hints.filter(|_| known.contains(&"hints"));
        self.max_bytes = self.max_bytes.filter(|_| known.contains(&"maxBytes"));
        self.max_nodes = self.max_nodes.filter(|_| known.contains(&"maxNodes"));
        self.template = self.template.filter(|_| known.contains(&"template"));
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
            ("template", self.template.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, set)| set.then_some(name))
    }
}
