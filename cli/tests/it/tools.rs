//! The tools of MCP servers, as `check` and `matrix` list them: what cases cannot show.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{thread, time::Duration};

use serde_json::{json, Value};

use crate::{
    client::initialize_result,
    command::{program, ran, Folder},
    relay::{api, packed, reply, write},
};

/// A server in the language of the shell, which answers `tools/list` with `$1`. It reports the time of a page.
const LISTS: &str = r#"
while IFS= read -r line; do
  id=${line##*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}}' ;;
    *'"tools/list"'*'"cursor":"second"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":'"$2"'}' ;;
    *'"tools/list"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":'"$1"'}' ;;
  esac
done
"#;

fn listed(arguments: &[&str], pages: &[&Value]) -> (String, String, Option<i32>) {
    let mut command = program();
    command.args(arguments).args(["--", "sh", "-c", LISTS, "server"]).args(pages.iter().map(ToString::to_string));
    ran(&mut command, "")
}

fn checked(arguments: &[&str], script: &str, variables: &[(&str, &str)]) -> (String, Option<i32>) {
    let mut command = program();
    command.arg("check").args(arguments).args(["--", "sh", "-c", script]).envs(variables.iter().copied());
    let (_, stderr, code) = ran(&mut command, "");
    (stderr, code)
}

#[test]
fn all_pages_are_read_and_the_order_of_keys_stays() {
    let schema = json!({"type": "object", "properties": {"b": {"const": "x"}, "a": {"type": "string"}}});
    let first = json!({"tools": [{"name": "one", "inputSchema": schema}], "nextCursor": "second"});
    let second = json!({"tools": [{"name": "two", "inputSchema": schema}]});
    let (stdout, stderr, code) = listed(&["check", "--dialect", "gemini", "--json"], &[&first, &second]);
    assert_eq!((stderr.as_str(), code), ("", Some(1)));
    let found: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(found["sources"][0]["count"], 2);
    let mut findings = found["findings"].as_array().expect("findings").iter();
    let pointer = "/tools/1/inputSchema/properties/b/const";
    assert!(findings.any(|one| one["tool"] == "two" && one["pointer"] == pointer), "{stdout}");
    let (stdout, ..) = listed(&["sanitize", "--dialect", "mistral", "--compact"], &[&first, &second]);
    assert!(stdout.contains(r#""properties":{"b":{"const":"x"},"a":{"type":"string"}}"#), "{stdout}");
}

#[test]
fn the_last_page_may_have_an_empty_cursor() {
    for cursor in [Value::Null, json!("")] {
        let page = json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}], "nextCursor": cursor});
        let (stdout, stderr, code) = listed(&["matrix", "--json"], &[&page]);
        assert_eq!((stderr.as_str(), code), ("", Some(0)));
        assert_eq!(serde_json::from_str::<Value>(&stdout).expect("JSON")["count"], 1);
    }
}

#[test]
fn invalid_tools_are_reported() {
    let good = json!({"name": "a", "inputSchema": {"type": "object"}});
    let page = json!({"tools": [good, {"name": "bad", "inputSchema": {"type": "array"}}, {"name": null}, 7]});
    let (stdout, stderr, code) = listed(&["check", "-d", "anthropic", "--json"], &[&page]);
    assert_eq!((stderr.as_str(), code), ("", Some(1)));
    let found: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(found["sources"][0]["count"], 4);
    for (pointer, rule) in [("/tools/1/inputSchema", "root-object"), ("/tools/3", "not-a-tool")] {
        let mut findings = found["findings"].as_array().expect("findings").iter();
        assert!(findings.any(|one| one["pointer"] == pointer && one["rule"] == rule), "{pointer}: {stdout}");
    }
}

#[test]
fn an_answer_without_a_list_or_with_too_many_tools_is_an_error() {
    let unlisted = "the server did not list its tools: expected an answer with a list in `tools`, found none\n";
    for page in [json!({}), json!({"tools": "none"})] {
        let (_, stderr, code) = listed(&["matrix"], &[&page]);
        assert!(code == Some(2) && stderr.ends_with(unlisted), "{stderr}");
    }
    let many = json!({"tools": vec![json!({}); 10_001]});
    let (_, stderr, code) = listed(&["check"], &[&many]);
    assert!(code == Some(2) && stderr.ends_with(": expected at most 10000 tools, found more\n"), "{stderr}");
}

#[test]
fn endless_pages_are_an_error() {
    let script = LISTS.replace("*'\"tools/list\"'*) printf", "*'\"tools/list\"'*) sleep 0.25; printf");
    let page = json!({"tools": [], "nextCursor": "next"}).to_string();
    let mut command = program();
    command.args(["matrix", "--timeout", "1", "--", "sh", "-c", &script, "server", &page]);
    let (_, stderr, code) = ran(&mut command, "");
    let is_late = ["expected all pages in 10 s", "expected an answer in 1 s"].iter().any(|why| stderr.contains(why));
    assert!(code == Some(2) && is_late, "{stderr}");
}

#[test]
fn the_last_words_of_a_server_are_escaped_and_without_secrets() {
    let (stderr, code) = checked(&[], r"printf 'no token\302\2332J\342\200\256\n' >&2; exit 3", &[]);
    let expected = "no token\\u009b2J\\u202e\ntoolwire: ";
    assert!(code == Some(2) && stderr.starts_with(expected), "{stderr}");
    assert!(stderr.contains(": the server did not list its tools: "), "{stderr}");
    // Only the named variables reach it, and their values are masked.
    let script = "echo \"$TOKEN, $OTHER, ${PATH:+path}\" >&2; exit 3";
    let variables = [("TOKEN", "secret"), ("OTHER", "secret too")];
    assert!(checked(&[], script, &variables).0.starts_with(", , path\n"));
    let named = ["--env", "TOKEN", "--env", "UNSET"];
    assert!(checked(&named, script, &variables).0.starts_with("…, , path\n"));
    // Also where the log is cut.
    let token = "a-secret-of-forty-characters-0123456789z";
    for length in [16_384, 16_384 + 16 * token.len()] {
        let script = format!("printf %s \"$TOKEN\" >&2; head -c {} /dev/zero | tr '\\0' x >&2; exit 3", length - 20);
        let (stderr, _) = checked(&["--env", "TOKEN"], &script, &[("TOKEN", token)]);
        let line = stderr.lines().next().expect("a line");
        assert!(line.trim_start_matches('…').bytes().all(|byte| byte == b'x'), "{length}: {line:.80}");
    }
}

#[test]
fn the_log_of_a_server_that_succeeds_is_not_shown() {
    let script = format!("echo \"hello from the server, $TOKEN\" >&2\n{LISTS}");
    let page = json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}).to_string();
    let mut command = program();
    command.args(["matrix", "--env", "TOKEN", "--", "sh", "-c", &script, "server", &page]).env("TOKEN", "secret-token");
    let (stdout, stderr, code) = ran(&mut command, "");
    assert_eq!((stderr.as_str(), code), ("", Some(0)));
    assert!(!stdout.contains("hello from"), "{stdout}");
}

#[test]
fn a_command_that_does_not_exist_is_an_error() {
    let why = "expected a command, found none with this name";
    let (stdout, stderr, code) = ran(program().args(["check", "--", "no-such-program-anywhere"]), "");
    let expected = format!("toolwire: no-such-program-anywhere: the server did not list its tools: {why}\n");
    assert_eq!((stdout, stderr, code), (String::new(), expected, Some(2)));
    let (stdout, stderr, code) = ran(program().args(["proxy", "--", "no-such-command"]), "");
    assert_eq!((stdout, stderr, code), (String::new(), format!("toolwire: proxy: no-such-command: {why}\n"), Some(2)));
}

#[test]
fn errors_of_a_server_at_a_url_contain_no_secrets() {
    let port = api(|request, stream| {
        let text = format!("who are you, {} with {:?}?", request.start, request.header("authorization"));
        write(stream, &format!("HTTP/1.1 401 No\r\nContent-Length: {}\r\n\r\n{text}", text.len()));
    });
    let url = format!("http://127.0.0.1:{port}/mcp?key=the-query&more=of-it#behind");
    let mut command = program();
    command.args(["check", "--format", "github", "--url", &url, "--header", "Authorization: Bearer the-token "]);
    let (stdout, stderr, code) = ran(&mut command, "");
    let output = stdout + &stderr;
    assert!(code == Some(2) && output.contains("who are you, POST /mcp… "), "{output}");
    for secret in ["the-query", "of-it", "the-token"] {
        assert!(!output.contains(secret), "{output}");
    }
}

#[test]
fn a_server_at_a_url_that_is_late_or_sends_too_much_is_an_error() {
    let port = api(|_, _| thread::sleep(Duration::from_secs(5)));
    let url = format!("http://127.0.0.1:{port}/mcp");
    let (_, stderr, code) = ran(program().args(["check", "--timeout", "1", "--url", &url]), "");
    assert!(code == Some(2) && stderr.ends_with(": expected an answer in 1 s, found none\n"), "{stderr}");
    for content in ["application/json", "text/event-stream"] {
        let port = api(move |request, stream| {
            let message = request.json();
            if message["method"] == "initialize" {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": initialize_result()}).to_string();
                return reply(stream, "Content-Type: application/json\r\n", answer.as_bytes());
            }
            if message.get("id").is_none() {
                return write(stream, "HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n");
            }
            // A small answer that becomes a large one.
            let large =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"tools\":[{}]}}}}", "{},".repeat(12 << 20));
            let body = packed("gzip", large.as_bytes());
            assert!(body.len() < 100_000);
            reply(stream, &format!("Content-Type: {content}\r\nContent-Encoding: gzip\r\n"), &body);
        });
        let url = format!("http://127.0.0.1:{port}/mcp");
        let (_, stderr, code) = ran(program().args(["check", "--url", &url]), "");
        let expected = ": expected at most 16 MiB from the server, found more\n";
        assert!(code == Some(2) && stderr.ends_with(expected), "{content}: {stderr}");
    }
}

#[test]
fn a_report_is_not_written_to_a_pipe() {
    let folder = Folder::new();
    let pipe = folder.0.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut command = program();
    command.args(["proxy", "--report"]).arg(&pipe).args(["--", "true"]);
    let (_, stderr, code) = ran(&mut command, "");
    assert!(code == Some(2) && stderr.starts_with("toolwire: proxy: "), "{stderr}");
}
