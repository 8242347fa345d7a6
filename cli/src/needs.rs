//! Meets the needs of a command. A need is an input (a file, the tools of a server, a variable), or a server to run.

use std::{
    env,
    future::Future,
    io::{self, IsTerminal as _, Read as _, Write as _},
    pin::pin,
    time::Duration,
};

use tokio::{runtime::Builder, time::sleep};
use toolwire::internal::json::{self, Node};
use toolwire_command::{Command, Need};

use crate::{
    api,
    facts::{facts, record},
    files::{self, Files},
    listen,
    mcp::tools::{self, Failure},
    proxy, relay, signals, streams,
    system::code,
};

/// The result of a need.
pub(crate) enum Met {
    /// The content that the command has asked for.
    Content(Vec<u8>),
    /// A signal has stopped a server. The program ends with this exit code.
    Ended(u8),
}

/// Meets a need. Fails with a message, or with the name of a system error.
pub(crate) fn meet(need: Need, files: &mut Files, command: &Command) -> Result<Met, String> {
    match need {
        Need::Server(server) => run_with_progress(command, async {
            match tools::list(&server).await {
                Ok(tools) => Ok(Met::Content(tools)),
                Err(Failure::Ended(code)) => Ok(Met::Ended(code)),
                Err(Failure::Server { message, log }) => {
                    // A failed write is ignored, because the returned message reports the failure.
                    let _ = streams::stderr().write_all(Command::escape_log(&log).as_bytes());
                    Err(message)
                }
            }
        }),
        Need::Request(request) => run_with_progress(command, async {
            let ended = signals::ended();
            tokio::select! {
                answer = api::request_api(&request) => answer.map(Met::Content),
                code = ended => Ok(Met::Ended(code)),
            }
        }),
        Need::Proxy(settings) if listen::is_wanted(&settings) => listen::run(&settings).map(Met::Ended),
        Need::Proxy(settings) => {
            proxy::run(&settings).map(|ended| ended.map_or_else(|| Met::Content(Vec::new()), Met::Ended))
        }
        Need::Relay(settings) => relay::run(&settings, relay_settings).map(Met::Ended),
        need => content(need, files).map(Met::Content),
    }
}

/// Reads the files of the command line again, and returns the relay's settings. Fails with the messages of the
/// command.
fn relay_settings() -> Result<String, String> {
    let (mut command, mut files) = (Command::new(&facts()), Files::default());
    while let Some(need) = command.need() {
        match need {
            Need::Relay(settings) => return Ok(settings),
            need => match content(need, &mut files) {
                Ok(content) => command.give(&content),
                Err(why) => command.fail(&why),
            },
        }
    }
    Err(command.finish().stderr)
}

fn run_with_progress(command: &Command, work: impl Future<Output = Result<Met, String>>) -> Result<Met, String> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| code(&error))?;
    let show_waiting = |seconds| {
        // Standard error is the only way to report an error.
        let _ = streams::stderr().write_all(command.waiting(seconds).as_bytes());
    };
    let outcome = runtime.block_on(async {
        let (mut work, mut seconds) = (pin!(work), 0);
        loop {
            let outcome = tokio::select! {
                outcome = work.as_mut() => outcome,
                () = sleep(Duration::from_secs(1)) => {
                    seconds += 1;
                    show_waiting(seconds);
                    continue;
                }
            };
            if seconds > 0 {
                show_waiting(0);
            }
            return outcome;
        }
    });
    // Dropping the runtime would wait for the threads that resolve host names.
    runtime.shutdown_background();
    outcome
}

/// Returns the content for a need. Fails with a message, or with the name of a system error.
fn content(need: Need, files: &mut Files) -> Result<Vec<u8>, String> {
    let to_bytes = |node: Node<'_>| json::write(&node).into_bytes();
    let variable = |name: &String| env::var(name).ok().map(|value| (name.clone(), value));
    match need {
        Need::File(path) => files.read(&path),
        Need::RegularFile(path) => files.read_regular(&path),
        Need::Line(question) => line(&question),
        Need::Input => {
            let mut input = Vec::new();
            streams::stdin().read_to_end(&mut input).map_err(|error| code(&error))?;
            Ok(input)
        }
        Need::Folder(path) => Ok(to_bytes(Node::array(files::list(&path)?.into_iter().map(Node::string).collect()))),
        Need::Variables(names) => {
            let variables: Vec<(String, String)> = names.iter().filter_map(variable).collect();
            let members = variables.iter().map(|(name, value)| (name.as_str(), Node::string(value.as_str())));
            Ok(to_bytes(record(members)))
        }
        Need::Set(names) => {
            let names = names.iter().filter_map(variable).filter(|(_, value)| !value.trim().is_empty());
            Ok(to_bytes(Node::array(names.map(|(name, _)| Node::string(name)).collect())))
        }
        _ => Err("expected a need that this program meets, found another".into()),
    }
}

fn line(question: &str) -> Result<Vec<u8>, String> {
    if !io::stdin().is_terminal() {
        return Ok(Vec::new());
    }
    let answer = streams::stderr().write_all(question.as_bytes()).and_then(|()| streams::line());
    Ok(answer.map_err(|error| code(&error))?.trim_ascii_end().to_vec())
}

#[cfg(test)]
mod tests {
    use std::{
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn an_end_does_not_wait_for_names_that_are_being_resolved() {
        let (begin, command) = (Instant::now(), Command::new("{}"));
        let outcome = run_with_progress(&command, async {
            // Blocks a thread, as the system does while it resolves a name.
            drop(tokio::task::spawn_blocking(|| thread::sleep(Duration::from_secs(20))));
            tokio::task::yield_now().await;
            Ok(Met::Ended(1))
        });
        assert!(matches!(outcome, Ok(Met::Ended(1))) && begin.elapsed() < Duration::from_secs(10));
    }
}
