//! An option is known in every language and documented: what the core reads of each function is compared with the types
//! of TypeScript and Python and with the tables of the documentation.
#![allow(clippy::panic, clippy::expect_used, reason = "a test stops where it cannot go on")]

use std::{collections::BTreeSet, fs, path::PathBuf};

use toolwire::{
    internal::bindings::{self, call, Function, Naming},
    json,
    json::Node,
    Code, Error, ExchangeOptions,
};

/// A function with options, and where they are declared for people.
struct Declared {
    /// `None` is `Exchange`, which is no function of `call`.
    function: Option<Function>,
    /// The type's name in TypeScript and in Python.
    type_name: &'static str,
    page: &'static str,
    /// What stands in the head of the page's table.
    head: &'static str,
    /// The pages whose options these have too: this page has to link to them.
    bases: &'static [&'static str],
    /// Options that the core knows and this function does not offer.
    withheld: &'static [&'static str],
}

const BY_OWN_PAGE: Declared =
    Declared { function: None, type_name: "", page: "sanitize.md", head: "option", bases: &[], withheld: &[] };
const BY_SANITIZE: Declared = Declared { bases: &["sanitize.md"], ..BY_OWN_PAGE };

const DECLARED: &[Declared] = &[
    Declared { function: Some(Function::Sanitize), type_name: "SanitizeOptions", ..BY_OWN_PAGE },
    // What is found has no parts of the input to share.
    Declared {
        function: Some(Function::Check),
        type_name: "CheckOptions",
        page: "check.md",
        withheld: &["share"],
        ..BY_SANITIZE
    },
    Declared {
        function: Some(Function::RepairArguments),
        type_name: "RepairOptions",
        page: "repair-arguments.md",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::NormalizeEnvelope),
        type_name: "EnvelopeOptions",
        page: "normalize-envelope.md",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::SanitizeTools),
        type_name: "ToolsOptions",
        page: "sanitize-tools.md",
        ..BY_SANITIZE
    },
    Declared {
        function: Some(Function::CheckTools),
        type_name: "CheckToolsOptions",
        page: "sanitize-tools.md",
        head: "option of `checkTools`",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::CheckRequest),
        type_name: "CheckRequestOptions",
        page: "check-request.md",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::AdaptRequest),
        type_name: "AdaptOptions",
        page: "adapt-request.md",
        ..BY_SANITIZE
    },
    Declared {
        function: Some(Function::ApplyDeferredLoading),
        type_name: "DeferredOptions",
        page: "apply-deferred-loading.md",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::StripDeferralBetas),
        type_name: "BetaOptions",
        page: "apply-deferred-loading.md",
        head: "option of `stripDeferralBetas`",
        ..BY_OWN_PAGE
    },
    Declared { function: Some(Function::DialectFor), type_name: "DialectQuery", page: "dialects.md", ..BY_OWN_PAGE },
    Declared {
        function: Some(Function::DeferralFor),
        type_name: "DeferralQuery",
        page: "deferral-for.md",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::SearchTools),
        type_name: "SearchOptions",
        page: "search-tools.md",
        ..BY_OWN_PAGE
    },
    Declared {
        function: Some(Function::AnswerToolSearch),
        type_name: "SearchOptions",
        page: "search-tools.md",
        ..BY_OWN_PAGE
    },
    // An exchange takes and gives bytes.
    Declared {
        type_name: "ExchangeOptions",
        page: "adapt-request.md",
        head: "option of `Exchange`",
        bases: &["sanitize.md", "adapt-request.md"],
        withheld: &["share"],
        ..BY_OWN_PAGE
    },
];

/// Functions that take no options: what they are given would not be looked at.
const WITHOUT: &[Function] = &[
    Function::RestoreArguments,
    Function::ValidateArguments,
    Function::Dialects,
    Function::RestoreCall,
    Function::RestoreClientCall,
    Function::RestoreReply,
];

type Names = BTreeSet<String>;

impl Declared {
    fn name(&self) -> &'static str {
        self.function.map_or("Exchange", Function::name)
    }

    /// What the core knows: it lists that for whoever gives an option that there is not.
    fn known(&self, naming: Naming) -> Names {
        let options = json::read(r#"{"?": true}"#).expect("that is JSON");
        let error: Error = match self.function {
            Some(function) => {
                call(function, vec![Node::default(); 2], &options, naming, false).expect_err("`?` is no option")
            }
            None => bindings::options::<ExchangeOptions>(&options, naming).expect_err("`?` is no option"),
        };
        assert_eq!(error.code(), Code::UnknownOption, "{}: {error}", self.name());
        let (list, _) = error.message().split_once(", found `?`").expect("the message lists what there is");
        let names: Names = quoted(list).collect();
        let (withheld, offered): (Names, Names) =
            names.into_iter().partition(|name| self.withheld.iter().any(|one| spelled(naming, one) == *name));
        assert_eq!(
            withheld.len(),
            self.withheld.len(),
            "{}: `withheld` names what the core does not know",
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
        let text = read(&format!("docs/functions/{}", self.page));
        let mut names = table(&text, self.head);
        for base in self.bases {
            let is_linked = self.page == *base || text.contains(&format!("]({base})"));
            assert!(is_linked, "docs/functions/{}: expected a link to {base}, which has the other options", self.page);
            names.extend(table(&read(&format!("docs/functions/{base}")), "option"));
        }
        // The page says in words that it does not have these.
        names.retain(|name| !self.withheld.contains(&name.as_str()));
        names
    }
}

fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What stands in backticks.
fn quoted(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The members of an interface, those that it extends included: `Base`, or `Omit<Base, 'a' | 'b'>`.
fn typescript(text: &str, name: &str) -> Names {
    let (_, rest) =
        text.split_once(&format!("export interface {name} ")).unwrap_or_else(|| panic!("options.ts has no `{name}`"));
    let (head, body) = rest.split_once('{').expect("an interface has a body");
    // An empty one ends at once.
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

/// The fields of a `TypedDict`, those of its bases included.
fn python(text: &str, name: &str) -> Names {
    let (_, rest) = text.split_once(&format!("class {name}(")).unwrap_or_else(|| panic!("_options.py has no `{name}`"));
    let (bases, body) = rest.split_once("):\n").expect("a class has a body");
    let body = body.split("\n\n\n").next().unwrap_or_default();
    let mut names: Names =
        bases.split(", ").filter(|base| base.ends_with("Options")).flat_map(|base| python(text, base)).collect();
    let fields = body.lines().filter_map(|line| line.strip_prefix("    ")).filter_map(|line| line.split_once(':'));
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|char| char.is_ascii_lowercase() || char == '_');
    names.extend(fields.map(|(name, _)| name).filter(is_name).map(str::to_owned));
    names
}

/// What the first column of a table names.
fn table(text: &str, head: &str) -> Names {
    let cell = |line: &str| line.strip_prefix("| ").and_then(|row| row.split(" |").next()).map(str::to_owned);
    let is_head = |line: &&str| cell(line).is_some_and(|first| first == head);
    text.lines()
        .skip_while(|line| !is_head(line))
        .skip(2)
        .map_while(cell)
        .flat_map(|first| quoted(&first).collect::<Vec<_>>())
        .collect()
}

/// What one place lacks, and what it has too much.
fn compare(function: &str, place: &str, known: &Names, found: &Names, faults: &mut Vec<String>) {
    faults.extend((known - found).iter().map(|name| format!("{function}: {place} lacks `{name}`")));
    faults.extend(
        (found - known).iter().map(|name| format!("{function}: {place} has `{name}`, which the core does not know")),
    );
}

#[test]
fn options_are_the_same_everywhere() {
    let (npm, py) = (read("npm/src/options.ts"), read("python/src/toolwire/_options.py"));
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

/// Where a language accepts fewer words than the core reads, because the rest is refused with a message of its own.
const FEWER: &[(&str, &str)] = &[("adaptRequest", "format"), ("Exchange", "format"), ("Exchange", "target")];

impl Declared {
    /// The words of an option, if it has any: the core lists them for a wrong one.
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

/// The words in the type of a member of an interface, or of one that it extends.
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

/// The words in the type of a field of a `TypedDict`, or of one of its bases.
fn words_in_python(text: &str, class: &str, name: &str) -> Names {
    let (_, rest) = text.split_once(&format!("class {class}(")).expect("a class");
    let (bases, body) = rest.split_once("):\n").expect("a class has a body");
    let body = body.split("\n\n\n").next().unwrap_or_default();
    if let Some((_, field)) = body.split_once(&format!("\n    {name}:")) {
        let of_type = field.split_once("\n    \"\"\"").map_or(field, |(of_type, _)| of_type);
        // Fields of an exchange stand without words about them.
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
    let mut bases = bases.split(", ").filter(|base| base.ends_with("Options"));
    bases.find_map(|base| Some(words_in_python(text, base, name)).filter(|words| !words.is_empty())).unwrap_or_default()
}

/// The words of an option are the same in the types of TypeScript and Python and on its page.
#[test]
fn words_are_the_same_everywhere() {
    let (npm, py) = (read("npm/src/options.ts"), read("python/src/toolwire/_options.py"));
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
            let found = words_in_python(&py, declared.type_name, &spelled(Naming::Snake, &name));
            compare(declared.name(), &place("python/src/toolwire/_options.py"), &words, &found, &mut faults);
        }
    }
    assert!(compared > 40, "only {compared} options with words were found");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_function_is_looked_at() {
    let looked_at = |function: &Function| DECLARED.iter().any(|declared| declared.function == Some(*function));
    let missing: Vec<&str> = Function::ALL
        .iter()
        .filter(|function| !looked_at(function) && !WITHOUT.contains(function))
        .map(|function| function.name())
        .collect();
    assert!(missing.is_empty(), "functions whose options nobody compares: {missing:?}");
}

/// An option's name as a language spells it.
fn spelled(naming: Naming, camel: &str) -> String {
    match naming {
        Naming::Camel => camel.to_owned(),
        Naming::Snake => camel.chars().fold(String::new(), |mut name, one| {
            if one.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(one.to_ascii_lowercase());
            name
        }),
    }
}
