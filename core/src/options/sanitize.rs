//! Options of `sanitize`, `check` and `normalize_envelope`.

use alloc::{format, string::String};

use super::{
    table::{choice, options, readable, Example, Reader},
    Limit,
};
use crate::{
    budget::Budget,
    dialect::{Dialect, DialectId},
    error::{Code, Error},
    json::Node,
    naming::Naming,
    report::Allow,
};

choice! {
    /// Handling of `$ref`.
    Refs {
        /// References are replaced by their targets.
        Inline = "inline",
        /// References are kept if the dialect supports them.
        Keep = "keep",
    }
}

choice! {
    /// Purpose of a schema.
    Use {
        /// Arguments of a tool.
        Tool = "tool",
        /// The model's answer: a response format, also called structured output.
        Response = "response",
        /// Result of a tool: MCP's `outputSchema`, which clients read.
        Output = "output",
    }
}

choice! {
    /// Handling of a schema whose type cannot be inferred.
    Untyped {
        /// The schema remains without a type.
        Keep = "keep",
        /// The dialect's form of a schema that accepts any value.
        Any = "any",
        /// `"string"`, a guess.
        String = "string",
    }
}

choice! {
    /// Handling of constraints that the dialect cannot express.
    Hints {
        /// The description states the constraints.
        Describe = "describe",
        /// The constraints are removed.
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
    /// Options of `sanitize` and `check`. `None` means the dialect's own default.
    ///
    /// ```
    /// use toolwire::{options::Limit, Dialect, SanitizeOptions};
    /// let options = SanitizeOptions::new(Dialect::CODEX_WIRE).max_bytes(Limit::Unlimited);
    /// # let _ = options;
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SanitizeOptions {
        /// Dialect to write. Required: no schema is right for every API.
        "dialect" dialect: DialectId = Dialect::PORTABLE, read(dialect), set(by hand);
        /// Purpose of the schema: arguments of a tool, response format, or result of a tool. APIs apply different rules
        /// to response formats than to tools.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{options::Use, sanitize, Dialect, SanitizeOptions};
        /// let options = SanitizeOptions::new(Dialect::OPENAI_STRICT).used_as(Use::Response);
        /// let schema = json!({"type": "array", "items": {"type": "string"}});
        /// let rewritten = sanitize(&schema, &options)?;
        /// assert_eq!(rewritten.schema["required"], json!(["response"]));
        /// # Ok::<(), toolwire::Error>(())
        /// ```
        "use" used_as: Use = Use::Tool, set(by hand);
        /// Name of the property that holds the answer if the API requires an object and the schema describes something
        /// else.
        "wrapper" wrapper: String = String::from("response"), set(by hand);
        /// Handling of `$ref`.
        "refs" refs: Option<Refs> = None, set(|refs: Refs| refs.into());
        /// Handling of a schema whose type cannot be inferred.
        "untyped" untyped: Option<Untyped> = None, set(|untyped: Untyped| untyped.into());
        /// Handling of constraints that the dialect cannot express.
        "hints" hints: Option<Hints> = None, set(|hints: Hints| hints.into());
        /// Maximum loss that is accepted; a greater loss is the error `too-lossy`.
        "allow" allow: Allow = Allow::Any;
        /// Size in bytes above which the dialect compacts the schema; `Limit::Unlimited` disables compaction.
        "maxBytes" max_bytes: Limit = Limit::Default, set(|bytes: impl Into<Limit>| bytes.into());
        /// Maximum number of nodes that inlining may produce.
        "maxNodes" max_nodes: Option<usize> = None, set(|nodes: usize| nodes.into());
        /// Maximum work of one call, in steps: visits, copies and comparisons of nodes. The default grows with the
        /// schema.
        "maxSteps" max_steps: Option<usize> = None, set(|steps: usize| steps.into());
        /// Chat template of the server: the name of its file, or of a model. A template may refuse schemas that the
        /// server accepts.
        "template" template: Option<String> = None, set(|template: impl Into<String>| Some(template.into()));
        /// Bindings only: return unchanged parts as the caller's own objects instead of copies.
        "share" share: bool = false, set(by hand);
    } with {
        /// Spelling of option names in messages.
        pub(crate) naming: Naming = Naming::Rust, read(naming);
        /// If true, the dialect's alternative grammars are ignored, because the whole request must conform to one
        /// grammar.
        pub(crate) alone: bool = false;
        /// If true, a root that does not describe an object is wrapped in a property, as in a response format whose
        /// root must be an object.
        pub(crate) wraps_root: bool = false;
        /// If true, an accepted root without `properties` is not changed, and a tool without a schema may keep none, as
        /// in a request, which is sent as it came.
        pub(crate) is_of_request: bool = false;
    }
    forward ($) schema_setters
}

const EXAMPLE: Example<'_> = Example { function: "sanitize", input: "schema", option: "dialect", value: "\"codex\"" };

pub(super) fn dialect(reader: &Reader<'_, '_>, name: &str) -> Result<Option<DialectId>, Error> {
    let dialect = reader.dialect(name)?.ok_or_else(|| {
        let expected = "expected a dialect, because no schema is right for every API, found none";
        Error::new(Code::InvalidOption, format!("/{name}"), format!("{expected}; for example `{}`", reader.example()))
    })?;
    Ok(Some(dialect))
}

#[allow(clippy::unnecessary_wraps, reason = "readers of other fields may fail")]
pub(super) fn naming(reader: &Reader<'_, '_>) -> Result<Naming, Error> {
    Ok(reader.naming())
}

impl SanitizeOptions {
    /// Creates options for a dialect, with all other options at their defaults.
    pub fn new(dialect: DialectId) -> Self {
        SanitizeOptions { dialect, ..Self::at_default() }
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

    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        Self::read_for(EXAMPLE.function, node, naming)
    }

    /// Reads the options of another function with these options.
    pub(crate) fn read_for(function: &'static str, node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let example = Example { function, ..EXAMPLE };
        Self::of(&Reader::new(node, naming, Self::KNOWN, example)?, Self::at_default())
    }

    /// Sets the dialect, and drops the options that it does not have.
    pub(crate) fn in_dialect(mut self, dialect: &Dialect) -> Self {
        let known = dialect.options;
        self.dialect = dialect.id();
        self.refs = self.refs.filter(|_| known.contains(&"refs"));
        self.untyped = self.untyped.filter(|_| known.contains(&"untyped"));
        self.hints = self.hints.filter(|_| known.contains(&"hints"));
        if !known.contains(&"maxBytes") {
            self.max_bytes = Limit::Default;
        }
        self.max_nodes = self.max_nodes.filter(|_| known.contains(&"maxNodes"));
        self.template = self.template.filter(|_| known.contains(&"template"));
        self
    }

    pub(crate) fn budget(&self, schema: &Node<'_>) -> Budget {
        Budget::new(schema.values_read(), self.max_steps).spelled(self.naming)
    }

    /// Returns the names of the options that are set and that only some dialects have.
    pub(crate) fn dialect_options(&self) -> impl Iterator<Item = &'static str> {
        [
            ("refs", self.refs.is_some()),
            ("untyped", self.untyped.is_some()),
            ("hints", self.hints.is_some()),
            ("maxBytes", self.max_bytes != Limit::Default),
            ("maxNodes", self.max_nodes.is_some()),
            ("template", self.template.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, set)| set.then_some(name))
    }
}

options! {
    /// Options of `normalize_envelope`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct EnvelopeOptions {
        /// Bindings only: return unchanged parts as the caller's own objects instead of copies.
        "share" share: bool = false, set(by hand);
    }
}

impl Default for EnvelopeOptions {
    fn default() -> Self {
        Self::at_default()
    }
}

const ENVELOPE_EXAMPLE: Example<'_> =
    Example { function: "normalizeEnvelope", input: "schema", option: "share", value: "true" };

impl EnvelopeOptions {
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        Self::of(&Reader::new(node, naming, Self::KNOWN, ENVELOPE_EXAMPLE)?, Self::default())
    }
}
