//! Checks that every option is declared and documented in all languages. Compares the options that the core accepts
//! with the types of TypeScript and Python, the tables of the documentation and the flags of the command line.
#![allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use std::{collections::BTreeSet, fmt::Debug, fs, path::PathBuf};

use crate::every_option::{self, Chosen};
use serde_json::Value;
use toolwire::{
    internal::{
        bindings::{self, call, Function, Naming, ReadOptions, Row},
        json,
        json::Node,
    },
    AdaptOptions, CheckRequestOptions, Code, DeferralQuery, DeferredOptions, Dialect, DialectQuery, EnvelopeOptions,
    Error, ExchangeOptions, RepairOptions, ResultOptions, SanitizeOptions, SearchOptions, ToolsOptions,
};

struct Declared {
    /// `None` for `Exchange`, which is not a function of `call`.
    function: Option<Function>,
    /// Name of the type in TypeScript and in Python.
    type_name: &'static str,
    page: &'static str,
    /// Heading of the option column in the page's table.
    head: &'static str,
    /// Pages whose options also apply; this page must link to them.
    bases: &'static [&'static str],
    /// Options that the core accepts but this function does not offer.
    withheld: &'static [&'static str],
    /// Options of the bases that this function does not have.
    without: &'static [&'static str],
}

/// Options of `sanitize` that do not apply to lists of tools.
const OF_SCHEMAS: &[&str] = &["use", "wrapper"];

const BY_OWN_PAGE: Declared = Declared {
    function: None,
    type_name: "",
    page: "tools.md#sanitize",
    head: "option",
    bases: &[],
    withheld: &[],
    without: &[],
};
const BY_SANITIZE: Declared = Declared { bases: &["tools.md#sanitize"], ..BY_OWN_PAGE };

const DECLARED: &[Declared] = &[
    Declared { function: Some(Function::Sanitize), type_name: "SanitizeOptions", ..BY_OWN_PAGE },
    // The result of `check` has no parts of the input to share.
    Declared {
        function: Some(Function::Check),
        type_name: "CheckOptions",
        page: "tools.md#check",
        withheld: &["share"],
        ..BY_SANITIZE
    },
    Declared {
        function: Some(Function::RepairArguments),
        type_name: "RepairOptions",
        page: "arguments.md#repairarguments",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::NormalizeEnvelope),
        type_name: "EnvelopeOptions",
        page: "tools.md#normalizeenvelope",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::SanitizeTools),
        type_name: "ToolsOptions",
        page: "tools.md#sanitizetools",
        without: OF_SCHEMAS,
        ..BY_SANITIZE
    },
    Declared {
        function: Some(Function::CheckTools),
        type_name: "CheckToolsOptions",
        page: "tools.md#sanitizetools",
        head: "option of `checkTools`",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::CheckRequest),
        type_name: "CheckRequestOptions",
        page: "requests.md#checkrequest",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::AdaptRequest),
        type_name: "AdaptOptions",
        page: "requests.md#adaptrequest",
        without: &["use"],
        ..BY_SANITIZE
    },
    Declared {
        function: Some(Function::ApplyDeferredLoading),
        type_name: "DeferredOptions",
        page: "deferred.md#applydeferredloading",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::StripDeferralBetas),
        type_name: "BetaOptions",
        page: "deferred.md#applydeferredloading",
        head: "option of `stripDeferralBetas`",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::DialectFor),
        type_name: "DialectQuery",
        page: "tools.md#dialects",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::DeferralFor),
        type_name: "DeferralQuery",
        page: "deferred.md#deferralfor",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::SearchTools),
        type_name: "SearchOptions",
        page: "deferred.md#searchtools",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::AnswerToolSearch),
        type_name: "SearchOptions",
        page: "deferred.md#searchtools",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::FitResult),
        type_name: "ResultOptions",
        page: "arguments.md#fitresult",
        ..BY_OWN_PAGE
    },
    // An exchange reads and writes bytes, so it has no values to share.
    Declared {
        type_name: "ExchangeOptions",
        page: "requests.md#adaptrequest",
        head: "option of `Exchange`",
        bases: &["tools.md#sanitize", "requests.md#adaptrequest"],
        withheld: &["share"],
        without: &["use"],
        ..BY_OWN_PAGE
    },
];

/// Functions without options: they ignore any that are passed.
const WITHOUT: &[Function] = &[
    Function::RestoreArguments,
    Function::ValidateArguments,
    Function::ValidateResult,
    Function::Dialects,
    Function::RestoreCall,
    Function::RestoreClientCall,
    Function::RestoreContent,
    Function::RestoreReply,
];

type Names = BTreeSet<String>;

impl Declared {
    fn name(&self) -> &'static str {
        self.function.map_or("Exchange", Function::name)
    }

    /// The core lists the options in the error about an unknown option.
    fn known(&self, naming: Naming) -> Names {
        let options = json::read(r#"{"?": true}"#).expect("that is JSON");
        let error: Error = match self.function {
            Some(function) => {
                call(function, vec![Node::default(); 2], &options, naming, false).expect_err("`?` is not an option")
            }
            None => bindings::options::<ExchangeOptions>(&options, naming).expect_err("`?` is not an option"),
        };
        assert_eq!(error.code(), Code::UnknownOption, "{}: {error}", self.name());
        let (list, _) = error.message().split_once(", found `?`").expect("the message lists the known options");
        let names: Names = quoted_texts(list).collect();
        let (withheld, offered): (Names, Names) =
            names.into_iter().partition(|name| self.withheld.iter().any(|one| spell(naming, one) == *name));
        assert_eq!(
            withheld.len(),
            self.withheld.len(),
            "{}: `withheld` names an option that the core does not have",
            self.name()
        );
        offered
    }

    fn in_typescript(&self, text: &str) -> Names {
        typescript(text, self.type_name)
    }

    fn in_python(&self, text: &str) -> Names {
        python(text, self.type_name)
    }

    fn in_documentation(&self) -> Names {
        let text = section(self.page);
        let mut names = table(&text, self.head);
        for base in self.bases {
            let (file, anchor) = base.split_once('#').expect("a page and a section");
            let links = [format!("]({base})"), format!("](#{anchor})")];
            let is_linked = self.page == *base
                || text.contains(&links[0])
                || (self.page.starts_with(file) && text.contains(&links[1]));
            assert!(is_linked, "docs/functions/{}: expected a link to {base}, which has the other options", self.page);
            names.extend(table(&section(base), "option"));
        }
        // The page states in words that these options do not apply.
        names.retain(|name| !self.withheld.contains(&name.as_str()) && !self.without.contains(&name.as_str()));
        names
    }
}

fn read_file(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the section of a function: `tools.md#sanitize` is the one with the heading "## `sanitize`" of that page.
fn section(page: &str) -> String {
    let (file, anchor) = page.split_once('#').expect("a page and a section");
    let text = read_file(&format!("docs/functions/{file}"));
    let mut sections = text.split("\n## ").skip(1);
    let is_of_function =
        |section: &&str| quoted_texts(section).next().is_some_and(|name| name.to_lowercase() == anchor);
    sections.find(is_of_function).unwrap_or_else(|| panic!("docs/functions/{page}: no such section")).to_owned()
}

fn quoted_texts(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// Includes the members of the interfaces that this interface extends: `Base`, or `Omit<Base, 'a' | 'b'>`.
fn typescript(text: &str, name: &str) -> Names {
    let (_, rest) =
        text.split_once(&format!("export interface {name} ")).unwrap_or_else(|| panic!("options.ts has no `{name}`"));
    let (head, body) = rest.split_once('{').expect("an interface has a body");
    // The body of an empty interface.
    let body = if body.starts_with('}') { "" } else { body.split_once("\n}").map_or("", |(body, _)| body) };
    let mut names = Names::new();
    if let Some(base) = head.trim().strip_prefix("extends ") {
        if let Some(omitted) = base.strip_prefix("Omit<") {
            let (base, left_out) = omitted.split_once(',').expect("`Omit` has two arguments");
            let left_out: Names = left_out.split('\'').skip(1).step_by(2).map(str::to_owned).collect();
            names = &typescript(text, base) - &left_out;
        } else {
            names.extend(base.split(", ").flat_map(|base| typescript(text, base)));
        }
    }
    let members = body
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()));
    names
        .extend(members.filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim_end_matches('?').to_owned()));
    names
}

/// Includes the fields of the bases of the `TypedDict`.
fn python(text: &str, name: &str) -> Names {
    let (_, rest) = text.split_once(&format!("class {name}(")).unwrap_or_else(|| panic!("_options.py has no `{name}`"));
    let (bases, body) = rest.split_once("):\n").expect("a class has a body");
    let body = body.split("\n\n\n").next().unwrap_or_default();
    let mut names: Names = python_bases(bases).flat_map(|base| python(text, base)).collect();
    let fields = body.lines().filter_map(|line| line.strip_prefix("    ")).filter_map(|line| line.split_once(':'));
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|char| char.is_ascii_lowercase() || char == '_');
    names.extend(fields.map(|(name, _)| name).filter(is_name).map(str::to_owned));
    names
}

fn table(text: &str, head: &str) -> Names {
    let cell = |line: &str| line.strip_prefix("| ").and_then(|row| row.split(" |").next()).map(str::to_owned);
    let is_head = |line: &&str| cell(line).is_some_and(|first| first == head);
    text.lines()
        .skip_while(|line| !is_head(line))
        .skip(2)
        .map_while(cell)
        .flat_map(|first| quoted_texts(&first).collect::<Vec<_>>())
        .collect()
}

fn compare(function: &str, place: &str, known: &Names, found: &Names, faults: &mut Vec<String>) {
    faults.extend((known - found).iter().map(|name| format!("{function}: {place} lacks `{name}`")));
    faults.extend(
        (found - known).iter().map(|name| format!("{function}: {place} has `{name}`, which the core does not know")),
    );
}

#[test]
fn options_are_the_same_in_all_languages() {
    let (npm, py) = (read_file("npm/src/options.ts"), read_file("python/src/toolwire/_options.py"));
    let mut faults = Vec::new();
    for declared in DECLARED {
        let (name, known) = (declared.name(), declared.known(Naming::Camel));
        assert!(!known.is_empty(), "{name} has no options");
        compare(
            name,
            &format!("`{}` in npm/src/options.ts", declared.type_name),
            &known,
            &declared.in_typescript(&npm),
            &mut faults,
        );
        let place = format!("`{}` in python/src/toolwire/_options.py", declared.type_name);
        compare(name, &place, &declared.known(Naming::Snake), &declared.in_python(&py), &mut faults);
        let place = format!("the table `{}` in docs/functions/{}", declared.head, declared.page);
        compare(name, &place, &known, &declared.in_documentation(), &mut faults);
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// Options of which a language declares fewer values than the core recognizes: it recognizes the others only to refuse
/// them with a specific message.
const FEWER: &[(&str, &str)] = &[("adaptRequest", "format"), ("Exchange", "format"), ("Exchange", "target")];

impl Declared {
    /// Returns `None` if the values are not limited. The core lists the allowed values in the error about an unknown
    /// value.
    fn words(&self, name: &str) -> Option<Names> {
        let attempt = |options: &str| {
            let options = json::read(options).expect("that is JSON");
            match self.function {
                Some(function) => call(function, vec![Node::default(); 2], &options, Naming::Camel, false).err(),
                None => bindings::options::<ExchangeOptions>(&options, Naming::Camel).err(),
            }
        };
        let found = attempt(&format!(r#"{{"{name}": "?"}}"#))
            .filter(|error| error.pointer() == format!("/{name}"))
            .or_else(|| attempt(&format!(r#"{{"dialect": "openai-chat", "{name}": "?"}}"#)))?;
        let (list, _) = found.message().split_once(", found `?`")?;
        let (_, list) = list.split_once("to be one of ")?;
        Some(list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
    }
}

fn words_in_typescript(text: &str, interface: &str, name: &str) -> Names {
    let (_, rest) = text.split_once(&format!("export interface {interface} ")).expect("an interface");
    let (head, body) = rest.split_once('{').expect("an interface has a body");
    let body = body.split_once("\n}").map_or("", |(body, _)| body);
    if let Some((_, member)) = body.split_once(&format!("\n  {name}?:")) {
        let of_type = member.split_once(';').map_or(member, |(of_type, _)| of_type);
        // `DialectQuery['api']`
        if let Some((interface, member)) = of_type.trim().split_once("['") {
            let member = member.split('\'').next().unwrap_or_default();
            return words_in_typescript(text, interface, member);
        }
        let alias = of_type.split(|one: char| !one.is_alphanumeric()).find(|word| *word == "ToolFormat");
        let of_type = alias.map_or(of_type.to_owned(), |alias| {
            let (_, rest) = text.split_once(&format!("export type {alias} =")).expect("an alias");
            let lines = rest.trim_start().lines().take_while(|line| !line.is_empty());
            lines.filter(|line| !line.trim_start().starts_with("/**")).collect()
        });
        return of_type.split('\'').skip(1).step_by(2).map(str::to_owned).collect();
    }
    let bases = head.trim().strip_prefix("extends ").unwrap_or_default();
    let bases = bases.trim_start_matches("Omit<").split([',', '>']).map(str::trim);
    let mut bases = bases.filter(|base| text.contains(&format!("export interface {base} ")));
    bases
        .find_map(|base| Some(words_in_typescript(text, base, name)).filter(|words| !words.is_empty()))
        .unwrap_or_default()
}

fn words_in_python(text: &str, class: &str, name: &str) -> Names {
    let (_, rest) = text.split_once(&format!("class {class}(")).expect("a class");
    let (bases, body) = rest.split_once("):\n").expect("a class has a body");
    let body = body.split("\n\n\n").next().unwrap_or_default();
    if let Some((_, field)) = body.split_once(&format!("\n    {name}:")) {
        let of_type = field.split_once("\n    \"\"\"").map_or(field, |(of_type, _)| of_type);
        // Fields of an exchange have no docstring.
        let next = of_type
            .find(": ")
            .map_or(of_type.len(), |at| of_type.get(..at).map_or(at, |one| one.rfind('\n').unwrap_or(at)));
        let of_type = of_type.get(..next).unwrap_or(of_type);
        let of_type = if of_type.trim_start().starts_with("ToolFormat") {
            let (_, rest) = text.split_once("ToolFormat: TypeAlias = Literal[").expect("an alias");
            rest.split_once(']').map_or("", |(words, _)| words)
        } else {
            of_type
        };
        return of_type.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    }
    let mut bases = python_bases(bases);
    bases.find_map(|base| Some(words_in_python(text, base, name)).filter(|words| !words.is_empty())).unwrap_or_default()
}

#[test]
fn allowed_values_are_the_same_in_all_languages() {
    let (npm, py) = (read_file("npm/src/options.ts"), read_file("python/src/toolwire/_options.py"));
    let (mut faults, mut compared) = (Vec::new(), 0);
    for declared in DECLARED {
        for name in declared.known(Naming::Camel) {
            let Some(words) = declared.words(&name) else { continue };
            if FEWER.contains(&(declared.name(), name.as_str())) {
                continue;
            }
            compared += 1;
            let place = |language: &str| format!("`{name}` of `{}` in {language}", declared.type_name);
            let found = words_in_typescript(&npm, declared.type_name, &name);
            compare(declared.name(), &place("npm/src/options.ts"), &words, &found, &mut faults);
            let found = words_in_python(&py, declared.type_name, &spell(Naming::Snake, &name));
            compare(declared.name(), &place("python/src/toolwire/_options.py"), &words, &found, &mut faults);
        }
    }
    assert!(compared > 40, "only {compared} options with a list of values were found");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn options_of_every_function_are_compared() {
    let looked_at = |function: &Function| DECLARED.iter().any(|declared| declared.function == Some(*function));
    let missing: Vec<&str> = Function::ALL
        .iter()
        .filter(|function| !looked_at(function) && !WITHOUT.contains(function))
        .map(|function| function.name())
        .collect();
    assert!(missing.is_empty(), "functions whose options are not compared: {missing:?}");
}

fn spell(naming: Naming, camel: &str) -> String {
    match naming {
        Naming::Camel => camel.to_owned(),
        Naming::Rust if camel == "use" => "used_as".to_owned(),
        Naming::Snake | Naming::Rust => camel.chars().fold(String::new(), |mut name, one| {
            if one.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(one.to_ascii_lowercase());
            name
        }),
    }
}

/// Rows of the type itself, and of the types that it includes, may declare an option of the type.
fn row_types(type_name: &'static str) -> Vec<&'static str> {
    match type_name {
        "CheckOptions" => vec!["SanitizeOptions"],
        "ToolsOptions" => vec!["ToolsOptions", "SanitizeOptions"],
        "AdaptOptions" => vec!["AdaptOptions", "ToolsOptions", "SanitizeOptions"],
        "ExchangeOptions" => vec!["ExchangeOptions", "AdaptOptions", "ToolsOptions", "SanitizeOptions"],
        other => vec![other],
    }
}

/// Options without a row in the core: each is the only option of its function.
const WITHOUT_ROW: &[(&str, &str)] = &[("CheckToolsOptions", "dialects")];

/// Options whose documentation differs from the row in the core, with the reason.
const DOCUMENTED_APART: &[(&str, &str, &str)] = &[
    ("AdaptOptions", "format", "it is the format of the request, not of its tools"),
    ("ExchangeOptions", "format", "it is the format of the request, not of its tools"),
    ("ExchangeOptions", "deferred", "hosted searches are run by default"),
    ("BetaOptions", "native", "the documentation of the types refers to `DeferredOptions`"),
];

fn row(type_name: &'static str, name: &str) -> Option<Row> {
    row_types(type_name).into_iter().flat_map(bindings::option_rows).find(|row| row.name == name)
}

fn documentation_in_typescript(text: &str, interface: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("export interface {interface} "))?;
    let (head, body) = rest.split_once('{')?;
    let body = if body.starts_with('}') { "" } else { body.split_once("\n}").map_or("", |(body, _)| body) };
    let member = [format!("\n  {name}?:"), format!("\n  {name}:")].iter().find_map(|start| body.find(start.as_str()));
    if let Some(at) = member {
        let (_, comment) = body.get(..at)?.rsplit_once("/**")?;
        let (comment, _) = comment.split_once("*/")?;
        let lines = comment.lines().map(|line| line.trim().trim_start_matches("* ").trim_start_matches('*'));
        return Some(lines.collect::<Vec<_>>().join(" ").trim().to_owned());
    }
    let bases = head.trim().strip_prefix("extends ").unwrap_or_default().trim_start_matches("Omit<");
    let mut bases = bases.split([',', '>']).map(str::trim).filter(|base| text.contains(&format!("interface {base} ")));
    bases.find_map(|base| documentation_in_typescript(text, base, name))
}

fn documentation_in_python(text: &str, class: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("class {class}("))?;
    let (bases, body) = rest.split_once("):\n")?;
    let body = body.split("\n\n\n").next().unwrap_or_default();
    if let Some((_, field)) = body.split_once(&format!("\n    {name}:")) {
        let (_, comment) = field.split_once("\"\"\"")?;
        let (comment, _) = comment.split_once("\"\"\"")?;
        return Some(comment.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    python_bases(bases).find_map(|base| documentation_in_python(text, base, name))
}

fn python_bases(bases: &str) -> impl Iterator<Item = &str> {
    bases.split(", ").filter(|base| base.ends_with("Options") || base.ends_with("Deferral"))
}

/// Normalizes differences between languages: names of options and functions, and null.
fn first_sentence(documentation: &str) -> String {
    let line = documentation.split("\n\n").next().unwrap_or_default();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = line.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let (sentence, _) = sentence.split_once(": see [").unwrap_or((sentence, ""));
    let nothing =
        ["`Limit::Unlimited`", "`None`"].iter().fold(sentence.to_owned(), |line, none| line.replace(none, "`null`"));
    // The documentation of the bindings addresses the reader.
    let ours = nothing.trim_start_matches("Bindings only: ").replace("the caller's own", "your own");
    let ours = ours.split(", and the input itself").next().unwrap_or_default().to_owned();
    ours.replace('_', "").to_lowercase()
}

fn plain(text: &str) -> String {
    let text = text.replace('`', "");
    // `32,000` becomes `32000`.
    let digits = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let is_separator = |at: usize, one: char| one == ',' && at > 0 && digits(at - 1) && digits(at + 1);
    text.char_indices().filter(|(at, one)| !is_separator(*at, *one)).map(|(_, one)| one).collect()
}

fn defaults_in_table(text: &str, head: &str) -> Vec<(String, String)> {
    let is_head = |line: &&str| line.starts_with(&format!("| {head} | default | meaning |"));
    let rows = text.lines().skip_while(|line| !is_head(line)).skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| {
        let mut cells = row.trim_start_matches("| ").split(" | ");
        let name = quoted_texts(cells.next()?).next()?;
        Some((name, cells.next()?.to_owned()))
    });
    cells.collect()
}

/// The default and the first sentence of an option must be the same in TypeScript and Python as in its row, and its
/// page must contain the default.
#[test]
fn defaults_and_documentation_match_the_option_tables() {
    let (npm, py) = (read_file("npm/src/options.ts"), read_file("python/src/toolwire/_options.py"));
    let (mut faults, mut compared) = (Vec::new(), 0);
    for declared in DECLARED {
        let (function, type_name) = (declared.name(), declared.type_name);
        let page = defaults_in_table(&section(declared.page), declared.head);
        for name in declared.known(Naming::Camel) {
            let Some(row) = row(type_name, &name) else {
                if !WITHOUT_ROW.contains(&(type_name, name.as_str())) {
                    faults.push(format!("{function}: no table of core/src/options has `{name}`"));
                }
                continue;
            };
            // The name in JSON is the name of the field in TypeScript; Python spells it in snake case.
            let in_typescript = documentation_in_typescript(&npm, type_name, &name).unwrap_or_default();
            let in_python = documentation_in_python(&py, type_name, &spell(Naming::Snake, &name)).unwrap_or_default();
            let is_apart = DOCUMENTED_APART.iter().any(|apart| (apart.0, apart.1) == (type_name, name.as_str()));
            for (language, documentation) in [("TypeScript", &in_typescript), ("Python", &in_python)] {
                compared += 1;
                let (expected, found) = (first_sentence(row.doc), first_sentence(documentation));
                if !is_apart && expected != found {
                    faults.push(format!(
                        "{function}: `{name}` in {language} begins\n    {found}\n  but its row\n    {expected}"
                    ));
                }
                let Some(default) = &row.default else { continue };
                let default = plain(default);
                let documentation = plain(documentation);
                let states_default = ["Default ", "By default "].iter().any(|start| {
                    documentation.match_indices(start).any(|(at, _)| {
                        documentation.get(at + start.len()..).is_some_and(|rest| rest.starts_with(&default))
                    })
                });
                if !states_default && default != "\"\"" {
                    faults.push(format!(
                        "{function}: `{name}` in {language} does not state the default {default}: {documentation}"
                    ));
                }
            }
            // Options that another page documents are compared there.
            let Some((_, cell)) = page.iter().find(|(option, _)| *option == name) else { continue };
            let is_stated =
                row.default.as_deref().is_none_or(|default| default == "\"\"" || plain(cell) == plain(default));
            if cell.trim().is_empty() || !is_stated {
                let default = row.default.unwrap_or_default();
                faults.push(format!(
                    "{function}: docs/functions/{} states the default {cell} for `{name}`, but its row has {default}",
                    declared.page
                ));
            }
        }
        assert!(
            !page.is_empty() || declared.page == "tools.md#check",
            "docs/functions/{}: no table has defaults",
            declared.page
        );
    }
    assert!(compared > 200, "only {compared} doc comments were compared");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// The structs of `command/src/arguments/` with the flags for each type of options.
const FLAGS: &[(&str, &[(&str, &str)])] = &[
    ("SanitizeOptions", &[("mod.rs", "Rewriting"), ("mod.rs", "SanitizeArguments")]),
    ("ToolsOptions", &[("mod.rs", "SanitizeArguments")]),
    ("AdaptOptions", &[("mod.rs", "SanitizeArguments")]),
    ("DeferredOptions", &[("defer.rs", "DeferArguments")]),
    ("RepairOptions", &[("validate.rs", "Repairing"), ("validate.rs", "ValidateArguments")]),
];

/// Options without a flag, with the reason.
const WITHOUT_FLAG: &[(&str, &str, &str)] = &[
    ("SanitizeOptions", "share", "the result is text"),
    ("DeferredOptions", "share", "the result is text"),
    ("ToolsOptions", "maxTools", "the default is more than any API accepts"),
    ("ToolsOptions", "outputSchemas", "few APIs read it, and none is known to need it"),
    ("ToolsOptions", "duplicateNames", "`toolwire restore` prints names, not list indices"),
    ("ToolsOptions", "onSetAside", "standard error names the tools that are set aside, and the exit code is 1"),
    ("AdaptOptions", "deferred", "`toolwire defer` has its options"),
    ("AdaptOptions", "betas", "a file has no header"),
    ("AdaptOptions", "historyPairs", "as with `historyArguments`"),
    ("AdaptOptions", "overflow", "`toolwire sanitize` does not answer searches"),
    (
        "AdaptOptions",
        "historyArguments",
        "`toolwire sanitize` sends nothing: it shows the request exactly as it would be sent",
    ),
    ("RepairOptions", "name", "the tool's name is known from the input"),
];

/// Types of options whose functions the command line does not offer, with the reason.
const WITHOUT_COMMAND: &[(&str, &str)] = &[
    ("EnvelopeOptions", "`toolwire sanitize` includes this"),
    ("ResultOptions", "`toolwire proxy` has both as `--results` and `--structured-text`"),
    ("BetaOptions", "its input is a header, not a file"),
    ("CheckRequestOptions", "`toolwire check` checks a request against each given dialect"),
    ("DialectQuery", "`toolwire dialects` lists them"),
    ("DeferralQuery", "`toolwire dialects` lists them"),
    ("SearchOptions", "a search is part of a conversation"),
    ("ExchangeOptions", "an exchange is part of a gateway"),
];

/// Each field has the attributes and comments before it.
fn flags(text: &str, name: &str) -> Vec<(String, String)> {
    let (_, rest) = text.split_once(&format!("struct {name} {{\n")).unwrap_or_else(|| panic!("no struct `{name}`"));
    let (body, _) = rest.split_once("\n}").expect("a struct ends");
    let (mut flags, mut before) = (Vec::new(), String::new());
    for line in body.lines().map(str::trim) {
        if let Some((field, _)) = line.strip_prefix("pub(crate) ").and_then(|line| line.split_once(':')) {
            flags.push((field.to_owned(), std::mem::take(&mut before)));
        } else {
            before.push_str(line);
        }
    }
    flags
}

#[test]
fn every_option_has_a_flag_or_a_reason_for_having_none() {
    let mut faults = Vec::new();
    let types: BTreeSet<&str> = DECLARED.iter().flat_map(|declared| row_types(declared.type_name)).collect();
    for type_name in types {
        let rows = bindings::option_rows(type_name);
        if rows.is_empty() || WITHOUT_COMMAND.iter().any(|without| without.0 == type_name) {
            continue;
        }
        let Some((_, structs)) = FLAGS.iter().find(|(name, _)| *name == type_name) else {
            faults.push(format!("{type_name}: `FLAGS` does not list the command's struct for these options"));
            continue;
        };
        for row in rows {
            let field = spell(Naming::Snake, row.name);
            let found = structs.iter().find_map(|(file, name)| {
                let text = read_file(&format!("command/src/arguments/{file}"));
                let long = format!("long = \"{field}\"");
                flags(&text, name)
                    .into_iter()
                    .find(|(flag, before)| before.contains("#[arg(") && (*flag == field || before.contains(&long)))
            });
            let reason = WITHOUT_FLAG.iter().find(|without| (without.0, without.1) == (type_name, row.name));
            match (found, reason) {
                (Some(_), Some(_)) => {
                    faults.push(format!("{type_name}: `{}` has a flag but is listed in `WITHOUT_FLAG`", row.name));
                }
                (None, None) => faults.push(format!("{type_name}: no flag of the command sets `{}`", row.name)),
                (Some((_, attributes)), None) => {
                    let default =
                        attributes.split_once("default_value = \"").and_then(|(_, rest)| rest.split('"').next());
                    let row_default = row.default.unwrap_or_default();
                    if default.is_some_and(|default| default != row_default.trim_matches('"')) {
                        faults.push(format!("{type_name}: the flag of `{}` has a different default", row.name));
                    }
                }
                (None, Some(_)) => {}
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

fn options<T: ReadOptions>(text: &str) -> T {
    let value = in_rust(&serde_json::from_str(text).expect("options are JSON"));
    let node = Node::from_value(&value).expect("options are shallow");
    bindings::options(&node, Naming::Rust).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Messages about options that setters made have their names in Rust.
fn in_rust(options: &Value) -> Value {
    let Some(members) = options.as_object() else { return options.clone() };
    members.iter().map(|(name, value)| (spell(Naming::Rust, name), in_rust(value))).collect()
}

/// `base` is the value of `object`, without its closing brace.
fn compare_setters<T: ReadOptions + PartialEq + Debug + Clone>(
    (type_name, without): (&'static str, &[&str]),
    (object, base): (&str, &T),
    all: &[Chosen<T>],
) {
    let rows = row_types(type_name).into_iter().flat_map(bindings::option_rows).map(|row| row.name);
    let rows: BTreeSet<&str> = rows.filter(|name| !without.contains(name)).collect();
    let known: BTreeSet<&str> = all.iter().map(|chosen| chosen.name).collect();
    assert_eq!(rows, known, "{type_name}: each row needs a value in `every_option`");
    assert_eq!(options::<T>(&format!("{object}}}")), *base, "{type_name}: the defaults");
    for Chosen { name, json, set } in all {
        let (comma, own) = (if object == "{" { "" } else { "," }, set(base.clone()));
        assert_ne!(own, *base, "{type_name}: `{name}` has its default");
        assert_eq!(options::<T>(&format!(r#"{object}{comma}"{name}":{json}}}"#)), own, "{type_name}: `{name}`");
    }
}

/// The options themselves have to show which options were chosen, not only to the reader of JSON.
#[test]
fn options_from_json_equal_those_of_the_setters() {
    const DIALECT: &str = r#"{"dialect":"moonshot""#;
    compare_setters(
        ("SanitizeOptions", &[]),
        (DIALECT, &SanitizeOptions::new(Dialect::MOONSHOT)),
        &every_option::sanitize(),
    );
    compare_setters(
        ("ToolsOptions", OF_SCHEMAS),
        (DIALECT, &ToolsOptions::new(Dialect::MOONSHOT)),
        &every_option::tools(),
    );
    let without = ["use", "duplicateNames", "onSetAside"];
    compare_setters(
        ("AdaptOptions", &without),
        (DIALECT, &AdaptOptions::new(Dialect::MOONSHOT)),
        &every_option::adapt(),
    );
    let without = ["use", "duplicateNames", "share"];
    compare_setters(("ExchangeOptions", &without), ("{", &ExchangeOptions::default()), &every_option::exchange());
    let check = CheckRequestOptions::new(Dialect::MOONSHOT);
    compare_setters(("CheckRequestOptions", &[]), (DIALECT, &check), &every_option::check_request());
    compare_setters(("DeferredOptions", &[]), ("{", &DeferredOptions::default()), &every_option::deferral());
    compare_setters(("RepairOptions", &[]), ("{", &RepairOptions::default()), &every_option::repair());
    compare_setters(("ResultOptions", &[]), ("{", &ResultOptions::default()), &every_option::result());
    compare_setters(("SearchOptions", &[]), ("{", &SearchOptions::default()), &every_option::search());
    compare_setters(("EnvelopeOptions", &[]), ("{", &EnvelopeOptions::default()), &every_option::envelope());
    compare_setters(("DialectQuery", &[]), ("{", &DialectQuery::default()), &every_option::dialect_query());
    compare_setters(("DeferralQuery", &[]), ("{", &DeferralQuery::default()), &every_option::deferral_query());
    for Chosen { name, json, set } in every_option::deferral() {
        let given = format!(r#""deferred":{{"{name}":{json}}}"#);
        let deferred = set(DeferredOptions::default());
        let own = ExchangeOptions::default().deferred(deferred.clone());
        assert_eq!(options::<ExchangeOptions>(&format!("{{{given}}}")), own, "Exchange, deferred: `{name}`");
        let own = AdaptOptions::new(Dialect::MOONSHOT).deferred(deferred);
        assert_eq!(options::<AdaptOptions>(&format!("{DIALECT},{given}}}")), own, "deferred: `{name}`");
    }
    assert_eq!(options::<ExchangeOptions>(r#"{"deferred":{"native":"auto"}}"#), ExchangeOptions::default());
    let emulated = ExchangeOptions::default().native_is_auto(false);
    assert_eq!(options::<ExchangeOptions>(r#"{"deferred":{"native":"none"}}"#), emulated);
}

/// The hint of an unknown dialect is a call of the caller's own function, in the caller's language.
#[test]
fn an_unknown_dialect_shows_a_call_of_the_same_function() {
    for (function, camel, snake) in [
        (
            Function::Sanitize,
            "sanitize(schema, { dialect: \"openai-strict\" })",
            "sanitize(schema, dialect=\"openai-strict\")",
        ),
        (Function::Check, "check(schema, { dialect: \"openai-strict\" })", "check(schema, dialect=\"openai-strict\")"),
        (
            Function::SanitizeTools,
            "sanitizeTools(tools, { dialect: \"openai-strict\" })",
            "sanitize_tools(tools, dialect=\"openai-strict\")",
        ),
        (
            Function::CheckTools,
            "checkTools(tools, { dialects: [\"openai-strict\"] })",
            "check_tools(tools, dialects=[\"openai-strict\"])",
        ),
        (
            Function::AdaptRequest,
            "adaptRequest(request, { dialect: \"openai-strict\" })",
            "adapt_request(request, dialect=\"openai-strict\")",
        ),
        (
            Function::CheckRequest,
            "checkRequest(request, { dialect: \"openai-strict\" })",
            "check_request(request, dialect=\"openai-strict\")",
        ),
    ] {
        let option = match function {
            Function::CheckTools => serde_json::json!({"dialects": ["openai-chat", "openai_strict"]}),
            _ => serde_json::json!({"dialect": "openai_strict"}),
        };
        for (naming, expected) in [(Naming::Camel, camel), (Naming::Snake, snake)] {
            let request = serde_json::json!({"messages": []});
            let (input, options) = (Node::from_value(&request), Node::from_value(&option));
            let (input, options) = (input.expect("a tree"), options.expect("a tree"));
            let error = call(function, vec![input], &options, naming, false).expect_err("an unknown dialect");
            let expected = format!("(did you mean `openai-strict`?); for example `{expected}`");
            assert!(error.message().ends_with(&expected), "{error}");
        }
    }
    let option = serde_json::json!({"dialect": "openai_strict"});
    let option = Node::from_value(&option).expect("a tree");
    for (naming, expected) in [
        (Naming::Camel, "Exchange.open(url, body, { dialect: \"openai-strict\" })"),
        (Naming::Snake, "Exchange.open(url, body, dialect=\"openai-strict\")"),
    ] {
        let error = bindings::options::<ExchangeOptions>(&option, naming).expect_err("an unknown dialect");
        assert!(error.message().ends_with(&format!("; for example `{expected}`")), "{error}");
    }
}
