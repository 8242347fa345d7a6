//! A request to a model API, independent of the API. Deferred loading, tool lists and exchanges share this model.

pub(crate) mod betas;
pub(crate) mod carriers;
pub(crate) mod choice;
pub(crate) mod conversation;
pub(crate) mod flat_list;
pub(crate) mod format;
pub(crate) mod formats;
pub(crate) mod instructions;
pub(crate) mod location;
pub(crate) mod origins;
pub(crate) mod prefilter;
pub(crate) mod reader;
pub(crate) mod report;
pub(crate) mod search_tool;
pub(crate) mod tool;
pub(crate) mod tool_format;
pub(crate) mod tool_list;
pub(crate) mod tools;
pub(crate) mod writer;

use alloc::{string::String, vec::Vec};

use crate::{
    error::Error,
    json::{self, lazy::view, Data, Node},
    options::{Api, DeferredOptions, Native},
    wire::{self, recognition::SentTo},
};

/// Returns the name of the request's model, in lower case and without the vendor prefix that routers add. Returns
/// `default` if the request does not name the model, because some APIs have the model in the URL.
pub(crate) fn model(request: &Node<'_>, default: Option<&str>) -> Result<String, Error> {
    let model = request.get("model").or_else(|| request.get("modelId")).map(view).transpose()?;
    let model = model.and_then(|model| model.as_text().map(|name| name.display().into_owned()));
    let name = model.as_deref().or(default).unwrap_or_default();
    Ok(name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase())
}

/// Reads a request. Messages and parts of the system prompt that need no rewriting remain unparsed.
pub(crate) fn read(text: &str) -> Result<Node<'_>, Error> {
    json::read_outline(text, &wire::lazy_members(), prefilter::of)
}

/// Returns the format of a request. `home` is the format of the API that will receive the request.
pub(crate) fn format_of(request: &Node<'_>, options: &DeferredOptions, home: Option<Api>) -> Result<Api, Error> {
    // With Chat Completions as the target, `recognize` also looks at members that exist only in Chat Completions.
    let target = home.filter(|home| SentTo::matters(*home));
    Ok(format::recognize(request, &DeferredOptions { target, native: Native::None, ..options.clone() })?.format)
}

pub(crate) fn source_of(request: &Node<'_>, options: &DeferredOptions) -> Result<Api, Error> {
    Ok(format::recognize(request, options)?.format)
}

/// Returns each entry, followed by the tools nested in it (of a namespace or of a server).
#[cfg(feature = "exchange")]
pub(crate) fn entries<'n, 'a>(list: &'n Node<'a>) -> impl Iterator<Item = &'n Node<'a>> {
    let inner = |entry: &'n Node<'a>| {
        let tools = entry.get("tools");
        let lists = [tools, tools.and_then(|tools| tools.get("tools"))].into_iter().flatten();
        lists.flat_map(|list| list.as_array().unwrap_or_default())
    };
    list.as_array().unwrap_or_default().iter().flat_map(move |entry| core::iter::once(entry).chain(inner(entry)))
}

pub(crate) fn listed<'n, 'a>(request: &'n Node<'a>) -> &'n [Node<'a>] {
    request.items_at("tools")
}

/// Replaces items of a list. The indices must be in ascending order.
pub(crate) fn splice<'a>(list: &mut Node<'a>, replaced: Vec<(usize, Vec<Node<'a>>)>) {
    if replaced.is_empty() {
        return;
    }
    let Some(items) = list.as_array_mut() else { return };
    if replaced.iter().all(|(_, replacement)| replacement.len() == 1) {
        for (index, replacement) in replaced {
            items.get_mut(index).into_iter().zip(replacement).for_each(|(item, replacement)| *item = replacement);
        }
        return;
    }
    let mut replaced = replaced.into_iter().peekable();
    let mut spliced = Vec::with_capacity(items.len());
    for (at, item) in core::mem::take(items).into_iter().enumerate() {
        match replaced.next_if(|(index, _)| *index == at) {
            Some((_, replacement)) => spliced.extend(replacement),
            None => spliced.push(item),
        }
    }
    *items = spliced;
}

/// Parses the list of tools, so that no step parses it again. Returns its text.
pub(crate) fn open_list<'a>(request: &mut Node<'a>) -> Result<Option<&'a str>, Error> {
    let opened = request.visit("tools", |tools| {
        let Data::Verbatim(text) = tools.data() else { return Ok(None) };
        let text = *text;
        *tools = json::read(text)?;
        Ok(Some(text))
    });
    opened.transpose().map(Option::flatten)
}

/// Puts the text of an unchanged list of tools back.
pub(crate) fn close_list<'a>(request: &mut Node<'a>, text: Option<&'a str>) {
    if let Some(text) = text {
        request.visit("tools", |tools| {
            if tools.is_intact() {
                *tools = Node::read(Data::Verbatim(text), tools.origin());
            }
        });
    }
}
