//! Checks the statements of ARCHITECTURE.md about the core's files, as far as a test can.
#![allow(clippy::panic, clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The layers. Each one only uses layers above it in this list.
const LAYERS: [&str; 30] = [
    "collections",
    "limits",
    "naming",
    "effect",
    "rules",
    "report",
    "error",
    "budget",
    "pattern",
    "json",
    "options",
    "wire",
    "schema",
    "dialect",
    "names",
    "envelope",
    "repair",
    "check",
    "sanitize",
    "request",
    "steps",
    "deferred",
    "search",
    "reply",
    "tools",
    "adapt",
    "exchange",
    "api",
    "internal",
    "lib",
];

const APIS: [&str; 7] = ["anthropic", "chat", "converse", "gemini", "interactions", "made_up", "responses"];

/// Tables of the files in folders of APIs, and their layers.
const LATER_TABLES: [(&str, &str); 2] = [("constructs", "request"), ("history_formats", "request")];

/// Files in the folders of APIs (`wire/<api>/`) that belong to a later layer than the descriptions: an API's folder
/// contains everything that only this API needs.
const LATER: [(&str, &str); 10] = [
    ("cohere", "reply"),
    ("search_loop", "exchange"),
    ("in_place", "request"),
    ("mentions", "request"),
    ("namespaces", "request"),
    ("reader", "request"),
    ("writer", "request"),
    ("custom_tools", "deferred"),
    ("client_item", "reply"),
    ("retained_namespaces", "adapt"),
];

const EXCEPTIONS: [(&str, &str); 1] = [
    // A wrong name of a dialect is refused when options are read, not at the first call.
    ("options", "dialect"),
];

/// Every crate that is not only for tests.
const SOURCES: [&str; 7] = [
    "core/src",
    "core/http/src",
    "command/src",
    "cli/src",
    "bindings-wasm/src",
    "bindings-py/src",
    "examples/cliproxyapi/src",
];

/// Maximum number of lines of a file. (The table of passes is exempt.)
const MAX_LINES: usize = 800;

/// Maximum number of columns of a line, so that two files fit next to each other on a screen. (rustfmt wraps neither
/// comments nor strings.)
const MAX_COLUMNS: usize = 120;

pub(crate) fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

pub(crate) fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, into),
            path if path.extension().is_some_and(|end| end == "rs") => into.push(path),
            _ => {}
        }
    }
}

/// Returns every file of the core by its path below `src`, without comments.
fn sources() -> Vec<(String, String)> {
    sources_in(&source())
}

fn sources_in(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    files(folder, &mut found);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("the file is text");
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let name = path.strip_prefix(folder).expect("it is below the folder").to_string_lossy().replace('\\', "/");
        (name, code.join("\n"))
    };
    found.into_iter().map(read).collect()
}

/// Returns the modules of the crate that a file names.
fn used_modules(code: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for (_, rest) in code.match_indices("crate::").map(|(at, _)| code.split_at(at + "crate::".len())) {
        match rest.strip_prefix('{') {
            None => {
                used.insert(first_word(rest));
            }
            Some(list) => {
                // The first word of each entry of the outermost list.
                let (mut depth, mut at_start) = (0, true);
                for (place, character) in list.char_indices() {
                    match character {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => at_start = true,
                        _ if character.is_whitespace() => {}
                        _ if at_start => {
                            used.insert(first_word(&list[place..]));
                            at_start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    used
}

fn layer_of(path: &[&str]) -> String {
    let later = match path {
        ["wire", name] => LATER_TABLES.iter().find(|(table, _)| table == name),
        ["wire", api, name] if APIS.contains(api) => LATER.iter().find(|(file, _)| file == name),
        _ => None,
    };
    later.map_or_else(|| path.first().copied().unwrap_or_default(), |(_, layer)| layer).to_owned()
}

/// Returns the layers of the files in folders of APIs that a file names, however it imports them.
fn later_layers(file: &str, code: &str) -> Vec<String> {
    let code = code.split("#[cfg(test)]\nmod").next().unwrap_or_default();
    let mut found = Vec::new();
    for (name, layer) in LATER {
        let in_folder = APIS.iter().any(|api| names(code, &format!("{api}::{name}")));
        let beside = module(file);
        let is_of_api = matches!(beside.as_slice(), ["wire", api, ..] if APIS.contains(api));
        if in_folder
            || is_of_api && names(code, &format!("super::{name}"))
            || is_of_api && names(code, &format!("{name}::"))
        {
            found.push((*layer).to_owned());
        }
    }
    let tables = LATER_TABLES
        .iter()
        .filter(|(name, _)| names(code, &format!("wire::{name}")) || names(code, &format!("{name}::")));
    found.extend(tables.map(|(_, layer)| (*layer).to_owned()));
    // Imports, also in lists.
    for path in paths(code) {
        let names: Vec<&str> = path.iter().skip(1).map(String::as_str).collect();
        let ends = (1..=names.len()).map(|end| layer_of(&names[..end]));
        found.extend(ends.filter(|layer| names.first() == Some(&"wire") && layer != "wire"));
    }
    found.sort();
    found.dedup();
    found
}

fn names(code: &str, path: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    code.match_indices(path).any(|(at, _)| {
        let is_whole = path.ends_with(':') || !code[at + path.len()..].starts_with(is_word);
        is_whole && !code[..at].ends_with(is_word)
    })
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
}

#[test]
fn layers_use_only_layers_before_them() {
    let place = |layer: &str| LAYERS.iter().position(|known| *known == layer);
    let mut faults = Vec::new();
    for (file, code) in sources() {
        let layer = layer_of(&file.trim_end_matches(".rs").split('/').collect::<Vec<_>>());
        let here = place(&layer)
            .unwrap_or_else(|| panic!("{file} belongs to no layer: add it to LAYERS and to ARCHITECTURE.md"));
        let later = later_layers(&file, &code);
        for used in used_modules(&code).into_iter().chain(later) {
            let looks_right = place(&used).is_some_and(|there| there > here);
            if looks_right && !EXCEPTIONS.contains(&(layer.as_str(), used.as_str())) {
                faults.push(format!("{file} uses `{used}`"));
            }
        }
    }
    assert!(faults.is_empty(), "these use layers after their own:\n{}", faults.join("\n"));
}

#[test]
fn files_of_an_api_belong_to_the_layer_of_their_name() {
    assert_eq!(layer_of(&["wire", "responses", "reader"]), "request");
    assert_eq!(layer_of(&["wire", "responses"]), "wire");
    assert_eq!(layer_of(&["wire", "choice", "reader"]), "wire");
    let all = [
        ("dialect/mod.rs", "use crate::wire::responses::{namespaces, retained_namespaces::take};", 2),
        ("dialect/mod.rs", "use crate::wire; fn f() { wire::responses::retained_namespaces::take() }", 1),
        ("wire/units.rs", "use super::anthropic::reader::read;", 1),
        ("wire/anthropic/mod.rs", "mod reader; fn f() { reader::read() }", 1),
        ("wire/anthropic/mod.rs", "pub(crate) mod reader;", 0),
        ("request/reader/mod.rs", "use crate::wire::history_formats;", 1),
    ];
    for (file, code, count) in all {
        assert_eq!(later_layers(file, code).len(), count, "{file}: {code}");
    }
}

/// Returns the public names of the entry module: its functions and traits, and its re-exports.
fn entry_names(code: &str) -> Vec<String> {
    let mut names: Vec<String> = ["pub fn ", "pub trait "]
        .iter()
        .flat_map(|start| code.match_indices(start).map(|(at, start)| first_word(&code[at + start.len()..])))
        .collect();
    for (at, start) in code.match_indices("pub use ") {
        let list = code[at + start.len()..].split(';').next().unwrap_or_default();
        // Each entry of the innermost lists, by the name under which it is re-exported.
        let entries =
            list.split(['{', '}', ',']).map(str::trim).filter(|entry| !entry.is_empty() && !entry.ends_with("::"));
        names.extend(
            entries
                .filter(|entry| !entry.ends_with("::*"))
                .map(|entry| first_word(entry.rsplit([' ', ':']).next().unwrap_or_default())),
        );
    }
    names
}

#[test]
fn hidden_items_are_only_in_internal() {
    let core = sources();
    let hidden: Vec<&str> =
        core.iter().flat_map(|(file, code)| code.matches("#[doc(hidden)]").map(move |_| file.as_str())).collect();
    assert_eq!(hidden, ["lib.rs"], "`internal` is the only interface to what is not public");
    let (_, door) = core.iter().find(|(file, _)| file == "internal.rs").expect("core/src/internal.rs is there");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let code =
        |folder: &str| sources_in(&root.join(folder)).into_iter().map(|(_, code)| code).collect::<Vec<_>>().join("\n");
    let command = code("command/src");
    let is_used = |name: &String| {
        let is_type = name.starts_with(char::is_uppercase);
        ["internal", "describe"].iter().any(|module| command.contains(&format!("{module}::{name}(")))
            || is_type && command.split(|character: char| !character.is_alphanumeric()).any(|word| word == name)
    };
    let unused: Vec<String> = entry_names(door).into_iter().filter(|name| !is_used(name)).collect();
    assert!(
        unused.is_empty(),
        "the command line does not use these: remove them from core/src/internal.rs: {unused:?}"
    );
    for options in ["SanitizeOptions::new(", "ToolsOptions::new(", "AdaptOptions::new("] {
        assert!(!command.contains(options), "`{options}` would name options in messages as in Rust: see `internal`");
    }
    for folder in ["bindings-py/src", "bindings-wasm/src", "core/fuzz/src"] {
        let mut found = Vec::new();
        code(folder).split("internal::").skip(1).for_each(|rest| {
            branch(rest, &[], &mut found);
        });
        found.retain(|path| !matches!(path.first().map(String::as_str), Some("bindings" | "json")));
        assert!(found.is_empty(), "{folder}: only the command line may use these of `internal`: {found:?}");
    }
}

/// An import list yields several paths.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = ["crate::", "super::", "self::"].iter().filter_map(|start| rest.find(start)).min() {
        let is_start = !rest[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':');
        rest = &rest[at..];
        if is_start {
            branch(rest, &[], &mut found);
        }
        rest = &rest[rest.find("::").unwrap_or_default()..];
    }
    found
}

/// Returns the text after the branch.
fn branch<'t>(text: &'t str, prefix: &[String], found: &mut Vec<Vec<String>>) -> &'t str {
    let text = text.trim_start();
    if let Some(mut list) = text.strip_prefix('{') {
        while !list.trim_start().starts_with('}') && !list.is_empty() {
            let behind = branch(list, prefix, found);
            // Skips `as` and the new name, up to the next entry.
            list = behind[behind.find([',', '}']).unwrap_or(behind.len())..].trim_start_matches(',');
        }
        return list.trim_start().strip_prefix('}').unwrap_or_default();
    }
    let name = first_word(text);
    let (rest, path) = (&text[name.len()..], [prefix, &[name]].concat());
    match rest.strip_prefix("::") {
        Some(below) => branch(below, &path, found),
        None => {
            found.push(path);
            rest
        }
    }
}

fn module(file: &str) -> Vec<&str> {
    let path = file.trim_end_matches(".rs");
    path.split('/').filter(|name| !["mod", "lib", "main"].contains(name)).collect()
}

/// Returns the files that each file uses. A module uses the submodules that it names apart from declaring them. Uses in
/// the opposite direction are omitted.
fn uses(sources: &[(String, String)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let files: BTreeMap<Vec<&str>, &str> = sources.iter().map(|(file, _)| (module(file), file.as_str())).collect();
    let is_part = |one: &str, two: &str| module(one).starts_with(&module(two));
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, code) in sources {
        for path in paths(code.split("#[cfg(test)]").next().unwrap_or_default()) {
            let mut at = module(file);
            for name in &path {
                match name.as_str() {
                    "crate" => at.clear(),
                    "super" => drop(at.pop()),
                    "self" => {}
                    name if files.contains_key(&[at.as_slice(), &[name]].concat()) => at.push(name),
                    _ => break,
                }
            }
            let layer = |file: &str| first_word(file);
            let is_excepted = |used: &str| EXCEPTIONS.contains(&(layer(file).as_str(), layer(used).as_str()));
            let used = files.get(&at).filter(|used| !is_part(file, used) && !is_excepted(used));
            uses.entry(file).or_default().extend(used);
        }
        let is_named = |name: &&str| {
            let use_of = format!("{name}::");
            let before = code.match_indices(&use_of).map(|(at, _)| code[..at].chars().next_back());
            before.flatten().any(|before| !before.is_alphanumeric() && before != '_')
        };
        let parts = files
            .iter()
            .filter(|(path, _)| path.split_last().is_some_and(|(name, above)| above == module(file) && is_named(name)));
        uses.entry(file).or_default().extend(parts.map(|(_, part)| *part).filter(|part| part != file));
    }
    uses
}

fn reachable_files<'f>(uses: &BTreeMap<&'f str, BTreeSet<&'f str>>, file: &'f str) -> BTreeSet<&'f str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![file]);
    while let Some(file) = open.pop() {
        open.extend(uses.get(file).into_iter().flatten().filter(|used| reached.insert(**used)));
    }
    reached
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut circles = BTreeSet::new();
    for folder in SOURCES.into_iter().chain(["xtask/src"]) {
        let mut sources = sources_in(&root.join(folder));
        sources.retain(|(file, _)| !file.contains("tests"));
        let uses = uses(&sources);
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            uses.keys().map(|file| (*file, reachable_files(&uses, file))).collect();
        for (file, from_here) in &reached {
            let circle: Vec<&str> = from_here
                .iter()
                .copied()
                .filter(|other| reached.get(other).is_some_and(|from_there| from_there.contains(file)))
                .collect();
            if circle.len() > 1 {
                circles.insert(format!("{folder}: {}", circle.join(", ")));
            }
        }
    }
    let circles: Vec<String> = circles.into_iter().collect();
    assert!(circles.is_empty(), "these use each other in a circle, so none can be read alone:\n{}", circles.join("\n"));
}

#[test]
fn every_file_of_tests_is_compiled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = fs::read_to_string(folder.join("main.rs")).expect("main.rs is there");
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        assert!(name == "main" || main.contains(&format!("\nmod {name};")), "main.rs lacks `mod {name};`");
    }
}

#[test]
fn files_are_not_too_long() {
    let mut long = Vec::new();
    for folder in SOURCES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
        for (file, _) in sources_in(&folder) {
            let text = fs::read_to_string(folder.join(&file)).expect("the file is text");
            let lines = text.lines().count();
            if lines > MAX_LINES && !file.ends_with("passes.rs") {
                long.push(format!("{file}: {lines} lines"));
            }
            let wide = text.lines().enumerate().filter(|(_, row)| row.chars().count() > MAX_COLUMNS);
            long.extend(wide.map(|(at, _)| format!("{file}: row {} has more than {MAX_COLUMNS} columns", at + 1)));
        }
    }
    assert!(long.is_empty(), "too long or too wide: {long:#?}");
}

#[test]
fn no_dialect_is_named_in_a_code_path() {
    let constant = |name: &str| format!("Dialect::{}", name.replace('-', "_").to_uppercase());
    let spellings = |dialect: &toolwire::Dialect| [format!("\"{}\"", dialect.name), constant(dialect.name)];
    let names: Vec<String> = toolwire::dialects().iter().flat_map(spellings).collect();
    let faults: Vec<String> = sources()
        .into_iter()
        .filter(|(file, _)| {
            ["sanitize/", "check/", "schema/", "json/"].iter().any(|folder| file.starts_with(folder))
                && !file.contains("tests")
        })
        .filter(|(_, code)| {
            names.iter().any(|name| code.split("#[cfg(test)]").next().is_some_and(|code| code.contains(name)))
        })
        .map(|(file, _)| file)
        .collect();
    assert!(faults.is_empty(), "these name a dialect outside of the tables: {faults:?}");
}

#[test]
fn architecture_names_existing_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let named = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.contains('/') && !word.contains(' ') && !word.contains(['<', '#']));
    let missing: Vec<&str> = named.filter(|word| !root.join(word).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names missing files: {missing:?}");
    for layer in LAYERS.iter().filter(|layer| **layer != "lib") {
        assert!(text.contains(layer), "ARCHITECTURE.md does not name the layer `{layer}`");
    }
}

/// Names of the form `module::function(`.
fn calls(code: &str) -> BTreeSet<String> {
    let is_path = |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    code.match_indices('(')
        .filter_map(|(at, _)| code[..at].rsplit(|character| !is_path(character)).next())
        .filter_map(|path| {
            let mut names = path.rsplit("::");
            let (function, module) = (names.next()?, names.next()?);
            let is_module = module.starts_with(|character: char| character.is_ascii_lowercase());
            (is_module && !function.is_empty()).then(|| format!("{module}::{function}"))
        })
        .collect()
}

#[test]
fn passes_never_call_one_another() {
    const TABLE: &str = "sanitize/pipeline/passes.rs";
    // The place at which a pass sends the branches that it created to the other passes.
    const HANDS_ON: &str = "sanitize/legalize/mod.rs";
    // The emulation of Codex has no passes, and its modules have the same names.
    let sources: Vec<(String, String)> =
        sources().into_iter().filter(|(file, _)| !file.starts_with("sanitize/codex/")).collect();
    let table = &sources.iter().find(|(file, _)| file == TABLE).expect("the table of passes is there").1;
    let phases = ["canonicalize", "resolve", "legalize", "encode", "fit"];
    let is_pass = |call: &String| {
        let module = call.split("::").next().unwrap_or_default();
        phases.iter().any(|phase| {
            let stems = [format!("sanitize/{phase}/{module}.rs"), format!("sanitize/{phase}/{module}/mod.rs")];
            sources.iter().any(|(file, _)| stems.contains(file))
        })
    };
    let passes: BTreeSet<String> = calls(table).into_iter().filter(is_pass).collect();
    assert!(passes.len() > 20, "the table calls only {passes:?}");
    let faults: Vec<String> = sources
        .iter()
        .filter(|(file, _)| file.starts_with("sanitize/") && file != TABLE && file != HANDS_ON)
        .flat_map(|(file, code)| {
            let code = code.split("#[cfg(test)]").next().unwrap_or_default();
            let called = calls(code);
            passes.intersection(&called).map(|call| format!("{file} calls {call}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(faults.is_empty(), "only the table and `legalize::made` may call passes:\n{}", faults.join("\n"));
}
