//! Options of `repair_arguments`.

use alloc::{format, string::String, vec::Vec};

use super::read::{choice, Example, Reader};
use crate::{
    error::{Code, Error},
    json::{Node, Text},
    naming::Naming,
    nearest::did_you_mean,
    report::{Confidence, Permits, RepairRule},
};

choice! {
    /// What becomes of text that breaks off.
    Truncated {
        /// It is an error: nobody can tell it from a longer text.
        Refuse = "refuse",
        /// The brackets that lack are added, but never the end of a string or a number.
        Close = "close",
    }
}

/// Options of [`repair_arguments`](crate::repair_arguments).
///
/// ```
/// use toolwire::{options::Confidence, RepairOptions};
/// let options = RepairOptions::default().confidence(Confidence::Exact).name("search");
/// # assert_eq!(options.name.as_deref(), Some("search"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairOptions {
    /// The least confidence that a repair may have.
    pub confidence: Confidence,
    /// Rules that are not applied.
    pub disable: Vec<RepairRule>,
    /// Whether a required member that is missing, null or blank gets the schema's own `default`.
    pub use_defaults: bool,
    /// Whether undeclared members of closed objects are left out.
    pub remove_additional: bool,
    /// What becomes of text that breaks off.
    pub truncated: Truncated,
    /// The tool's name: a whole call of another tool is no wrapper around the arguments.
    pub name: Option<String>,
}

impl Default for RepairOptions {
    fn default() -> Self {
        RepairOptions {
            confidence: Confidence::Likely,
            disable: Vec::new(),
            use_defaults: false,
            remove_additional: false,
            truncated: Truncated::Refuse,
            name: None,
        }
    }
}

const KNOWN: &[&str] = &["confidence", "disable", "useDefaults", "removeAdditional", "truncated", "name"];
const EXAMPLE: Example =
    Example { function: "repairArguments", input: "args, schema", option: "confidence", value: "\"exact\"" };
const CONFIDENCES: &[(&str, Confidence)] = &[("exact", Confidence::Exact), ("likely", Confidence::Likely)];

impl RepairOptions {
    /// Sets [`Self::confidence`].
    #[must_use]
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    /// Adds to [`Self::disable`].
    #[must_use]
    pub fn disable(mut self, rules: impl IntoIterator<Item = RepairRule>) -> Self {
        self.disable.extend(rules);
        self
    }

    /// Sets [`Self::use_defaults`].
    #[must_use]
    pub fn use_defaults(mut self, is_on: bool) -> Self {
        self.use_defaults = is_on;
        self
    }

    /// Sets [`Self::remove_additional`].
    #[must_use]
    pub fn remove_additional(mut self, is_on: bool) -> Self {
        self.remove_additional = is_on;
        self
    }

    /// Sets [`Self::truncated`].
    #[must_use]
    pub fn truncated(mut self, truncated: Truncated) -> Self {
        self.truncated = truncated;
        self
    }

    /// Sets [`Self::name`].
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Reads the option `repair` of functions that restore calls: what it is, or whether there is any. The name of the
    /// tool is known there.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(super) fn of_calls(node: Option<&Node<'_>>, naming: Naming) -> Result<Option<Self>, Error> {
        let Some(node) = node else { return Ok(None) };
        if let Some(is_on) = node.as_bool() {
            return Ok(is_on.then(Self::default));
        }
        let known: Vec<&str> = KNOWN.iter().copied().filter(|known| *known != "name").collect();
        if node.as_object().is_none() {
            let message = format!("expected `repair` to be true, false or an object of options, found {}", node.kind());
            return Err(Error::new(Code::InvalidOption, "/repair", message));
        }
        let reader = Reader::new(node, naming, &known, &EXAMPLE).map_err(|error| error.below("/repair"))?;
        Self::of(&reader).map(Some).map_err(|error| error.below("/repair"))
    }

    /// As JSON, without the name: what differs from the defaults.
    pub(crate) fn to_node(&self) -> Node<'static> {
        let default = RepairOptions::default();
        let mut members = Vec::new();
        if self.confidence != default.confidence {
            members.push(("confidence", Node::literal(self.confidence.as_str())));
        }
        if !self.disable.is_empty() {
            let rules = self.disable.iter().map(|rule| Node::literal(rule.as_str()));
            members.push(("disable", Node::array(rules.collect())));
        }
        for (name, is_on) in [("useDefaults", self.use_defaults), ("removeAdditional", self.remove_additional)] {
            members.extend(is_on.then(|| (name, Node::bool(true))));
        }
        if self.truncated == Truncated::Close {
            members.push(("truncated", Node::literal("close")));
        }
        Node::object(members.into_iter().map(|(key, value)| (Text::literal(key), value)).collect())
    }

    /// From JSON, as [`Self::to_node`] gives it.
    ///
    /// # Errors
    /// `invalid-option`, `unknown-option`.
    pub(crate) fn from_node(node: &Node<'_>) -> Result<Self, Error> {
        Self::read(node, Naming::Camel)
    }

    /// Which repairs may happen.
    pub(crate) fn permits(&self) -> Permits {
        Permits::new(self.confidence, &self.disable)
    }

    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let reader = Reader::new(node, naming, KNOWN, &EXAMPLE)?;
        Ok(RepairOptions { name: reader.text("name")?, ..Self::of(&reader)? })
    }

    /// All of them but the name.
    fn of(reader: &Reader<'_, '_>) -> Result<Self, Error> {
        let default = RepairOptions::default();
        let names = reader.names("disable")?.unwrap_or_default();
        let rules = names.iter().enumerate().map(|(index, name)| rule(index, name));
        Ok(RepairOptions {
            confidence: reader.choice("confidence", CONFIDENCES)?.unwrap_or(default.confidence),
            disable: rules.collect::<Result<_, _>>()?,
            use_defaults: reader.flag("useDefaults")?.unwrap_or(default.use_defaults),
            remove_additional: reader.flag("removeAdditional")?.unwrap_or(default.remove_additional),
            truncated: reader.choice("truncated", Truncated::CHOICES)?.unwrap_or(default.truncated),
            name: None,
        })
    }
}

fn rule(index: usize, name: &str) -> Result<RepairRule, Error> {
    RepairRule::named(name).ok_or_else(|| {
        let known = RepairRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>();
        let meant = did_you_mean(name, &known);
        let message = format!("expected the name of a repair rule, found `{name}`{meant}");
        Error::new(Code::InvalidOption, format!("/disable/{index}"), message)
    })
}
