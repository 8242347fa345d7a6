//! The baseline: a file of known findings, which are not reported again. Users commit it, so it is sorted, has one line
//! for each finding, and contains no line numbers, which would change with every edit.

use std::collections::{BTreeMap, BTreeSet};

use toolwire::{
    dialects,
    internal::{
        self,
        json::{self, Member, Node, Object, Text},
    },
    rules::Rule,
    Dialect,
};

use super::{
    error::CommandError,
    finding::{is_constraint, Finding, Location, Source},
    profile::ignores_rule,
    terminal::{counted, shown},
};

const VERSION: u64 = 1;

/// Identity of a finding across runs: source, tool, rule, pointer within the tool, and the index among the findings
/// for which these four are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    source: String,
    tool: String,
    rule: String,
    pointer: String,
    number: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Baseline {
    path: String,
    known: Known,
}

type Known = BTreeMap<Identity, BTreeSet<String>>;

/// The scope of a run. Only a finding that the run could have reported can be stale.
pub(crate) struct Scope<'j> {
    pub(crate) sources: &'j [Source],
    pub(crate) source_identities: BTreeSet<String>,
    pub(crate) dialects: &'j [&'static Dialect],
    pub(crate) profile: Option<&'j str>,
    pub(crate) is_rewritten: bool,
}

impl Scope<'_> {
    fn covers(&self, identity: &Identity, dialect: &str) -> bool {
        let rule = identity.rule.as_str();
        let other = if self.is_rewritten {
            is_constraint(rule)
        } else {
            Rule::ALL.iter().any(|known| known.id() == rule) && !is_constraint(rule)
        };
        let mut dialects = self.dialects.iter().filter(|known| known.name == dialect);
        !other
            && dialects.any(|known| !ignores_rule(self.profile, known, rule))
            && self.source_identities.contains(&identity.source)
    }
}

/// Returns the identities of each finding, one for each dialect. Indices are counted for each dialect separately, so
/// that they do not depend on the other dialects of the run.
fn identities(found: &[(Finding, Location)], sources: &[Source]) -> Vec<Vec<(Identity, &'static str)>> {
    let mut numbers = BTreeMap::<(Identity, &str), usize>::new();
    let mut of_one = |(finding, location): &(Finding, Location)| {
        let first = Identity { number: 0, ..Identity::of(finding, location, sources) };
        let each = finding.dialects().into_iter().map(|dialect| {
            let next = numbers.entry((first.clone(), dialect)).or_default();
            *next += 1;
            (Identity { number: *next - 1, ..first.clone() }, dialect)
        });
        each.collect()
    };
    found.iter().map(&mut of_one).collect()
}

impl Identity {
    pub(crate) fn of(finding: &Finding, location: &Location, sources: &[Source]) -> Identity {
        Identity {
            source: sources.get(location.source).map(Source::identity).unwrap_or_default(),
            tool: finding.tool.clone().unwrap_or_default(),
            rule: finding.rule.into(),
            pointer: location.inside.clone(),
            number: location.number,
        }
    }

    /// Returns a hash (FNV-1a) that does not depend on the finding's location in the file.
    pub(crate) fn fingerprint(&self) -> String {
        let number = if self.number == 0 { None } else { Some(self.number.to_string()) };
        let words = [&self.source, &self.tool, &self.rule, &self.pointer];
        let bytes = words.into_iter().chain(&number).flat_map(|word| word.bytes().chain([0]));
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        format!("{hash:016x}")
    }
}

impl Baseline {
    pub(crate) const fn new(path: String) -> Baseline {
        Baseline { path, known: BTreeMap::new() }
    }

    pub(crate) fn read(text: &str, path: &str) -> Result<Baseline, CommandError> {
        let file = json::read(text).map_err(|error| CommandError::from_core(&error, "").in_source(path))?;
        let expected = || {
            let message = "expected a baseline, as `--update-baseline` writes it, found something else";
            CommandError::new("", message).in_source(path)
        };
        if file.u64_at("version") != Some(VERSION) {
            return Err(expected());
        }
        let list = file.array_at("findings").ok_or_else(expected)?;
        let mut known = Known::new();
        for (at, entry) in list.iter().enumerate() {
            let (identity, dialects) = read_entry(entry).map_err(|(member, message)| {
                CommandError::new(format!("/findings/{at}{member}"), message).in_source(path)
            })?;
            known.entry(identity).or_default().extend(dialects);
        }
        Ok(Baseline { path: path.into(), known })
    }

    /// Returns the new content of the file: the current findings, and the known findings that this run has not checked.
    pub(crate) fn written(mut self, found: &[(Finding, Location)], scope: &Scope<'_>) -> (String, String) {
        self.known.retain(|identity, names| {
            names.retain(|name| !scope.covers(identity, name));
            !names.is_empty()
        });
        let mut known = self.known;
        for (identity, dialect) in identities(found, scope.sources).into_iter().flatten() {
            known.entry(identity).or_default().insert(dialect.into());
        }
        let mut text = format!("{{\n  \"version\": {VERSION},\n  \"findings\": [");
        for (at, (identity, dialects)) in known.iter().enumerate() {
            let mut members = Vec::from([
                ("source", Node::string(identity.source.as_str())),
                ("tool", Node::string(identity.tool.as_str())),
                ("rule", Node::string(identity.rule.as_str())),
                ("pointer", Node::string(identity.pointer.as_str())),
            ]);
            if identity.number > 0 {
                members.push(("number", Node::count(identity.number as u64)));
            }
            members.push(("dialects", Node::array(dialects.iter().map(|name| Node::string(name.as_str())).collect())));
            let members = members.into_iter().map(|(key, value)| Member { key: Text::new(key), value });
            let entry = Node::object(Object::from_members(members.collect()));
            text.push_str(if at == 0 { "\n    " } else { ",\n    " });
            text.push_str(&json::write(&entry));
        }
        text.push_str(if known.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        (self.path, text)
    }

    /// Returns the new findings, the number of known findings, and the stale entries.
    pub(crate) fn without_known(
        mut self,
        found: Vec<(Finding, Location)>,
        scope: &Scope<'_>,
    ) -> (Vec<(Finding, Location)>, usize, Vec<String>) {
        let (mut new, mut count) = (Vec::new(), 0);
        let mut met = BTreeSet::<(Identity, &str)>::new();
        let identities = identities(&found, scope.sources);
        for ((mut finding, location), each) in found.into_iter().zip(identities) {
            let all = finding.reported_by.len();
            let is_known = |(identity, name): &&(Identity, &str)| {
                self.known.get(identity).is_some_and(|known| known.contains(*name))
            };
            let known: BTreeSet<&str> = each.iter().filter(is_known).map(|(_, name)| *name).collect();
            finding.reported_by.retain(|reported_by| !known.contains(reported_by.dialect.name));
            met.extend(each);
            count += usize::from(finding.reported_by.len() < all);
            if !finding.reported_by.is_empty() {
                new.push((finding, location));
            }
        }
        self.known.retain(|identity, names| {
            names.retain(|name| scope.covers(identity, name) && !met.contains(&(identity.clone(), name.as_str())));
            !names.is_empty()
        });
        let stale = self.known.len();
        let mut gone = Vec::new();
        if let Some(Identity { source, tool, rule, pointer, .. }) = self.known.into_keys().next() {
            let about = if tool.is_empty() { String::new() } else { format!(" of `{}`", shown(&tool)) };
            let first = format!("`{}`{about} at {}:{}", shown(&rule), shown(&source), shown(&pointer));
            gone.push(format!(
                "{}: {} no longer found, first {first}; `--update-baseline` removes them",
                shown(&self.path),
                counted(stale, "finding"),
            ));
        }
        (new, count, gone)
    }
}

/// An error is a pointer and a message.
fn read_entry(entry: &Node<'_>) -> Result<(Identity, Vec<String>), (String, String)> {
    let word = |name: &str| match entry.get(name).map(|value| (value, value.as_text())) {
        Some((_, Some(text))) => Ok(text.display().into_owned()),
        Some((value, None)) => Err((format!("/{name}"), format!("expected a string, found {}", value.kind()))),
        None => Err((String::new(), format!("expected `{name}`, found none"))),
    };
    let number = match entry.get("number") {
        None => Some(0),
        Some(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
    };
    let number = number.ok_or_else(|| ("/number".into(), "expected an integer, found something else".into()))?;
    let tool = if entry.get("tool").is_some() { word("tool")? } else { String::new() };
    let (source, rule, pointer) = (word("source")?, word("rule")?, word("pointer")?);
    let list = entry.array_at("dialects");
    let list = list.ok_or_else(|| (String::new(), "expected a list in `dialects`, found none".into()))?;
    let names: Vec<&str> = dialects().iter().map(|dialect| dialect.name).collect();
    let dialect = |(at, node): (usize, &Node<'_>)| {
        let name = node.as_text().map(|text| text.display().into_owned());
        let found = name.as_deref().map_or_else(|| node.kind().to_string(), |name| format!("`{}`", shown(name)));
        let meant = internal::did_you_mean(name.as_deref().unwrap_or_default(), &names);
        let error = (format!("/dialects/{at}"), format!("expected a dialect, found {found}{meant}"));
        name.filter(|name| names.contains(&name.as_str())).ok_or(error)
    };
    let dialects = list.iter().enumerate().map(dialect).collect::<Result<_, _>>()?;
    Ok((Identity { source, tool, rule, pointer, number }, dialects))
}
