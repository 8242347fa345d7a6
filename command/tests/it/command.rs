//! Runs every case of tests/command as a host would, with files and standard input from the case.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use serde_json::{json, Value};
use toolwire_command::{Command, Need, Printed};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/command"))
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn cases() -> Vec<(String, Value)> {
    let mut files: Vec<_> =
        fs::read_dir(folder()).expect("tests/command").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let is_cases =
        |path: &&std::path::PathBuf| path.extension().is_some_and(|end| end == "json") && !path.ends_with("count.json");
    let named = |path: &std::path::PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let all = files.iter().filter(is_cases).map(|path| (named(path), read(path)));
    all.flat_map(|(name, list)| {
        list.as_array().expect("a list of cases").clone().into_iter().map(move |case| (name.clone(), case))
    })
    .collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(lines) if lines.iter().all(Value::is_string) => {
            lines.iter().map(|line| format!("{}\n", line.as_str().expect("a line"))).collect()
        }
        other => other.to_string(),
    }
}

/// Returns the files and folders of a case. Names of folders end in `/`.
fn listed(case: &Value, folder: &str) -> Value {
    let files = case.get("files").and_then(Value::as_object).into_iter().flat_map(|files| files.keys());
    let inside = files.filter_map(|path| path.strip_prefix(folder)).map(|rest| match rest.split_once('/') {
        Some((inner, _)) => format!("{inner}/"),
        None => rest.to_string(),
    });
    json!(inside.collect::<std::collections::BTreeSet<_>>())
}

fn play(case: &Value) -> (Printed, String) {
    let mut facts = case.get("terminal").cloned().unwrap_or_else(|| json!({}));
    facts["arguments"] = case["arguments"].clone();
    facts["environment"] = case.get("environment").cloned().unwrap_or_else(|| json!({}));
    if let Some(date) = case.get("date") {
        facts["date"] = date.clone();
    }
    let mut answers = case["answers"].as_array().into_iter().flatten();
    let mut command = Command::new(&facts.to_string());
    while let Some(need) = command.need() {
        let mut need_words = need.clone().words();
        match need {
            Need::File(path) | Need::RegularFile(path) => match case.get("files").and_then(|files| files.get(&path)) {
                Some(content) => command.give(text(content).as_bytes()),
                None => command.fail("ENOENT"),
            },
            Need::Input => command.give(text(&case["stdin"]).as_bytes()),
            Need::Line(question) => {
                assert_eq!(case["question"], *question, "{}", case["name"]);
                command.give(text(&case["stdin"]).as_bytes());
            }
            Need::Folder(path) => command.give(listed(case, &path).to_string().as_bytes()),
            Need::Variables(names) => {
                let is_set = |name: &&String| case["environment"].get(name.as_str()).is_some();
                let set = names.iter().filter(is_set).map(|name| (name.clone(), case["environment"][name].clone()));
                command.give(Value::Object(set.collect()).to_string().as_bytes());
            }
            Need::Server(_) => {
                let words = need_words.pop().expect("a server");
                match case.get("servers").and_then(|servers| servers.get(&words)).or_else(|| case.get("server")) {
                    Some(Value::String(why)) => command.fail(why),
                    Some(answer) => command.give(answer.to_string().as_bytes()),
                    None => command.fail(&format!("expected a server in the case, which asks for {words}")),
                }
            }
            Need::Set(names) => {
                let is_set = |name: &&String| case["environment"].get(name.as_str()).is_some();
                command.give(json!(names.iter().filter(is_set).collect::<Vec<_>>()).to_string().as_bytes());
            }
            Need::Request(_) => {
                let mut request: Value = serde_json::from_str(&need_words.pop().expect("a request")).expect("JSON");
                request["body"] = serde_json::from_str(request["body"].as_str().expect("a body")).expect("JSON");
                let answer = answers.next().unwrap_or_else(|| panic!("{}: no answer to {request}", case["name"]));
                if let Some(expected) = answer.get("for") {
                    assert_eq!(request.to_string(), expected.to_string(), "{}", case["name"]);
                }
                match answer {
                    Value::String(why) => command.fail(why),
                    answer => command.give(answer_body(answer).to_string().as_bytes()),
                }
            }
            other => panic!("unknown need: {other:?}"),
        }
    }
    let mut progress = String::new();
    while let Some(shown) = command.step() {
        progress.push_str(&shown);
    }
    assert!(answers.next().is_none(), "{}: an unused answer", case["name"]);
    (command.finish(), progress)
}

fn answer_body(answer: &Value) -> Value {
    let body = answer.get("body").map(text).unwrap_or_default();
    json!({"status": answer["status"], "retryAfter": answer["retryAfter"], "body": body})
}

const FIELDS: [&str; 17] = [
    "name",
    "why",
    "arguments",
    "terminal",
    "environment",
    "files",
    "stdin",
    "server",
    "servers",
    "answers",
    "date",
    "question",
    "stdout",
    "stderr",
    "exitCode",
    "progress",
    "written",
];

/// `CASE=name` runs only the cases with this name.
#[test]
fn every_case_prints_the_expected_text() {
    let mut cases = cases();
    let only = std::env::var("CASE").ok().filter(|name| !name.is_empty());
    if let Some(name) = &only {
        cases.retain(|(_, case)| case["name"] == **name);
        assert!(!cases.is_empty(), "CASE: expected a case of tests/command, found `{name}`");
    }
    let mut failed = Vec::new();
    for (file, case) in &cases {
        let about = format!("{file}: {}", case["name"]);
        let odd: Vec<_> =
            case.as_object().expect("a case").keys().filter(|key| !FIELDS.contains(&key.as_str())).collect();
        assert!(odd.is_empty(), "{about}: unknown fields {odd:?}");
        assert!(case["why"].as_str().is_some_and(|why| !why.is_empty()), "{about}: expected a reason");
        let (printed, progress) = play(case);
        let is_an_error = printed.exit_code == 2 && printed.stdout.is_empty();
        if !is_an_error && case["arguments"].as_array().expect("arguments").contains(&json!("--json")) {
            serde_json::from_str::<Value>(&printed.stdout).unwrap_or_else(|error| panic!("{about}: {error}"));
        }
        let written: String = printed.files.iter().map(|file| format!("--- {}\n{}", file.path, file.content)).collect();
        let found = [printed.stdout, printed.stderr, printed.exit_code.to_string(), progress, written];
        let expected = case["written"].as_object().map(|files| {
            files.iter().map(|(path, content)| format!("--- {path}\n{}", text(content))).collect::<String>()
        });
        let expected = [
            text(&case["stdout"]),
            text(&case["stderr"]),
            case["exitCode"].to_string(),
            text(&case["progress"]),
            expected.unwrap_or_default(),
        ];
        const WHATS: [&str; 5] = ["stdout", "stderr", "exit code", "progress", "written"];
        for ((what, found), expected) in WHATS.iter().zip(found).zip(expected) {
            if found != expected {
                failed.push(format!("{about}: {what}\n--- expected\n{expected}\n--- found\n{found}"));
            }
        }
    }
    assert!(failed.is_empty(), "{} differ\n{}", failed.len(), failed.join("\n"));
    println!("tests/command: {} cases", cases.len());
    if only.is_none() {
        let count = &read(&folder().join("count.json"))["cases"];
        assert_eq!(json!(cases.len()), *count, "count.json contains the number of cases");
    }
}

#[test]
fn commands_end_without_a_panic_for_any_arguments_and_input() {
    let inputs = [
        "",
        "null",
        "[]",
        "{}",
        "[1]",
        "1\n2",
        "{\"tools\": []}",
        "[[]]",
        "\u{feff}true",
        "{\"tools\": {}}",
        "{\"name\": 1}",
        "[{\"type\": \"object\"}, {\"name\": \"a\"}]",
    ];
    let commands: [&[&str]; 19] = [
        &["matrix"],
        &["matrix", "--all"],
        &["matrix", "--json"],
        &["check"],
        &["sanitize", "--dialect", "gemini"],
        &["sanitize", "--dialect", "openai-strict", "--json"],
        &["sanitize", "--dialect", "anthropic", "--json", "--repair"],
        &["report", "--out", "o", "-"],
        &["report", "--out", "o", "--lock", "x", "x"],
        &["diff", "-", "x"],
        &["diff", "--json", "x", "-"],
        &["explain", "--dialect", "all"],
        &["defer"],
        &["defer", "--turns"],
        &["restore", "--with", "x"],
        &["restore", "--with", "x", "--call", "a", "--json"],
        &["validate", "--schema", "x"],
        &["validate", "--schema", "x", "--repair", "--truncated", "close"],
        &["validate", "--schema", "x", "--repair", "--json"],
    ];
    for arguments in commands {
        for input in inputs {
            for columns in [0, 1, 30, 200] {
                let case = json!({"arguments": arguments, "stdin": input, "files": {"x": input}, "terminal": {"stdout": true, "stderr": true, "columns": columns}});
                let (printed, _) = play(&case);
                assert!(printed.exit_code <= 2, "{case}");
                assert!(!printed.stdout.is_empty() || !printed.stderr.is_empty(), "{case}: nothing was printed");
            }
        }
    }
}

/// The command also sends at most the permitted number of requests.
#[test]
fn probe_ends_without_a_panic_for_any_answer() {
    let tools = json!((0..9).map(|at| json!({"name": format!("t{at}"), "inputSchema": {}})).collect::<Vec<_>>());
    let bodies = [
        "",
        "null",
        "[]",
        "[[]]",
        "{\"error\": 1}",
        "{\"error\": {\"message\": {}}}",
        "{\"error\": {\"message\": \"tools[99999999999999999999] 'é' function '\"}}",
        "{\"error\": {\"message\": \"function 't3' sk-\\ud800 ://?# tool 8\"}}",
        "{\"detail\": [{}]}",
        "\u{1b}[2J{",
    ];
    for dialect in ["openai-chat", "gemini", "anthropic-strict", "vllm", "bedrock"] {
        let url = "http://127.0.0.1/v1?key=a-secret-of-mine";
        let arguments = json!(["probe", "-d", dialect, "--url", url, "--model", "é", "--limit", "30", "--record", "r"]);
        for status in [200, 400, 422, 429, 500, 0, 70_000] {
            for body in bodies {
                let mut command = Command::new(&json!({"arguments": arguments}).to_string());
                let mut count = 0;
                while let Some(need) = command.need() {
                    match need {
                        Need::Input => command.give(tools.to_string().as_bytes()),
                        Need::RegularFile(_) => command.fail("ENOENT"),
                        _ => {
                            count += 1;
                            let answer = json!({"status": status, "retryAfter": "-1e9", "body": body});
                            // The plain tool is accepted, so that the probe continues.
                            let is_plain = need.words().concat().contains("ping");
                            let answer = if is_plain { json!({"status": 200, "body": "{}"}) } else { answer };
                            command.give(answer.to_string().as_bytes());
                        }
                    }
                }
                assert!((1..=30).contains(&count), "{dialect} {status} {body}: {count}");
                let printed = command.finish();
                assert!(printed.exit_code <= 2 && !printed.stderr.contains("a-secret"), "{printed:?}");
                assert!(!printed.stdout.contains('\u{1b}'), "{printed:?}");
            }
        }
    }
}

fn run_check(folder: &str, arguments: &[&str]) -> (Vec<Need>, Printed) {
    let mut command = Command::new(&json!({"arguments": arguments, "folder": folder, "stdin": true}).to_string());
    let mut needs = Vec::new();
    while let Some(need) = command.need() {
        needs.push(need.clone());
        match need {
            Need::Folder(_) => command.give(br#"["a.json"]"#),
            Need::RegularFile(path) | Need::File(path) if path.contains("base") || path.ends_with(".toml") => {
                command.fail("ENOENT");
            }
            _ => command.give(br#"{"type": "object", "properties": {}}"#),
        }
    }
    while command.step().is_some() {}
    (needs, command.finish())
}

/// On other systems, `\` is part of a name: `a\..\tools.json` is not `tools.json`, and does not leave the folder.
#[test]
fn a_backslash_separates_folders_on_windows_only() {
    let needs = |folder: &str, arguments: &[&str]| {
        let config = Need::RegularFile("toolwire.toml".into());
        run_check(folder, arguments).0.into_iter().filter(|need| *need != config).collect::<Vec<_>>()
    };
    let file = |path: &str| Need::File(path.into());
    let names = ["check", r"a\..\tools.json", "tools.json"];
    let both = Vec::from([file(r"a\..\tools.json"), file("tools.json")]);
    let [pattern, outside] = ["check", r"..\..\*tools.json"].map(String::from);
    for folder in ["/home", ""] {
        assert_eq!(needs(folder, &names), both, "{folder}");
        assert_eq!(needs(folder, &[&pattern, &outside]), [Need::Folder(String::new())], "{folder}");
    }
    for folder in [r"C:\home", r"\\host\share"] {
        assert_eq!(needs(folder, &names), [file("a/../tools.json")], "{folder}");
        assert_eq!(needs(folder, &[&pattern, &outside]), [Need::Folder("../../".into())], "{folder}");
    }
}

#[test]
fn no_patterns_option_makes_names_literal() {
    let (needs, printed) = run_check("/home", &["check", "-d", "codex", "--no-patterns", "*.json", "?"]);
    assert_eq!(needs[1..], [Need::File("*.json".into()), Need::File("?".into())]);
    assert_eq!(printed.exit_code, 0, "{printed:?}");
}

/// The author of the folder may be untrusted, and may have created a device or a link there.
#[test]
fn files_in_the_folder_must_be_regular_and_are_not_written_through_links() {
    let regular = |path: &str| Need::RegularFile(path.into());
    let (needs, _) = run_check("/home", &["check", "--baseline", "in/base.json", "--update-baseline", "*.json"]);
    assert_eq!(
        needs,
        [Need::Folder(String::new()), regular("a.json"), regular("in/base.json"), regular("toolwire.toml")]
    );
    let (needs, _) =
        run_check("/home", &["check", "--config", "/a.toml", "--baseline", "/base", "--update-baseline", "a.json"]);
    assert_eq!(needs.len(), 2, "a configuration that is named must exist");
    assert!(needs.iter().all(|need| matches!(need, Need::File(_))), "{needs:?}");
    for (folder, path, confined) in [
        ("/home", "in/base.json", "in/base.json"),
        ("/home", "C:/base.json", "C:/base.json"),
        ("/home", "/in/base.json", ""),
        (r"C:\home", r"in\base.json", "in/base.json"),
        (r"C:\home", r"D:\base.json", ""),
        (r"C:\home", r"\\host\base.json", ""),
    ] {
        let (_, printed) =
            run_check(folder, &["check", "-d", "codex", "--baseline", path, "--update-baseline", "a.json"]);
        let found: Vec<_> = printed.files.iter().map(|file| file.confined.as_str()).collect();
        assert_eq!(found, [confined], "{path}");
    }
}

/// Without `--key-env`, a key is sent only to its API's own hosts, over TLS.
#[test]
fn a_key_is_sent_only_to_the_hosts_of_its_api() {
    let key_of = |dialect: &str, url: &str| {
        let arguments = json!(["probe", "-d", dialect, "--url", url, "--model", "m"]);
        let mut command = Command::new(&json!({"arguments": arguments}).to_string());
        loop {
            match command.need() {
                Some(Need::Input) => command.give(br#"[{"name": "a", "inputSchema": {"type": "object"}}]"#),
                Some(Need::Set(names)) => command.give(json!(names).to_string().as_bytes()),
                Some(Need::Request(request)) => return Some(request.key.map(|key| key.variable)),
                // The command refuses the URL.
                _ => return None,
            }
        }
    };
    for (dialect, url) in [
        ("openai-chat", "https://API.openai.com/v1"),
        ("bedrock", "https://bedrock-runtime.eu-central-1.amazonaws.com"),
        ("bedrock", "https://bedrock-runtime-fips.us-east-1.amazonaws.com:443"),
        ("azure-strict", "https://acme.openai.azure.com/openai/v1"),
        ("azure-strict", "https://acme.cognitiveservices.azure.com/openai/v1"),
        ("openai-chat", "https://openrouter.ai/api/v1"),
    ] {
        assert!(matches!(key_of(dialect, url), Some(Some(_))), "{url}");
    }
    for (dialect, url) in [
        ("bedrock", "https://evil.s3.us-east-1.amazonaws.com"),
        ("bedrock", "https://evil.execute-api.us-east-1.amazonaws.com"),
        ("bedrock", "https://bedrock-runtime.s3.amazonaws.com"),
        ("bedrock", "https://bedrock-runtime.s3-us-west-2.amazonaws.com"),
        ("azure-strict", "https://evil.azure.com"),
        ("azure-strict", "https://a.evil.openai.azure.com"),
        ("openai-chat", "https://api.openai.com.evil.test/v1"),
        ("openai-chat", "https://api.openai.com:8443/v1"),
        ("openai-chat", "http://evil.test/v1"),
        ("vllm", "http://localhost:8000/v1"),
    ] {
        assert_eq!(key_of(dialect, url), Some(None), "{url}");
    }
    for (dialect, url) in [
        ("bedrock", "http://bedrock-runtime.eu-central-1.amazonaws.com"),
        ("bedrock", "https://evil\\x.amazonaws.com"),
        ("azure-strict", "https://evil.test\\.openai.azure.com"),
        ("openai-chat", "http://openrouter.ai/api/v1"),
    ] {
        assert_eq!(key_of(dialect, url), None, "{url}");
    }
}

#[test]
fn dialects_are_listed() {
    let (printed, _) = play(&json!({"arguments": ["dialects", "--json"]}));
    let listed: Value = serde_json::from_str(&printed.stdout).expect("a JSON document");
    let names: Vec<_> =
        listed.as_array().expect("a list").iter().map(|dialect| dialect["name"].as_str().expect("a name")).collect();
    assert_eq!(names, toolwire::dialects().iter().map(|dialect| dialect.name).collect::<Vec<_>>());
    let (listed, _) = play(&json!({"arguments": ["dialects"]}));
    for dialect in toolwire::dialects() {
        assert!(listed.stdout.contains(dialect.surface), "{}", dialect.name);
        let (one, _) = play(&json!({"arguments": ["dialects", dialect.name]}));
        for fact in dialect.facts {
            assert!(
                one.stdout.contains(fact.statement) && one.stdout.contains(fact.source),
                "{}: {}",
                dialect.name,
                fact.statement
            );
        }
        let (one, _) = play(&json!({"arguments": ["dialects", "--json", dialect.name]}));
        assert_eq!(serde_json::from_str::<Value>(&one.stdout).expect("a JSON document")["name"], dialect.name);
    }
}

#[test]
fn progress_is_shown_and_cleared() {
    let schema = json!({"type": "object", "properties": {}, "description": "x".repeat(600_000)});
    let arguments = json!(["check", "--dialect", "moonshot,gemini"]);
    let (printed, progress) = play(
        &json!({"arguments": arguments, "stdin": schema, "terminal": {"stderr": true}, "environment": {"NO_COLOR": "1"}}),
    );
    // The line is removed before the result is written, which may go to the same terminal.
    assert_eq!(
        progress,
        "\r\u{1b}[2K[##########----------] 1/2 gemini\r\u{1b}[2K[####################] 2/2 \r\u{1b}[2K"
    );
    assert!(printed.stderr.starts_with("1 schema"), "{}", printed.stderr);
    let (printed, progress) = play(&json!({"arguments": arguments, "stdin": schema}));
    assert_eq!((printed.stderr.contains('\r'), progress.as_str()), (false, ""), "no progress without a terminal");
}

#[test]
fn elapsed_waiting_time_is_shown_on_a_terminal() {
    let arguments = json!(["matrix", "--timeout", "5", "--", "npx", "server\u{1b}[2J"]);
    let on = Command::new(&json!({"arguments": arguments, "stderr": true}).to_string());
    assert_eq!(on.waiting(2), "\r\u{1b}[2Kwaiting for npx server\\u001b[2J: 2 of 5 s");
    assert_eq!(on.waiting(0), "\r\u{1b}[2K");
    let off = Command::new(&json!({"arguments": arguments}).to_string());
    assert_eq!((off.waiting(2), off.waiting(0)), (String::new(), String::new()));
    let file = Command::new(&json!({"arguments": ["matrix", "tools.json"], "stderr": true}).to_string());
    assert_eq!(file.waiting(2), "");
}

#[test]
fn deep_input_exhausts_neither_stack_nor_memory() {
    for depth in [500, 100_000] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let (printed, _) = play(&json!({"arguments": ["sanitize", "--dialect", "codex"], "stdin": text}));
        assert!(printed.exit_code > 0, "{depth}");
        let schema = format!("{}true{}", r#"{"items":"#.repeat(depth), "}".repeat(depth));
        let (printed, _) = play(&json!({"arguments": ["check"], "stdin": schema}));
        assert!(printed.exit_code > 0 && printed.stdout.len() < toolwire::dialects().len() << 17, "{depth}");
    }
}

/// A list with too many entries is refused before anything is allocated for each entry.
#[test]
fn long_lists_are_refused() {
    let text = format!("[{}{{}}]", "{},".repeat(10_000));
    let (printed, _) = play(&json!({"arguments": ["check", "--dialect", "openai-chat"], "stdin": text}));
    assert_eq!(printed.exit_code, 2);
    assert!(printed.stderr.contains("expected at most 10000 tools or schemas, found 10001"), "{}", printed.stderr);
}

/// Bytes that are not text are an error. UTF-16 with a byte order mark, which PowerShell writes, is text.
#[test]
fn input_is_decoded() {
    let start = |bytes: &[u8]| {
        let mut command = Command::new(r#"{"arguments": ["sanitize", "--dialect", "codex", "--compact"]}"#);
        assert_eq!(command.need(), Some(Need::Input));
        command.give(bytes);
        while command.step().is_some() {}
        command.finish()
    };
    let expected = start(br#"{"type":"object","properties":{"a":{"type":"string"}}}"#);
    assert_eq!(expected.exit_code, 0, "{expected:?}");
    let text = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
    let wide: Vec<u8> = std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(start(&wide), expected);
    let wide: Vec<u8> = std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    assert_eq!(start(&wide), expected);
    let broken = start(b"{\n\"a\": \xff}");
    assert_eq!(
        (broken.stderr.as_str(), broken.exit_code),
        ("toolwire: <stdin>: expected UTF-8, found the byte `0xff` (line 2)\n", 2)
    );
}

/// If one of several inputs is not text, it fails and the others are checked. A configuration or a baseline that is not
/// text ends the command.
#[test]
fn input_that_is_not_utf_8_fails() {
    let play = |arguments: &[&str], broken: &str| {
        let mut command = Command::new(&json!({"arguments": arguments}).to_string());
        while let Some(need) = command.need() {
            match need {
                Need::File(path) | Need::RegularFile(path) if path == broken => command.give(b"\xff"),
                Need::RegularFile(path) if path.ends_with(".toml") => command.fail("ENOENT"),
                _ => command.give(br#"{"type": "object", "properties": {}}"#),
            }
        }
        while command.step().is_some() {}
        let Printed { stderr, exit_code, .. } = command.finish();
        assert_eq!(exit_code, 2);
        stderr
    };
    let why = "expected UTF-8, found the byte `0xff` (line 1)\n";
    assert_eq!(play(&["matrix", "bad.json"], "bad.json"), format!("toolwire: bad.json: {why}"));
    let both = play(&["check", "bad.json", "good.json"], "bad.json");
    assert!(both.starts_with(&format!("toolwire: bad.json: {why}1 schema, ")), "{both}");
    let config = play(&["check", "good.json"], "toolwire.toml");
    assert_eq!(config, format!("toolwire: toolwire.toml: {why}"));
    let baseline = play(&["check", "--baseline", "known.json", "--update-baseline", "good.json"], "known.json");
    assert_eq!(baseline, format!("toolwire: known.json: {why}"));
}

#[test]
fn unreadable_folder_fails() {
    let mut command = Command::new(&json!({"arguments": ["check", "*/*.json"]}).to_string());
    while let Some(need) = command.need() {
        match need {
            Need::Folder(path) if path.is_empty() => command.give(br#"["closed/", "open/"]"#),
            Need::Folder(path) if path == "open/" => command.give(br#"["good.json"]"#),
            Need::Folder(_) => command.fail("EACCES"),
            Need::RegularFile(path) if path.ends_with(".toml") => command.fail("ENOENT"),
            _ => command.give(br#"{"type": "object", "properties": {}}"#),
        }
    }
    while command.step().is_some() {}
    let Printed { stderr, exit_code, .. } = command.finish();
    let expected = "toolwire: */*.json (closed/): expected a readable folder, found one without read \
        permission\n1 schema, ";
    assert!(stderr.starts_with(expected), "{stderr}");
    assert_eq!(exit_code, 2);
}

#[test]
fn standard_error_of_servers_is_escaped() {
    let log = "\u{1b}[31mno token\u{9b}2J\r\nset \u{202e}NEKOT\u{200b}";
    assert_eq!(Command::escape_log(log), "\\u001b[31mno token\\u009b2J\\u000d\nset \\u202eNEKOT\\u200b\n");
    assert_eq!(Command::escape_log(""), "");
    assert_eq!(Command::escape_log("one\n\ttwo\n"), "one\n\ttwo\n");
}
