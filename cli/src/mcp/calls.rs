//! The tasks of a connection to a server at a URL, and the answers in a message.

use std::{collections::HashMap, future::Future};

use tokio::task::{AbortHandle, Id, JoinSet};
use toolwire::internal::json;
use toolwire_command::Outline;

/// Maximum length of the answer that an error quotes, in characters.
pub(super) const QUOTED: usize = 1_000;

const CANCELLED: &str = "notifications/cancelled";

/// The tasks of a connection. A task that fails ends the connection.
#[derive(Default)]
pub(super) struct Tasks {
    set: JoinSet<Result<(), String>>,
    /// Keys of the calls, by their tasks.
    keys: HashMap<Id, String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Done {
    Whole,
    Failed(String),
    /// The task has panicked. Its call has no answer.
    Panicked(Option<String>),
}

impl Tasks {
    pub(super) fn spawn(
        &mut self,
        key: Option<String>,
        task: impl Future<Output = Result<(), String>> + Send + 'static,
    ) -> AbortHandle {
        let handle = self.set.spawn(task);
        if let Some(key) = key {
            self.keys.insert(handle.id(), key);
        }
        handle
    }

    pub(super) async fn next(&mut self) -> Option<Done> {
        Some(match self.set.join_next_with_id().await? {
            Ok((id, result)) => {
                self.keys.remove(&id);
                result.map_or_else(Done::Failed, |()| Done::Whole)
            }
            Err(error) => {
                let key = self.keys.remove(&error.id());
                if error.is_panic() {
                    Done::Panicked(key)
                } else {
                    Done::Whole
                }
            }
        })
    }
}

pub(super) fn cancelled(method: Option<&str>, message: &[u8]) -> Option<String> {
    method.filter(|method| *method == CANCELLED)?;
    let node = json::read(std::str::from_utf8(message).ok()?).ok()?;
    let id = Some(json::write(node.get("params")?.get("requestId")?));
    Outline { id, method: None, answers: true }.key()
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// Keys of the ids of the answered requests.
    pub(super) keys: Vec<String>,
    /// The message of an error without an id: the server has refused a message before reading its id.
    pub(super) refusal: Option<String>,
}

impl Answers {
    pub(super) fn read(message: &[u8]) -> Answers {
        let mut answers = Answers::default();
        let message = message.strip_prefix(b"\xef\xbb\xbf").unwrap_or(message);
        match Outline::read(message) {
            Some(outline) => answers.add(&outline, message),
            None => {
                let list = std::str::from_utf8(message).ok().and_then(|text| json::read(text).ok());
                for item in list.as_ref().and_then(json::Node::as_array).unwrap_or_default() {
                    let message = json::write(item);
                    if let Some(outline) = Outline::read(message.as_bytes()) {
                        answers.add(&outline, message.as_bytes());
                    }
                }
            }
        }
        answers
    }

    fn add(&mut self, outline: &Outline, message: &[u8]) {
        match outline.key() {
            _ if outline.method.is_some() || !outline.answers => {}
            Some(key) => self.keys.push(key),
            None => {
                let node = std::str::from_utf8(message).ok().and_then(|text| json::read(text).ok());
                let found = node.as_ref().and_then(|node| node.get("error")?.text_at("message"));
                let found = found.map(|found| found.display().chars().take(QUOTED).collect());
                self.refusal = found.or_else(|| self.refusal.take());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_of_a_task_ends_its_call() {
        let mut tasks = Tasks::default();
        tasks.spawn(Some("1e0".into()), async { panic!("a test") });
        assert_eq!(tasks.next().await, Some(Done::Panicked(Some("1e0".into()))));
        tasks.spawn(Some("2e0".into()), async { Ok(()) });
        assert_eq!(tasks.next().await, Some(Done::Whole));
        assert!(tasks.keys.is_empty() && tasks.next().await.is_none());
    }

    #[test]
    fn only_a_result_or_an_error_with_an_id_is_an_answer() {
        let answers = |keys: &[&str], refusal: Option<&str>| Answers {
            keys: keys
                .iter()
                .map(|id| Outline { id: Some((*id).into()), method: None, answers: true })
                .filter_map(|outline| outline.key())
                .collect(),
            refusal: refusal.map(String::from),
        };
        for (message, expected) in [
            (r#"{"id":1.0,"result":{}}"#, answers(&["1"], None)),
            ("\u{feff}{\"id\":\"a\",\"error\":{}}", answers(&[r#""a""#], None)),
            (r#"{"id":1}"#, answers(&[], None)),
            (r#"{"id":1,"method":"a","result":{}}"#, answers(&[], None)),
            (r#"{"id":null,"error":{"message":"no"}}"#, answers(&[], Some("no"))),
            (r#"{"error":{"message":"no"}}"#, answers(&[], Some("no"))),
            (r#"[{"id":1,"result":{}},{"id":2,"method":"a"},{"id":3,"error":{}}]"#, answers(&["1", "3"], None)),
        ] {
            assert_eq!(Answers::read(message.as_bytes()), expected, "{message}");
        }
    }
}
