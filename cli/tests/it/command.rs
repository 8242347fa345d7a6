//! Runs the cases of tests/command through the program.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde_json::Value;

/// Members of a case that need a terminal, a server or an API, which the tests play on Unix.
#[cfg(not(unix))]
const NEEDS: [&str; 4] = ["terminal", "server", "servers", "answers"];

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Environment variables that contain folders of a user or settings of the network.
const HOMES: [&str; 8] =
    ["HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"];

fn cases() -> Vec<(String, Value)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/command");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("tests/command").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "json"));
    files.sort();
    let named = |path: &PathBuf| (path.file_stem().expect("a name").to_string_lossy().into_owned(), read(path));
    let (count, files): (Vec<_>, Vec<_>) = files.iter().map(named).partition(|(name, _)| name == "count");
    let each = |(name, list): (String, Value)| {
        let list = list.as_array().expect("a list of cases").clone();
        list.into_iter().map(move |case| (name.clone(), case))
    };
    let all: Vec<_> = files.into_iter().flat_map(each).collect();
    assert_eq!(count[0].1["cases"], all.len(), "tests/command/count.json");
    all
}

pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(lines) if lines.iter().all(Value::is_string) => {
            lines.iter().map(|line| format!("{}\n", line.as_str().expect("a line"))).collect()
        }
        other => other.to_string(),
    }
}

pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("toolwire-cli-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    for name in ["NO_COLOR", "FORCE_COLOR", "TERM"] {
        command.env_remove(name);
    }
    command
}

fn run(command: &mut Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.as_bytes().to_vec();
    // The program may exit without reading its input.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("an output");
    writer.join().expect("a writer");
    output
}

pub(crate) fn ran(command: &mut Command, input: &str) -> (String, String, Option<i32>) {
    let output = run(command, input);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[cfg(unix)]
fn run_on(terminal: &Value, command: &mut Command, input: &str) -> Output {
    use crate::terminal::Terminal;
    let columns = terminal["columns"].as_u64().and_then(|columns| columns.try_into().ok()).unwrap_or(80);
    let [stdin, stdout, stderr] =
        ["stdin", "stdout", "stderr"].map(|name| (terminal[name] == true).then(|| Terminal::new(columns)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(terminal) = &stdin {
        terminal.input(input);
        command.stdin(terminal.stream());
    }
    if let Some(terminal) = &stdout {
        command.stdout(terminal.stream());
    }
    if let Some(terminal) = &stderr {
        command.stderr(terminal.stream());
    }
    let mut child = command.spawn().expect("the program");
    // The command keeps its sides of the terminals.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let writer = child.stdin.take().map(|mut stdin| {
        let input = input.as_bytes().to_vec();
        thread::spawn(move || drop(stdin.write_all(&input)))
    });
    let shown = [stdout, stderr].map(|terminal| terminal.map(Terminal::output));
    let mut output = child.wait_with_output().expect("an output");
    if let Some(writer) = writer {
        writer.join().expect("a writer");
    }
    for (shown, stream) in shown.into_iter().zip([&mut output.stdout, &mut output.stderr]) {
        if let Some(shown) = shown {
            *stream = shown.join().expect("a reader");
        }
    }
    output
}

fn localized(case: &Value, folder: &Folder) -> Value {
    let mut written = case.to_string();
    if let Some(given) = case["terminal"]["folder"].as_str() {
        let folder = fs::canonicalize(&folder.0).expect("a folder");
        written = written.replace(given, &folder.to_string_lossy());
    }
    if let Some(given) = case["date"].as_str() {
        written = written.replace(given, &jiff::Zoned::now().date().to_string());
    }
    serde_json::from_str(&written).expect("JSON")
}

fn play(file: &str, case: &Value) -> Vec<String> {
    let folder = Folder::new();
    let case = &localized(case, &folder);
    for (name, content) in case["files"].as_object().into_iter().flatten() {
        folder.write(name, &text(content));
    }
    let arguments = case["arguments"].as_array().expect("arguments").iter().map(|word| word.as_str().expect("a word"));
    let mut command = program();
    command.args(arguments).current_dir(&folder.0);
    for name in HOMES {
        command.env_remove(name);
    }
    // The launcher of npm sets the same value.
    command.env("TOOLWIRE_PROGRAM", r#"["npx","-y","toolwire"]"#);
    for (name, value) in case["environment"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().expect("a value"));
    }
    let input = text(&case["stdin"]);
    #[cfg(unix)]
    let (output, mut failures) = {
        let played = ["server", "servers", "answers"].iter().any(|member| case.get(member).is_some());
        let played = played.then(|| crate::played::Played::start(case));
        if let Some(played) = &played {
            played.set(&mut command);
        }
        let output = match case.get("terminal") {
            Some(terminal) => run_on(terminal, &mut command, &input),
            None => run(&mut command, &input),
        };
        (output, played.map(|played| played.end()).unwrap_or_default())
    };
    #[cfg(not(unix))]
    let (output, mut failures) = (run(&mut command, &input), Vec::new());
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().map_or("a signal".into(), |code| code.to_string());
    let mut pairs = Vec::from([
        ("stdout".to_string(), text(&case["stdout"]), lossy(&output.stdout)),
        (
            "stderr".into(),
            ["question", "progress", "stderr"].map(|member| text(&case[member])).concat(),
            lossy(&output.stderr),
        ),
        ("exit code".into(), case["exitCode"].to_string(), code),
    ]);
    for (name, content) in case["written"].as_object().into_iter().flatten() {
        let found = fs::read_to_string(folder.0.join(name)).unwrap_or_else(|error| error.to_string());
        pairs.push((name.clone(), text(content), found));
    }
    pairs.retain(|(_, expected, found)| expected != found);
    let name = &case["name"];
    let shown = |(what, expected, found)| format!("{what}\n--- expected\n{expected}\n--- found\n{found}");
    failures.extend(pairs.into_iter().map(shown));
    failures.iter().map(|failure| format!("{file}: {name}: {failure}")).collect()
}

/// `CASE=name` runs only the cases with this name.
#[test]
fn cases_print_the_expected_text() {
    let only = env::var("CASE").ok().filter(|name| !name.is_empty());
    let cases = cases();
    let runs = cases.iter();
    #[cfg(not(unix))]
    let runs = runs.filter(|(_, case)| NEEDS.iter().all(|member| case.get(member).is_none()));
    let runs: Vec<_> = runs.filter(|(_, case)| only.as_ref().is_none_or(|name| case["name"] == **name)).collect();
    let next = AtomicUsize::new(0);
    let failed: Vec<String> = thread::scope(|scope| {
        let work = || {
            let mut failed = Vec::new();
            while let Some((file, case)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                failed.extend(play(file, case));
            }
            failed
        };
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    assert!(failed.is_empty(), "{} differ\n{}", failed.len(), failed.join("\n"));
    assert!(only.is_some() || cfg!(not(unix)) || runs.len() == cases.len(), "{} of {} cases", runs.len(), cases.len());
    println!("tests/command: {} of {} cases", runs.len(), cases.len());
}
