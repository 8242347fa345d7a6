//! The program `toolwire`: the host of the crate `toolwire-command`, which decides everything. This crate reads and
//! writes files, prints, and runs servers.

mod api;
mod descriptors;
mod facts;
mod files;
mod health;
mod http;
mod listen;
mod logs;
mod mcp;
mod needs;
mod proxy;
mod relay;
mod signals;
mod streams;
mod system;

use std::{
    io::{self, Write as _},
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
};

use toolwire_command::{Command, Printed};

use self::{files::Files, needs::Met, system::code};

/// Exit code of wrong usage, an unreadable input, or an output that cannot be written.
const UNUSABLE: u8 = 2;

/// Runs the program.
pub fn main() -> ExitCode {
    // The message below replaces the standard library's message.
    panic::set_hook(Box::new(|_| {}));
    let code = panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let found = panic.downcast_ref::<&str>().map(ToString::to_string);
        let found = found.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let found = Command::escape_log(&found);
        let _ = writeln!(
            streams::stderr(),
            "toolwire: internal: found a defect in toolwire ({}). Please report it with the command line and an input \
             that shows it at https://github.com/toolwire/toolwire/issues, or privately (see SECURITY.md) if others \
             could make use of it",
            found.trim_end()
        );
        UNUSABLE
    });
    ExitCode::from(code)
}

fn run() -> u8 {
    signals::survive_full_files();
    let arguments = match facts::arguments() {
        Ok(arguments) => arguments,
        Err(found) => {
            let found = Command::escape_log(&found.to_string_lossy());
            let found = format!("toolwire: expected arguments that are UTF-8, found `{}`\n", found.trim_end());
            Output::default().write_err(&found);
            return UNUSABLE;
        }
    };
    if let Some((health::NAME, rest)) = arguments.split_first().map(|(name, rest)| (name.as_str(), rest)) {
        return health::check(rest);
    }
    let mut command = Command::new(&facts::facts());
    let mut files = Files::default();
    while let Some(need) = command.need() {
        match needs::meet(need, &mut files, &command) {
            Ok(Met::Content(content)) => command.give(&content),
            Ok(Met::Ended(code)) => return code,
            Err(why) => command.fail(&why),
        }
    }
    let mut output = Output::default();
    while let Some(shown) = command.step() {
        output.write_err(&shown);
    }
    let Printed { stdout, stderr, exit_code, files: written, .. } = command.finish();
    output.write(streams::stdout(), &stdout);
    output.write_err(&stderr);
    let messages = files.write_all(&written);
    messages.iter().for_each(|message| output.write_err(message));
    let exit_code = if messages.is_empty() { exit_code } else { UNUSABLE };
    match output.failure {
        None => exit_code,
        Some(code) => {
            // The exit code reports the failure if this fails, too.
            let _ = writeln!(streams::stderr(), "toolwire: expected a writable output, found one that fails ({code})");
            UNUSABLE
        }
    }
}

#[derive(Default)]
struct Output {
    failure: Option<String>,
}

impl Output {
    fn write_err(&mut self, text: &str) {
        self.write(streams::stderr(), text);
    }

    fn write(&mut self, mut stream: impl io::Write, text: &str) {
        if text.is_empty() {
            return;
        }
        match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
            // The reader, for instance `head`, has stopped reading. That is not an error: neither the exit code nor
            // other output changes.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.failure.get_or_insert_with(|| code(&error));
            }
            _ => {}
        }
    }
}
