//! `toolwire.toml`: the configuration of `check` for a project. An unknown key is an error, like an unknown option.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use toml::{
    de::{DeTable, DeValue},
    Spanned,
};
use toolwire::{
    reports::RequestFact,
    rules::{Constraint, Rule},
};
use wildmatch::WildMatch;

use super::{
    arguments::FailOn,
    error::CommandError,
    finding::{Finding, Location},
    profile::{ALL, PROFILES},
    terminal::shown,
    toml_file::TomlFile,
};

pub(crate) const FILE: &str = "toolwire.toml";
const KEYS: [&str; 7] = ["profile", "dialects", "exclude", "fail-on", "baseline", "limits", "ignore"];
const JSON: &str = ".json";
const LIMITS: [&str; 3] = ["refused", "reinterpreted", "ignored"];
const IGNORE_KEYS: [&str; 4] = ["rule", "tool", "dialect", "reason"];

#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) source: String,
    pub(crate) profile: Option<String>,
    pub(crate) dialects: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) fail_on: Option<FailOn>,
    pub(crate) baseline: Option<String>,
    /// Maximum number of findings for each severity, the worst first.
    pub(crate) limits: [Option<usize>; 3],
    pub(crate) ignores: Vec<Ignore>,
}

/// An `[[ignore]]`: hides findings that match all of its members.
#[derive(Debug, Default)]
pub(crate) struct Ignore {
    pub(crate) line: usize,
    pub(crate) rules: Vec<String>,
    /// Names, or patterns with `*` and `?`.
    pub(crate) tools: Vec<String>,
    pub(crate) dialects: Vec<String>,
}

impl Config {
    pub(crate) fn read(text: &str, source: String) -> Result<Config, CommandError> {
        let mut config = TomlFile::read(text, &source, |file, table| file.config(table))?;
        config.source = source;
        Ok(config)
    }
}

impl Config {
    /// Returns the findings that no entry of `ignore` hides, the number of hidden findings, and the stale entries.
    pub(crate) fn without_ignored(
        &self,
        found: Vec<(Finding, Location)>,
    ) -> (Vec<(Finding, Location)>, usize, Vec<String>) {
        let index = Index::of(&self.ignores);
        let mut used = vec![false; self.ignores.len()];
        let (mut kept, mut count) = (Vec::new(), 0);
        for (mut finding, location) in found {
            let all = finding.reported_by.len();
            for at in index.candidates(finding.rule, finding.tool.as_deref()) {
                let Some((ignore, used)) = self.ignores.get(at).zip(used.get_mut(at)) else { continue };
                let before = finding.reported_by.len();
                finding.reported_by.retain(|reported_by| !ignore.has(reported_by.dialect.name));
                *used |= finding.reported_by.len() < before;
            }
            count += usize::from(finding.reported_by.len() < all);
            if !finding.reported_by.is_empty() {
                kept.push((finding, location));
            }
        }
        let unused = self.ignores.iter().zip(used).filter(|(_, used)| !used);
        let stale = |(ignore, _): (&Ignore, bool)| {
            format!("{}:{}: this ignore matches no finding: remove it", shown(&self.source), ignore.line)
        };
        let stale = unused.map(stale).collect();
        (kept, count, stale)
    }
}

impl Ignore {
    fn has(&self, dialect: &str) -> bool {
        self.dialects.is_empty() || self.dialects.iter().any(|name| name == dialect)
    }
}

/// Index of the entries of `ignore`: a finding is compared only with entries that can match it, because there may be
/// thousands.
#[derive(Default)]
struct Index<'c> {
    exact: HashMap<(Option<&'c str>, Option<&'c str>), Bucket<'c>>,
    /// Patterns by the part before their first wildcard. If that part is empty, `ends` contains them.
    begins: BTreeMap<&'c str, HashMap<&'c str, Pattern<'c>>>,
    ends: BTreeMap<&'c str, HashMap<&'c str, Pattern<'c>>>,
}

/// Entries for one rule (or all rules) and one tool (or all tools), in file order. An entry is left out if earlier
/// entries cover all its dialects. Therefore, there is at most one entry for each dialect, and one for all dialects.
#[derive(Default)]
struct Bucket<'c> {
    ignores: Vec<usize>,
    dialects: HashSet<&'c str>,
    has_all: bool,
}

struct Pattern<'c> {
    matcher: WildMatch,
    by_rule: HashMap<Option<&'c str>, Bucket<'c>>,
}

impl<'c> Bucket<'c> {
    fn add(&mut self, at: usize, ignore: &'c Ignore) {
        let fits_all = ignore.dialects.is_empty();
        let is_new = ignore.dialects.iter().fold(fits_all, |new, name| self.dialects.insert(name) || new);
        if is_new && !self.has_all {
            self.ignores.push(at);
            self.has_all = fits_all;
        }
    }
}

impl<'c> Index<'c> {
    fn of(ignores: &'c [Ignore]) -> Self {
        let mut index = Index::default();
        for (at, ignore) in ignores.iter().enumerate() {
            for rule in words(&ignore.rules) {
                for tool in words(&ignore.tools) {
                    let Some(pattern) = tool.filter(|tool| tool.contains(WILDCARDS)) else {
                        index.exact.entry((rule, tool)).or_default().add(at, ignore);
                        continue;
                    };
                    let begin = pattern.split(WILDCARDS).next().unwrap_or_default();
                    let end = pattern.rsplit(WILDCARDS).next().unwrap_or_default();
                    let by_part = if begin.is_empty() { &mut index.ends } else { &mut index.begins };
                    let patterns = by_part.entry(if begin.is_empty() { end } else { begin }).or_default();
                    let new_pattern = || Pattern { matcher: WildMatch::new(pattern), by_rule: HashMap::new() };
                    let indexed = patterns.entry(pattern).or_insert_with(new_pattern);
                    indexed.by_rule.entry(rule).or_default().add(at, ignore);
                }
            }
        }
        index
    }

    fn candidates(&self, rule: &str, tool: Option<&str>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut take = |bucket: Option<&Bucket<'_>>| found.extend(bucket.iter().flat_map(|bucket| &bucket.ignores));
        for rule in [None, Some(rule)] {
            take(self.exact.get(&(rule, None)));
            if tool.is_some() {
                take(self.exact.get(&(rule, tool)));
            }
        }
        let Some(tool) = tool else { return found };
        let begins = parts(&self.begins, tool.char_indices().map(|(at, _)| tool.split_at(at).0).chain([tool]));
        let ends = parts(&self.ends, tool.char_indices().map(|(at, _)| tool.split_at(at).1).chain([""]));
        for pattern in begins.chain(ends).filter(|pattern| pattern.matcher.matches(tool)) {
            [None, Some(rule)].iter().for_each(|rule| take(pattern.by_rule.get(rule)));
        }
        found
    }
}

fn parts<'i, 'c: 'i>(
    places: &'i BTreeMap<&'c str, HashMap<&'c str, Pattern<'c>>>,
    parts: impl Iterator<Item = &'i str> + 'i,
) -> impl Iterator<Item = &'i Pattern<'c>> + 'i {
    let longest = places.keys().map(|part| part.len()).max();
    let parts = parts.filter(move |part| longest.is_some_and(|longest| part.len() <= longest));
    parts.filter_map(|part| places.get(part)).flat_map(HashMap::values)
}

const WILDCARDS: [char; 2] = ['*', '?'];

/// The distinct words of a list; `None` matches every word and is the only entry for an empty list.
fn words(list: &[String]) -> BTreeSet<Option<&str>> {
    if list.is_empty() {
        return BTreeSet::from([None]);
    }
    list.iter().map(|word| Some(word.as_str())).collect()
}

impl TomlFile<'_> {
    fn config(&self, table: &DeTable<'_>) -> Result<Config, CommandError> {
        let mut config = Config::default();
        for (key, value) in table.iter() {
            match key.get_ref().as_ref() {
                "profile" => config.profile = Some(self.one_of(value, &PROFILES)?),
                "dialects" => config.dialects = self.chosen(value)?,
                "exclude" => config.exclude = self.dialects(value)?,
                "fail-on" => {
                    let word = self.one_of(value, &["refused", "reinterpreted", "ignored", "never"])?;
                    config.fail_on = FailOn::of(&word);
                }
                "baseline" => config.baseline = Some(self.path_below(value)?),
                "limits" => config.limits = self.limits(value)?,
                "ignore" => {
                    let DeValue::Array(list) = value.get_ref() else {
                        return Err(self.unexpected(value, "`[[ignore]]`, a list of tables"));
                    };
                    for entry in list.iter() {
                        config.ignores.push(self.ignore(entry)?);
                    }
                }
                other => return Err(self.unknown(key.span(), other, &KEYS)),
            }
        }
        if config.profile.is_some() && !config.dialects.is_empty() {
            return Err(CommandError::new("", "expected `profile` or `dialects`, found both"));
        }
        Ok(config)
    }

    fn limits(&self, value: &Spanned<DeValue<'_>>) -> Result<[Option<usize>; 3], CommandError> {
        let DeValue::Table(table) = value.get_ref() else { return Err(self.unexpected(value, "a table")) };
        let mut limits = [None; 3];
        for (key, value) in table.iter() {
            let location = LIMITS.iter().position(|name| *name == key.get_ref().as_ref());
            let Some(limit) = location.and_then(|location| limits.get_mut(location)) else {
                return Err(self.unknown(key.span(), key.get_ref(), &LIMITS));
            };
            *limit = match value.get_ref() {
                DeValue::Integer(number) => number.as_str().parse().ok(),
                _ => None,
            };
            if limit.is_none() {
                return Err(self.unexpected(value, "a non-negative integer"));
            }
        }
        Ok(limits)
    }

    fn ignore(&self, entry: &Spanned<DeValue<'_>>) -> Result<Ignore, CommandError> {
        let DeValue::Table(table) = entry.get_ref() else { return Err(self.unexpected(entry, "a table")) };
        let mut ignore = Ignore { line: self.line(&entry.span()), ..Ignore::default() };
        for (key, value) in table.iter() {
            match key.get_ref().as_ref() {
                "rule" => {
                    ignore.rules = self.nonempty_strings(value)?;
                    for rule in &ignore.rules {
                        if !rules().any(|known| known == rule) {
                            return Err(self.unknown_word(value, "a rule", rule, &mut rules()));
                        }
                    }
                }
                "tool" => ignore.tools = self.nonempty_strings(value)?,
                "dialect" => {
                    self.nonempty_strings(value)?;
                    ignore.dialects = self.dialects(value)?;
                }
                "reason" => {
                    self.string(value)?;
                }
                other => return Err(self.unknown(key.span(), other, &IGNORE_KEYS)),
            }
        }
        if ignore.rules.is_empty() && ignore.tools.is_empty() && ignore.dialects.is_empty() {
            return Err(self.unexpected(entry, "`rule`, `tool` or `dialect`"));
        }
        Ok(ignore)
    }

    /// Reads the path of a JSON file below the configuration's directory, with `/`. The author of a configuration may
    /// be untrusted, and the command writes to this path. Therefore, other directories are refused, and so are files
    /// that a shell, Git or an editor executes.
    fn path_below(&self, value: &Spanned<DeValue<'_>>) -> Result<String, CommandError> {
        let path = self.string(value)?;
        let is_plain = |step: &str| !step.is_empty() && !step.ends_with(['.', ' ']);
        let mut steps: Vec<&str> = path.split('/').collect();
        steps.retain(|step| *step != ".");
        let is_json = |name: &&str| name.len() > JSON.len() && name.ends_with(JSON);
        let is_odd = |character: char| character.is_control() || matches!(character, '\\' | ':');
        if path.contains(is_odd) || !steps.iter().all(|step| is_plain(step)) || !steps.last().is_some_and(is_json) {
            let message = "expected a path of a `.json` file below the configuration's folder, with `/` and without \
                           `..`, found another path; `--baseline` accepts any path";
            return Err(self.error(Some(value.span()), message));
        }
        Ok(steps.join("/"))
    }

    fn chosen(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, CommandError> {
        let words = self.nonempty_strings(value)?;
        if words.iter().any(|word| word == ALL) {
            return Ok(Vec::from([ALL.into()]));
        }
        self.dialects(value)
    }
}

fn rules() -> impl Iterator<Item = &'static str> {
    let constraints = Constraint::ALL.iter().map(|constraint| constraint.id());
    let of_requests = RequestFact::CONSTRAINTS.iter().map(|(name, _)| *name);
    constraints.chain(of_requests).chain(Rule::ALL.iter().map(|rule| rule.id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignore(rules: &[&str], tools: &[&str], dialects: &[&str]) -> Ignore {
        let owned = |words: &[&str]| words.iter().map(|word| String::from(*word)).collect();
        Ignore { line: 0, rules: owned(rules), tools: owned(tools), dialects: owned(dialects) }
    }

    fn fitting(ignores: &[Ignore], rule: &str, tool: Option<&str>) -> BTreeSet<usize> {
        let fits = |ignore: &Ignore| {
            let is_tool = |pattern: &String| tool.is_some_and(|tool| WildMatch::new(pattern).matches(tool));
            (ignore.rules.is_empty() || ignore.rules.iter().any(|word| word == rule))
                && (ignore.tools.is_empty() || ignore.tools.iter().any(is_tool))
        };
        ignores.iter().enumerate().filter(|(_, ignore)| fits(ignore)).map(|(at, _)| at).collect()
    }

    /// 8,000 findings with 1,000 entries of `ignore` once took 4.7 seconds.
    #[test]
    fn findings_are_compared_only_with_matching_entries() {
        let names: Vec<String> = (0..1_000).map(|number| format!("tool_{number:04}")).collect();
        let mut ignores: Vec<Ignore> = names.iter().map(|name| ignore(&["type-union"], &[name], &[])).collect();
        ignores.extend(names.iter().map(|name| ignore(&[], &[&format!("{name}_*")], &["gemini"])));
        ignores.extend(names.iter().map(|name| ignore(&[], &[&format!("*_{name}")], &[])));
        ignores.extend((0..1_000).map(|_| ignore(&["type-union"], &[], &["gemini"])));
        let index = Index::of(&ignores);
        let compared: usize = names.iter().map(|name| index.candidates("type-union", Some(name)).len()).sum();
        // The entry for this name, and the first of the entries for all tools.
        assert_eq!(compared, 2 * names.len());
        assert_eq!(index.candidates("type-union", Some("tool_0007_x")), BTreeSet::from([1_007, 3_000]));
        assert_eq!(index.candidates("other", Some("x_tool_0007")), BTreeSet::from([2_007]));
    }

    #[test]
    fn index_agrees_with_a_linear_search() {
        let tools = ["", "a", "ab", "ba", "a*", "*a", "?b", "a?", "*", "?", "*b*", "é*", "*é", "a*b", "**"];
        let names = ["", "a", "b", "ab", "ba", "aab", "é", "éa", "aé", "abc"];
        for tool in tools {
            for rules in [&[][..], &["one"], &["one", "two"]] {
                let ignores = [ignore(rules, &[tool], &["gemini"]), ignore(rules, &["ab", "*é"], &[])];
                let index = Index::of(&ignores);
                for name in names {
                    for rule in ["one", "three"] {
                        let (found, all) = (index.candidates(rule, Some(name)), fitting(&ignores, rule, Some(name)));
                        assert_eq!(found, all, "{tool:?} {rules:?} {name:?} {rule}");
                        assert_eq!(index.candidates(rule, None), fitting(&ignores, rule, None), "{tool:?} {rules:?}");
                    }
                }
            }
        }
    }

    /// Of several entries that match the same findings, the first is used and the others are stale, as without the
    /// index.
    #[test]
    fn first_of_equal_entries_is_used() {
        let ignores =
            [ignore(&["one"], &[], &["gemini"]), ignore(&["one"], &[], &["gemini"]), ignore(&["one"], &[], &[])];
        assert_eq!(Index::of(&ignores).candidates("one", None), BTreeSet::from([0, 2]));
    }
}
