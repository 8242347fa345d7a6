//! Untrusted names and strings, in every command and every format: none of them moves the cursor, is invisible, changes
//! the direction of the text, or is a command for a CI runner.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{json, Value};
use toolwire_command::{Command, Need, Printed};

/// Hostile strings, which the test uses as the beginning, the end and the middle of names.
const HOSTILE: [&str; 18] = [
    "::add-mask::x",
    " \u{3000}::error::x",
    "\n::error file=a,line=1::x",
    "\r::stop-commands::x",
    "\r\n\t::warning::x",
    "a##[add-mask]x",
    "##vso[task.setvariable variable=a]x",
    "%0A::error::x",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "\u{9b}2J\u{85}::error::x",
    "\u{8}\u{8}\u{7f}\u{0}",
    "\u{202e}\u{2066}x\u{2069}",
    "a\u{200b}\u{200d}\u{feff}\u{ad}\u{fff9}b\u{fffb}",
    "a\u{e0041}\u{e007f}b",
    "\u{2028}::error::x\u{2029}",
    "]]>\n::error::<x a=\"&",
    "a`|\n::error::x,b:c%",
    "..\\..\\*##[x]\u{2028}",
];
const FORMATS: [&str; 6] = ["text", "json", "github", "sarif", "junit", "markdown"];

/// Returns true for control characters other than line feeds and tabs, and for invisible characters. Independent of the
/// code under test.
fn is_raw(one: char) -> bool {
    (one.is_control() && one != '\n' && one != '\t')
        || "\u{ad}\u{61c}\u{2028}\u{2029}\u{feff}".contains(one)
        || ('\u{200b}'..='\u{200f}').contains(&one)
        || ('\u{202a}'..='\u{202e}').contains(&one)
        || ('\u{2060}'..='\u{206f}').contains(&one)
        || ('\u{fff0}'..='\u{fffb}').contains(&one)
        || ('\u{e0000}'..='\u{e0fff}').contains(&one)
}

fn is_commands(arguments: &[String]) -> bool {
    arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "github")
}

/// Returns true for a command that `check --format github` writes, parsed as the runner does: properties, then the
/// message.
fn is_ours(line: &str) -> bool {
    let Some(rest) = ["::error ", "::warning ", "::notice "].iter().find_map(|level| line.strip_prefix(level)) else {
        return false;
    };
    let Some((properties, _)) = rest.split_once("::") else { return false };
    properties.split(',').all(|one| {
        one.split_once('=').is_some_and(|(name, value)| {
            ["file", "line", "col", "title"].contains(&name) && !value.contains(':') && !value.is_empty()
        })
    })
}

fn judge(arguments: &[String], printed: &Printed, is_data: bool, is_terminal: bool) {
    let files = printed.files.iter().map(|file| ("file", &file.content));
    for (stream, text) in [("stdout", &printed.stdout), ("stderr", &printed.stderr)].into_iter().chain(files) {
        let about = format!("{arguments:?} {stream} {text:?}");
        // Programs that read from a pipe receive the library's text, which is JSON.
        let is_raw_data = is_data && !is_terminal && stream == "stdout";
        let is_wrong = |one: char| if is_raw_data { one < ' ' && one != '\n' } else { is_raw(one) };
        assert!(!text.contains(is_wrong), "{about}");
        let lower = text.to_lowercase();
        assert!(!["##[", "##vso[", "##teamcity["].iter().any(|one| lower.contains(one)), "{about}");
        for line in text.split(['\n', '\r']).filter(|line| line.trim_start().starts_with("::")) {
            assert!(stream == "stdout" && is_commands(arguments) && is_ours(line), "{about}: {line:?}");
        }
    }
}

/// Runs a command with these files. Requests to servers and APIs fail with `words`.
fn run(arguments: &[String], files: &[(String, String)], words: &str, is_terminal: bool) -> Printed {
    let facts = json!({
        "arguments": arguments, "stdin": false, "stdout": is_terminal, "stderr": is_terminal, "columns": 40,
        "environment": {"NO_COLOR": "1"}, "date": "2026-11-25", "folder": "/",
    });
    let mut command = Command::new(&facts.to_string());
    let content = |path: &str| files.iter().find(|(name, _)| name == path).map(|(_, content)| content.as_str());
    for _ in 0..200 {
        match command.need() {
            None => break,
            Some(Need::File(path) | Need::RegularFile(path)) => match content(&path) {
                Some(content) => command.give(content.as_bytes()),
                None => command.fail("ENOENT"),
            },
            Some(Need::Input) => command.give(content("-").unwrap_or_default().as_bytes()),
            Some(Need::Folder(_)) => {
                let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
                command.give(json!(names).to_string().as_bytes());
            }
            Some(Need::Variables(_)) => command.give(json!({"A": words}).to_string().as_bytes()),
            Some(Need::Set(names)) => command.give(json!(names).to_string().as_bytes()),
            Some(Need::Server(_)) => command.fail(words),
            Some(Need::Request(_)) => {
                let body = json!({"error": {"message": words, "code": words}}).to_string();
                command.give(json!({"status": 400, "retryAfter": words, "body": body}).to_string().as_bytes());
            }
            Some(other) => panic!("unknown need: {other:?}"),
        }
    }
    while command.step().is_some() {}
    command.finish()
}

fn tools(words: &str) -> Value {
    let schema = json!({
        "type": "object", "title": words, "description": words, "format": words, "required": [words],
        "properties": {
            words: {"enum": [], "description": words, "default": words, "const": words, "pattern": words},
            "b": {"type": words, "$ref": format!("#/$defs/{words}"), "if": {"const": words}, words: words},
            "c": {"type": "string", "minLength": 3, "format": words, "enum": [words], "examples": [words]},
            "d": {"type": "array"},
        },
        "$defs": {words: {"type": "string", "enum": [words, 1], "description": words}},
        "dependentRequired": {words: [words]},
        words: words,
    });
    json!([{"name": words, "description": words, "inputSchema": schema, "annotations": {"title": words}},
        {"name": "named", "description": words, "inputSchema": schema}])
}

#[test]
fn untrusted_text_is_escaped() {
    let (mut count, mut written) = (0, 0);
    for words in HOSTILE {
        let file = format!("{words}.json");
        let list = tools(words);
        let request = json!({
            "model": words,
            "messages": [
                {"role": "user", "content": words},
                {"role": "assistant", "content": [{"type": "tool_use", "id": words, "name": words, "input": {words: words}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": words, "content": [
                    {"type": "tool_reference", "tool_name": words}, {"type": "text", "text": words}]}]},
                {"role": words, "content": words},
            ],
            "tools": [{"name": words, "description": words, "defer_loading": true, "input_schema": list[0]["inputSchema"]}],
        });
        let reply = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
            {"id": words, "type": "function", "function": {"name": words, "arguments": json!({words: words}).to_string()}}]}}]});
        let servers = json!({"mcpServers": {
            words: {"command": words, "args": [words], "env": {"A": "${A}"}},
            "b": {"url": format!("https://{words}"), "headers": {words: words}},
            "c": {"command": "${B}"}, "d": {"command": format!("${{{words}}}")}, "e": {words: words},
            "off": {"command": words, "disabled": true},
        }});
        let files: Vec<(String, String)> = [
            (file.as_str(), list.to_string()),
            ("-", list.to_string()),
            ("b.json", json!({"type": words, words: {"enum": []}}).to_string()),
            ("broken.json", format!("{{\"a\": {words}")),
            ("lines.jsonl", format!("{}\n{}\n1\n", list[0], list[1])),
            ("other.json", json!({words: words}).to_string()),
            ("request.json", request.to_string()),
            ("reply.json", reply.to_string()),
            ("call.json", json!({words: words, "c": 1}).to_string()),
            ("with.json", json!({"tools": [], "restorePlan": {"version": 2, words: words}}).to_string()),
            ("servers.json", servers.to_string()),
            (
                "base.json",
                json!({"version": 1, "findings": [
                {"source": words, "tool": words, "rule": words, "pointer": words, "dialects": ["openai-chat"]}]})
                .to_string(),
            ),
            (
                "odd-base.json",
                json!({"version": 1, "findings": [
                {"source": words, "tool": words, "rule": words, "pointer": words, "dialects": [words]}]})
                .to_string(),
            ),
            ("a.toml", format!("dialects = [{}]\n", json!(words))),
            ("b.toml", format!("[[ignore]]\ntool = {}\nreason = {}\n", json!(words), json!(words))),
            ("c.toml", format!("{} = 1\n", json!(words))),
            ("d.toml", format!("a = {words}")),
            ("e.toml", format!("baseline = {}\n", json!(words))),
        ]
        .map(|(name, content)| (name.to_string(), content))
        .into();
        let mut commands: Vec<Vec<&str>> = Vec::new();
        for format in FORMATS {
            commands.extend([
                Vec::from(["check", "--format", format, &file, "b.json", "broken.json", "other.json", words]),
                Vec::from([
                    "check",
                    "--format",
                    format,
                    "-d",
                    "gemini,openai-strict",
                    "--show",
                    "ignored",
                    &file,
                    "lines.jsonl",
                ]),
                Vec::from([
                    "check",
                    "-d",
                    "gemini,openai-strict",
                    "--format",
                    format,
                    "--rewritten",
                    "lost",
                    &file,
                    "lines.jsonl",
                ]),
                Vec::from([
                    "check",
                    "-d",
                    "gemini",
                    "--format",
                    format,
                    "--servers",
                    "servers.json",
                    "--env",
                    "A",
                    "*.json",
                ]),
                Vec::from(["check", "-d", "openai-chat", "--format", format, "--baseline", "base.json", &file]),
                Vec::from([
                    "check",
                    "-d",
                    "gemini",
                    "--format",
                    format,
                    "--config",
                    "b.toml",
                    "--baseline",
                    "odd-base.json",
                    &file,
                ]),
                Vec::from(["check", "-d", "gemini", "--format", format, "--tool", words, &file]),
                Vec::from(["diff", "-d", "gemini", "--format", format, "b.json", &file]),
                Vec::from(["diff", "-d", "gemini", "--format", format, &file, "b.json"]),
            ]);
        }
        for config in ["a.toml", "b.toml", "c.toml", "d.toml", "e.toml", words] {
            commands.push(Vec::from(["check", "--config", config, &file]));
        }
        commands.extend([
            Vec::from(["check", "-q", "-d", "gemini,openai-strict", "--show", "ignored", &file, words]),
            Vec::from(["check", "-q", words]),
            Vec::from(["check", "--baseline", &file, "--update-baseline", &file]),
            Vec::from(["check", "--baseline", words, "--update-baseline", "-"]),
            Vec::from(["check", "--", words, "-x"]),
            Vec::from(["check", "--url", "https://a.test", "--header", words]),
            Vec::from(["check", "--env", words, &file]),
            Vec::from(["check", "-d", words, &file]),
            Vec::from(["check", "--tool", "none\u{202e}", &file]),
            Vec::from(["check", "--servers", "servers.json", "--server", words]),
            Vec::from(["check", "--servers", words]),
            Vec::from(["check", "--servers", &file]),
            Vec::from(["matrix", "-d", "gemini,openai-strict", &file]),
            Vec::from(["matrix", "--all", "-d", "gemini,moonshot,openai-strict", &file]),
            Vec::from(["matrix", "--json", "-d", "gemini", &file]),
            Vec::from(["matrix", "--servers", "servers.json", "--env", "A"]),
            Vec::from(["matrix", "--json", "--servers", "servers.json"]),
            Vec::from(["matrix", words]),
            Vec::from(["diff", "-q", "--header", words, &file, words]),
            Vec::from(["diff", words, "--", words, "--", words]),
            Vec::from(["diff", "--servers", "servers.json", "--server", words, "--server", words]),
            Vec::from(["report", "-d", "gemini", "--out", "site", &file, "b.json"]),
            Vec::from(["report", "-d", "gemini", "--out", "site", "--name", words, &file]),
            Vec::from(["report", "--out", words, "--lists", "--name", words, &file]),
            Vec::from(["report", "--out", "site", "--lock", &file, &file]),
            Vec::from(["report", "-d", "gemini", "--out", "site", "--servers", "servers.json", "--env", "A"]),
            Vec::from(["explain", "-d", "gemini,openai-strict", "--tool", words, &file]),
            Vec::from(["explain", "-d", "gemini,cohere-strict,codex", "--full", "--tool", "named", &file]),
            Vec::from(["explain", "-d", "gemini,moonshot,openai-strict", "--json", "--tool", "named", &file]),
            Vec::from(["explain", "-d", "gemini", &file]),
            Vec::from(["explain", "-d", "gemini", "--tool", "none", &file]),
            Vec::from(["sanitize", "-d", "gemini", "--json", &file]),
            Vec::from(["sanitize", "-d", "openai-strict", &file]),
            Vec::from(["sanitize", "-d", "moonshot", "--compact", &file]),
            Vec::from(["sanitize", "-d", "openai-strict", "--allow", "same", &file]),
            Vec::from(["sanitize", "-d", "openai-chat", "request.json"]),
            Vec::from(["sanitize", "-d", "openai-chat", "--servers", "servers.json"]),
            Vec::from(["defer", "request.json"]),
            Vec::from(["defer", "--target", "openai-chat", "--json", "request.json"]),
            Vec::from(["defer", "--turns", "request.json"]),
            Vec::from(["defer", "--turns", "--json", "--target", "openai-chat", "request.json"]),
            Vec::from(["restore", "--with", "with.json", "reply.json"]),
            Vec::from(["restore", "--with", &file, "reply.json"]),
            Vec::from(["restore", "--with", "with.json", "--call", words, "call.json"]),
            Vec::from(["validate", "call.json", "--schema", &file, "--tool", words]),
            Vec::from(["validate", "call.json", "--schema", &file, "--tool", "named", "--json"]),
            Vec::from(["validate", "call.json", "--schema", &file, "--tool", "named", "--repair"]),
            Vec::from(["validate", words, "--schema", &file, "--tool", "none"]),
            Vec::from(["probe", "-d", "vllm", "--url", "http://localhost:1/v1", "--model", words, &file]),
            Vec::from(["probe", "-d", "vllm", "--url", "http://localhost:1/v1", "--model", words, "--json", &file]),
            Vec::from(["probe", "-d", "vllm", "--url", "http://localhost:1/v1", "--model", words, "--dry-run", &file]),
            Vec::from(["probe", "-d", "gemini", "--model", words, "--dry-run", &file]),
            Vec::from(["probe", "-d", "openai-chat", "--model", words, "--record", words, &file]),
            Vec::from(["probe", "-d", "openai-chat", "--model", "m", "--key-env", words, &file]),
            Vec::from(["probe", "-d", "openai-chat", "--model", "m", "--url", words, &file]),
            Vec::from(["probe", "-d", "openai-chat", "--model", "m", "--header", words, &file]),
            Vec::from(["check", "--diff", "-d", "moonshot,openai-strict", &file, "lines.jsonl"]),
            Vec::from(["check", "--diff", "--unsafe-fixes", "-d", "gemini", "--show", "ignored", &file, "b.json"]),
            Vec::from(["check", "--fix", "--unsafe-fixes", "-d", "moonshot", "-"]),
            Vec::from(["dialects", words]),
            Vec::from(["dialects"]),
            Vec::from([words]),
            Vec::from(["check", &file, "--", words]),
        ]);
        for arguments in commands {
            let arguments: Vec<String> = arguments.into_iter().map(String::from).collect();
            let has = |options: &[&str]| arguments.iter().any(|one| options.contains(&one.as_str()));
            let is_data = has(&["--diff", "--fix"])
                || ["sanitize", "defer", "restore", "validate"].contains(&arguments[0].as_str()) && !has(&["--json"]);
            // The other formats of `check` do not depend on the terminal.
            let is_format = arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] != "text");
            for is_terminal in [false, true].into_iter().take(if is_format { 1 } else { 2 }) {
                let printed = run(&arguments, &files, words, is_terminal);
                assert!(!printed.stdout.is_empty() || !printed.stderr.is_empty() || printed.exit_code == 0);
                judge(&arguments, &printed, is_data, is_terminal);
                count += 1;
                written += printed.files.iter().filter(|file| file.content.contains("\\u")).count();
            }
        }
        let mut escaped = Printed::default();
        escaped.stderr = Command::escape_log(words);
        judge(&[], &escaped, false, false);
    }
    println!("{count} command lines");
    assert!(count > 2500, "{count}");
    assert!(written > 15, "{written} files with escapes");
}
