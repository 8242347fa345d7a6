//! Reports of passes: located by node numbers while nodes move, converted to pointers at the end. Also reports
//! properties that are lost when an object is closed, although other parts of the schema mention them.

mod pointers;

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::ops::Range;

use super::analysis::{Naming, PolarityMap};
use crate::{
    budget::Budget,
    collections::{self, Map, Set},
    dialect::reason::Cause,
    effect::{Accepts, Effect, Guidance},
    error::Error,
    json::{Data, Node, Object, Origin},
    report::{Change, Detail, Reason, Recorder},
    rules::{Constraint, Rule},
    schema::{
        join::Parts,
        references::{Number, KEYWORDS},
        visit::Polarity,
    },
};
use pointers::{InputPointers, OutputPointers};

#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeKind {
    pub(crate) rule: Rule,
    pub(crate) accepts: Accepts,
    pub(crate) guidance: Guidance,
    pub(crate) encoded: bool,
    /// The violated constraint, if the rule serves several and the location does not show which one it is.
    pub(crate) cause: Option<Constraint>,
}

impl ChangeKind {
    pub(crate) const fn of(rule: Rule) -> Self {
        let Effect { accepts, guidance, encoded } = rule.effect();
        ChangeKind { rule, accepts, guidance, encoded, cause: None }
    }

    pub(crate) const fn caused_by(mut self, constraint: Constraint) -> Self {
        self.cause = Some(constraint);
        self
    }

    pub(crate) const fn encoded(mut self, encoded: bool) -> Self {
        self.encoded = encoded;
        self
    }

    pub(crate) const fn accepts(mut self, accepts: Accepts) -> Self {
        self.accepts = accepts;
        self
    }

    pub(crate) const fn guidance(mut self, guidance: Guidance) -> Self {
        self.guidance = guidance;
        self
    }
}

/// Rules that remove a part. Such a change replaces all earlier changes inside the part.
const REMOVE: [Rule; 3] = [Rule::DropImpossibleBranch, Rule::DropKeyword, Rule::DropLongUnion];

/// Id of synthesized nodes, which are reported at the root.
const ROOT: Number = Number::MAX;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
    Node(Number),
    Keyword(Number, Cow<'static, str>),
    Nowhere,
}

impl Location {
    pub(crate) fn of(node: &Node<'_>) -> Location {
        Location::Node(node.origin().number().unwrap_or(ROOT))
    }

    pub(crate) fn of_reference(node: &Node<'_>) -> Location {
        let written = KEYWORDS.iter().find_map(|keyword| node.get(keyword));
        let value = written.filter(|value| value.origin().number().is_some());
        value.map_or_else(|| Location::under(node, "$ref"), Location::of)
    }

    pub(crate) fn under(node: &Node<'_>, keyword: impl Into<Cow<'static, str>>) -> Location {
        Location::Keyword(node.origin().number().unwrap_or(ROOT), keyword.into())
    }

    pub(crate) fn to(self, to: Location) -> Moved {
        Moved { from: self, to }
    }

    pub(crate) fn in_place(self) -> Moved {
        Moved { from: self.clone(), to: self }
    }

    pub(crate) fn removed(self) -> Moved {
        self.to(Location::Nowhere)
    }

    fn number(&self) -> Number {
        match self {
            Location::Node(number) | Location::Keyword(number, _) => *number,
            Location::Nowhere => ROOT,
        }
    }

    fn in_tree(self, root: Number) -> Location {
        match self {
            Location::Node(ROOT) => Location::Node(root),
            Location::Keyword(ROOT, keyword) => Location::Keyword(root, keyword),
            known => known,
        }
    }

    fn keyword(&self) -> Option<(Number, &str)> {
        match self {
            Location::Keyword(number, keyword) => Some((*number, keyword)),
            Location::Node(_) | Location::Nowhere => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Moved {
    from: Location,
    to: Location,
}

struct Entry {
    from: Location,
    to: Location,
    effect: ChangeKind,
    message: String,
    is_superseded: bool,
}

pub(crate) struct PausedEntries(Option<Vec<Entry>>);

/// Records the changes of passes, unless no report is requested.
pub(crate) struct Diagnostics {
    entries: Option<Vec<Entry>>,
    detail: Detail,
    /// Changes reported so far: an inlined definition is rewritten at every use, but reported once.
    reported: Map<(Location, Rule), usize>,
    /// Copied targets of references, with the number of locations that have a copy.
    written_counts: Map<Number, usize>,
    input: InputPointers,
    root: Number,
    uncertain_nodes: PolarityMap,
    pub(crate) naming: Naming,
    #[cfg(test)]
    expected: &'static [Rule],
}

impl Diagnostics {
    pub(crate) fn new(root: &Node<'_>, recorder: &Recorder, budget: &Budget) -> Result<Self, Error> {
        let mut diagnostics = Diagnostics {
            entries: None,
            detail: recorder.detail(),
            reported: Map::new(),
            written_counts: Map::new(),
            input: InputPointers::default(),
            root: root.origin().number().unwrap_or_default(),
            uncertain_nodes: PolarityMap::default(),
            naming: Naming::default(),
            #[cfg(test)]
            expected: Rule::ALL,
        };
        if recorder.is_on() {
            diagnostics.entries = Some(Vec::new());
            diagnostics.input = InputPointers::of(root);
            diagnostics.uncertain_nodes = PolarityMap::of(root, budget)?;
        }
        Ok(diagnostics)
    }

    /// Pauses reporting for a trial run, until [`resume`](Self::resume).
    pub(crate) fn pause(&mut self) -> PausedEntries {
        PausedEntries(self.entries.take())
    }

    pub(crate) fn resume(&mut self, paused: PausedEntries) {
        self.entries = paused.0;
    }

    /// Tests check that a pass reports only rules in its table entry.
    #[cfg(test)]
    pub(crate) fn expect(&mut self, rules: &'static [Rule]) {
        self.expected = rules;
    }

    pub(crate) fn is_on(&self) -> bool {
        self.entries.is_some()
    }

    /// Changes to synthesized nodes are reported at the root.
    pub(crate) fn follow(&mut self, root: &Node<'_>) {
        self.root = root.origin().number().unwrap_or(self.root);
    }

    pub(crate) fn report_respelled(
        &mut self,
        polarity: impl Into<Polarity>,
        value: &Node<'_>,
        keyword: &'static str,
        effect: ChangeKind,
        message: impl FnOnce() -> String,
    ) {
        if let Some(number) = value.origin().number().filter(|_| self.is_on()) {
            self.input.respell(number, keyword);
        }
        self.report(polarity, Location::of(value).in_place(), effect, message);
    }

    /// Counts a copy of a target. `stays` is true if the original is written, too.
    pub(crate) fn record_location(&mut self, target: &Node<'_>, stays: bool) {
        if let Some(number) = target.origin().number().filter(|_| self.is_on()) {
            *self.written_counts.entry(number).or_insert(usize::from(stays)) += 1;
        }
    }

    pub(crate) fn report(
        &mut self,
        polarity: impl Into<Polarity>,
        moved: Moved,
        effect: ChangeKind,
        message: impl FnOnce() -> String,
    ) {
        if self.is_on() {
            if let Some(text) = self.record(polarity.into(), moved, effect) {
                *text = message();
            }
        }
    }

    /// Returns the empty message of the change, if the change is new and messages are wanted.
    #[inline(never)]
    fn record(&mut self, polarity: Polarity, moved: Moved, effect: ChangeKind) -> Option<&mut String> {
        let entries = self.entries.as_mut()?;
        #[cfg(test)]
        assert!(self.expected.contains(&effect.rule), "`{}` is not a rule of the running pass", effect.rule.id());
        let (from, to) = (moved.from.in_tree(self.root), moved.to.in_tree(self.root));
        let polarity = if self.uncertain_nodes.covers(from.number()) { Polarity::Mixed } else { polarity };
        let effect = ChangeKind { accepts: polarity.through(effect.accepts), ..effect };
        let key = (from, effect.rule);
        if let Some(reported) = self.reported.get(&key).and_then(|index| entries.get_mut(*index)) {
            // The definition is also used at a location where the effect differs.
            if reported.effect.accepts != effect.accepts {
                reported.effect.accepts = reported.effect.accepts.or_elsewhere(effect.accepts);
            }
            reported.effect.guidance = reported.effect.guidance.and(effect.guidance);
            reported.effect.encoded |= effect.encoded;
            return None;
        }
        self.reported.insert(key.clone(), entries.len());
        entries.push(Entry { from: key.0, to, effect, message: String::new(), is_superseded: false });
        entries.last_mut().map(|entry| &mut entry.message).filter(|_| self.detail == Detail::Whole)
    }

    pub(crate) fn supersede(
        &mut self,
        undone: ChangeKind,
        polarity: impl Into<Polarity>,
        moved: Moved,
        effect: ChangeKind,
        message: impl FnOnce() -> String,
    ) {
        let Some(entries) = &mut self.entries else { return };
        let cause = (moved.from.clone().in_tree(self.root), undone.rule);
        if let Some(entry) = self.reported.remove(&cause).and_then(|index| entries.get_mut(index)) {
            entry.is_superseded = true;
        }
        self.report(polarity, moved, effect, message);
    }

    /// Removes the changes inside these nodes, because another change reports the nodes as removed. The numbers are
    /// sorted.
    pub(crate) fn retract(&mut self, removed: &[Number]) {
        let Some(entries) = self.entries.as_mut().filter(|_| !removed.is_empty()) else { return };
        // Parts of the nodes may have been removed before, so their ends are the ends in the input.
        let ends = self.input.ends();
        entries.retain(|entry| {
            let number = entry.from.number();
            let after = removed.partition_point(|start| *start <= number);
            let start = after.checked_sub(1).and_then(|index| removed.get(index));
            start.and_then(|start| ends.get(start)).is_none_or(|end| number >= *end)
        });
        self.reported =
            entries.iter().enumerate().map(|(index, entry)| ((entry.from.clone(), entry.effect.rule), index)).collect();
    }

    pub(crate) fn finish(self, output: &Node<'_>, reason: impl Fn(Rule, Cause<'_>) -> Reason, recorder: &mut Recorder) {
        let Some(mut entries) = self.entries else { return };
        entries.retain(|entry| !entry.is_superseded);
        forget_removed(&mut entries, &self.written_counts, &self.input, output);
        recorder.reserve(entries.len());
        if self.detail == Detail::Effects {
            for Entry { from, effect: ChangeKind { rule, accepts, guidance, encoded, .. }, .. } in entries {
                recorder.record(from.number(), || Change::in_brief(rule, Effect { accepts, guidance, encoded }));
            }
            return;
        }
        let input = &self.input;
        let keyword_locations: Set<(Number, &str)> = entries.iter().filter_map(|entry| entry.from.keyword()).collect();
        let members_in_input = input.members(&keyword_locations);
        // A keyword that an earlier rule wrote is not in the input, so the change is located at its node.
        let pointer = |from: &Location| {
            let member = from.keyword().and_then(|member| members_in_input.get(&member).copied());
            input.pointer(member.unwrap_or_else(|| from.number()))
        };
        let pointers: Vec<String> = entries.iter().map(|entry| pointer(&entry.from)).collect();
        let output_locations = OutputPointers::of(output, entries.iter().map(|entry| &entry.to));
        let output_pointers: Vec<Option<String>> =
            entries.iter().map(|entry| output_locations.pointer(&entry.to)).collect();
        for ((entry, pointer), output_pointer) in entries.into_iter().zip(pointers).zip(output_pointers) {
            let ChangeKind { rule, accepts, guidance, encoded, cause } = entry.effect;
            let written = entry.from.keyword().map(|(_, keyword)| keyword);
            let reason = reason(rule, Cause { pointer: &pointer, written, constraint: cause });
            let message = entry.message;
            recorder.record(entry.from.number(), || Change {
                pointer,
                output_pointer,
                rule,
                accepts,
                guidance,
                encoded,
                reason,
                message,
            });
        }
    }
}

/// Drops changes inside parts that were removed entirely later, so that one cause is reported as one change.
///
/// References may have copied such a part, or a schema in it, to other locations. The copies may still exist, so their
/// changes are kept if they have an effect.
fn forget_removed(
    entries: &mut Vec<Entry>,
    written_counts: &Map<Number, usize>,
    input: &InputPointers,
    output: &Node<'_>,
) {
    let is_removal = |entry: &Entry| entry.to == Location::Nowhere && REMOVE.contains(&entry.effect.rule);
    if !entries.iter().any(is_removal) {
        return;
    }
    // Numbers follow document order, so a part is a range of them.
    let ends = input.ends();
    let keyword_locations: Set<(Number, &str)> =
        entries.iter().filter(|entry| is_removal(entry)).filter_map(|entry| entry.from.keyword()).collect();
    let starts = input.members(&keyword_locations);
    let mut remaining_numbers: Set<Number> = Set::new();
    collect_numbers(output, &mut remaining_numbers);
    let removed_range = |entry: &Entry| {
        let start = match entry.from.keyword() {
            Some(member) => *starts.get(&member)?,
            None => entry.from.number(),
        };
        let range = start..*ends.get(&start)?;
        remaining_numbers.first_from(&range.start).is_none_or(|first| !range.contains(first)).then_some(range)
    };
    let removed: Vec<Range<Number>> =
        entries.iter().filter(|entry| is_removal(entry)).filter_map(removed_range).collect();
    let mut removed = collections::sorted_by(removed, |one, two| (one.start, two.end).cmp(&(two.start, one.end)));
    // Keeps only the outermost of nested ranges.
    removed.dedup_by(|inner, outer| inner.start < outer.end);
    let is_elsewhere = |number: Number, removed_range: &Range<Number>| {
        !written_counts.is_empty()
            && input.enclosing(number).any(|enclosing| {
                // A target inside the part was copied out of it. A larger target may still exist at its original
                // location.
                let original = usize::from(enclosing <= removed_range.start);
                written_counts.get(&enclosing).is_some_and(|written_counts| *written_counts > original)
            })
    };
    let is_forgotten = |entry: &Entry| {
        let number = entry.from.number();
        let after = removed.partition_point(|range| range.start <= number);
        let enclosing =
            after.checked_sub(1).and_then(|index| removed.get(index)).filter(|range| range.contains(&number));
        enclosing.is_some_and(|removed_range| {
            !(removed_range.start == number && is_removal(entry)
                || has_effect(entry) && is_elsewhere(number, removed_range))
        })
    };
    let is_forgotten: Vec<bool> = entries.iter().map(is_forgotten).collect();
    let mut is_forgotten = is_forgotten.into_iter();
    entries.retain(|_| !is_forgotten.next().unwrap_or_default());
}

fn has_effect(entry: &Entry) -> bool {
    let ChangeKind { accepts, guidance, encoded, .. } = entry.effect;
    accepts != Accepts::Same || guidance != Guidance::Same || encoded
}

fn collect_numbers(node: &Node<'_>, numbers: &mut Set<Number>) {
    numbers.extend(node.origin().number());
    match node.data() {
        Data::Array(items) => items.iter().for_each(|item| collect_numbers(item, numbers)),
        Data::Object(object) => object.iter().for_each(|member| collect_numbers(&member.value, numbers)),
        _ => {}
    }
}

impl Diagnostics {
    /// Collects the names in the schema, for a grammar that closes all objects.
    pub(crate) fn collect_names(&mut self, root: &Node<'_>, budget: &Budget) -> Result<(), Error> {
        if self.is_on() {
            self.naming = Naming::of(root, budget)?;
        }
        Ok(())
    }

    pub(crate) fn remove_names(&mut self, part: &Node<'_>, budget: &Budget) -> Result<(), Error> {
        match self.entries {
            Some(_) => self.naming.add_names_of_removed(part, budget),
            None => Ok(()),
        }
    }

    pub(crate) fn join_names(&mut self, objects: &[Object<'_>], parts: Option<Parts<'_, '_, '_>>, into: Origin) {
        if self.is_on() {
            self.naming.record_merged(objects, parts, into.number().unwrap_or(self.root));
        }
    }

    pub(crate) fn mentions_others(&self, object: &Node<'_>) -> bool {
        self.naming.mentions_others(object, object.origin().number().unwrap_or(self.root))
    }
}
