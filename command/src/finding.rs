//! Findings: each occurs once, with all its dialects, its location, and its copies.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use toolwire::{
    internal::{self, FindingLimit},
    reports::{Grade, RequestFact, Severity},
    rules::{Constraint, Rule},
    Dialect,
};

use super::{
    diff::kinds::{kind_of, level},
    input::Named,
    naming::normal,
    outcome::Outcome,
    position::{positions, InputPointers, Position},
    task::{Origin, SourceText},
};

pub(crate) const DOCS: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/");

/// Advice for a loss, whose remedy depends on the tool.
const LOSS_ADVICE: &str = "`toolwire explain` shows what is lost, and why.";

/// Advice for a finding about a request.
const REQUEST_ADVICE: &str = "Change the request; `adaptRequest` does so if the API has another way to express it.";

/// A dialect with the finding, and the fact behind it.
#[derive(Clone, Debug)]
pub(crate) struct ReportedBy {
    pub(crate) dialect: &'static Dialect,
    pub(crate) confidence: Grade,
    pub(crate) source: &'static str,
    /// The message for this dialect, if it differs from the finding's message.
    pub(crate) message: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) tool: Option<String>,
    pub(crate) rule: &'static str,
    pub(crate) severity: Severity,
    /// The outcome of rewriting, for `--rewritten`.
    pub(crate) outcome: Option<Outcome>,
    /// JSON Pointer into the list, or into the request.
    pub(crate) pointer: String,
    /// True if the finding is about a request as a whole.
    pub(crate) is_of_request: bool,
    pub(crate) message: String,
    /// Number of further findings of the rule at this location that are not listed.
    pub(crate) unlisted: usize,
    pub(crate) reported_by: Vec<ReportedBy>,
    /// Values that prove a difference of two schemas, as JSON, by the name of their member in documents.
    pub(crate) witnesses: Vec<(&'static str, String)>,
}

#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) input: SourceText,
    pub(crate) noun: &'static str,
    pub(crate) pointers: InputPointers,
    pub(crate) entries: Vec<Named>,
    pub(crate) found: Findings,
}

/// Findings of several dialects, merged if they have the same cause. The dialects may describe the cause in different
/// words.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    /// Indices of findings, by pointer, rule and severity or outcome.
    known: BTreeMap<(String, &'static str, &'static str), Vec<usize>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// Index of the input.
    pub(crate) source: usize,
    pub(crate) tool: Option<String>,
    pub(crate) position: Option<Position>,
    /// JSON Pointer into the input, or into its line.
    pub(crate) pointer: String,
    /// Index of the entry in the list. `inside` is the pointer within a named entry. For an entry without a name, it is
    /// the pointer into the list.
    pub(crate) entry: Option<usize>,
    pub(crate) inside: String,
    /// Index among the findings with the same identity, from 0.
    pub(crate) number: usize,
}

/// A finding with its first location. `copies` are the other locations at which it occurs.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) finding: Finding,
    pub(crate) location: Location,
    pub(crate) copies: Vec<Location>,
}

/// Rank of a severity: 0 is the most severe.
pub(crate) const fn rank(severity: Severity) -> usize {
    match severity {
        Severity::Refused => 0,
        Severity::Reinterpreted => 1,
        Severity::Ignored => 2,
    }
}

pub(crate) fn page(rule: &str) -> String {
    let is_rule = internal::constraint_of(rule).is_some() || Rule::ALL.iter().any(|known| known.id() == rule);
    if kind_of(rule).is_some() {
        return format!("{DOCS}diff.md#{rule}");
    }
    if of_requests(rule).is_some() {
        return format!("{DOCS}functions/requests.md#checkrequest");
    }
    // For a tool that cannot be rewritten, the rule is the code of an error.
    if is_rule {
        format!("{DOCS}rules.md#{rule}")
    } else {
        format!("{DOCS}functions/README.md#error-codes")
    }
}

pub(crate) fn summary_and_advice(rule: &str) -> (&'static str, &'static str) {
    if let Some(kind) = kind_of(rule) {
        return (kind.summary, kind.fix);
    }
    let constraint = internal::constraint_of(rule).map(|rule: Constraint| (rule.summary(), rule.fix()));
    let change = || Rule::ALL.iter().find(|known| known.id() == rule).map(|rule| (rule.summary(), LOSS_ADVICE));
    let request = || of_requests(rule).map(|summary| (summary, REQUEST_ADVICE));
    constraint.or_else(request).or_else(change).unwrap_or(("The tool cannot be expressed for that API.", LOSS_ADVICE))
}

pub(crate) fn is_constraint(rule: &str) -> bool {
    internal::constraint_of(rule).is_some() || of_requests(rule).is_some()
}

fn of_requests(rule: &str) -> Option<&'static str> {
    RequestFact::CONSTRAINTS.iter().find(|(name, _)| *name == rule).map(|(_, summary)| *summary)
}

impl Finding {
    pub(crate) fn word(&self) -> &'static str {
        match self.outcome {
            Some(outcome) => outcome.as_str(),
            None if kind_of(self.rule).is_some() => level(self.severity),
            None => self.severity.as_str(),
        }
    }

    fn has_message(&self, message: &str) -> bool {
        self.message == message || self.reported_by.iter().any(|by| by.message.as_deref() == Some(message))
    }

    fn join(&mut self, finding: Finding) {
        self.unlisted = self.unlisted.max(finding.unlisted);
        self.reported_by.extend(finding.reported_by.into_iter().map(|by| {
            let message = by.message.unwrap_or_else(|| finding.message.clone());
            ReportedBy { message: Some(message).filter(|message| *message != self.message), ..by }
        }));
    }

    fn choose_message(&mut self) {
        for by in &mut self.reported_by {
            by.message.get_or_insert_with(|| self.message.clone());
        }
        let mut counts = BTreeMap::<&str, usize>::new();
        for message in self.reported_by.iter().filter_map(|by| by.message.as_deref()) {
            *counts.entry(message).or_default() += 1;
        }
        let count = |message: &Option<String>| message.as_deref().and_then(|message| counts.get(message)).copied();
        // The first of the most frequent messages.
        let most = self.reported_by.iter().rev().max_by_key(|by| count(&by.message));
        if let Some(message) = most.and_then(|by| by.message.clone()) {
            self.message = message;
        }
        for by in &mut self.reported_by {
            by.message = by.message.take().filter(|message| *message != self.message);
        }
    }

    /// Messages of dialects that describe the finding differently, each with its dialects.
    pub(crate) fn other_messages(&self) -> Vec<(&str, Vec<&'static str>)> {
        let mut others: Vec<(&str, Vec<&'static str>)> = Vec::new();
        for (message, dialect) in self.reported_by.iter().filter_map(|by| Some((by.message.as_deref()?, by.dialect))) {
            match others.iter_mut().find(|(known, _)| *known == message) {
                Some((_, dialects)) => dialects.push(dialect.name),
                None => others.push((message, Vec::from([dialect.name]))),
            }
        }
        others
    }

    pub(crate) fn dialects(&self) -> Vec<&'static str> {
        self.reported_by.iter().map(|reported_by| reported_by.dialect.name).collect()
    }

    /// If the finding is in a definition, returns the part of its pointer that begins at the definition. Each tool with
    /// a copy of the definition has the same finding.
    fn definition(&self) -> Option<&str> {
        let at = ["/$defs/", "/definitions/"].iter().filter_map(|keyword| self.pointer.rfind(keyword)).max();
        self.pointer.get(at?..)
    }
}

impl Findings {
    /// Adds the findings of a dialect. Among findings of one rule and pointer, findings with a known message are merged
    /// first, and then the others in their order.
    pub(crate) fn add(&mut self, found: impl Iterator<Item = Finding>) {
        let mut taken = BTreeSet::new();
        let others: Vec<Finding> =
            found.filter_map(|finding| self.join(finding, &mut taken, Finding::has_message)).collect();
        for finding in others {
            let Some(finding) = self.join(finding, &mut taken, |_, _| true) else { continue };
            taken.insert(self.list.len());
            self.known.entry(key(&finding)).or_default().push(self.list.len());
            self.list.push(finding);
        }
    }

    fn join(
        &mut self,
        finding: Finding,
        taken: &mut BTreeSet<usize>,
        matches: impl Fn(&Finding, &str) -> bool,
    ) -> Option<Finding> {
        let mut known = self.known.get(&key(&finding)).into_iter().flatten().copied();
        let is_match = |known: &Finding| matches(known, &finding.message);
        let at = known.find(|at| !taken.contains(at) && self.list.get(*at).is_some_and(is_match));
        let Some((at, known)) = at.and_then(|at| Some((at, self.list.get_mut(at)?))) else { return Some(finding) };
        taken.insert(at);
        known.join(finding);
        None
    }

    pub(crate) fn clear(&mut self) {
        *self = Findings::default();
    }

    pub(crate) fn sorted(&self) -> Vec<Finding> {
        let mut found = self.list.clone();
        found.iter_mut().for_each(Finding::choose_message);
        found.sort_by_key(|finding| sort_key(&finding.pointer));
        found
    }
}

fn key(finding: &Finding) -> (String, &'static str, &'static str) {
    (finding.pointer.clone(), finding.rule, finding.word())
}

impl Source {
    pub(crate) fn locations(&self, found: &[Finding], source_index: usize) -> Vec<Location> {
        let entries: BTreeMap<&str, usize> =
            self.entries.iter().enumerate().map(|(at, entry)| (entry.pointer.as_str(), at)).collect();
        let pointers: Vec<(Option<usize>, String)> = found.iter().map(|finding| self.place_of(finding)).collect();
        let positions = self.positions(&pointers);
        let places = found.iter().zip(pointers).zip(positions);
        let mut numbers = BTreeMap::<(Option<String>, &str, String), usize>::new();
        let location = |((finding, (line, pointer)), position): ((&Finding, (Option<usize>, String)), _)| {
            let (entry, inside) = split_entry(&entries, &finding.pointer);
            // A tool with a name is identified by the name, wherever it is in the list; other tools are identified by
            // their index.
            let inside = match (&finding.tool, line) {
                (Some(_), _) => inside,
                (None, Some(_)) => &finding.pointer,
                (None, None) => &pointer,
            };
            let inside = inside.to_string();
            let next = numbers.entry((finding.tool.clone(), finding.rule, inside.clone())).or_default();
            let number = *next;
            *next += 1;
            Location { source: source_index, tool: finding.tool.clone(), position, pointer, entry, inside, number }
        };
        places.map(location).collect()
    }

    fn place_of(&self, finding: &Finding) -> (Option<usize>, String) {
        if finding.is_of_request {
            (None, finding.pointer.clone())
        } else {
            self.pointers.of(&finding.pointer)
        }
    }

    fn positions(&self, pointers: &[(Option<usize>, String)]) -> Vec<Option<Position>> {
        if let Origin::Server(declared) = &self.input.origin {
            let position = declared.as_ref().map(|(_, position)| *position);
            return pointers.iter().map(|_| position).collect();
        }
        let text = &self.input.text;
        if !matches!(self.pointers, InputPointers::Lines(_)) {
            return positions(text, pointers.iter().map(|(_, pointer)| pointer.as_str()))
                .into_iter()
                .map(Some)
                .collect();
        }
        let mut found: Vec<Option<Position>> = pointers.iter().map(|_| None).collect();
        let mut by_line = BTreeMap::<usize, Vec<usize>>::new();
        for (at, (line, _)) in pointers.iter().enumerate() {
            by_line.entry(line.unwrap_or_default()).or_default().push(at);
        }
        for (number, text) in text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
            let Some(of_line) = by_line.get(&number) else { continue };
            let pointers = of_line.iter().filter_map(|at| pointers.get(*at)).map(|(_, pointer)| pointer.as_str());
            for (at, position) in of_line.iter().zip(positions(text, pointers)) {
                if let Some(location) = found.get_mut(*at) {
                    *location = Some(Position { line: number, ..position });
                }
            }
        }
        found
    }

    /// The user has the input as text, so line numbers are useful.
    pub(crate) fn is_text(&self) -> bool {
        !matches!(self.input.origin, Origin::Server(_))
    }

    pub(crate) fn file(&self) -> Option<String> {
        let path = match &self.input.origin {
            Origin::File => &self.input.source,
            Origin::Server(Some((file, _))) => file,
            Origin::Server(None) | Origin::Stream => return None,
        };
        Some(normal(path))
    }

    pub(crate) fn identity(&self) -> String {
        let name = self.input.source.as_str();
        match &self.input.origin {
            Origin::File => normal(name),
            Origin::Server(Some((file, _))) => {
                format!("{}{}", normal(file), name.strip_prefix(file.as_str()).unwrap_or_default())
            }
            Origin::Server(None) | Origin::Stream => name.into(),
        }
    }
}

/// Sort key of a finding: the indices of its pointer, so that findings within one entry keep their order.
fn sort_key(pointer: &str) -> Vec<usize> {
    pointer.split('/').skip(1).map_while(|step| step.parse().ok()).collect()
}

/// Splits a pointer into the index of its entry and the pointer within the entry.
fn split_entry<'p>(entries: &BTreeMap<&str, usize>, pointer: &'p str) -> (Option<usize>, &'p str) {
    let ends = pointer.match_indices('/').map(|(end, _)| end).skip(1).chain([pointer.len()]);
    for end in ends {
        let (above, inside) = pointer.split_at_checked(end).unwrap_or((pointer, ""));
        if let Some(entry) = entries.get(above) {
            return (Some(*entry), inside);
        }
    }
    (None, pointer)
}

#[derive(Default)]
struct Weight {
    dialects: BTreeSet<&'static str>,
    findings: usize,
    /// Index of the first finding.
    index: usize,
}

impl Weight {
    fn sort_key(&self) -> (Reverse<usize>, Reverse<usize>, usize) {
        (Reverse(self.dialects.len()), Reverse(self.findings), self.index)
    }
}

/// Groups findings by rule: the most severe first, then the heaviest. Findings in copies of a definition are counted at
/// the first copy.
pub(crate) fn groups(found: Vec<(Finding, Location)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut copies = BTreeMap::<(&str, &str, String, Vec<&str>, String), usize>::new();
    for (finding, location) in found {
        let Some(definition) = finding.definition().map(String::from) else {
            groups.push(Group { finding, location, copies: Vec::new() });
            continue;
        };
        let key = (finding.rule, finding.word(), finding.message.clone(), finding.dialects(), definition);
        let at = *copies.entry(key).or_insert_with(|| groups.len());
        match groups.get_mut(at) {
            Some(group) => group.copies.push(location),
            None => groups.push(Group { finding, location, copies: Vec::new() }),
        }
    }
    let kind = |group: &Group| (group.finding.rule, group.finding.word());
    let mut weights = BTreeMap::<_, Weight>::new();
    for (index, group) in groups.iter().enumerate() {
        let weight = weights.entry(kind(group)).or_insert_with(|| Weight { index, ..Weight::default() });
        weight.dialects.extend(group.finding.dialects());
        weight.findings += 1 + group.copies.len();
    }
    groups.sort_by_key(|group| (rank(group.finding.severity), weights.get(&kind(group)).map(Weight::sort_key)));
    groups
}

/// Lists at most as many findings of a rule at a location as the library does. The last listed finding counts the rest.
/// If `is_by_entry` is true, each tool has a location of its own.
pub(crate) fn bounded(groups: Vec<Group>, is_by_entry: bool) -> Vec<Group> {
    let mut listed: Vec<Group> = Vec::new();
    let mut kinds = BTreeMap::<_, (usize, usize)>::new();
    for group in groups {
        let Finding { rule, pointer, unlisted, .. } = &group.finding;
        let entry = is_by_entry.then_some((group.location.source, group.location.entry));
        let kind = (*rule, group.finding.word(), internal::location(pointer), entry);
        let (count, last) = kinds.entry(kind).or_default();
        if *count < FindingLimit::LISTED.each() {
            (*count, *last) = (*count + 1, listed.len());
            listed.push(group);
        } else if let Some(last) = listed.get_mut(*last) {
            last.finding.unlisted += 1 + group.copies.len() + unlisted;
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use toolwire::reports::Severity;

    use super::{Finding, Findings, ReportedBy};

    fn finding(at: usize, message: &str) -> Finding {
        let dialect = &toolwire::dialects()[at];
        let by = ReportedBy { dialect, confidence: toolwire::reports::Grade::A, source: "", message: None };
        Finding {
            tool: None,
            rule: "a",
            severity: Severity::Refused,
            outcome: None,
            pointer: "/0".into(),
            is_of_request: false,
            message: message.into(),
            unlisted: 0,
            reported_by: Vec::from([by]),
            witnesses: Vec::new(),
        }
    }

    /// A dialect may lack the first of another dialect's findings.
    #[test]
    fn findings_with_the_same_words_are_merged_first() {
        let mut findings = Findings::default();
        for (dialect, messages) in [["x", "y", "z"].as_slice(), &["y", "w"], &["w"], &["z", "z"]].iter().enumerate() {
            findings.add(messages.iter().map(|message| finding(dialect, message)));
        }
        let found = findings.sorted();
        let found: Vec<_> = found.iter().map(|finding| (finding.message.as_str(), finding.reported_by.len())).collect();
        // The fourth dialect's second `z` is merged with the first finding that is left.
        assert_eq!(found, [("w", 4), ("y", 2), ("z", 2)]);
    }
}
