//! Converts places in a list of tools or schemas to places in the input that contains the list.

use toolwire::{internal, json::Node, Error};

use super::error::CommandError;

/// Conversion of pointers into the list to places in the input.
#[derive(Clone, Debug)]
pub(crate) enum Places {
    /// The list is at this pointer.
    Below(String),
    /// The only entry of the list is at this pointer.
    Alone(String),
    /// Each entry is a line; these are the line numbers.
    Lines(Vec<usize>),
}

impl Places {
    /// Converts a pointer into the list to the line, if the input has lines, and the pointer into the input.
    pub(crate) fn of(&self, pointer: &str) -> (Option<usize>, String) {
        let (index, rest) = split(pointer);
        match self {
            Places::Below(above) => (None, format!("{above}{pointer}")),
            Places::Alone(above) => (None, format!("{above}{rest}")),
            Places::Lines(numbers) => match numbers.get(index) {
                Some(line) => (Some(*line), rest.into()),
                None => (None, pointer.into()),
            },
        }
    }

    /// Applies [`Self::of`] to an error.
    pub(crate) fn locate(&self, error: &Error) -> CommandError {
        let (line, pointer) = self.of(error.pointer());
        CommandError { line, pointer, ..CommandError::from_core(error, "") }
    }
}

/// Splits a pointer into its first step, an index, and the rest.
fn split(pointer: &str) -> (usize, &str) {
    let steps = pointer.strip_prefix('/').unwrap_or_default();
    let end = steps.find('/').unwrap_or(steps.len());
    let (first, rest) = steps.split_at_checked(end).unwrap_or_default();
    (first.parse().unwrap_or_default(), rest)
}

/// Returns the value at a JSON Pointer.
pub(crate) fn value_at<'n, 'a>(node: &'n Node<'a>, pointer: &str) -> Option<&'n Node<'a>> {
    pointer.split('/').skip(1).try_fold(node, |node, step| match node.as_array() {
        Some(items) => items.get(step.parse::<usize>().ok()?),
        None => node.get(&*internal::unescaped_token(step)),
    })
}
