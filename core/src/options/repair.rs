//! Options of `repair_arguments`.

use alloc::{format, string::String, vec::Vec};

use super::table::{choice, list, options, readable, Example, Readable, Reader};
use crate::{
    error::{Code, Error},
    json::{Node, Text},
    naming::{did_you_mean, Naming},
    report::{Confidence, Permits, RepairRule},
};

choice! {
    /// Handling of truncated text.
    Truncated {
        /// Truncated text is an error, because the rest of the arguments is unknown.
        Refuse = "refuse",
        /// Missing brackets are added. A truncated string or number is never completed.
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
        /// Minimum confidence of a repair.
        "confidence" confidence: Confidence = Confidence::Likely;
        /// Repair rules to disable.
        "disable" disable: Vec<RepairRule> = Vec::new(), set(by hand);
        /// If true, a required member that is missing, null or blank gets the `default` of its schema.
        "useDefaults" use_defaults: bool = false;
        /// If true, undeclared members of closed objects are removed.
        "removeAdditional" remove_additional: bool = false;
        /// Handling of truncated text: an error, or adding the missing brackets.
        "truncated" truncated: Truncated = Truncated::Refuse;
        /// Name of the tool: arguments wrapped in a call are not unwrapped if the call names another tool.
        "name" name: Option<String> = None, set(|name: impl Into<String>| Some(name.into()));
    }
}

impl Default for RepairOptions {
    fn default() -> Self {
        Self::at_default()
    }
}

const EXAMPLE: Example<'_> =
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

/// The option `repair` of functions that restore calls: true, false, or the options without `name`. These functions set
/// `name` themselves.
impl Readable for Option<RepairOptions> {
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error> {
        RepairOptions::of_calls(reader.node(name), reader.naming()).map(Some)
    }

    fn shown(&self) -> Option<String> {
        self.is_none().then(|| "false".into())
    }
}

impl RepairOptions {
    /// Adds rules to [`Self::disable`].
    #[must_use]
    pub fn disable(mut self, rules: impl IntoIterator<Item = RepairRule>) -> Self {
        self.disable.extend(rules);
        self
    }

    /// Reads the options without `name`, or a boolean.
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

    /// Contains only the options that differ from their defaults, without `name`.
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

    /// Reads the options that [`Self::to_node`] wrote.
    pub(crate) fn from_node(node: &Node<'_>) -> Result<Self, Error> {
        Self::read(node, Naming::Camel)
    }

    pub(crate) fn permits(&self) -> Permits {
        Permits::new(self.confidence, &self.disable)
    }

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
