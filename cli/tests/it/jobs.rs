//! `toolwire run` as a job of a shell: signals of a terminal, and clients that are stopped.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::{
    command::{program, Folder},
    relay::{ask, wait_until},
    terminal::Terminal,
};

/// Time within which a second signal would arrive.
const SECOND: Duration = Duration::from_millis(300);
const OPTIONS: &str = "--upstream http://127.0.0.1:9 --variable URL";

/// Returns `None` where the system has no program for a session.
fn session(options: &[&str], folder: &Folder) -> Option<Command> {
    if Command::new("setsid").arg("true").output().is_err() {
        eprintln!("skipped: this system has no `setsid`");
        return None;
    }
    let mut command = Command::new("setsid");
    command.args(options).arg("sh").arg("-c").current_dir(&folder.0).env("TOOLWIRE", program().get_program());
    Some(command)
}

struct Shell {
    child: Child,
    folder: Folder,
    /// `None` after it was closed.
    terminal: Option<Terminal>,
}

impl Shell {
    /// Starts a script, whose function `run` runs a client, which is a script, too.
    fn start(script: &str) -> Option<Shell> {
        let folder = Folder::new();
        let mut command = session(&["-c"], &folder)?;
        let terminal = Terminal::new(80).with_signals();
        command.arg(format!("set -m; run() {{ \"$TOOLWIRE\" run {OPTIONS} -- sh -c \"$1\"; }}; {script}"));
        command.stdin(terminal.stream()).stdout(terminal.stream()).stderr(terminal.stream());
        let child = command.spawn().expect("a shell");
        Some(Shell { child, folder, terminal: Some(terminal) })
    }

    fn file(&self, name: &str) -> String {
        let path = self.folder.0.join(name);
        wait_until(|| fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n')));
        fs::read_to_string(&path).expect("a file")
    }

    fn input(&self, text: &str) {
        self.terminal.as_ref().expect("a terminal").input(text);
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.folder.write("go", "");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that counts signals until it may end.
fn counting(signal: &str, code: u8) -> String {
    format!(
        "trap \"echo {signal} >>signals\" {signal}; echo >started; while [ ! -e go ]; do sleep 0.05; done; echo >finished; exit {code}"
    )
}

/// Claude Code stops only itself. The shell would otherwise wait for ever.
#[test]
fn a_client_that_stops_itself_stops_the_command() {
    let Some(shell) = Shell::start(
        "run 'kill -STOP $$; echo >resumed; exit 3'; echo $? >stopped; [ -e resumed ] && echo >early; \
         fg; echo $? >ended",
    ) else {
        return;
    };
    assert_ne!(shell.file("stopped"), "3\n");
    assert_eq!((shell.file("ended").as_str(), shell.folder.0.join("early").exists()), ("3\n", false));
}

#[test]
fn a_typed_stop_stops_both_once() {
    let client = counting("TERM", 4);
    let Some(shell) = Shell::start(&format!("run '{client}'; echo $? >stopped; touch go; fg; echo $? >ended")) else {
        return;
    };
    shell.file("started");
    shell.input("\u{1a}");
    assert_ne!(shell.file("stopped"), "4\n");
    assert_eq!(shell.file("ended"), "4\n");
}

#[test]
fn a_typed_interrupt_and_the_end_of_the_terminal_reach_the_client_once() {
    for stdin in ["", "</dev/null"] {
        let client = counting("INT", 5);
        let Some(shell) = Shell::start(&format!("run '{client}' {stdin}; echo $? >ended")) else { return };
        shell.file("started");
        shell.input("\u{3}");
        shell.file("signals");
        thread::sleep(SECOND);
        shell.folder.write("go", "");
        assert_eq!((shell.file("signals").as_str(), shell.file("ended").as_str()), ("INT\n", "5\n"), "{stdin}");
    }
    let client = counting("HUP", 5);
    let Some(mut shell) = Shell::start(&format!("run '{client}'")) else { return };
    shell.file("started");
    drop(shell.terminal.take());
    shell.file("signals");
    thread::sleep(SECOND);
    assert_eq!(shell.file("signals"), "HUP\n");
    // The client does not end with its shell.
    shell.folder.write("go", "");
    shell.file("finished");
}

/// A debugger, or a supervisor that pauses programs. No shell would continue the command.
#[test]
fn a_client_that_is_stopped_without_a_terminal_does_not_stop_the_relay() {
    let folder = Folder::new();
    let Some(mut command) = session(&[], &folder) else { return };
    command.arg(format!(
        "exec \"$TOOLWIRE\" run {OPTIONS} -- sh -c 'echo $$ >client; echo $URL >url; while [ ! -e go ]; do sleep 0.05; done'"
    ));
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
    let read = |name: &str| fs::read_to_string(folder.0.join(name)).unwrap_or_default().trim().to_string();
    wait_until(|| !read("url").is_empty());
    let port = read("url").rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let signal = |name: &str| assert!(crate::kill().args([name, &read("client")]).status().expect("kill").success());
    signal("-STOP");
    thread::sleep(SECOND);
    assert_eq!(ask(port, "GET /toolwire/health HTTP/1.1", b"").status(), 200);
    signal("-CONT");
    folder.write("go", "");
    assert_eq!(crate::exit_code(&mut child), Some(0));
}
