//! Programs as MCP servers: `check`, `matrix` and `proxy` with real processes.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{json, Value};

use crate::{
    client::ProxyProcess,
    command::{program, Folder},
    relay::wait_until,
};

/// The server answers requests by their method, and whatever else a test needs.
pub(crate) const SERVER: &str = r#"
echo 'a line for people'
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id": *\([^,}]*\).*/\1/p')
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"a.b","inputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1.0}}}}]}}' ;;
    *'"die"'*) echo 'last words' >&2; exit 3 ;;
    *'"hang"'*) [ -z "$ENDED" ] || printf x >>"$ENDED.hung" ;;
    *'"flood"'*) head -c 70000000 /dev/zero | tr '\0' x; echo ;;
    *'"variables"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":"'$(env | sed 's/=.*//' | sort | tr '\n' ' ')'"}' ;;
    *'"tools/call"'*|*'"echo"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[],"said":'"$line"'}}' ;;
  esac
done
[ -z "$ENDED" ] || touch "$ENDED"
"#;

fn proxied(options: &[&str]) -> ProxyProcess {
    let mut command = program();
    command.arg("proxy").args(options).args(["--", "sh", "-c", SERVER]);
    ProxyProcess::start(command).initialized()
}

#[test]
fn tools_of_a_program_are_listed_as_it_has_written_them() {
    let output =
        program().args(["check", "-d", "openai-chat", "--", "sh", "-c", SERVER]).output().expect("the program");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stdout.contains("tool-name"), "{stdout}");
}

#[test]
fn a_server_that_fails_is_an_error_with_its_last_words() {
    for (arguments, words) in [
        (["no-such-command"].as_slice(), "expected a command, found none with this name\n"),
        (&["sh", "-c", "echo last words >&2; exit 3"], "last words\ntoolwire: "),
        (&["sh", "-c", "echo $TOKEN >&2; exit 3"], "token is …\n"),
        (&["sh", "-c", "sleep 60"], "expected an answer in 1 s, found none\n"),
    ] {
        let mut command = program();
        command.env("TOKEN", "token is secret-secret").args(["check", "--timeout", "1", "--env", "TOKEN", "--"]);
        let begin = Instant::now();
        let output = command.args(arguments).output().expect("the program");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(words) || words.contains('…') && stderr.starts_with("…\n"), "{stderr}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{arguments:?}");
    }
}

#[test]
fn calls_are_restored_and_everything_else_passes_byte_for_byte() {
    let mut proxied = proxied(&["--dialect", "openai-chat"]);
    let list = proxied.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(list["result"]["tools"][0]["name"], "a_b");
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a_b","arguments":{"n":"1"}}}"#;
    let said = proxied.ask(call)["result"]["said"]["params"].clone();
    assert_eq!(said, json!({"name": "a.b", "arguments": {"n": 1}}));
    let odd = r#"{"jsonrpc":"2.0", "id":3,"method":"echo","params":{"a":9007199254740993,"n":1.0}}"#;
    proxied.send(odd);
    assert!(proxied.receive().expect("an answer").contains(odd));
    assert_eq!(proxied.end(), (String::new(), Some(0)));
}

#[test]
fn a_server_that_dies_or_floods_is_restarted() {
    for how in ["die", "flood"] {
        let mut proxied = proxied(&[]);
        let failed = proxied.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": how}).to_string());
        assert!(failed["error"]["message"].as_str().is_some_and(|message| message.contains("has ended")), "{failed}");
        let end = Instant::now() + Duration::from_secs(20);
        while proxied.ask(r#"{"jsonrpc":"2.0","id":2,"method":"echo"}"#).get("result").is_none() {
            assert!(Instant::now() < end, "the server is not restarted");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_server_receives_only_its_variables() {
    let mut command = program();
    command.env("NAMED", "1").env("OTHER", "1").args(["proxy", "--env", "NAMED", "--", "sh", "-c", SERVER]);
    let mut proxied = ProxyProcess::start(command);
    let found = proxied.ask(r#"{"jsonrpc":"2.0","id":1,"method":"variables"}"#)["result"].to_string();
    assert!(found.contains("NAMED") && found.contains("PATH") && !found.contains("OTHER"), "{found}");
}

#[test]
fn requests_before_the_end_of_the_input_are_answered_and_the_server_ends_itself() {
    let folder = Folder::new();
    let ended = folder.0.join("ended");
    let mut command = program();
    command.env("ENDED", &ended).args(["proxy", "--env", "ENDED", "--", "sh", "-c", SERVER]);
    let mut proxied = ProxyProcess::start(command);
    for id in 0..20 {
        proxied.send(&json!({"jsonrpc": "2.0", "id": id, "method": "echo"}).to_string());
    }
    let (rest, code) = proxied.end();
    let answers: Vec<Value> = rest.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(answers.iter().all(|answer| answer["result"]["said"]["method"] == "echo"), "{rest}");
    let ids: Vec<Option<u64>> = answers.iter().map(|answer| answer["id"].as_u64()).collect();
    assert_eq!((ids, code), ((0..20).map(Some).collect(), Some(0)));
    assert!(ended.exists());
}

#[test]
fn a_signal_ends_the_server_and_the_processes_that_it_has_started() {
    let folder = Folder::new();
    let pid = folder.0.join("pid");
    let script = format!("sleep 1000 & echo $! >'{0}.new'; mv '{0}.new' '{0}'; wait", pid.display());
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131)] {
        if name == "HUP" && crate::ignores_hangup() {
            continue;
        }
        for command in ["proxy", "check"] {
            let _ = std::fs::remove_file(&pid);
            let mut running = program();
            running.args([command, "--", "sh", "-c", &script]).stdin(Stdio::piped()).stdout(Stdio::null());
            let mut child = running.stderr(Stdio::null()).spawn().expect("the program");
            // `wait` would close it, which also ends a proxy.
            let _input = child.stdin.take();
            let end = Instant::now() + Duration::from_secs(20);
            while !pid.exists() {
                assert!(Instant::now() < end, "the server does not start");
                thread::sleep(Duration::from_millis(10));
            }
            let started = std::fs::read_to_string(&pid).expect("a number");
            let sent = crate::kill().args([&format!("-{name}"), &child.id().to_string()]).status();
            assert!(sent.expect("kill").success());
            assert_eq!(crate::exit_code(&mut child), Some(code), "{command}");
            let still = || crate::kill().args(["-0", started.trim()]).stderr(Stdio::null()).status();
            while still().expect("kill").success() {
                assert!(Instant::now() < end, "the process of the server still runs");
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

#[test]
fn a_server_may_clean_up_after_sigterm() {
    let folder = Folder::new();
    let script = "trap 'touch ended; exit' TERM; touch started; while :; do sleep 0.05; done";
    for command in ["proxy", "check"] {
        let mut running = program();
        running.args([command, "--", "sh", "-c", script]).current_dir(&folder.0).stdin(Stdio::piped());
        let mut child = running.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
        let _input = child.stdin.take();
        wait_until(|| folder.0.join("started").exists());
        assert!(crate::kill().arg(child.id().to_string()).status().expect("kill").success());
        assert_eq!(crate::exit_code(&mut child), Some(143), "{command}");
        assert!(folder.0.join("ended").exists(), "{command}");
        ["started", "ended"].iter().for_each(|name| std::fs::remove_file(folder.0.join(name)).expect("a file"));
    }
}

#[test]
fn a_signal_while_the_servers_close_ends_the_program_with_its_code() {
    let folder = Folder::new();
    let closing = folder.0.join("closing");
    // After its input has ended, the server stays for a second.
    let script = format!("{SERVER}\ntouch '{}'; trap '' TERM; sleep 20", closing.display());
    for command in ["proxy", "check"] {
        let _ = std::fs::remove_file(&closing);
        let mut running = program();
        running.args([command, "--", "sh", "-c", &script]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = running.stderr(Stdio::null()).spawn().expect("the program");
        let end = Instant::now() + Duration::from_secs(20);
        while !closing.exists() {
            assert!(Instant::now() < end, "{command}: the server is not closed");
            thread::sleep(Duration::from_millis(10));
        }
        let sent = crate::kill().args(["-INT", &child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
        assert_eq!(crate::exit_code(&mut child), Some(130), "{command}");
    }
}

#[test]
fn the_program_ends_although_a_process_outside_the_group_keeps_the_output_open() {
    if Command::new("setsid").arg("true").status().is_err() {
        return println!("skipped: this system has no setsid");
    }
    let begin = Instant::now();
    let left = "setsid sleep 30 & exit 3";
    let output = program().args(["check", "--timeout", "2", "--", "sh", "-c", left]).output().expect("the program");
    assert_eq!(output.status.code(), Some(2));
    assert!(begin.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_request_to_an_api_contains_the_key_and_messages_do_not() {
    use crate::relay::{api, write};
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let keys = seen.clone();
    let port = api(move |request, stream| {
        let key = request.header("authorization").unwrap_or_default().to_string();
        let text =
            json!({"error": {"message": format!("wrong key {key}"), "type": "invalid_request_error"}}).to_string();
        keys.lock().expect("no panic").push(key);
        write(stream, &format!("HTTP/1.1 401 No\r\nContent-Length: {}\r\n\r\n{text}", text.len()));
    });
    let folder = Folder::new();
    folder.write("t.json", r#"[{"name": "a", "inputSchema": {"type": "object"}}]"#);
    let url = format!("http://127.0.0.1:{port}/v1");
    let arguments = ["probe", "-d", "openai-chat", "--model", "m", "--url", &url, "--key-env", "MY_KEY", "t.json"];
    let output =
        program().args(arguments).env("MY_KEY", "secret-key").current_dir(&folder.0).output().expect("the program");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(seen.lock().expect("no panic").first().map(String::as_str), Some("Bearer secret-key"), "{text}");
    assert!(text.contains("(MY_KEY)") && !text.contains("secret-key"), "{text}");
}
