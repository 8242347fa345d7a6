//! What ARCHITECTURE.md says of the core's files, where it can be tested.
#![allow(clippy::panic, clippy::expect_used, clippy::indexing_slicing, reason = "a test stops where it cannot go on")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The layers. Each uses only what stands above it here.
const LAYERS: [&str; 22] = [
    "collections",
    "limits",
    "naming",
    "report",
    "error",
    "budget",
    "json",
    "options",
    "schema",
    "rules",
    "dialect",
    "names",
    "envelope",
    "check",
    "sanitize",
    "deferred",
    "search",
    "tools",
    "exchange",
    "api",
    "internal",
    "lib",
];

/// What looks to the right, and why.
const EXCEPTIONS: [(&str, &str); 1] = [
    // A dialect's name is refused when options are read, not at the first call.
    ("options", "dialect"),
];

/// The most lines of a file. (The table of passes is a table.)
const LONGEST: usize = 440;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, into),
            path if path.extension().is_some_and(|end| end == "rs") => into.push(path),
            _ => {}
        }
    }
}

/// Every file of the core, by its path below `src`, without its comments.
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

/// The modules of the crate that a file names.
fn used(code: &str) -> BTreeSet<String> {
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

fn first_word(text: &str) -> String {
    text.chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
}

#[test]
fn layers_look_left() {
    let place = |layer: &str| LAYERS.iter().position(|known| *known == layer);
    let mut faults = Vec::new();
    for (file, code) in sources() {
        let layer = file.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned();
        let here = place(&layer).unwrap_or_else(|| panic!("{file} is of no layer: add it to LAYERS and to ARCHITECTURE.md"));
        for used in used(&code) {
            let looks_right = place(&used).is_some_and(|there| there > here);
            if looks_right && !EXCEPTIONS.contains(&(layer.as_str(), used.as_str())) {
                faults.push(format!("{file} uses `{used}`"));
            }
        }
    }
    assert!(faults.is_empty(), "these look to the right:\n{}", faults.join("\n"));
}

/// The names that the door makes public: of its functions and traits, and of what it passes on.
fn names_of_the_door(code: &str) -> Vec<String> {
    let mut names: Vec<String> = ["pub fn ", "pub trait "]
        .iter()
        .flat_map(|start| code.match_indices(start).map(|(at, start)| first_word(&code[at + start.len()..])))
        .collect();
    for (at, start) in code.match_indices("pub use ") {
        let list = code[at + start.len()..].split(';').next().unwrap_or_default();
        // Each entry of the innermost lists, under the name that it has here.
        let entries = list.split(['{', '}', ',']).map(str::trim).filter(|entry| !entry.is_empty() && !entry.ends_with("::"));
        names.extend(entries.map(|entry| first_word(entry.rsplit([' ', ':']).next().unwrap_or_default())));
    }
    names
}

#[test]
fn the_command_line_has_one_door() {
    let core = sources();
    let hidden: Vec<&str> = core.iter().flat_map(|(file, code)| code.matches("#[doc(hidden)]").map(move |_| file.as_str())).collect();
    assert_eq!(hidden, ["lib.rs"], "what is not public has one door, `internal`");
    let (_, door) = core.iter().find(|(file, _)| file == "internal.rs").expect("core/src/internal.rs is there");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let code = |folder: &str| sources_in(&root.join(folder)).into_iter().map(|(_, code)| code).collect::<Vec<_>>().join("\n");
    let command = code("command/src");
    let is_used = |name: &String| {
        let is_type = name.starts_with(char::is_uppercase);
        ["internal", "describe"].iter().any(|module| command.contains(&format!("{module}::{name}(")))
            || is_type && command.split(|character: char| !character.is_alphanumeric()).any(|word| word == name)
    };
    let unused: Vec<String> = names_of_the_door(door).into_iter().filter(|name| !is_used(name)).collect();
    assert!(unused.is_empty(), "the command line does without these: take them out of core/src/internal.rs: {unused:?}");
    for folder in ["bindings-py/src", "bindings-wasm/src", "core/fuzz/src"] {
        assert!(!code(folder).contains("internal::"), "{folder}: the door is the command line's alone");
    }
}

#[test]
fn files_are_of_one_idea() {
    let long: Vec<String> = sources()
        .iter()
        .map(|(file, _)| (file, fs::read_to_string(source().join(file)).expect("the file is text").lines().count()))
        .filter(|(file, lines)| *lines > LONGEST && !file.ends_with("passes.rs"))
        .map(|(file, lines)| format!("{file}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "longer than {LONGEST} lines: {long:?}");
}

#[test]
fn no_dialect_is_named_in_a_code_path() {
    let names: Vec<String> = toolwire::dialects().iter().map(|dialect| format!("\"{}\"", dialect.name)).collect();
    let faults: Vec<String> = sources()
        .into_iter()
        .filter(|(file, _)| {
            ["sanitize/", "check/", "schema/", "json/"].iter().any(|folder| file.starts_with(folder)) && !file.contains("tests")
        })
        .filter(|(_, code)| names.iter().any(|name| code.split("#[cfg(test)]").next().is_some_and(|code| code.contains(name))))
        .map(|(file, _)| file)
        .collect();
    assert!(faults.is_empty(), "dialects are tables: {faults:?}");
}

#[test]
fn architecture_names_files_that_there_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let named = text.split('`').skip(1).step_by(2).filter(|word| word.contains('/') && !word.contains(' ') && !word.contains(['<', '#']));
    let missing: Vec<&str> = named.filter(|word| !root.join(word).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what is not there: {missing:?}");
    for layer in LAYERS.iter().filter(|layer| **layer != "lib") {
        assert!(text.contains(layer), "ARCHITECTURE.md does not name the layer `{layer}`");
    }
}
