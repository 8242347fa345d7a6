//! Repairs the arguments of a whole call: as text or as a value, possibly wrapped in another object.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{clear_stale_output_pointers, kinds::fold_name, words, At, Fixed, Layers, Repairer, MAX_PARSED_STRINGS};
use crate::{
    collections::{Map, Set},
    error::{Code, Error},
    json::{
        self,
        tolerant::{read_guessing, read_tolerant, Reading, Refusal, Tolerance},
        Data, Node, Text,
    },
    options::{RepairOptions, Truncated},
    report::{retry_message, Confidence, Left, LeftReason, Repair, RepairRule, Repaired},
    schema::{
        keyword::Keyword,
        validate::{Location, Validator, Verdict},
    },
};

/// Names of members that models wrap all arguments in, folded.
const WRAPPERS: [&str; 8] = ["arguments", "args", "input", "inputs", "parameters", "params", "kwargs", "toolinput"];
/// Members that may be siblings of a wrapper, as in a whole call.
const WRAPPER_SIBLINGS: [&str; 3] = ["name", "type", "id"];
/// Maximum number of objects to remove around the arguments.
const MAX_WRAPPERS: usize = 3;

pub(crate) enum RawArguments<'n> {
    /// A value. If it is a string, the model wrote it in quotes, as JSON text.
    Value(Node<'n>),
    /// Value of JSON text that contains a name twice. Parsers disagree about which of the two members is used, so this
    /// value replaces the text. It has the last member, as in `JSON.parse` and most other parsers.
    Repeated(Node<'n>),
    /// Text that was meant as JSON.
    Text(Cow<'n, str>),
}

impl<'n> RawArguments<'n> {
    pub(crate) fn value(node: Node<'n>) -> Result<Self, Refusal> {
        let Some(text) = node.as_text() else { return Ok(RawArguments::Value(node)) };
        match text.value() {
            Some(text) => Ok(RawArguments::Text(Cow::Owned(text.into_owned()))),
            None => Err(Refusal { reason: LeftReason::NoJson, offset: 0 }),
        }
    }

    pub(crate) fn text(text: &'n str) -> Result<Self, Error> {
        match json::read_and_find_duplicates(text) {
            Ok((node, false)) => Ok(RawArguments::Value(node)),
            Ok((node, true)) => Ok(RawArguments::Repeated(node)),
            Err(error) if error.code() == Code::TooDeep => Err(error),
            Err(_) => Ok(RawArguments::Text(Cow::Borrowed(text))),
        }
    }
}

/// Repairs arguments. Valid arguments are returned unchanged, with [`Repaired::changed`] false.
pub(crate) fn repair<'n>(
    validator: &Validator<'_, '_>,
    raw: RawArguments<'n>,
    options: &RepairOptions,
) -> Result<Repaired<Node<'n>>, Refusal> {
    let mut repairer = Repairer { judge: validator.judge(), options, permits: options.permits(), reasons: Map::new() };
    let ParsedArguments { mut fixed, is_changed, refusal_without_schema } = repairer.parse(raw)?;
    let verdict = repairer.repair_arguments(&mut fixed);
    // A guess is used only if the result is valid.
    if let Some(refusal_without_schema) = refusal_without_schema.filter(|_| verdict != Verdict::Valid) {
        return Err(refusal_without_schema);
    }
    let changed = is_changed || !fixed.repairs.is_empty();
    let Fixed { value: arguments, mut repairs } = fixed;
    clear_stale_output_pointers(&mut repairs, &arguments);
    if verdict != Verdict::Invalid {
        let (valid, left) = (verdict.known(), Vec::new());
        return Ok(Repaired { arguments, changed, valid, repairs, left, retry_message: None });
    }
    let is_spent = repairer.judge.budget().is_spent();
    let validation = validator.arguments(&arguments);
    let valid = if is_spent && validation.valid == Some(false) { None } else { validation.valid };
    let left = validation.errors.into_iter().filter(|_| valid == Some(false)).map(|error| Left {
        reason: repairer.reasons.get(&error.pointer).copied().unwrap_or(LeftReason::NoRule),
        pointer: error.pointer,
        keyword: error.keyword,
        message: error.message,
    });
    let left: Vec<Left> = left.collect();
    let retry_message = retry_message(&left, options.name.as_deref());
    Ok(Repaired { arguments, changed, valid, repairs, left, retry_message })
}

struct ParsedArguments<'n> {
    fixed: Fixed<'n>,
    /// True if the value differs from the model's text.
    is_changed: bool,
    /// Why text is refused without a schema; `None` unless the schema decided how to read the text.
    refusal_without_schema: Option<Refusal>,
}

impl<'n> ParsedArguments<'n> {
    fn unchanged(value: Node<'n>) -> Self {
        let fixed = Fixed { value, repairs: Vec::new() };
        ParsedArguments { fixed, is_changed: false, refusal_without_schema: None }
    }

    fn changed(value: Node<'n>, repairs: Vec<Repair>) -> Self {
        ParsedArguments { fixed: Fixed { value, repairs }, is_changed: true, refusal_without_schema: None }
    }
}

impl<'s, 'a> Repairer<'_, 's, 'a> {
    fn parse<'n>(&mut self, raw: RawArguments<'n>) -> Result<ParsedArguments<'n>, Refusal> {
        let is_quoted = matches!(raw, RawArguments::Value(_));
        let mut text = match raw {
            RawArguments::Text(text) => text.into_owned(),
            RawArguments::Repeated(value) => return Ok(ParsedArguments::changed(value, Vec::new())),
            RawArguments::Value(value) => match value.as_text().and_then(Text::value).map(Cow::into_owned) {
                Some(text) if self.permits.refusal(RepairRule::JsonString, Confidence::Exact).is_none() => {
                    match self.accepts(&value) {
                        true => return Ok(ParsedArguments::unchanged(value)),
                        false => text,
                    }
                }
                _ if value.is_null() && !self.accepts(&value) => return self.empty_arguments(value, "null"),
                _ => return Ok(ParsedArguments::unchanged(value)),
            },
        };
        let tolerance = Tolerance {
            permits: self.permits,
            closes: self.options.truncated == Truncated::Close,
            is_inside: false,
            guesses: false,
        };
        let location = Location::At("");
        let is_untyped_root = false;
        let at = root_at(&location, is_untyped_root);
        let (mut repairs, original, mut refusal_without_schema) = (Vec::new(), text.clone(), None);
        for layer in u8::from(is_quoted)..=MAX_PARSED_STRINGS {
            match text.trim_matches(|next: char| next.is_whitespace() || next == '\u{FEFF}') {
                "null" => return self.empty_arguments(Node::default(), "null"),
                "" | "None" => return self.empty_arguments(Node::default(), "text"),
                _ => {}
            }
            let (reading, refusal) = self.read_text(&text, tolerance)?;
            refusal_without_schema = refusal_without_schema.or(refusal);
            if layer > 0 {
                let confidence =
                    reading.repairs.iter().fold(Confidence::Exact, |lowest, repair| lowest.min(repair.confidence));
                repairs.push(words::replacement(at, (RepairRule::JsonString, confidence), "string", &reading.node));
            }
            repairs.extend(reading.repairs.iter().map(|repair| words::text_repair(at, *repair, &reading.node)));
            match reading.node.data() {
                Data::Object(_) | Data::Array(_) => {
                    return Ok(ParsedArguments {
                        refusal_without_schema,
                        ..ParsedArguments::changed(reading.node, repairs)
                    });
                }
                Data::String(inner) => match inner.value() {
                    Some(inner) => text = inner.into_owned(),
                    None => break,
                },
                _ => break,
            }
        }
        // The value is neither an object nor an array, so it cannot represent arguments.
        Ok(ParsedArguments::unchanged(Node::string(original)))
    }

    /// Reads text as JSON. If no rule can read the text, the schema decides about further notations. The refusal by the
    /// rules is then returned together with the reading.
    fn read_text(&mut self, text: &str, tolerance: Tolerance) -> Result<(Reading, Option<Refusal>), Refusal> {
        let refusal_without_schema = match read_tolerant(text, tolerance) {
            Ok(reading) => return Ok((reading, None)),
            Err(refusal_without_schema) => refusal_without_schema,
        };
        if !matches!(refusal_without_schema.reason, LeftReason::Syntax | LeftReason::Truncated) {
            return Err(refusal_without_schema);
        }
        let reading = read_guessing(text, tolerance).map_err(|_| refusal_without_schema)?;
        if !self.are_confirmed(&reading.guesses) {
            return Err(refusal_without_schema);
        }
        Ok((reading, Some(refusal_without_schema)))
    }

    /// Reads null, blank text and words for null as empty arguments.
    fn empty_arguments<'n>(&mut self, original: Node<'n>, original_type: &str) -> Result<ParsedArguments<'n>, Refusal> {
        let rule = (RepairRule::EmptyArguments, Confidence::Exact);
        if self.permits.refusal(rule.0, rule.1).is_some() {
            if original_type == "text" {
                return Err(Refusal { reason: LeftReason::SwitchedOff, offset: 0 });
            }
            return Ok(ParsedArguments::unchanged(original));
        }
        let location = Location::At("");
        let empty = Node::empty_object();
        let is_untyped_root = false;
        let repair = words::replacement(root_at(&location, is_untyped_root), rule, original_type, &empty);
        Ok(ParsedArguments::changed(empty, alloc::vec![repair]))
    }

    fn is_untyped(&self) -> bool {
        !self.judge.root().as_object().is_some_and(|root| root.has(Keyword::Type))
    }

    fn accepts(&mut self, value: &Node<'_>) -> bool {
        let (root, location) = (self.judge.root(), Location::At(""));
        let at = root_at(&location, self.is_untyped());
        self.verdict(&[root], value, at) == Verdict::Valid
    }

    fn repair_arguments(&mut self, fixed: &mut Fixed<'_>) -> Verdict {
        let root = self.judge.root();
        let location = Location::At("");
        let at = root_at(&location, self.is_untyped());
        let verdict = self.verdict(&[root], &fixed.value, at);
        if verdict != Verdict::Invalid {
            return verdict;
        }
        let repaired = match self.unwrap(&fixed.value, at) {
            Some(repaired) => repaired,
            None => self.repair_text_or_wrapper(core::mem::take(&mut fixed.value), at),
        };
        fixed.value = repaired.value;
        fixed.repairs.extend(repaired.repairs);
        self.verdict(&[root], &fixed.value, at)
    }

    /// Repairs the arguments. If the repair changed text into an object, the object may be a wrapper.
    fn repair_text_or_wrapper<'n>(&mut self, value: Node<'n>, at: At<'_>) -> Fixed<'n> {
        let root = self.judge.root();
        let is_text = value.as_text().is_some();
        let mut repaired = self.repair_value(&[root], value, at);
        if !repaired.repairs.is_empty() && self.verdict(&[root], &repaired.value, at) == Verdict::Invalid {
            if let Some(inner) = self.unwrap(&repaired.value, At { is_in_text: is_text, ..at }) {
                repaired.value = inner.value;
                // Values outside of the wrapper are not part of the result, so their repairs have no pointer into it.
                let outer_repairs =
                    repaired.repairs.iter_mut().filter(|repair| repair.output_pointer.as_deref() != Some(""));
                outer_repairs.for_each(|repair| (repair.output_pointer, repair.moved_from) = (None, None));
                repaired.repairs.extend(inner.repairs);
            }
        }
        repaired
    }

    /// Returns the arguments inside a wrapper object, if they are valid there.
    fn unwrap<'n>(&mut self, value: &Node<'n>, at: At<'_>) -> Option<Fixed<'n>> {
        // Most arguments have no wrapper, so nothing is copied for them.
        value.as_object()?.iter().any(|member| is_wrapper(&member.key)).then_some(())?;
        let root = self.judge.root();
        let mut views = alloc::vec![self.view(&[root])?];
        let branches = views.iter().flat_map(|view| view.unions.iter()).flat_map(|union| union.branches);
        for branch in branches.collect::<Vec<_>>() {
            views.extend(self.view(&[branch]));
        }
        let declared: Set<String> = views.iter().flat_map(|view| view.declared_names()).filter_map(fold_name).collect();
        let (mut inner, mut steps, mut text_repairs) = (value.copy(self.judge.budget()), Vec::new(), Vec::new());
        for _ in 0..MAX_WRAPPERS {
            let object = inner.as_object()?;
            let is_sibling = |name: &Text<'_>| WRAPPER_SIBLINGS.iter().any(|known| name.is(*known));
            let mut wrappers = object.iter().filter(|member| !is_sibling(&member.key));
            let (wrapper, None) = (wrappers.next()?, wrappers.next()) else { return None };
            let names_another_tool = |name: &Node<'_>| {
                self.options
                    .name
                    .as_ref()
                    .is_some_and(|tool_name| name.as_text().is_some_and(|text| !text.is(tool_name)))
            };
            // If any branch declares a name, the name is a member, not a wrapper.
            let is_not_declared = |name: &Text<'_>| {
                let is_known = fold_name(name).is_some_and(|name| declared.contains(&name));
                !is_known && views.iter().all(|view| !view.declares(name) && self.matches_no_pattern(view, name))
            };
            if !is_wrapper(&wrapper.key)
                || !object.iter().map(|member| &member.key).all(is_not_declared)
                || object.get("name").is_some_and(names_another_tool)
            {
                return None;
            }
            steps.push(wrapper.key.clone().into_owned());
            let mut content = wrapper.value.copy(self.judge.budget());
            if let Some(text) = content.as_text().and_then(Text::value) {
                let tolerance = Tolerance { permits: self.permits, closes: false, is_inside: true, guesses: false };
                let reading = read_tolerant(&text, tolerance).ok()?;
                self.judge.budget().pay(json::size(&reading.node, self.judge.budget())).then_some(())?;
                let pointer = pointer_to(&steps);
                let from = Location::At(if at.is_in_text { "" } else { &pointer });
                let inside = At { from: &from, ..at };
                text_repairs
                    .extend(reading.repairs.iter().map(|repair| words::text_repair(inside, *repair, &reading.node)));
                content = reading.node;
            }
            content.as_object()?;
            let was_text = wrapper.value.as_text().is_some();
            if let Some(arguments) = self.repair_content(content.copy(self.judge.budget()), &steps, was_text, at) {
                let rule = (RepairRule::UnwrapArguments, Confidence::Likely);
                let pointer = pointer_to(&steps);
                let from = Location::At(if at.is_in_text { "" } else { &pointer });
                let inside = At { from: &from, is_in_text: at.is_in_text || was_text, ..at };
                let repair = words::replacement(at, rule, "object", &arguments.value);
                let is_item = false;
                let mut repairs = alloc::vec![words::with_moved_from(repair, inside, is_item)];
                repairs.extend(text_repairs);
                return self.permitted_candidate(rule, repairs, arguments, at).map(|candidate| candidate.fixed);
            }
            inner = content;
        }
        None
    }

    fn repair_content<'n>(
        &mut self,
        content: Node<'n>,
        steps: &[Text<'static>],
        was_text: bool,
        at: At<'_>,
    ) -> Option<Fixed<'n>> {
        let root = self.judge.root();
        let pointer = pointer_to(steps);
        let from = Location::At(if at.is_in_text { "" } else { &pointer });
        // All removed wrappers together are one level.
        let inside = At { from: &from, is_in_text: at.is_in_text || was_text, level: 1, ..at };
        let repaired = self.repair_value(&[root], content, inside);
        (self.verdict(&[root], &repaired.value, at) == Verdict::Valid).then_some(repaired)
    }
}

fn is_wrapper(name: &Text<'_>) -> bool {
    fold_name(name).is_some_and(|name| WRAPPERS.contains(&name.as_str()))
}

fn pointer_to(steps: &[Text<'static>]) -> String {
    steps.iter().fold(String::new(), |mut pointer, step| {
        json::push_token(&mut pointer, &step.display());
        pointer
    })
}

fn root_at<'p>(location: &'p Location<'p>, is_untyped_root: bool) -> At<'p> {
    At {
        from: location,
        to: location,
        is_in_text: false,
        is_untyped_root,
        level: 0,
        outer_types: None,
        layers: Layers::default(),
    }
}

pub(crate) fn unreadable(refusal: Refusal) -> Error {
    let code = if refusal.reason == LeftReason::TooDeep { Code::TooDeep } else { Code::InvalidJson };
    Error::new(code, "", refusal.message())
}
