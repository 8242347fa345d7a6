//! Writes a tool list like a client that does not adapt schemas: every tool has the API's shape and the dialect's flag
//! `strict`, and everything else is unchanged.

use alloc::{string::String, vec::Vec};

use crate::{
    dialect::{surface::StrictFlag, Dialect},
    error::{Code, Error},
    json::Node,
    request::{
        tool_format::{recognize, strict_in, Edits, Entry},
        tool_list::Listing,
    },
};

/// A tool, with the pointer to it in the original list.
pub struct SentTool<'a> {
    /// JSON Pointer into the original list.
    pub pointer: String,
    /// The tool's name, if it has one.
    pub name: Option<String>,
    /// The value of the flag `strict`.
    pub strict: Option<bool>,
    /// The tool in the API's shape.
    pub tool: Node<'a>,
}

/// Returns the tools of a list except those that the API runs itself.
///
/// # Errors
/// `invalid-request` if the input is not a list of tools.
pub fn as_sent<'a>(list: Node<'a>, dialect: &Dialect) -> Result<Vec<SentTool<'a>>, Error> {
    let listing = Listing::read(list)?;
    let mut sent = Vec::new();
    for listed in listing.entries() {
        let mut tool = listed.entry.clone();
        let shape = match recognize(&tool) {
            Entry::Hosted => continue,
            Entry::Tool(shape) => shape,
            Entry::Unknown => {
                let message = "expected a tool with a name or a schema, found neither";
                return Err(Error::new(Code::InvalidRequest, listed.pointer.clone(), message));
            }
        };
        let carrier = shape.format().filter(|format| dialect.tools.dialect_in(*format).is_some());
        let format = carrier.unwrap_or(dialect.tools.format);
        let name = shape.name(&tool).map(|name| name.display().into_owned());
        let strict = strict_in(dialect, format);
        let edits = Edits { name: None, description: None, strict, removes_schema: false };
        shape.convert_entry(&mut tool, format, None, edits);
        sent.push(SentTool { pointer: listed.pointer.clone(), name, strict, tool });
    }
    Ok(sent)
}

/// Returns the member of a request that makes all its tools strict, if single tools have no flag.
pub fn strict_member(dialect: &Dialect) -> Option<&'static str> {
    match dialect.tools.strict {
        StrictFlag::Request(member) => Some(member),
        _ => None,
    }
}
