//! Repairs a value of the wrong type, or a value that `enum` does not list: tries every reading and chooses one.
//! Accepts numbers, booleans and names in the spellings that models use.
//!
//! A reading is another value that the model may have meant, such as the number in a string. A candidate is a valid
//! reading, possibly after nested repairs.

use alloc::{format, string::String, vec::Vec};

use super::{
    view::{listed_strings, Assertion, View, VALUE_ASSERTIONS},
    words, At, ChildLocations, Fixed, Layers, Repairer, MAX_PARSED_STRINGS,
};
use crate::{
    json::{
        self, height, plain_number, same,
        tolerant::{read_tolerant, Tolerance},
        Data, Member, Node, Object, Text,
    },
    limits::MAX_DEPTH,
    report::{Confidence, LeftReason, Repair, RepairRule},
    schema::{instance_types::InstanceTypes, validate::Verdict},
};

/// Maximum number of arrays and objects that are removed around a value.
const MAX_REMOVED_CONTAINERS: u8 = 3;

pub(super) struct Candidate<'n> {
    pub(super) fixed: Fixed<'n>,
    pub(super) confidence: Confidence,
}

impl<'s, 'a> Repairer<'_, 's, 'a> {
    #[inline(never)]
    pub(super) fn replace_value<'n>(
        &mut self,
        view: &View<'s, 'a>,
        schemas: &[&'s Node<'a>],
        value: &Node<'n>,
        at: At<'_>,
    ) -> Option<Fixed<'n>> {
        let outer_types = at.outer_types.unwrap_or(view.types);
        let mut candidates: Vec<Candidate<'n>> = Vec::new();
        let is_text = matches!(value.data(), Data::String(_));
        if is_text && !outer_types.intersects(InstanceTypes::STRING) {
            if let Some(parsed) = self.parse_json_string(view, schemas, value, at) {
                return parsed;
            }
        }
        for (rule, confidence, reading) in self.scalar_readings(view, outer_types, value, at) {
            let candidate =
                self.try_reading((rule, confidence), schemas, value, reading, (at, at.for_next_reading(at.layers)));
            candidates.extend(candidate);
        }
        candidates.extend(self.unwrap_item(outer_types, view, schemas, value, at));
        candidates.extend(self.wrap_in_array(view, schemas, value, at));
        self.choose_candidate(candidates, at)
    }

    fn scalar_readings<'n>(
        &mut self,
        view: &View<'s, 'a>,
        outer_types: InstanceTypes,
        value: &Node<'n>,
        at: At<'_>,
    ) -> Vec<(RepairRule, Confidence, Node<'n>)> {
        use Confidence::{Exact, Likely};
        let (types, mut readings) = (view.types, Vec::new());
        match value.data() {
            Data::String(text) => {
                let Some(text) = text.value() else { return readings };
                let trimmed = text.trim();
                if !outer_types.intersects(InstanceTypes::STRING) {
                    if types.intersects(InstanceTypes::NUMBER) {
                        let is_whole = types.and(InstanceTypes::NUMBER) == InstanceTypes::INTEGER;
                        match parse_number(trimmed, is_whole) {
                            ParsedNumber::Number(number, confidence) => readings.push((
                                RepairRule::StringToNumber,
                                confidence,
                                Node::new(Data::Number(number.into())),
                            )),
                            ParsedNumber::Inexact => self.record_reason(at, LeftReason::Inexact),
                            ParsedNumber::Nothing => {}
                        }
                    }
                    for boolean in [true, false] {
                        let word = if boolean { "true" } else { "false" };
                        if types.intersects(InstanceTypes::BOOLEAN) && trimmed.eq_ignore_ascii_case(word) {
                            readings.push((RepairRule::StringToBoolean, Exact, Node::bool(boolean)));
                        }
                    }
                    if types.intersects(InstanceTypes::NULL) {
                        let confidence = if trimmed == "null" { Exact } else { Likely };
                        match trimmed {
                            "" => readings.push((RepairRule::EmptyToNull, Likely, Node::default())),
                            "null" | "None" | "NULL" => {
                                readings.push((RepairRule::StringToNull, confidence, Node::default()));
                            }
                            _ => {}
                        }
                    }
                }
                readings.extend(
                    self.listed_spelling(view, value, at).map(|literal| (RepairRule::EnumSpelling, Likely, literal)),
                );
            }
            Data::Number(number) => {
                let equals = |digit: &str| crate::json::compare(number, digit).is_eq();
                if types.intersects(InstanceTypes::BOOLEAN) && (equals("0") || equals("1")) {
                    readings.push((RepairRule::NumberToBoolean, Likely, Node::bool(equals("1"))));
                }
                if types.intersects(InstanceTypes::STRING) {
                    readings.push((RepairRule::NumberToString, Exact, Node::string(Text::new(number.clone()))));
                }
            }
            Data::Bool(boolean) if types.intersects(InstanceTypes::STRING) => {
                let word = if *boolean { "true" } else { "false" };
                readings.push((RepairRule::BooleanToString, Exact, Node::literal(word)));
            }
            _ => {}
        }
        readings
    }

    /// Returns the listed string that differs only in spelling, if there is exactly one.
    fn listed_spelling(&mut self, view: &View<'s, 'a>, value: &Node<'_>, at: At<'_>) -> Option<Node<'static>> {
        let folded_value = value.as_text().and_then(fold_name)?;
        let mut listed: Option<&Node<'_>> = None;
        for literal in view.parts.iter().flat_map(|part| listed_strings(part)) {
            if !self.judge.budget().pay(1) {
                return None;
            }
            let matches = literal.as_text().and_then(fold_name).is_some_and(|spelled| spelled == folded_value);
            if matches && listed.is_some_and(|other| !same(other, literal)) {
                self.record_reason(at, LeftReason::Ambiguous);
                return None;
            }
            if matches {
                listed = Some(literal);
            }
        }
        listed.map(Node::detached)
    }

    fn try_reading<'n>(
        &mut self,
        (rule, confidence): (RepairRule, Confidence),
        schemas: &[&'s Node<'a>],
        value: &Node<'n>,
        reading: Node<'n>,
        (at, reading_at): (At<'_>, At<'_>),
    ) -> Option<Candidate<'n>> {
        let mut repair = words::replacement(at, (rule, confidence), words::type_name(value), &reading);
        if matches!(rule, RepairRule::WrapArray | RepairRule::UnwrapArray | RepairRule::ItemWrapper) {
            repair = words::with_moved_from(repair, reading_at, reading_at.layers.is_wrapped);
        }
        let repaired = self.repair_value(schemas, reading, reading_at);
        if self.verdict(schemas, &repaired.value, at) != Verdict::Valid {
            return None;
        }
        self.permitted_candidate((rule, confidence), alloc::vec![repair], repaired, at)
    }

    pub(super) fn permitted_candidate<'n>(
        &mut self,
        (rule, confidence): (RepairRule, Confidence),
        mut repairs: Vec<Repair>,
        inner: Fixed<'n>,
        at: At<'_>,
    ) -> Option<Candidate<'n>> {
        if let Some(reason) = self.permits.refusal(rule, confidence) {
            self.record_reason(at, reason);
            return None;
        }
        let confidence = inner.repairs.iter().fold(confidence, |lowest, repair| lowest.min(repair.confidence));
        repairs.extend(inner.repairs);
        Some(Candidate { fixed: Fixed { value: inner.value, repairs }, confidence })
    }

    fn wrap_in_array<'n>(
        &mut self,
        view: &View<'s, 'a>,
        schemas: &[&'s Node<'a>],
        value: &Node<'n>,
        at: At<'_>,
    ) -> Option<Candidate<'n>> {
        if !view.types.intersects(InstanceTypes::ARRAY) || at.layers.is_wrapped {
            return None;
        }
        match value.data() {
            Data::Null | Data::Array(_) | Data::Verbatim(_) => return None,
            Data::String(text) if !self.judge.budget().pay(text.chars().len() / 64) => return None,
            Data::String(text) if !is_one_item(&text.display()) => return None,
            // An empty object contains no data, and an object that wraps an item is not an item itself.
            Data::Object(object) if object.is_empty() || wrapper_member(object).is_some() => return None,
            _ => {}
        }
        if self.is_too_deep(value, at) {
            return None;
        }
        if at.layers.is_in_flat_array {
            self.record_reason(at, LeftReason::Ambiguous);
            return None;
        }
        let reading = Node::array(alloc::vec![value.copy(self.judge.budget())]);
        let layers = Layers { is_wrapped: true, ..at.layers };
        self.try_reading(
            (RepairRule::WrapArray, Confidence::Likely),
            schemas,
            value,
            reading,
            (at, at.for_next_reading(layers)),
        )
    }

    /// Tries the only item of an array, or the content of an object whose only member is `item` or `items`.
    fn unwrap_item<'n>(
        &mut self,
        outer_types: InstanceTypes,
        view: &View<'s, 'a>,
        schemas: &[&'s Node<'a>],
        value: &Node<'n>,
        at: At<'_>,
    ) -> Option<Candidate<'n>> {
        if at.layers.removed_containers >= MAX_REMOVED_CONTAINERS || at.layers.is_wrapped {
            return None;
        }
        let mut layers = Layers { removed_containers: at.layers.removed_containers + 1, ..at.layers };
        let (rule, child, inner) = match value.data() {
            Data::Array(items) if !outer_types.intersects(InstanceTypes::ARRAY) => match items.as_slice() {
                [item] if !item.is_null() => (RepairRule::UnwrapArray, ChildLocations::item(at, 0), item),
                _ => return None,
            },
            Data::Object(object) if !outer_types.intersects(InstanceTypes::OBJECT) => {
                let Member { key, value } = wrapper_member(object)?;
                (RepairRule::ItemWrapper, ChildLocations::member(at, key, key), value)
            }
            _ => return None,
        };
        let mut reading = inner.copy(self.judge.budget());
        let needs_array = rule == RepairRule::ItemWrapper && view.types.intersects(InstanceTypes::ARRAY);
        if needs_array && !matches!(reading.data(), Data::Array(_) | Data::Null) {
            reading = Node::array(alloc::vec![reading]);
            layers.is_wrapped = true;
        }
        // The inner value moves to the location of the outer value.
        let reading_at = At { to: at.to, ..child.at(at, layers) };
        self.try_reading((rule, Confidence::Likely), schemas, value, reading, (at, reading_at))
    }

    /// Parses a string that contains JSON. Returns `None` if the string must be read in another way, and `Some(None)`
    /// if it contains JSON but must stay unchanged.
    fn parse_json_string<'n>(
        &mut self,
        view: &View<'s, 'a>,
        schemas: &[&'s Node<'a>],
        value: &Node<'n>,
        at: At<'_>,
    ) -> Option<Option<Fixed<'n>>> {
        let text = value.as_text()?.value()?;
        let (trimmed, layers) = (text.trim(), at.layers);
        let containers = InstanceTypes::ARRAY.or(InstanceTypes::OBJECT);
        let may_be_json =
            trimmed.starts_with('"') || (view.types.intersects(containers) && trimmed.contains(['{', '[']));
        if layers.parsed_strings >= MAX_PARSED_STRINGS || !may_be_json || !self.judge.budget().pay(1 + text.len() / 64)
        {
            return None;
        }
        let tolerance = Tolerance { permits: self.permits, closes: false, is_inside: true, guesses: false };
        let reading = match read_tolerant(&text, tolerance) {
            Ok(reading) => reading,
            Err(refusal) => {
                // Text that only looks like JSON may still be an item of an array.
                self.record_reason(at, refusal.reason);
                return None;
            }
        };
        let is_container = matches!(reading.node.data(), Data::Array(_) | Data::Object(_) | Data::String(_));
        if !is_container || !self.judge.budget().pay(crate::json::size(&reading.node, self.judge.budget())) {
            return None;
        }
        let confidence = reading.repairs.iter().fold(Confidence::Exact, |lowest, repair| lowest.min(repair.confidence));
        let rule = (RepairRule::JsonString, confidence);
        let repair = words::replacement(at, rule, "string", &reading.node);
        let is_item = false;
        let mut repairs = alloc::vec![words::with_moved_from(repair, At { is_in_text: true, ..at }, is_item)];
        repairs.extend(reading.repairs.iter().map(|text| words::text_repair(at, *text, &reading.node)));
        if self.is_too_deep(&reading.node, at) {
            self.record_reason(at, LeftReason::TooDeep);
            return Some(None);
        }
        let has_surrounding_text = reading.repairs.iter().any(|repair| repair.rule == RepairRule::SurroundingText);
        if has_surrounding_text && self.wrap_in_array(view, schemas, value, at).is_some() {
            // The string may mean the JSON inside it, or the whole string may be an item of an array.
            self.record_reason(at, LeftReason::Ambiguous);
            return Some(None);
        }
        let has_accepted_type = InstanceTypes::of_instance(&reading.node).is_subset_of(view.types);
        let reading_at = At {
            is_in_text: true,
            ..at.for_next_reading(Layers { parsed_strings: layers.parsed_strings + 1, ..Layers::default() })
        };
        let inner = self.repair_value(schemas, reading.node, reading_at);
        if !has_accepted_type && self.verdict(schemas, &inner.value, at) != Verdict::Valid {
            return Some(None);
        }
        Some(self.permitted_candidate(rule, repairs, inner, at).map(|candidate| candidate.fixed))
    }

    fn is_too_deep(&self, value: &Node<'_>, at: At<'_>) -> bool {
        height(value, self.judge.budget()) + at.level + 1 >= MAX_DEPTH
    }

    pub(super) fn choose_candidate<'n>(&mut self, candidates: Vec<Candidate<'n>>, at: At<'_>) -> Option<Fixed<'n>> {
        let best_confidence = candidates.iter().map(|candidate| candidate.confidence).max()?;
        let mut best = candidates.into_iter().filter(|candidate| candidate.confidence == best_confidence);
        let first = best.next()?;
        if best.any(|candidate| !same(&candidate.fixed.value, &first.fixed.value)) {
            self.record_reason(at, LeftReason::Ambiguous);
            return None;
        }
        Some(first.fixed)
    }

    pub(super) fn repair_items<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        let satisfied = self.satisfied_assertions(view, &fixed.value, &VALUE_ASSERTIONS);
        if satisfied.is_empty() {
            return self.repair_each_item(view, fixed, &satisfied, at);
        }
        // All items are repaired together. If that breaks an assertion, each item is repaired individually.
        let (value, count) = (fixed.value.copy(self.judge.budget()), fixed.repairs.len());
        self.repair_each_item(view, fixed, &[], at);
        if self.breaks(&satisfied, &fixed.value) {
            fixed.value = value;
            fixed.repairs.truncate(count);
            self.repair_each_item(view, fixed, &satisfied, at);
        }
    }

    fn repair_each_item<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        satisfied: &[Assertion<'s, 'a>],
        at: At<'_>,
    ) {
        let count = fixed.value.as_array().map_or(0, <[_]>::len);
        let is_in_input = !at.layers.is_wrapped;
        let is_array = |item: &Node<'_>| matches!(item.data(), Data::Array(_));
        let is_in_flat_array = count > 1 && !fixed.value.as_array().is_some_and(|items| items.iter().any(is_array));
        let layers = Layers { is_wrapped: at.layers.is_wrapped, is_in_flat_array, ..Layers::default() };
        for index in 0..count {
            let schemas = self.item_schemas(view, index);
            let Some(item) = fixed.value.as_array_mut().and_then(|items| items.get_mut(index)) else { break };
            if schemas.is_empty() || !self.judge.budget().pay(1) {
                continue;
            }
            let previous = (!satisfied.is_empty()).then(|| item.copy(self.judge.budget()));
            let child = match is_in_input {
                true => ChildLocations::item(at, index),
                false => ChildLocations::item_of_added_array(at, index),
            };
            let repaired = self.repair_value(&schemas, core::mem::take(item), child.at(at, layers));
            *item = repaired.value;
            if repaired.repairs.is_empty() {
                continue;
            }
            if self.breaks(satisfied, &fixed.value) {
                if let (Some(item), Some(previous)) =
                    (fixed.value.as_array_mut().and_then(|items| items.get_mut(index)), previous)
                {
                    *item = previous;
                    continue;
                }
            }
            fixed.repairs.extend(repaired.repairs);
        }
    }
}

/// Returns the only member of an object that an XML-like format adds around an array or an item.
fn wrapper_member<'o, 'n>(object: &'o Object<'n>) -> Option<&'o Member<'n>> {
    match object.members() {
        [member] if member.key.is("item") || member.key.is("items") => Some(member),
        _ => None,
    }
}

/// Largest integer that all programs read exactly: 2^53 - 1 (RFC 8259, section 6).
const MAX_SAFE_INTEGER: &str = "9007199254740991";

pub(super) enum ParsedNumber {
    Number(String, Confidence),
    /// A whole number that some programs would round.
    Inexact,
    Nothing,
}

/// Parses a number. `is_whole` is true if the schema accepts only integers.
fn parse_number(text: &str, is_whole: bool) -> ParsedNumber {
    if text.len() > MAX_NAME_LENGTH {
        return ParsedNumber::Nothing;
    }
    let is_json_number = json::read(text).is_ok_and(|value| value.as_number().is_some());
    let (spelling, confidence) = match is_json_number {
        true => (String::from(text), Confidence::Exact),
        false => match json_spelling(text) {
            Some(spelling) => (spelling, Confidence::Likely),
            None => return ParsedNumber::Nothing,
        },
    };
    if json::is_integral(&spelling) {
        let magnitude = spelling.strip_prefix('-').unwrap_or(&spelling);
        if json::compare(magnitude, MAX_SAFE_INTEGER).is_gt() {
            return ParsedNumber::Inexact;
        }
        if is_whole {
            return ParsedNumber::Number(plain_number(&spelling).into_owned(), confidence);
        }
    } else if is_whole {
        return ParsedNumber::Nothing;
    }
    ParsedNumber::Number(spelling, confidence)
}

/// Returns the JSON spelling of `+3`, `007`, `.5` and `5.`.
fn json_spelling(text: &str) -> Option<String> {
    let (sign, digits) = match text.split_at_checked(1) {
        Some(("-", rest)) => ("-", rest),
        Some(("+", rest)) => ("", rest),
        _ => ("", text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let dot = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{whole}{dot}{fraction}"))
}

/// Maximum length of a name or a listed value that is compared with others.
const MAX_NAME_LENGTH: usize = 256;

/// Returns a name or a listed value in folded form: without case, surrounding quotes and spaces, and without spaces,
/// `_` and `-` between letters. Returns `None` if the folded form is empty.
pub(super) fn fold_name(name: &Text<'_>) -> Option<String> {
    let value = name.value().filter(|value| value.len() <= MAX_NAME_LENGTH)?;
    let is_trimmed = |letter: char| {
        letter.is_whitespace() || matches!(letter, '_' | '"' | '\'' | '`' | '\\' | '“' | '”' | '‘' | '’')
    };
    let is_separator = |letter: char| letter.is_whitespace() || matches!(letter, '_' | '-');
    let mut folded = String::new();
    let mut has_pending_separator = false;
    for letter in value.trim_matches(is_trimmed).chars() {
        if is_separator(letter) && folded.ends_with(char::is_alphanumeric) {
            has_pending_separator = true;
            continue;
        }
        // A separator between two digits, or next to a symbol, may be significant: 1-0 is not 10.
        let is_significant =
            |previous: char| !letter.is_alphanumeric() || (previous.is_numeric() && letter.is_numeric());
        if core::mem::take(&mut has_pending_separator) && folded.chars().next_back().is_some_and(is_significant) {
            folded.push('-');
        }
        folded.extend(letter.to_lowercase());
    }
    if has_pending_separator {
        folded.push('-');
    }
    Some(folded).filter(|folded| !folded.is_empty())
}

pub(super) fn means_null(text: &str) -> bool {
    ["null", "none", "undefined"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns false for a string that looks like a list, or like invalid JSON text. Such a string may not be the only item
/// of an array.
fn is_one_item(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || means_null(text) {
        return false;
    }
    let (mut depth, mut has_bracket) = (0_usize, false);
    let mut previous = ' ';
    for next in text.chars() {
        match next {
            '[' | '{' => (depth, has_bracket) = (depth + 1, true),
            ']' | '}' => match depth.checked_sub(1) {
                Some(inner_depth) => depth = inner_depth,
                None => return false,
            },
            ',' | ';' | '\n' | '\r' if depth == 0 => return false,
            '"' | '\'' if matches!(previous, '[' | '{') => return false,
            _ => {}
        }
        previous = next;
    }
    let is_bracketed = text.starts_with(['[', '{']) && text.ends_with([']', '}']);
    depth == 0 && !(has_bracket && is_bracketed)
}
