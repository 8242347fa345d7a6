//! Limits the nesting of results to that of inputs, so that every result can be read again.
//!
//! Rules that replace a boolean with an object, or add an empty object, can exceed the limit at the last level.

use alloc::{format, string::String};

use crate::{
    error::{Code, Error},
    json::{push_token, Data, Node},
    limits::MAX_DEPTH,
};

/// # Errors
/// `too-deep` at the first array or object beyond [`MAX_DEPTH`].
pub(super) fn within_limit(node: &Node<'_>) -> Result<(), Error> {
    // An unchanged input was measured when it was read.
    if node.is_intact() {
        return Ok(());
    }
    below(node, 0)
}

fn below(node: &Node<'_>, depth: usize) -> Result<(), Error> {
    match node.data() {
        Data::Array(_) | Data::Object(_) if depth >= MAX_DEPTH => {
            let message = format!("expected at most {MAX_DEPTH} levels of nesting, found more in the result");
            Err(Error::new(Code::TooDeep, "", message))
        }
        Data::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                below(item, depth + 1).map_err(|error| error.below(&format!("/{index}")))?;
            }
            Ok(())
        }
        Data::Object(object) => {
            for member in object {
                below(&member.value, depth + 1).map_err(|error| {
                    let mut prefix = String::new();
                    push_token(&mut prefix, &member.key.display());
                    error.below(&prefix)
                })?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
