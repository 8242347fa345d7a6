//! Files, standard streams and the exit code of commands: what cases cannot show.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::{
            fs::{chown, symlink, MetadataExt as _, PermissionsExt as _},
            net::UnixStream,
        },
    },
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::{json, Value};

use crate::{
    client::initialize_request,
    command::{program, ran, Folder},
    relay::{api, reply},
};

/// A tool with an empty `enum`, which OpenAI refuses.
const REFUSED: &str = r#"[{"name": "now", "inputSchema": {"type": "object", "properties": {"a": {"enum": []}}}}]"#;
const ACCEPTED: &str = r#"[{"name": "now", "inputSchema": {"type": "object", "properties": {}}}]"#;
const FIXABLE: &str = "{\"type\": \"object\", \"properties\": {\"a\": {\"enum\": [\"b\"]}}}\n";

fn check(folder: &Path, arguments: &[&str], input: &str) -> (String, String, Option<i32>) {
    ran(program().arg("check").args(arguments).current_dir(folder), input)
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn a_reader_that_closes_the_pipe_changes_neither_the_exit_code_nor_the_files() {
    let folder = Folder::new();
    folder.write("t.json", REFUSED);
    let check = |more: &[&str]| {
        let mut command = program();
        command.args(["check", "-d", "openai-chat", "t.json"]).args(more).current_dir(&folder.0);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("an exit");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // Standard error contains only the summary.
    let summary = "1 tool, 1 dialect: 1 finding refused by openai-chat\n";
    assert_eq!(check(&[]), (Some(1), summary.to_string()));
    let updated = check(&["--format", "json", "--baseline", "base.json", "--update-baseline"]);
    assert_eq!(updated.0, Some(0), "{}", updated.1);
    assert!(!updated.1.contains("EPIPE"), "{}", updated.1);
    assert!(fs::read_to_string(folder.0.join("base.json")).expect("the baseline").contains("enum-empty"));
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let output = program().arg("dialects").stdin(Stdio::null()).stdout(full).output().expect("the program");
    let expected = "toolwire: expected a writable output, found one that fails (ENOSPC)\n";
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(2), expected));
}

#[test]
fn files_are_written_only_where_the_user_can_expect_it() {
    let folder = Folder::new();
    folder.write("t.json", REFUSED);
    let update = ["check", "-d", "openai-chat", "t.json", "--baseline", "b/base.json", "--update-baseline"];
    let run = || program().args(update).current_dir(&folder.0).stdin(Stdio::null()).output().expect("the program");
    // Writing through a link is refused.
    fs::create_dir(folder.0.join("elsewhere")).expect("a folder");
    symlink("elsewhere", folder.0.join("b")).expect("a link");
    let output = run();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("(ELOOP)"), "{output:?}");
    assert_eq!(fs::read_dir(folder.0.join("elsewhere")).expect("a folder").count(), 0);
    // The permissions are unchanged, and no temporary file remains.
    fs::remove_file(folder.0.join("b")).expect("a link");
    fs::create_dir(folder.0.join("b")).expect("a folder");
    assert_eq!(run().status.code(), Some(0));
    let path = folder.0.join("b/base.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");
    let output = run();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::metadata(&path).expect("the baseline").permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(folder.0.join("b")).expect("a folder").count(), 1);
    // A pipe instead of a match of a pattern is refused, and does not wait.
    let made = Command::new("mkfifo").arg(folder.0.join("p.json")).status().expect("mkfifo");
    assert!(made.success());
    let output = program().args(["check", "-d", "openai-chat", "p*.json"]).current_dir(&folder.0).output();
    let stderr = String::from_utf8_lossy(&output.expect("the program").stderr).into_owned();
    assert!(stderr.contains("found a device, a pipe or a socket"), "{stderr}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_baseline_that_cannot_be_replaced_is_written_in_place() {
    let mounting = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_toolwire")]).stdin(Stdio::null());
        command
    };
    if !mounting("true").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: this system has no mount points of users");
        return;
    }
    let folder = Folder::new();
    folder.write("t.json", REFUSED);
    folder.write("base.json", r#"{"version":1,"findings":[]}"#);
    let mut command = mounting("mount --bind base.json base.json && exec \"$0\" \"$@\"");
    command.args(["check", "-d", "openai-chat", "t.json", "--baseline", "base.json", "--update-baseline"]);
    let output = command.current_dir(&folder.0).output().expect("the program");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(fs::read_to_string(folder.0.join("base.json")).expect("the baseline").contains("enum-empty"));
    assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 2);
}

#[test]
fn a_reader_that_closes_the_pipe_of_messages_does_not_change_the_exit_code() {
    let folder = Folder::new();
    let fails = json!({"command": "sh", "args": ["-c", "echo no >&2; exit 3"]});
    folder.write("mcp.json", &json!({"mcpServers": {"one": fails, "two": fails}}).to_string());
    let mut command = program();
    command.args(["check", "--servers", "mcp.json"]).current_dir(&folder.0).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program");
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("an exit").code(), Some(2));
}

#[test]
fn streams_may_be_closed() {
    for (closes, code) in [("<&-", 2), (">&- 2>&-", 1), ("2>&-", 1)] {
        let script = format!("\"$0\" check --dialect gemini - {closes}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_toolwire")]);
        assert_eq!(ran(&mut command, r#"{"type": "array"}"#).2, Some(code), "{closes}");
    }
}

#[test]
fn an_empty_name_and_a_name_that_is_not_utf_8_are_names_of_no_file() {
    let folder = Folder::new();
    let expected = "toolwire: : expected a file, found none with that name\n";
    assert_eq!(check(&folder.0, &[""], ""), (String::new(), expected.into(), Some(2)));
    #[cfg(target_os = "linux")]
    {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
        folder.write("a.json", r#"{"type": "object", "properties": {}}"#);
        fs::write(folder.0.join(OsStr::from_bytes(b"\xff.txt")), "").expect("a file");
        assert_eq!(check(&folder.0, &["-d", "codex", "-q", "*.json"], "").1, "");
    }
}

/// The command reads arguments as text, so other arguments would reach files and clients altered.
#[test]
fn an_argument_that_is_not_utf_8_is_refused() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, os::unix::process::CommandExt as _};
    let odd = OsStr::from_bytes(b"a\xff");
    let expected = "toolwire: expected arguments that are UTF-8, found `a\u{fffd}`\n";
    for before in [&[][..], &["check"], &["health"], &["run", "--upstream", "http://127.0.0.1:1/v1", "--", "echo"]] {
        let found = ran(program().args(before).arg(odd), "");
        assert_eq!(found, (String::new(), expected.into(), Some(2)), "{before:?}");
    }
    let (stdout, _, code) = ran(program().arg0(odd).arg("--version"), "");
    assert_eq!((stdout.starts_with("toolwire "), code), (true, Some(0)), "{stdout}");
}

#[test]
fn links_to_folders_are_followed_unless_they_are_endless() {
    let folder = Folder::new();
    folder.write("real/t.json", r#"{"type": "object", "properties": {}}"#);
    for (to, link) in [("real", "link"), ("..", "real/up"), ("gone", "nowhere")] {
        symlink(to, folder.0.join(link)).expect("a link");
    }
    for (pattern, count) in [("*/*.json", 2), ("link/*.json", 1), ("**/*.json", 1)] {
        let (stdout, ..) = check(&folder.0, &["--json", pattern], "");
        let found: Value = serde_json::from_str(&stdout).expect("JSON");
        assert_eq!(found["sources"].as_array().map(Vec::len), Some(count), "{pattern}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    let arguments = ["-d", "codex", "--baseline", "none/base.json", "--update-baseline", "-"];
    let (_, stderr, code) = check(&folder.0, &arguments, r#"{"type": "object", "properties": {}}"#);
    let expected = "toolwire: none/base.json: expected a writable file, found one that is not (ENOENT)\n";
    assert!(code == Some(2) && stderr.ends_with(expected), "{stderr}");
}

#[test]
fn a_file_that_cannot_be_fixed_does_not_stop_the_others() {
    let folder = Folder::new();
    // The name of a temporary file next to it is too long.
    let long = format!("{}.json", "b".repeat(250));
    let files = ["a.json", &long, "c.json"];
    files.iter().for_each(|name| folder.write(name, FIXABLE));
    let (_, stderr, code) = check(&folder.0, &[&["--fix", "-d", "moonshot"], &files[..]].concat(), "");
    let expected = format!("{long}: expected a writable file, found one that is not (ENAMETOOLONG)\n");
    assert!(code == Some(2) && stderr.ends_with(&expected), "{stderr}");
    assert_eq!(files.map(|name| read(&folder.0.join(name)) != FIXABLE), [true, false, true]);
    assert_eq!(names(&folder.0).len(), 3);
}

#[test]
fn a_fix_does_not_overwrite_a_file_that_has_changed_since_it_was_read() {
    let folder = Folder::new();
    ["a.json", "c.json"].iter().for_each(|name| folder.write(name, FIXABLE));
    let made = Command::new("mkfifo").arg(folder.0.join("pipe")).status().expect("mkfifo");
    assert!(made.success());
    let mut command = program();
    command.args(["check", "--fix", "-d", "moonshot", "a.json", "c.json", "pipe"]).current_dir(&folder.0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program");
    // The pipe opens only after the program has read the earlier files.
    let mut pipe = fs::OpenOptions::new().write(true).open(folder.0.join("pipe")).expect("a pipe");
    let changed = FIXABLE.replace("\"b\"", "\"x\"");
    folder.write("a.json", &changed);
    pipe.write_all(br#"{"type": "object", "properties": {}}"#).expect("a pipe");
    drop(pipe);
    let output = child.wait_with_output().expect("an output");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected = "a.json: expected an unchanged file, found one that has changed since it was read\n";
    assert!(output.status.code() == Some(2) && stderr.ends_with(expected), "{stderr}");
    assert_eq!(read(&folder.0.join("a.json")), changed);
    assert_ne!(read(&folder.0.join("c.json")), FIXABLE);
}

#[test]
fn a_baseline_is_replaced_as_a_whole_and_a_link_to_it_stays() {
    let folder = Folder::new();
    let before = "{\"version\":1,\"findings\":[]}\n";
    let inputs = json!({"type": "object", "properties": {"a": {"enum": []}}});
    let tools: Vec<Value> = (0..100).map(|at| json!({"name": format!("bad_{at}"), "inputSchema": inputs})).collect();
    folder.write("t.json", &Value::from(tools).to_string());
    folder.write("base.json", before);
    let base = folder.0.join("base.json");
    fs::set_permissions(&base, fs::Permissions::from_mode(0o640)).expect("permissions");
    let arguments = ["check", "-d", "openai-chat", "--update-baseline", "t.json", "--baseline"];
    // The limit has the effect of a full disk.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_toolwire")]);
    let (_, stderr, code) = ran(limited.args(arguments).arg("base.json").current_dir(&folder.0), "");
    let expected = "base.json: expected a writable file, found one that is not (EFBIG)\n";
    assert!(code == Some(2) && stderr.ends_with(expected), "{stderr}");
    assert_eq!((read(&base).as_str(), names(&folder.0)), (before, vec!["base.json".into(), "t.json".into()]));
    symlink("base.json", folder.0.join("link")).expect("a link");
    let through = |link: &Path| ran(program().args(arguments).arg(link).current_dir(&folder.0), "").2;
    assert_eq!(through(&folder.0.join("link")), Some(0));
    assert!(read(&base) != before && mode(&base) == 0o640);
    assert!(folder.0.join("link").is_symlink());
    assert_eq!(names(&folder.0).len(), 3);
    // A link without a target is no reason to replace the link.
    symlink("made.json", folder.0.join("new")).expect("a link");
    assert_eq!(through(&folder.0.join("new")), Some(0));
    assert!(folder.0.join("new").is_symlink());
    assert_eq!(read(&folder.0.join("made.json")), read(&base));
}

#[test]
fn only_an_absolute_path_is_written_through_a_link() {
    let outside = Folder::new();
    outside.write("target.json", r#"{"version": 1, "findings": []}"#);
    let before = read(&outside.0.join("target.json"));
    let place = |baseline: &str| {
        let folder = Folder::new();
        folder.write("t.json", ACCEPTED);
        folder.write("toolwire.toml", &format!("baseline = \"{baseline}\"\n"));
        folder
    };
    let update = ["-d", "openai-chat", "--update-baseline", "t.json"];
    let refused = |folder: &Folder, arguments: &[&str], path: &str| {
        let (_, stderr, code) = check(&folder.0, arguments, "");
        let expected = format!("{path}: expected a writable file, found one that is not (ELOOP)\n");
        assert!(code == Some(2) && stderr.ends_with(&expected), "{path}: {stderr}");
    };
    for (baseline, link, to) in [
        ("base.json", "base.json", outside.0.join("target.json")),
        ("base.json", "base.json", outside.0.join("made.json")),
        ("in/target.json", "in", outside.0.clone()),
        ("in/made.json", "in", outside.0.clone()),
    ] {
        let folder = place(baseline);
        symlink(to, folder.0.join(link)).expect("a link");
        refused(&folder, &update, baseline);
    }
    let folder = place("in/base.json");
    fs::create_dir(folder.0.join("in")).expect("a folder");
    assert_eq!(check(&folder.0, &update, "").2, Some(0));
    assert!(folder.0.join("in/base.json").exists());
    // A relative path on the command line is not followed through a link either.
    symlink(outside.0.join("target.json"), folder.0.join("link")).expect("a link");
    symlink(&outside.0, folder.0.join("out")).expect("a link");
    let named = ["-d", "codex", "--update-baseline", "t.json", "--baseline"];
    for path in ["link", "./link", "out/target.json", "out/made.json"] {
        refused(&folder, &[&named[..], &[path]].concat(), path);
    }
    assert_eq!((names(&outside.0), read(&outside.0.join("target.json"))), (vec!["target.json".into()], before.clone()));
    let link = folder.0.join("link");
    assert_eq!(check(&folder.0, &[&named[..], &[link.to_str().expect("a path")]].concat(), "").2, Some(0));
    assert_ne!(read(&outside.0.join("target.json")), before);
}

#[test]
fn a_device_in_place_of_a_file_is_refused_unless_it_is_named() {
    for (link, arguments) in
        [("x.json", vec!["*.json"]), ("toolwire.toml", vec!["-"]), ("base.json", vec!["--baseline", "base.json", "-"])]
    {
        let folder = Folder::new();
        symlink("/dev/zero", folder.0.join(link)).expect("a link");
        let (_, stderr, code) = check(&folder.0, &[&["-d", "codex"], &arguments[..]].concat(), ACCEPTED);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains("expected a regular file, found a device, a pipe or a socket\n"), "{stderr}");
        assert!(stderr.contains(link), "{stderr}");
    }
    let folder = Folder::new();
    assert_eq!(check(&folder.0, &["-d", "codex", "/dev/stdin"], ACCEPTED).2, Some(0));
    let (_, stderr, _) = check(&folder.0, &["-d", "codex", "/dev/null"], "");
    assert!(stderr.starts_with("toolwire: /dev/null: expected ") && !stderr.contains("regular file"), "{stderr}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_system_file_with_a_reported_size_of_0_is_not_read() {
    let folder = Folder::new();
    folder.write("t.json", r#"{"type": "object", "properties": {}}"#);
    symlink("/proc/self/environ", folder.0.join("toolwire.toml")).expect("a link");
    assert_eq!(check(&folder.0, &["-d", "codex", "-q", "t.json"], "").1, "");
}

#[test]
fn the_file_of_a_client_keeps_its_bytes_and_permissions_and_has_a_backup() {
    let folder = Folder::new();
    let before = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}\r\n";
    folder.write("in/mcp.json", before);
    let file = folder.0.join("in/mcp.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions");
    let link = folder.0.join("link.json");
    symlink(&file, &link).expect("a link");
    let install = || {
        let arguments = ["proxy", "--install", "cursor", "--yes", "--servers"];
        ran(program().args(arguments).arg(&link).current_dir(&folder.0), "")
    };
    let (_, stderr, code) = install();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(link.is_symlink());
    let written = read(&file);
    assert!(written.ends_with("\"proxy\", \"--client\", \"cursor\", \"--name=a\", \"--\", \"x\"]}}}\r\n"), "{written}");
    // Without a launcher, a client starts the program itself.
    assert!(written.contains(&format!("\"command\": \"{}\"", env!("CARGO_BIN_EXE_toolwire"))), "{written}");
    let backup = names(&folder.0).into_iter().find(|name| name.contains("toolwire-backup")).expect("a backup");
    let backup = folder.0.join(backup);
    assert_eq!(read(&backup), before);
    assert_eq!([&file, &backup].map(|path| mode(path)), [0o600, 0o600]);
    // Without a backup, the file is not changed.
    fs::write(&file, before).expect("a file");
    fs::remove_file(&backup).expect("a file");
    fs::create_dir(&backup).expect("a folder");
    let (_, stderr, code) = install();
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(read(&file), before);
}

/// Another user's file, such as `~/.claude.json` of somebody who has run `sudo toolwire`, stays readable for that user.
#[test]
fn a_replaced_file_keeps_its_owner() {
    let folder = Folder::new();
    folder.write("t.json", FIXABLE);
    folder.write("base.json", r#"{"version":1,"findings":[]}"#);
    let owner = |name: &str| {
        let found = fs::metadata(folder.0.join(name)).expect("a file");
        (found.uid(), found.gid(), found.mode() & 0o777)
    };
    for name in ["t.json", "base.json"] {
        let path = folder.0.join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("permissions");
        if chown(&path, Some(4_321), Some(1_234)).is_err() {
            println!("skipped: this user cannot change owners");
            return;
        }
    }
    let (.., code) = check(&folder.0, &["-d", "openai-strict", "--fix", "t.json"], "");
    assert!(code.is_some() && read(&folder.0.join("t.json")) != FIXABLE);
    assert_eq!(owner("t.json"), (4_321, 1_234, 0o600));
    folder.write("tools.json", REFUSED);
    let update = ["-d", "openai-chat", "tools.json", "--baseline", "base.json", "--update-baseline"];
    assert_eq!(check(&folder.0, &update, "").2, Some(0));
    assert!(read(&folder.0.join("base.json")).contains("enum-empty"));
    assert_eq!(owner("base.json"), (4_321, 1_234, 0o600));
}

/// Returns a stream for the program, which fails while it would have to wait, and its other end.
fn hasty() -> (UnixStream, Stdio) {
    let (own, other) = UnixStream::pair().expect("a connection");
    other.set_nonblocking(true).expect("a connection");
    (own, Stdio::from(OwnedFd::from(other)))
}

#[test]
fn streams_that_do_not_wait_are_read_and_written_as_a_whole() {
    let schema = json!({"type": "object", "description": "x".repeat(3_000_000)}).to_string();
    let arguments = ["sanitize", "-d", "openai-chat", "-"];
    let expected = ran(program().args(arguments), &schema);
    let ((mut input, stdin), (mut output, stdout), (mut log, stderr)) = (hasty(), hasty(), hasty());
    let mut child = program().args(arguments).stdin(stdin).stdout(stdout).stderr(stderr).spawn().expect("the program");
    let writing = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        input.write_all(schema.as_bytes()).expect("a reader");
    });
    thread::sleep(Duration::from_millis(500));
    let (mut text, mut lines) = (String::new(), String::new());
    output.read_to_string(&mut text).expect("a text");
    log.read_to_string(&mut lines).expect("a text");
    writing.join().expect("no panic");
    let code = child.wait().expect("an exit").code();
    assert!(expected.0.len() > 3_000_000 && code == expected.2, "{} {code:?} {lines}", expected.0.len());
    assert!((text, lines) == (expected.0, expected.1), "the outputs differ");
}

#[test]
fn a_proxy_on_streams_that_do_not_wait_answers() {
    let port = api(|request, stream| {
        let message = request.json();
        let result = if message["method"] == "initialize" {
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "f", "version": "1"}})
        } else {
            json!({"text": "x".repeat(3_000_000)})
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        reply(stream, "Content-Type: application/json\r\n", answer.as_bytes());
    });
    let ((mut input, stdin), (output, stdout)) = (hasty(), hasty());
    let url = format!("http://127.0.0.1:{port}/mcp");
    let mut command = program();
    command.args(["proxy", "--url", &url]).stdin(stdin).stdout(stdout).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program");
    // The command holds the other ends.
    drop(command);
    let mut lines = BufReader::new(output).lines();
    let mut ask = |message: &str| {
        thread::sleep(Duration::from_millis(200));
        input.write_all(format!("{message}\n").as_bytes()).expect("a reader");
        // The answer fills the stream.
        thread::sleep(Duration::from_millis(200));
        lines.next().expect("an answer").expect("an answer")
    };
    assert!(ask(&initialize_request()).contains("\"name\":\"f\""));
    assert!(ask(r#"{"jsonrpc":"2.0","id":1,"method":"vendor/own"}"#).len() > 3_000_000);
    drop(input);
    assert_eq!(child.wait().expect("an exit").code(), Some(0));
}

/// A page never replaces a list, whatever the spelling of its path.
#[test]
fn a_report_replaces_no_input() {
    let folder = Folder::new();
    folder.write("a.json", ACCEPTED);
    fs::create_dir(folder.0.join("site")).expect("a folder");
    symlink(&folder.0, folder.0.join("link")).expect("a link");
    let report = |list: &str, out: &str| {
        let arguments = ["report", "-d", "anthropic", "--lists", "--out", out, list];
        ran(program().args(arguments).current_dir(&folder.0), "")
    };
    let whole = folder.0.join("a.json").to_string_lossy().into_owned();
    for (list, out) in [("a.json", "link"), (whole.as_str(), "."), ("link/a.json", "."), ("a.json", "site/..")] {
        let (_, errors, code) = report(list, out);
        assert_eq!(code, Some(2), "{list} {out}: {errors}");
        assert_eq!(read(&folder.0.join("a.json")), ACCEPTED, "{list} {out}");
    }
    let (_, errors, code) = report("a.json", "site");
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(names(&folder.0.join("site")), ["a.json"]);
}
