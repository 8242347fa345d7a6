//! Repairs a value of the wrong type, or one that `enum` does not list: tries every reading and chooses one. Reads
//! numbers, booleans and names in the spellings of models.

use alloc::{format, string::String, vec::Vec};

use super::{
    view::{literals, Assertion, View, OF_VALUES},
    words, At, Below, Fixed, Layers, Repairer, TEXTS,
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

/// Maximum number of arrays and objects to remove around a value.
const UNWRAPPED: u8 = 3;

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
        let outer = at.outer.unwrap_or(view.kinds);
        let mut candidates: Vec<Candidate<'n>> = Vec::new();
        let is_text = matches!(value.data(), Data::String(_));
        if is_text && !outer.meets(InstanceTypes::STRING) {
            if let Some(read) = self.json_string(view, schemas, value, at) {
                return read;
            }
        }
        for (rule, confidence, reading) in self.scalar_readings(view, outer, value, at) {
            let one = self.reading((rule, confidence), schemas, value, reading, (at, at.for_next_reading(at.layers)));
            candidates.extend(one);
        }
        candidates.extend(self.unwrapped(outer, view, schemas, value, at));
        candidates.extend(self.wrapped(view, schemas, value, at));
        self.choose(candidates, at)
    }

    fn scalar_readings<'n>(
        &mut self,
        view: &View<'s, 'a>,
        outer: InstanceTypes,
        value: &Node<'n>,
        at: At<'_>,
    ) -> Vec<(RepairRule, Confidence, Node<'n>)> {
        use Confidence::{Exact, Likely};
        let (kinds, mut readings) = (view.kinds, Vec::new());
        match value.data() {
            Data::String(text) => {
                let Some(text) = text.value() else { return readings };
                let trimmed = text.trim();
                if !outer.meets(InstanceTypes::STRING) {
                    if kinds.meets(InstanceTypes::NUMBER) {
                        let is_whole = kinds.and(InstanceTypes::NUMBER) == InstanceTypes::INTEGER;
                        match number(trimmed, is_whole) {
                            Spelled::Number(number, confidence) => readings.push((
                                RepairRule::StringToNumber,
                                confidence,
                                Node::new(Data::Number(number.into())),
                            )),
                            Spelled::Inexact => self.leave(at, LeftReason::Inexact),
                            Spelled::Nothing => {}
                        }
                    }
                    for boolean in [true, false] {
                        let word = if boolean { "true" } else { "false" };
                        if kinds.meets(InstanceTypes::BOOLEAN) && trimmed.eq_ignore_ascii_case(word) {
                            readings.push((RepairRule::StringToBoolean, Exact, Node::bool(boolean)));
                        }
                    }
                    if kinds.meets(InstanceTypes::NULL) {
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
                readings
                    .extend(self.listed(view, value, at).map(|literal| (RepairRule::EnumSpelling, Likely, literal)));
            }
            Data::Number(number) => {
                let is = |digit: &str| crate::json::compare(number, digit).is_eq();
                if kinds.meets(InstanceTypes::BOOLEAN) && (is("0") || is("1")) {
                    readings.push((RepairRule::NumberToBoolean, Likely, Node::bool(is("1"))));
                }
                if kinds.meets(InstanceTypes::STRING) {
                    readings.push((RepairRule::NumberToString, Exact, Node::string(Text::new(number.clone()))));
                }
            }
            Data::Bool(boolean) if kinds.meets(InstanceTypes::STRING) => {
                let word = if *boolean { "true" } else { "false" };
                readings.push((RepairRule::BooleanToString, Exact, Node::literal(word)));
            }
            _ => {}
        }
        readings
    }

    /// Returns the listed string that differs only in spelling, if there is exactly one.
    fn listed(&mut self, view: &View<'s, 'a>, wanted: &Node<'_>, at: At<'_>) -> Option<Node<'static>> {
        let wanted = wanted.as_text().and_then(folded)?;
        let mut found: Option<&Node<'_>> = None;
        for literal in view.parts.iter().flat_map(|part| literals(part)) {
            if !self.judge.budget().pay(1) {
                return None;
            }
            let is_meant = literal.as_text().and_then(folded).is_some_and(|spelled| spelled == wanted);
            if is_meant && found.is_some_and(|known| !same(known, literal)) {
                self.leave(at, LeftReason::Ambiguous);
                return None;
            }
            if is_meant {
                found = Some(literal);
            }
        }
        found.map(Node::detached)
    }

    fn reading<'n>(
        &mut self,
        (rule, confidence): (RepairRule, Confidence),
        schemas: &[&'s Node<'a>],
        value: &Node<'n>,
        reading: Node<'n>,
        (at, inside): (At<'_>, At<'_>),
    ) -> Option<Candidate<'n>> {
        let mut repair = words::replaced(at, (rule, confidence), words::kind(value), &reading);
        if matches!(rule, RepairRule::WrapArray | RepairRule::UnwrapArray | RepairRule::ItemWrapper) {
            repair = words::moved(repair, inside, inside.layers.is_wrapped);
        }
        let inner = self.repair_value(schemas, reading, inside);
        if self.verdict(schemas, &inner.value, at) != Verdict::Valid {
            return None;
        }
        self.candidate((rule, confidence), alloc::vec![repair], inner, at)
    }

    pub(super) fn candidate<'n>(
        &mut self,
        (rule, confidence): (RepairRule, Confidence),
        mut repairs: Vec<Repair>,
        inner: Fixed<'n>,
        at: At<'_>,
    ) -> Option<Candidate<'n>> {
        if let Some(reason) = self.permits.refusal(rule, confidence) {
            self.leave(at, reason);
            return None;
        }
        let confidence = inner.repairs.iter().fold(confidence, |lowest, repair| lowest.min(repair.confidence));
        repairs.extend(inner.repairs);
        Some(Candidate { fixed: Fixed { value: inner.value, repairs }, confidence })
    }

    fn wrapped<'n>(
        &mut self,
        view: &View<'s, 'a>,
        schemas: &[&'s Node<'a>],
        value: &Node<'n>,
        at: At<'_>,
    ) -> Option<Candidate<'n>> {
        if !view.kinds.meets(InstanceTypes::ARRAY) || at.layers.is_wrapped {
            return None;
        }
        match value.data() {
            Data::Null | Data::Array(_) | Data::Verbatim(_) => return None,
            Data::String(text) if !self.judge.budget().pay(text.chars().len() / 64) => return None,
            Data::String(text) if !is_one_item(&text.display()) => return None,
            // An empty object carries no data, and the content of `item` is not an item itself.
            Data::Object(object) if object.is_empty() || item_of(object).is_some() => return None,
            _ => {}
        }
        if self.is_too_deep(value, at) {
            return None;
        }
        if at.layers.is_of_row {
            self.leave(at, LeftReason::Ambiguous);
            return None;
        }
        let reading = Node::array(alloc::vec![value.copy(self.judge.budget())]);
        let layers = Layers { is_wrapped: true, ..at.layers };
        self.reading(
            (RepairRule::WrapArray, Confidence::Likely),
            schemas,
            value,
            reading,
            (at, at.for_next_reading(layers)),
        )
    }

    /// Returns the item of an array of one, or the content of `item`.
    fn unwrapped<'n>(
        &mut self,
        outer: InstanceTypes,
        view: &View<'s, 'a>,
        schemas: &[&'s Node<'a>],
        value: &Node<'n>,
        at: At<'_>,
    ) -> Option<Candidate<'n>> {
        if at.layers.unwrapped >= UNWRAPPED || at.layers.is_wrapped {
            return None;
        }
        let mut layers = Layers { unwrapped: at.layers.unwrapped + 1, ..at.layers };
        let (rule, below, inner) = match value.data() {
            Data::Array(items) if !outer.meets(InstanceTypes::ARRAY) => match items.as_slice() {
                [item] if !item.is_null() => (RepairRule::UnwrapArray, Below::item(at, 0, true), item),
                _ => return None,
            },
            Data::Object(object) if !outer.meets(InstanceTypes::OBJECT) => {
                let Member { key, value } = item_of(object)?;
                (RepairRule::ItemWrapper, Below::member(at, key, key), value)
            }
            _ => return None,
        };
        let mut reading = inner.copy(self.judge.budget());
        let wants_array = rule == RepairRule::ItemWrapper && view.kinds.meets(InstanceTypes::ARRAY);
        if wants_array && !matches!(reading.data(), Data::Array(_) | Data::Null) {
            reading = Node::array(alloc::vec![reading]);
            layers.is_wrapped = true;
        }
        // The inner value moves up one level, to the location of the outer one.
        let inside = At { to: at.to, ..below.at(at, layers) };
        self.reading((rule, Confidence::Likely), schemas, value, reading, (at, inside))
    }

    /// `Some(None)` means that the string contains JSON but is left unchanged.
    fn json_string<'n>(
        &mut self,
        view: &View<'s, 'a>,
        schemas: &[&'s Node<'a>],
        value: &Node<'n>,
        at: At<'_>,
    ) -> Option<Option<Fixed<'n>>> {
        let text = value.as_text()?.value()?;
        let (trimmed, layers) = (text.trim(), at.layers);
        let holders = InstanceTypes::ARRAY.or(InstanceTypes::OBJECT);
        let is_meant = trimmed.starts_with('"') || (view.kinds.meets(holders) && trimmed.contains(['{', '[']));
        if layers.texts >= TEXTS || !is_meant || !self.judge.budget().pay(1 + text.len() / 64) {
            return None;
        }
        let how = Tolerance { permits: self.permits, closes: false, is_inside: true, guesses: false };
        let reading = match read_tolerant(&text, how) {
            Ok(reading) => reading,
            Err(refusal) => {
                // Text that only looks like JSON may still be an item of an array.
                self.leave(at, refusal.reason);
                return None;
            }
        };
        let is_holder = matches!(reading.node.data(), Data::Array(_) | Data::Object(_) | Data::String(_));
        if !is_holder || !self.judge.budget().pay(crate::json::size(&reading.node, self.judge.budget())) {
            return None;
        }
        let confidence = reading.repairs.iter().fold(Confidence::Exact, |lowest, text| lowest.min(text.confidence));
        let rule = (RepairRule::JsonString, confidence);
        let read = words::replaced(at, rule, "string", &reading.node);
        let mut repairs = alloc::vec![words::moved(read, At { is_frozen: true, ..at }, false)];
        repairs.extend(reading.repairs.iter().map(|text| words::read(at, *text, &reading.node)));
        if self.is_too_deep(&reading.node, at) {
            self.leave(at, LeftReason::TooDeep);
            return Some(None);
        }
        let has_words = reading.repairs.iter().any(|text| text.rule == RepairRule::SurroundingText);
        if has_words && self.wrapped(view, schemas, value, at).is_some() {
            // The whole string may just as well be one item of an array.
            self.leave(at, LeftReason::Ambiguous);
            return Some(None);
        }
        let is_admitted = InstanceTypes::of_instance(&reading.node).within(view.kinds);
        let inside =
            At { is_frozen: true, ..at.for_next_reading(Layers { texts: layers.texts + 1, ..Layers::default() }) };
        let inner = self.repair_value(schemas, reading.node, inside);
        if !is_admitted && self.verdict(schemas, &inner.value, at) != Verdict::Valid {
            return Some(None);
        }
        Some(self.candidate(rule, repairs, inner, at).map(|candidate| candidate.fixed))
    }

    fn is_too_deep(&self, value: &Node<'_>, at: At<'_>) -> bool {
        height(value, self.judge.budget()) + at.level + 1 >= MAX_DEPTH
    }

    pub(super) fn choose<'n>(&mut self, candidates: Vec<Candidate<'n>>, at: At<'_>) -> Option<Fixed<'n>> {
        let best = candidates.iter().map(|candidate| candidate.confidence).max()?;
        let mut best = candidates.into_iter().filter(|candidate| candidate.confidence == best);
        let first = best.next()?;
        if best.any(|other| !same(&other.fixed.value, &first.fixed.value)) {
            self.leave(at, LeftReason::Ambiguous);
            return None;
        }
        Some(first.fixed)
    }

    pub(super) fn items<'n>(&mut self, view: &View<'s, 'a>, fixed: &mut Fixed<'n>, at: At<'_>) {
        let satisfied = self.satisfied(view, &fixed.value, &OF_VALUES);
        if satisfied.is_empty() {
            return self.each_item(view, fixed, &satisfied, at);
        }
        // All items are repaired together, and individually only if that breaks something.
        let (value, count) = (fixed.value.copy(self.judge.budget()), fixed.repairs.len());
        self.each_item(view, fixed, &[], at);
        if self.breaks(&satisfied, &fixed.value) {
            fixed.value = value;
            fixed.repairs.truncate(count);
            self.each_item(view, fixed, &satisfied, at);
        }
    }

    fn each_item<'n>(
        &mut self,
        view: &View<'s, 'a>,
        fixed: &mut Fixed<'n>,
        satisfied: &[Assertion<'s, 'a>],
        at: At<'_>,
    ) {
        let count = fixed.value.as_array().map_or(0, <[_]>::len);
        let is_own = !at.layers.is_wrapped;
        let is_array = |item: &Node<'_>| matches!(item.data(), Data::Array(_));
        let is_of_row = count > 1 && !fixed.value.as_array().is_some_and(|items| items.iter().any(is_array));
        let layers = Layers { is_wrapped: at.layers.is_wrapped, is_of_row, ..Layers::default() };
        for index in 0..count {
            let schemas = self.item_schemas(view, index);
            let Some(item) = fixed.value.as_array_mut().and_then(|items| items.get_mut(index)) else { break };
            if schemas.is_empty() || !self.judge.budget().pay(1) {
                continue;
            }
            let old = (!satisfied.is_empty()).then(|| item.copy(self.judge.budget()));
            let below = Below::item(at, index, is_own);
            let found = self.repair_value(&schemas, core::mem::take(item), below.at(at, layers));
            *item = found.value;
            if found.repairs.is_empty() {
                continue;
            }
            if self.breaks(satisfied, &fixed.value) {
                if let (Some(item), Some(old)) =
                    (fixed.value.as_array_mut().and_then(|items| items.get_mut(index)), old)
                {
                    *item = old;
                    continue;
                }
            }
            fixed.repairs.extend(found.repairs);
        }
    }
}

/// Returns the only member of an object that an XML-like format put around an array or an item.
fn item_of<'o, 'n>(object: &'o Object<'n>) -> Option<&'o Member<'n>> {
    match object.members() {
        [member] if member.key.is("item") || member.key.is("items") => Some(member),
        _ => None,
    }
}

/// Largest whole number that all programs read exactly: 2^53 - 1 (RFC 8259, section 6).
const MAX_SAFE_INTEGER: &str = "9007199254740991";

pub(super) enum Spelled {
    Number(String, Confidence),
    /// A whole number that some programs would round.
    Inexact,
    Nothing,
}

/// `is_whole` is set if the schema accepts only integers.
fn number(text: &str, is_whole: bool) -> Spelled {
    if text.len() > MAX_LENGTH {
        return Spelled::Nothing;
    }
    let strict = json::read(text).is_ok_and(|read| read.as_number().is_some());
    let (spelling, confidence) = match strict {
        true => (String::from(text), Confidence::Exact),
        false => match respelled(text) {
            Some(spelling) => (spelling, Confidence::Likely),
            None => return Spelled::Nothing,
        },
    };
    if json::is_integral(&spelling) {
        let size = spelling.strip_prefix('-').unwrap_or(&spelling);
        if json::compare(size, MAX_SAFE_INTEGER).is_gt() {
            return Spelled::Inexact;
        }
        if is_whole {
            return Spelled::Number(plain_number(&spelling).into_owned(), confidence);
        }
    } else if is_whole {
        return Spelled::Nothing;
    }
    Spelled::Number(spelling, confidence)
}

/// Returns the JSON spelling of `+3`, `007`, `.5` and `5.`.
fn respelled(text: &str) -> Option<String> {
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
const MAX_LENGTH: usize = 256;

/// Folds a name or a listed value: ignores case, surrounding quotes and spaces, and spaces, `_` and `-` between
/// letters. Returns `None` if nothing is left.
pub(super) fn folded(name: &Text<'_>) -> Option<String> {
    let value = name.value().filter(|value| value.len() <= MAX_LENGTH)?;
    let is_around = |letter: char| {
        letter.is_whitespace() || matches!(letter, '_' | '"' | '\'' | '`' | '\\' | '“' | '”' | '‘' | '’')
    };
    let is_between = |letter: char| letter.is_whitespace() || matches!(letter, '_' | '-');
    let mut folded = String::new();
    let mut gap = false;
    for letter in value.trim_matches(is_around).chars() {
        if is_between(letter) && folded.ends_with(char::is_alphanumeric) {
            gap = true;
            continue;
        }
        // A separator between two digits, or next to a symbol, may be significant: 1-0 is not 10.
        let is_kept = |before: char| !letter.is_alphanumeric() || (before.is_numeric() && letter.is_numeric());
        if core::mem::take(&mut gap) && folded.chars().next_back().is_some_and(is_kept) {
            folded.push('-');
        }
        folded.extend(letter.to_lowercase());
    }
    if gap {
        folded.push('-');
    }
    Some(folded).filter(|folded| !folded.is_empty())
}

pub(super) fn means_null(text: &str) -> bool {
    ["null", "none", "undefined"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// A string that looks like a list, or like JSON text that could not be read, may not be the only item of an array.
fn is_one_item(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || means_null(text) {
        return false;
    }
    let (mut depth, mut has_bracket) = (0_usize, false);
    let mut before = ' ';
    for next in text.chars() {
        match next {
            '[' | '{' => (depth, has_bracket) = (depth + 1, true),
            ']' | '}' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            ',' | ';' | '\n' | '\r' if depth == 0 => return false,
            '"' | '\'' if matches!(before, '[' | '{') => return false,
            _ => {}
        }
        before = next;
    }
    let is_bracketed = text.starts_with(['[', '{']) && text.ends_with([']', '}']);
    depth == 0 && !(has_bracket && is_bracketed)
}
