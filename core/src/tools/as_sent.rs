//! A tool list as a client sends it that knows the API's wrapper and nothing of schemas: every tool in the API's own
//! shape, with the flag `strict` that the dialect has, and everything else as it is.

use alloc::{string::String, vec::Vec};

use crate::{
    dialect::{surface::StrictFlag, Dialect},
    error::{Code, Error},
    json::Node,
    request::{
        tool_format::{recognise, strict_in, Edits, Entry},
        tool_list::Listing,
    },
};

/// A tool, and where it stood.
pub struct SentTool<'a> {
    /// Into the list as it came.
    pub pointer: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What the flag `strict` says.
    pub strict: Option<bool>,
    /// The tool, as the API has it.
    pub tool: Node<'a>,
}

/// The tools of a list, less what the API runs itself.
///
/// # Errors
/// `invalid-request` if it is no list of tools.
pub fn as_sent<'a>(list: Node<'a>, dialect: &Dialect) -> Result<Vec<SentTool<'a>>, Error> {
    let listing = Listing::read(list)?;
    let mut sent = Vec::new();
    for listed in listing.entries() {
        let mut tool = listed.entry.clone();
        let shape = match recognise(&tool) {
            Entry::Hosted => continue,
            Entry::Tool(shape) => shape,
            Entry::Unknown => {
                let message = "expected a tool with a name or a schema, found neither";
                return Err(Error::new(Code::InvalidRequest, listed.pointer.clone(), message));
            }
        };
        let format = dialect.tools.format;
        let name = shape.name(&tool).map(|name| name.display().into_owned());
        let strict = strict_in(dialect, format);
        let edits = Edits { name: None, description: None, strict, omit: false };
        shape.settle(&mut tool, format, None, edits);
        sent.push(SentTool { pointer: listed.pointer.clone(), name, strict, tool });
    }
    Ok(sent)
}

/// The member of a request that says for all its tools that they are strict, where a tool has no flag.
pub fn strict_member(dialect: &Dialect) -> Option<&'static str> {
    match dialect.tools.strict {
        StrictFlag::Request(member) => Some(member),
        _ => None,
    }
}
