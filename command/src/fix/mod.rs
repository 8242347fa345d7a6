//! `toolwire check --fix` and `--diff`: applies the advice of the findings to the checked text.
//!
//! A tool's schema is rewritten, as by `sanitize`, for one dialect after another. Of each rewriting, only the parts
//! that remove findings are used. The report must call them lossless, and they must cause no finding in any dialect of
//! the run. The text keeps its layout, and is read again before it is accepted.
//!
//! A *version* is a form of a schema, with its findings. The *wanted* findings are those to remove. A *unit* consists
//! of parts of a rewriting that have to be written together.

mod layout;
mod parts;

use std::collections::{BTreeMap, BTreeSet};

use toolwire::{
    dialects,
    internal::{
        self,
        json::{self, Member, Node, Object},
    },
    options::Use,
    reports::{Change, Severity},
    rules::Constraint,
    Dialect, Error,
};

use self::{
    layout::Layout,
    parts::{prefixes, Parts, Safety, Unit},
};
use super::position::{value_at, InputPointers};
use crate::{
    error::CommandError,
    finding::rank,
    input::{Input, Named, Subject},
    position::{span_of, splice},
    profile::ignores_rule,
};
use parts::Contents;

/// Maximum number of rounds. Each round rewrites for every dialect. The result is stable after a few rounds.
const ROUNDS: usize = 4;
/// Maximum number of units that are tried one by one.
const SINGLE_UNITS: usize = 50;
/// Maximum depth of a tool's schema in the tool.
const SCHEMA_DEPTH: usize = 4;

/// Dialect and rule of each finding to remove.
pub(crate) type Wanted = BTreeSet<(&'static str, &'static str)>;

/// Number of findings by dialect, rule, severity and keyword. The keyword is empty if the finding is at a schema.
type Counts = BTreeMap<(&'static str, &'static str, usize, String), usize>;

#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) text: String,
    /// Number of findings that only an unsafe fix removes.
    pub(crate) unsafe_only: usize,
    /// Reasons why findings remain.
    pub(crate) reasons: Reasons,
}

pub(crate) type Reasons = BTreeMap<&'static str, String>;

pub(crate) struct Fixer<'c> {
    pub(crate) dialects: &'c [&'static Dialect],
    pub(crate) profile: Option<&'c str>,
    pub(crate) used_as: Use,
    /// Mildest severity that is reported. A fix must not cause a finding of this severity or a worse one.
    pub(crate) shown: usize,
    pub(crate) allows_unsafe: bool,
}

#[derive(Clone, Copy)]
struct Entry<'e, 'a> {
    tool: Option<&'e Node<'a>>,
    /// Pointer from the tool to the schema.
    inside: &'e str,
}

/// The schema is text, because the report of a rewriting can refer only to locations in text that was read.
struct Version {
    schema: String,
    counts: Counts,
    /// Dialect, rule, and JSON Pointer into the schema.
    findings: Vec<(&'static str, &'static str, String)>,
    contents: Contents,
}

impl Fixer<'_> {
    /// `wanted` contains the findings to remove by the index of their entry. Returns an error if the fixed text would
    /// contain other changes than the fixes.
    pub(crate) fn fixed(
        &self,
        text: &str,
        entries: &[Named],
        wanted: &BTreeMap<usize, Wanted>,
    ) -> Result<Fixed, CommandError> {
        let Input { subject, pointers } = Input::read(text)?.without_request();
        let list = match subject {
            Subject::Tools(list) | Subject::Request(list) => list,
            Subject::Schemas(schemas) => Node::array(schemas),
        };
        let (mut edits, mut unsafe_only, mut reasons) = (Vec::new(), 0, Reasons::new());
        for (at, wanted) in wanted {
            let Some(entry) = entries.get(*at) else { continue };
            let Some(value) = value_at(&list, &entry.pointer) else { continue };
            let (tool, inside) = match schema_pointer(value) {
                Some(inside) => (Some(value), inside),
                None if internal::is_tool(value) => continue,
                None => (None, String::new()),
            };
            let Some(schema) = value_at(value, &inside) else { continue };
            let located = Entry { tool, inside: &inside };
            let (better, more) = self.schema(located, json::write(schema), wanted, &mut reasons);
            unsafe_only += more;
            if let Some(better) = better {
                edits.push((format!("{}{inside}", entry.pointer), better));
            }
        }
        let text = write_fixed_text(text, &list, &pointers, &edits)?;
        Ok(Fixed { text, unsafe_only, reasons })
    }

    /// Returns the fixed schema if there are fixes, and the number of findings that only an unsafe fix removes.
    fn schema(
        &self,
        entry: Entry<'_, '_>,
        schema: String,
        wanted: &Wanted,
        reasons: &mut Reasons,
    ) -> (Option<String>, usize) {
        let Ok(before) = self.version(entry, schema) else { return (None, 0) };
        let start = before.number_of(wanted);
        let max_safety = if self.allows_unsafe { Safety::Unsafe } else { Safety::Safe };
        let after = self.improve(entry, before, wanted, max_safety);
        let better = (after.number_of(wanted) < start).then(|| after.schema.clone());
        self.explain(entry, &after, wanted, reasons);
        // A finding of several dialects is reported once.
        let reported = after.places(wanted);
        let more = if self.allows_unsafe || reported == 0 {
            0
        } else {
            reported.saturating_sub(self.improve(entry, after, wanted, Safety::Unsafe).places(wanted))
        };
        (better, more)
    }

    fn explain(&self, entry: Entry<'_, '_>, version: &Version, wanted: &Wanted, reasons: &mut Reasons) {
        for dialect in self.dialects {
            for (name, rule) in wanted.iter().filter(|(name, _)| *name == dialect.name) {
                let finding = Wanted::from([(*name, *rule)]);
                if version.number_of(&finding) > 0 && !reasons.contains_key(rule) {
                    reasons.extend(self.reason(entry, version, dialect, &finding).map(|reason| (*rule, reason)));
                }
            }
        }
    }

    fn reason(
        &self,
        entry: Entry<'_, '_>,
        version: &Version,
        dialect: &'static Dialect,
        wanted: &Wanted,
    ) -> Option<String> {
        let name = dialect.name;
        let nothing = Some(format!("`sanitize` does not rewrite it for {name}: change it yourself"));
        let before = json::read(&version.schema).ok()?;
        let Some((after, changes)) = self.rewritten(&before, dialect) else { return nothing };
        let parts = Parts::of(&before, &after);
        let places = version.number_by_place(wanted);
        let units: Vec<Unit> = parts.units(&changes).into_iter().filter(|unit| unit.sum(&places) > 0).collect();
        match units.iter().map(|unit| unit.safety).min() {
            None => return nothing,
            Some(Safety::Encoded) => {
                return Some(format!("the fix for {name} encodes arguments, which the server would have to decode"));
            }
            Some(Safety::Unsafe) if !self.allows_unsafe => {
                return Some(String::from(
                    "the fix changes what the schema accepts or says (`--unsafe-fixes` applies it)",
                ));
            }
            Some(_) => {}
        }
        let paths = units.iter().flat_map(|unit| unit.paths.iter().map(String::as_str)).collect();
        let fixed = self.version(entry, json::write(&parts.merged(&paths))).ok()?;
        let is_new = |(key, count): &(&(&str, &str, usize, String), &usize)| {
            key.2 <= self.limit() && **count > version.counts.get(*key).copied().unwrap_or_default()
        };
        let mut new = fixed.counts.iter().filter(is_new).map(|((other, rule, ..), _)| (other, rule));
        Some(match new.next() {
            Some((other, rule)) => format!("the fix for {name} violates `{rule}` of {other}"),
            None => format!("the fix for {name} would lose names, descriptions or references of the schema"),
        })
    }

    fn limit(&self) -> usize {
        self.shown.max(rank(Severity::Reinterpreted))
    }

    fn improve(&self, entry: Entry<'_, '_>, mut version: Version, wanted: &Wanted, max_safety: Safety) -> Version {
        loop {
            let before = version.number_of(wanted);
            for dialect in self.dialects {
                if version.concerns(dialect, wanted) {
                    let better = self.improve_for_dialect(entry, &version, dialect, wanted, max_safety);
                    version = better.unwrap_or(version);
                }
            }
            if version.number_of(wanted) > 0 && max_safety == Safety::Safe {
                let better = self.with_donor(entry, &version, wanted);
                version = better.unwrap_or(version);
            }
            // A dialect may refuse a change that another dialect needs, until the schema is rewritten for both.
            if version.number_of(wanted) == before && self.dialects.len() > 1 {
                let better = self.improve_by_unit(entry, &version, wanted, max_safety);
                version = better.unwrap_or(version);
            }
            if version.number_of(wanted) == before {
                return version;
            }
        }
    }

    /// Rewrites for a dialect outside the run. A strict mode encodes what it cannot express, and a fix never writes
    /// encoded parts. Another dialect may change such a part without encoding it, for example `oneOf` to `anyOf`.
    fn with_donor(&self, entry: Entry<'_, '_>, version: &Version, wanted: &Wanted) -> Option<Version> {
        let donors = dialects().iter().filter(|donor| !self.has(donor));
        let better = donors.filter_map(|donor| self.improve_for_dialect(entry, version, donor, wanted, Safety::Safe));
        let size = |found: &Version| found.schema.len().abs_diff(version.schema.len());
        better.min_by_key(|found| (found.number_of(wanted), size(found)))
    }

    fn has(&self, dialect: &Dialect) -> bool {
        self.dialects.iter().any(|known| known.name == dialect.name)
    }

    /// Rewrites for one dialect. If rewriting all parts is an improvement, accepts all parts, or only the parts with
    /// findings if those remove as many findings. Otherwise, tries the parts one by one. For a dialect outside the run,
    /// considers only parts with findings.
    fn improve_for_dialect(
        &self,
        entry: Entry<'_, '_>,
        version: &Version,
        dialect: &'static Dialect,
        wanted: &Wanted,
        max_safety: Safety,
    ) -> Option<Version> {
        let before = json::read(&version.schema).ok()?;
        let unwanted = version.unwanted_members(&before, dialect, wanted);
        // Without the members whose findings are not wanted, the rewriting does not change them.
        let without = (!unwanted.is_empty()).then(|| {
            let mut hidden = before.clone();
            unwanted.iter().for_each(|pointer| remove_at(&mut hidden, pointer));
            let (mut after, changes) = self.rewritten(&hidden, dialect)?;
            unwanted.iter().for_each(|pointer| restore_member(&before, &mut after, pointer));
            // The rewriting may have moved the schema of a keyword.
            let text = |node: &Node<'_>, pointer: &str| value_at(node, pointer).map(json::write);
            let is_back = |pointer: &String| text(&after, pointer) == text(&before, pointer);
            if !unwanted.iter().all(is_back) {
                return None;
            }
            self.better_of(entry, version, (&before, after, &changes), dialect, wanted, max_safety)
        });
        without.flatten().or_else(|| {
            let (after, changes) = self.rewritten(&before, dialect)?;
            self.better_of(entry, version, (&before, after, &changes), dialect, wanted, max_safety)
        })
    }

    fn better_of<'a>(
        &self,
        entry: Entry<'_, '_>,
        version: &Version,
        (before, mut after, changes): (&Node<'a>, Node<'a>, &[Change]),
        dialect: &'static Dialect,
        wanted: &Wanted,
        max_safety: Safety,
    ) -> Option<Version> {
        version.undo_unwanted(before, &mut after, changes, dialect, wanted);
        let parts = Parts::of(before, &after);
        let units: Vec<Unit> = parts.units(changes).into_iter().filter(|unit| unit.safety <= max_safety).collect();
        if units.is_empty() {
            return None;
        }
        let merged = |units: &[&Unit]| {
            let paths = units.iter().flat_map(|unit| unit.paths.iter().map(String::as_str)).collect();
            self.version(entry, json::write(&parts.merged(&paths))).ok()
        };
        let places = version.number_by_place(wanted);
        let of_findings: Vec<&Unit> = units.iter().filter(|unit| unit.sum(&places) > 0).collect();
        let nearest = version.innermost_units(&units, wanted);
        let all: Vec<&Unit> = if self.has(dialect) { units.iter().collect() } else { of_findings.clone() };
        if all.is_empty() {
            return None;
        }
        let is_better = |candidate: &Version| self.is_better(version, candidate, wanted, max_safety);
        if let Some(whole) = merged(&all).filter(is_better) {
            let as_good = |units: &[&Unit]| {
                let few = merged(units);
                few.filter(|few| is_better(few) && few.number_of(wanted) <= whole.number_of(wanted))
            };
            let (taken, best) = match (as_good(&nearest), as_good(&of_findings)) {
                (Some(few), _) => (nearest, few),
                (None, Some(few)) => (of_findings, few),
                (None, None) => (all, whole),
            };
            // Leaves out the units that still have all their findings.
            let left = best.number_by_place(wanted);
            let removes = |unit: &&&Unit| unit.sum(&left) < unit.sum(&places);
            let fewer: Vec<&Unit> = taken.iter().filter(removes).copied().collect();
            let is_shorter = !fewer.is_empty() && fewer.len() < taken.len();
            let candidate = if is_shorter { merged(&fewer) } else { None };
            let candidate = candidate
                .filter(|candidate| is_better(candidate) && candidate.number_of(wanted) <= best.number_of(wanted));
            return Some(candidate.unwrap_or(best));
        }
        let mut taken: Vec<&Unit> = Vec::new();
        let mut best: Option<Version> = None;
        for unit in all.into_iter().take(SINGLE_UNITS) {
            taken.push(unit);
            let before = best.as_ref().unwrap_or(version);
            match merged(&taken).filter(|candidate| self.is_better(before, candidate, wanted, max_safety)) {
                Some(better) => best = Some(better),
                None => drop(taken.pop()),
            }
        }
        best
    }

    fn improve_by_unit(
        &self,
        entry: Entry<'_, '_>,
        version: &Version,
        wanted: &Wanted,
        max_safety: Safety,
    ) -> Option<Version> {
        let mut schema = version.schema.clone();
        for _ in 0..ROUNDS {
            let start = schema.clone();
            for dialect in self.dialects {
                let text = std::mem::take(&mut schema);
                let before = json::read(&text).ok()?;
                let Some((after, changes)) = self.rewritten(&before, dialect) else {
                    schema = text;
                    continue;
                };
                let parts = Parts::of(&before, &after);
                let units: Vec<Unit> =
                    parts.units(&changes).into_iter().filter(|unit| unit.safety <= max_safety).collect();
                let paths = units.iter().flat_map(|unit| unit.paths.iter().map(String::as_str)).collect();
                schema = json::write(&parts.merged(&paths));
            }
            if schema == start {
                break;
            }
        }
        self.version(entry, schema).ok().filter(|found| self.is_better(version, found, wanted, max_safety))
    }

    fn rewritten<'a>(&self, schema: &Node<'a>, dialect: &'static Dialect) -> Option<(Node<'a>, Vec<Change>)> {
        // Codex's dialects show which parts Codex would lose. This is not advice.
        if !internal::is_of_an_api(dialect) {
            return None;
        }
        let options = internal::schema_options(dialect.id()).used_as(self.used_as);
        let mut after = schema.clone();
        let changes = internal::sanitize(&mut after, &options, true).ok()?;
        keep_index(schema, &mut after);
        (!changes.is_empty()).then_some((after, changes))
    }

    fn is_better(&self, before: &Version, after: &Version, wanted: &Wanted, max_safety: Safety) -> bool {
        let (old, new) = (&before.contents, &after.contents);
        if !old.keeps_references(new) || (max_safety == Safety::Safe && !old.keeps_meaning(new)) {
            return false;
        }
        let limit = self.limit();
        let has_new = after
            .counts
            .iter()
            .any(|(key, count)| key.2 <= limit && *count > before.counts.get(key).copied().unwrap_or_default());
        !has_new && after.number_of(wanted) < before.number_of(wanted)
    }

    fn version(&self, entry: Entry<'_, '_>, text: String) -> Result<Version, Error> {
        let schema = json::read(&text)?;
        let (mut counts, mut findings) = (Counts::new(), Vec::new());
        let mut add = |dialect: &'static Dialect, rule, severity, pointer: String, more: usize| {
            if !ignores_rule(self.profile, dialect, rule) {
                *counts.entry((dialect.name, rule, rank(severity), keyword(&pointer))).or_default() += 1 + more;
                findings.push((dialect.name, rule, pointer));
            }
        };
        let limit = internal::FindingLimit::EVERY_TOOL;
        match entry.tool {
            Some(tool) => {
                let mut tool = tool.clone();
                set_at(&mut tool, entry.inside, schema.clone());
                let above = format!("/0{}", entry.inside);
                for dialect in self.dialects {
                    for violation in internal::check_tools(Node::array(Vec::from([tool.clone()])), &[dialect], limit)? {
                        let pointer = violation.pointer.strip_prefix(above.as_str()).unwrap_or_default().to_string();
                        add(dialect, violation.constraint.id(), violation.severity, pointer, violation.more);
                    }
                }
            }
            None => {
                for dialect in self.dialects {
                    let options = internal::schema_options(dialect.id()).used_as(self.used_as);
                    for violation in internal::check(&schema, &options, limit)? {
                        add(dialect, violation.constraint.id(), violation.severity, violation.pointer, violation.more);
                    }
                }
            }
        }
        let contents = Contents::of(&schema);
        Ok(Version { schema: text, counts, findings, contents })
    }
}

impl Version {
    fn number_of(&self, wanted: &Wanted) -> usize {
        let counted = self.counts.iter().filter(|((dialect, rule, ..), _)| wanted.contains(&(*dialect, *rule)));
        counted.map(|(_, count)| count).sum()
    }

    /// Findings of several dialects at the same pointer are counted once.
    fn places(&self, wanted: &Wanted) -> usize {
        let found = self.findings.iter().filter(|(dialect, rule, _)| wanted.contains(&(*dialect, *rule)));
        found.map(|(_, rule, pointer)| (*rule, pointer)).collect::<BTreeSet<_>>().len()
    }

    fn concerns(&self, dialect: &Dialect, wanted: &Wanted) -> bool {
        self.counts.keys().any(|(name, rule, ..)| *name == dialect.name && wanted.contains(&(*name, *rule)))
    }

    /// For each finding, returns the unit of the innermost schema around it.
    fn innermost_units<'u>(&self, units: &'u [Unit], wanted: &Wanted) -> Vec<&'u Unit> {
        let owners: BTreeMap<&str, usize> = units
            .iter()
            .enumerate()
            .flat_map(|(at, unit)| unit.paths.iter().map(move |path| (path.as_str(), at)))
            .collect();
        let wanted = self.findings.iter().filter(|(dialect, rule, _)| wanted.contains(&(*dialect, *rule)));
        let found: BTreeSet<usize> = wanted
            .filter_map(|(.., pointer)| prefixes(pointer).find_map(|prefix| owners.get(prefix).copied()))
            .collect();
        found.into_iter().filter_map(|at| units.get(at)).collect()
    }

    /// Returns the pointers of keywords whose findings of the dialect are all unwanted. Keywords that contain schemas,
    /// or on which other keywords depend, are not returned: without them, the rewriting would write another schema.
    fn unwanted_members(&self, schema: &Node<'_>, dialect: &Dialect, wanted: &Wanted) -> BTreeSet<String> {
        let mut members: BTreeMap<&str, bool> = BTreeMap::new();
        for (name, rule, pointer) in self.findings.iter().filter(|(name, ..)| *name == dialect.name) {
            *members.entry(pointer).or_default() |= wanted.contains(&(*name, *rule));
        }
        let is_leaf = |pointer: &str| {
            let keyword = keyword(pointer);
            let is_of_schema = pointer.rsplit('/').next() == Some(&*keyword);
            is_of_schema && !parts::is_structural(&keyword) && value_at(schema, pointer).is_some()
        };
        let unwanted = members.iter().filter(|(pointer, is_wanted)| !**is_wanted && is_leaf(pointer));
        unwanted.map(|(pointer, _)| (*pointer).into()).collect()
    }

    /// Removes members that a rewriting added only for unwanted findings of the dialect.
    fn undo_unwanted<'a>(
        &self,
        before: &Node<'a>,
        after: &mut Node<'a>,
        changes: &[Change],
        dialect: &Dialect,
        wanted: &Wanted,
    ) {
        let is_found = |rule: &Constraint| {
            let key = (dialect.name, rule.id());
            !wanted.contains(&key) && self.counts.keys().any(|(name, rule, ..)| (*name, *rule) == key)
        };
        for change in changes {
            let Some(output) = change.output_pointer.as_deref() else { continue };
            let serves = change.rule.serves();
            let is_wanted = serves.iter().any(|rule| wanted.contains(&(dialect.name, rule.id())));
            if is_wanted || !serves.iter().any(is_found) || value_at(before, output).is_some() {
                continue;
            }
            let cause = change.pointer.as_str();
            // If the parent of the cause has a new name, nothing shows that the output replaces the cause.
            let is_moved = cause.rsplit_once('/').is_some_and(|(holder, _)| value_at(after, holder).is_none());
            if is_moved || value_at(before, cause).is_none() || value_at(after, cause).is_some() {
                remove_at(after, output);
            } else if replaces_only(before, after, (cause, output)) {
                remove_at(after, output);
                restore_member(before, after, cause);
            }
        }
    }

    fn number_by_place(&self, wanted: &Wanted) -> BTreeMap<&str, usize> {
        let mut numbers = BTreeMap::new();
        for (_, _, pointer) in self.findings.iter().filter(|(name, rule, _)| wanted.contains(&(*name, *rule))) {
            prefixes(pointer).for_each(|prefix| *numbers.entry(prefix).or_default() += 1);
        }
        numbers
    }
}

/// Returns an empty string if the finding is at a schema.
fn keyword(pointer: &str) -> String {
    let mut steps = pointer.rsplit('/');
    let (last, above) = (steps.next().unwrap_or_default(), steps.next().unwrap_or_default());
    let is_name = ["properties", "patternProperties", "$defs", "definitions"].contains(&above);
    match last {
        _ if is_name || last.parse::<usize>().is_ok() => String::new(),
        // Dialects that refuse `definitions` usually refuse `$defs`, too.
        "definitions" => String::from("$defs"),
        keyword => keyword.into(),
    }
}

/// Moves `$defs` to the index of `definitions`, which it replaces.
fn keep_index(before: &Node<'_>, after: &mut Node<'_>) {
    let Some(index) = before.as_object().and_then(|object| object.position("definitions")) else { return };
    if before.get("$defs").is_some() || after.get("definitions").is_some() {
        return;
    }
    let Some(object) = after.as_object_mut() else { return };
    let members = object.members_mut();
    if let Some(at) = members.iter().position(|member| member.key.is("$defs")) {
        let definitions = members.remove(at);
        members.insert(index.min(members.len()), definitions);
    }
}

fn schema_pointer(tool: &Node<'_>) -> Option<String> {
    let schema = internal::schema_of(tool)?;
    let mut open = Vec::from([(tool, String::new(), 0)]);
    while let Some((node, path, depth)) = open.pop() {
        if std::ptr::eq(node, schema) {
            return Some(path);
        }
        let members = node.as_object().into_iter().filter(|_| depth < SCHEMA_DEPTH).flat_map(|object| object.iter());
        open.extend(members.map(|member| {
            let mut below = path.clone();
            internal::push_token(&mut below, &member.key.display());
            (&member.value, below, depth + 1)
        }));
    }
    None
}

fn remove_at(node: &mut Node<'_>, pointer: &str) {
    if let Some((above, member)) = pointer.rsplit_once('/') {
        edit_at(node, above, &mut |object| drop(object.remove(&internal::unescaped_token(member))));
    }
}

/// Returns true if the rewriting replaced one member of an object, and kept the others.
fn replaces_only(before: &Node<'_>, after: &Node<'_>, (from, to): (&str, &str)) -> bool {
    let Some((above, replaced)) = from.rsplit_once('/') else { return false };
    let objects =
        value_at(before, above).and_then(Node::as_object).zip(value_at(after, above).and_then(Node::as_object));
    let keeps_others = |(before, after): (&Object<'_>, &Object<'_>)| {
        let replaced = internal::unescaped_token(replaced);
        before.iter().all(|member| member.key.is(&replaced) || after.iter().any(|kept| kept.key == member.key))
    };
    to.rsplit_once('/').is_some_and(|(holder, _)| holder == above) && objects.is_some_and(keeps_others)
}

/// Inserts the member before the first member that follows it in both objects.
fn restore_member<'a>(before: &Node<'a>, after: &mut Node<'a>, pointer: &str) {
    let Some((above, member)) = pointer.rsplit_once('/') else { return };
    let member = internal::unescaped_token(member);
    let Some(object) = value_at(before, above).and_then(Node::as_object) else { return };
    let Some(at) = object.position(&*member) else { return };
    edit_at(after, above, &mut |node| {
        let Some(rewritten) = node.as_object_mut() else { return };
        let following =
            object.iter().skip(at + 1).find_map(|next| rewritten.iter().position(|member| member.key == next.key));
        // Members that the rewriting added are last.
        let was_before = |member: &Member<'_>| object.iter().any(|before| before.key == member.key);
        let end = rewritten.iter().rposition(was_before).map_or(0, |last| last + 1);
        let is_missing = |member: &&Member<'_>| !rewritten.iter().any(|kept| kept.key == member.key);
        if let Some(removed) = object.iter().nth(at).filter(is_missing) {
            rewritten.members_mut().insert(following.unwrap_or(end), removed.clone());
        }
    });
}

fn set_at<'a>(node: &mut Node<'a>, pointer: &str, value: Node<'a>) {
    let mut value = Some(value);
    edit_at(node, pointer, &mut |node| *node = value.take().unwrap_or_default());
}

fn edit_at<'a>(node: &mut Node<'a>, pointer: &str, change: &mut dyn FnMut(&mut Node<'a>)) {
    let Some((step, rest)) = pointer.strip_prefix('/').map(|rest| rest.split_once('/').unwrap_or((rest, ""))) else {
        return change(node);
    };
    let rest = if pointer.len() > step.len() + 1 { format!("/{rest}") } else { String::new() };
    if let Some(items) = node.as_array_mut() {
        if let Some(item) = step.parse().ok().and_then(|at: usize| items.get_mut(at)) {
            edit_at(item, &rest, change);
        }
        return;
    }
    node.visit(&*internal::unescaped_token(step), |inner| edit_at(inner, &rest, change));
}

fn write_fixed_text(
    text: &str,
    list: &Node<'_>,
    pointers: &InputPointers,
    edits: &[(String, String)],
) -> Result<String, CommandError> {
    let failed = || {
        let message = "expected the fixed text to contain exactly the fixes, found a difference: nothing was fixed";
        CommandError::new("", message)
    };
    let mut meant = list.clone();
    let mut splices = Vec::with_capacity(edits.len());
    for (pointer, value) in edits {
        let value = json::read(value).map_err(|_| failed())?;
        let before = value_at(list, pointer).ok_or_else(failed)?;
        let (line, inside) = pointers.of(pointer);
        let (from, part) = match line {
            Some(number) => line_at(text, number).ok_or_else(failed)?,
            None => (0, text),
        };
        let span = span_of(part, &inside).ok_or_else(failed)?;
        let layout = Layout::of(part);
        let new = layout.rewrite(part, span.clone(), before, &value, !part.contains('\n'));
        splices.push((from + span.start..from + span.end, new));
        set_at(&mut meant, pointer, value);
    }
    let fixed = splice(text, splices);
    let same = Input::read(&fixed).is_ok_and(|input| {
        let read = match input.without_request().subject {
            Subject::Tools(list) | Subject::Request(list) => list,
            Subject::Schemas(schemas) => Node::array(schemas),
        };
        json::write(&read) == json::write(&meant)
    });
    if same {
        Ok(fixed)
    } else {
        Err(failed())
    }
}

/// Returns the difference of two texts, with three lines around each change.
pub(crate) fn diff(name: &str, before: &str, after: &str) -> String {
    // A line end in a name would begin another line of the header.
    let quoted = name.chars().any(char::is_control).then(|| format!("{name:?}"));
    let name = quoted.as_deref().unwrap_or(name);
    similar::TextDiff::from_lines(before, after).unified_diff().header(name, name).to_string()
}

/// Returns the line, and the offset at which it begins.
fn line_at(text: &str, number: usize) -> Option<(usize, &str)> {
    let line = text.lines().nth(number.checked_sub(1)?)?;
    Some((line.as_ptr() as usize - text.as_ptr() as usize, line))
}
