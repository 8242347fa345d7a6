//! JSON text as it arrives: bytes that may not be UTF-8, and strings that UTF-8 cannot carry.

use toolwire::{json, Code, Error};

/// The text, if it is UTF-8.
///
/// # Errors
/// `invalid-json` where the first byte stands that is not.
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (before, rest) = bytes.split_at(error.valid_up_to());
        let byte = rest.first().copied().unwrap_or_default();
        unreadable(
            std::str::from_utf8(before).unwrap_or_default(),
            &format!("expected UTF-8, found the byte `0x{byte:02x}`"),
        )
    })
}

/// The error for a text that holds half a surrogate pair after `before`.
pub(crate) fn half_a_pair(before: &str) -> Error {
    unreadable(
        before,
        "expected whole characters, found half of a surrogate pair; JSON text can only spell it as an escape such as \
            `\\ud83d`",
    )
}

/// The error for a text that cannot be read beyond `before`, unless it came to grief earlier.
fn unreadable(before: &str, message: &str) -> Error {
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let place = format!("(line {line}, column {column})");
    match json::read(before) {
        // Reading breaks off where the text does, and knows the pointer.
        Err(error) if error.message().ends_with(&place) => {
            Error::new(Code::InvalidJson, error.pointer(), format!("{message} {place}"))
        }
        Err(earlier) => earlier,
        Ok(_) => Error::new(Code::InvalidJson, "", format!("{message} {place}")),
    }
}
