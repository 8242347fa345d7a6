//! Converts a host's error to a human-readable message.

/// Returns a message for a host's error, and true if the file merely does not exist. The host's error is text, or the
/// name of a system error (`ENOENT`).
pub(crate) fn reason(message: &str, name: &str, what: &str) -> (bool, String) {
    let missing = matches!(message, "ENOENT" | "ENOTDIR");
    let words = match message {
        "ENOENT" | "ENAMETOOLONG" if is_json(name) => {
            "expected the name of a file, found what looks like JSON: pass JSON on standard input (`echo … | \
                toolwire …`)"
                .into()
        }
        "ENOENT" | "ENOTDIR" | "ENAMETOOLONG" => "expected a file, found none with that name".into(),
        "ENOTREG" => "expected a regular file, found a device, a pipe or a socket".into(),
        "EISDIR" => "expected a file, found a folder".into(),
        "EACCES" | "EPERM" => format!("expected a readable {what}, found one without read permission"),
        code if is_code(code) => format!("expected a readable {what}, found one that cannot be read ({code})"),
        other => other.to_string(),
    };
    (missing, words)
}

/// Returns true if a name looks like JSON that was passed in place of a file name.
pub(crate) fn is_json(name: &str) -> bool {
    name.trim_start().starts_with(['{', '['])
}

/// Returns true if a message is the name of a system error, such as `EIO`.
fn is_code(message: &str) -> bool {
    message.starts_with('E')
        && message.chars().all(|one| one.is_ascii_uppercase() || one.is_ascii_digit() || one == '_')
}
