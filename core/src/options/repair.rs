//! Options of `repair_arguments`.

use alloc::{format, string::String, vec::Vec};

use super::{
    read::{Example, Reader},
    table::{choice, list, options, readable, Readable},
};
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

options! {
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
        "confidence" confidence: Confidence = Confidence::Likely;
        /// Rules that are not applied.
        "disable" disable: Vec<RepairRule> = Vec::new(), set(by hand);
        /// Whether a required member that is missing, null or blank gets the schema's own `default`.
        "useDefaults" use_defaults: bool = false;
        /// Whether undeclared members of closed objects are left out.
        "removeAdditional" remove_additional: bool = false;
        /// What becomes of text that breaks off: an error, or the brackets that lack are added.
        "truncated" truncated: Truncated = Truncated::Refuse;
        /// The tool's name: a whole call of another tool is no wrapper around the arguments.
        "name" name: Option<String> = None, set(|name: impl Into<String>| Some(name.into()));
    }
}

impl Default for RepairOptions {
    fn default() -> Self {
        Self::at_default()
    }
}

const EXAMPLE: Example =
    Example { function: "repairArguments", input: "args, schema", option: "confidence", value: "\"exact\"" };
const CONFIDENCES: &[(&str, Confidence)] = &[("exact", Confidence::Exact), ("likely", Confidence::Likely)];

readable!(
    Confidence,
    reader name: reader.choice(name, CONFIDENCES),
    word: format!("\"{}\"", word.as_str())
);

impl Readable for Vec<RepairRule> {
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error> {
        let Some(names) = reader.names(name)? else { return Ok(None) };
        names.iter().enumerate().map(|(index, name)| rule(index, name)).collect::<Result<_, _>>().map(Some)
    }

    fn shown(&self) -> Option<String> {
        Some(list(self.iter().map(|rule| rule.as_str())))
    }
}

/// The option `repair` of functions that restore calls: what it is, or whether there is any. The name of the tool is
/// known there.
impl Readable for Option<RepairOptions> {
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error> {
        RepairOptions::of_calls(reader.node(name), reader.naming()).map(Some)
    }

    fn shown(&self) -> Option<String> {
        self.is_none().then(|| "false".into())
    }
}

impl RepairOptions {
    /// Adds to [`Self::disable`].
    #[must_use]
    pub fn disable(mut self, rules: impl IntoIterator<Item = RepairRule>) -> Self {
        self.disable.extend(rules);
        self
    }

    /// # Errors
    /// `unknown-option`, `invalid-option`.
    fn of_calls(node: Option<&Node<'_>>, naming: Naming) -> Result<Option<Self>, Error> {
        let Some(node) = node else { return Ok(None) };
        if let Some(is_on) = node.as_bool() {
            return Ok(is_on.then(Self::default));
        }
        let known: Vec<&str> = Self::KNOWN.iter().copied().filter(|known| *known != "name").collect();
        if node.as_object().is_none() {
            let message = format!("expected `repair` to be true, false or an object of options, found {}", node.kind());
            return Err(Error::new(Code::InvalidOption, "/repair", message));
        }
        let reader = Reader::new(node, naming, &known, EXAMPLE).map_err(|error| error.below("/repair"))?;
        Self::of(&reader, Self::default()).map(Some).map_err(|error| error.below("/repair"))
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
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::default())
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
