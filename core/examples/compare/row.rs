//! One line of a dump: an input, the result of one function for it, or the totals of a dialect.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Row {
    /// The result of one function for an input, in one dialect.
    Answer(Answer),
    /// An input; its results follow.
    Input { id: String, text: String },
    /// Counts and time of one function in one dialect.
    Total {
        total: String,
        dialect: String,
        calls: usize,
        changed: usize,
        errors: usize,
        changes: usize,
        milliseconds: f64,
    },
}

#[derive(Serialize, Deserialize, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    pub(crate) input: String,
    pub(crate) function: String,
    pub(crate) dialect: String,
    /// The output; omitted if it equals the input.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) output: Option<String>,
    /// The report; omitted if it is empty.
    #[serde(skip_serializing_if = "Value::is_null", default)]
    pub(crate) report: Value,
    /// Code, pointer and message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) error: Option<[String; 3]>,
}

impl Answer {
    /// Replaces a long output and a long report with digests.
    pub(crate) fn shorten(&mut self) {
        self.output = self.output.take().map(|text| shorten(&text).unwrap_or(text));
        if let Some(short) = shorten(&self.report.to_string()) {
            self.report = Value::String(short);
        }
    }
}

/// Returns the length and a digest of long text, or `None` for short text.
fn shorten(text: &str) -> Option<String> {
    (text.len() > 200).then(|| {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        format!("{} bytes, {:016x}", text.len(), hasher.finish())
    })
}
