//! One line of a dump: an input, one function's answer to it, or what a dialect took in all.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Row {
    /// What one function answers to an input, with one dialect.
    Answer(Answer),
    /// An input; its answers follow.
    Input { id: String, text: String },
    /// Counts and time of one function with one dialect.
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
    /// The output; absent where it is the input itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) output: Option<String>,
    /// The report; absent where it is empty.
    #[serde(skip_serializing_if = "Value::is_null", default)]
    pub(crate) report: Value,
    /// Code, pointer and message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) error: Option<[String; 3]>,
}

impl Answer {
    /// Puts digests in the place of a long output and a long report.
    pub(crate) fn shorten(&mut self) {
        self.output = self.output.take().map(|text| shortened(&text).unwrap_or(text));
        if let Some(short) = shortened(&self.report.to_string()) {
            self.report = Value::String(short);
        }
    }
}

/// The length and a digest of a long text.
fn shortened(text: &str) -> Option<String> {
    (text.len() > 200).then(|| {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        format!("{} bytes, {:016x}", text.len(), hasher.finish())
    })
}
