//! The baseline: findings that were there before anybody looked, and are not told again. A file that people keep beside
//! their code: sorted, a line for each finding, without numbers that move.

use std::collections::{BTreeMap, BTreeSet};

use toolwire::{
    json::{self, Node},
    Dialect,
};

use super::{
    document::record,
    error::CommandError,
    finding::{Finding, Place, Source},
    terminal::{counted, shown},
};

const VERSION: u64 = 1;

/// What a finding is known by: its source, its tool, its rule, and where in the tool it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    source: String,
    tool: String,
    rule: String,
    pointer: String,
}

/// A baseline: which dialects are known to have each finding.
#[derive(Debug)]
pub(crate) struct Baseline {
    path: String,
    known: BTreeMap<Identity, BTreeSet<String>>,
}

impl Identity {
    pub(crate) fn of(finding: &Finding, place: &Place, sources: &[Source]) -> Identity {
        let source = sources.get(place.source).map(|source| source.input.source.replace('\\', "/"));
        let source = source.unwrap_or_default();
        Identity {
            source: source.strip_prefix("./").map(String::from).unwrap_or(source),
            tool: finding.tool.clone().unwrap_or_default(),
            rule: finding.rule.into(),
            // A tool is found by its name wherever it stands; what has none is not.
            pointer: if finding.tool.is_some() { place.inside.clone() } else { place.pointer.clone() },
        }
    }

    /// A number that is the same wherever the finding moves to (FNV-1a).
    pub(crate) fn fingerprint(&self) -> String {
        let words = [&self.source, &self.tool, &self.rule, &self.pointer];
        let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        format!("{hash:016x}")
    }
}

impl Baseline {
    /// One that is not there yet.
    pub(crate) const fn new(path: String) -> Baseline {
        Baseline { path, known: BTreeMap::new() }
    }

    pub(crate) fn read(text: &str, path: &str) -> Result<Baseline, CommandError> {
        let file = json::read(text).map_err(|error| CommandError::from_core(&error, "").in_source(path))?;
        let expected = || {
            let message = "expected a baseline, as `--update-baseline` writes it, found something else";
            CommandError::new("", message).in_source(path)
        };
        if file.get("version").and_then(Node::as_u64) != Some(VERSION) {
            return Err(expected());
        }
        let list = file.get("findings").and_then(Node::as_array).ok_or_else(expected)?;
        let mut known = BTreeMap::<Identity, BTreeSet<String>>::new();
        for entry in list {
            let word = |name: &str| entry.get(name).and_then(Node::as_text).map(|text| text.display().into_owned());
            let identity = Identity {
                source: word("source").ok_or_else(expected)?,
                tool: word("tool").unwrap_or_default(),
                rule: word("rule").ok_or_else(expected)?,
                pointer: word("pointer").ok_or_else(expected)?,
            };
            let dialects = entry.get("dialects").and_then(Node::as_array).ok_or_else(expected)?;
            let dialects = dialects.iter().filter_map(Node::as_text).map(|name| name.display().into_owned());
            known.entry(identity).or_default().extend(dialects);
        }
        Ok(Baseline { path: path.into(), known })
    }

    /// The file for what is found now.
    pub(crate) fn written(self, found: &[(Finding, Place)], sources: &[Source]) -> (String, String) {
        let mut known = BTreeMap::<Identity, BTreeSet<&str>>::new();
        for (finding, place) in found {
            known.entry(Identity::of(finding, place, sources)).or_default().extend(finding.dialects());
        }
        let mut text = format!("{{\n  \"version\": {VERSION},\n  \"findings\": [");
        for (at, (identity, dialects)) in known.iter().enumerate() {
            let entry = record([
                ("source", Node::string(identity.source.as_str())),
                ("tool", Node::string(identity.tool.as_str())),
                ("rule", Node::string(identity.rule.as_str())),
                ("pointer", Node::string(identity.pointer.as_str())),
                ("dialects", Node::array(dialects.iter().map(|name| Node::string(*name)).collect())),
            ]);
            text.push_str(if at == 0 { "\n    " } else { ",\n    " });
            text.push_str(&json::write(&entry));
        }
        text.push_str(if known.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        (self.path, text)
    }

    /// What is new, how much was known, and what is known and no longer there.
    pub(crate) fn without_known(
        mut self,
        found: Vec<(Finding, Place)>,
        sources: &[Source],
        dialects: &[&'static Dialect],
    ) -> (Vec<(Finding, Place)>, usize, Vec<String>) {
        let (mut new, mut count) = (Vec::new(), 0);
        let mut met = BTreeMap::<Identity, BTreeSet<String>>::new();
        for (mut finding, place) in found {
            let identity = Identity::of(&finding, &place, sources);
            let known = self.known.get(&identity);
            let all = finding.said.len();
            met.entry(identity).or_default().extend(finding.said.iter().map(|said| said.dialect.name.to_string()));
            finding.said.retain(|said| !known.is_some_and(|known| known.contains(said.dialect.name)));
            count += usize::from(finding.said.len() < all);
            if !finding.said.is_empty() {
                new.push((finding, place));
            }
        }
        // What a run with other dialects found is not gone.
        let judged: BTreeSet<&str> = dialects.iter().map(|dialect| dialect.name).collect();
        self.known.retain(|identity, names| {
            let met = met.get(identity);
            names.retain(|name| judged.contains(name.as_str()) && !met.is_some_and(|met| met.contains(name)));
            !names.is_empty()
        });
        let stale = self.known.len();
        let mut gone = Vec::new();
        if let Some(Identity { source, tool, rule, pointer }) = self.known.into_keys().next() {
            let about = if tool.is_empty() { String::new() } else { format!(" of `{}`", shown(&tool)) };
            let first = format!("`{}`{about} at {}:{}", shown(&rule), shown(&source), shown(&pointer));
            gone.push(format!(
                "{}: {} no longer there, the first {first}; `--update-baseline` takes them out",
                shown(&self.path),
                counted(stale, "finding"),
            ));
        }
        (new, count, gone)
    }
}
