//! Detects the format of a request and checks its basic structure.

use alloc::{format, string::String, vec::Vec};

use super::tool_format;
use crate::{
    dialect,
    error::{Code, Error},
    json::{lazy::view, Data, Node},
    options::APIS_WITH_DEFERRAL,
    options::{AdaptOptions, Api, DeferredOptions, Native},
    wire::{
        self,
        recognition::{self, SentTo},
    },
};

pub(crate) fn of_request(request: &Node<'_>, options: &AdaptOptions) -> Result<Api, Error> {
    if let Some(api) = options.tools.format.and_then(tool_format::request_api_of) {
        return Ok(api);
    }
    let dialect = dialect::of(&options.tools.sanitize).ok();
    let home = dialect.and_then(|dialect| tool_format::api_of(dialect.tools.format));
    let has_code_execution = dialect.is_some_and(|dialect| dialect.lists_type("code_execution"));
    let format = recognition::recognize(request, SentTo { api: home, is_home: true, has_code_execution })?;
    if let Some(format) = format.filter(|format| wire::of(*format).translation().is_none()) {
        return Ok(format);
    }
    let mut read_as = options.deferred.clone().unwrap_or_default();
    read_as.format = read_as.format.or(format);
    super::format_of(request, &read_as, home)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FormatPair {
    pub(crate) format: Api,
    pub(crate) target: Api,
}

pub(crate) fn recognize(request: &Node<'_>, options: &DeferredOptions) -> Result<FormatPair, Error> {
    if request.as_object().is_none() {
        return Err(Error::new(
            Code::InvalidRequest,
            "",
            format!("expected the request to be an object, found {}", request.kind()),
        ));
    }
    for (option, api) in [("target", options.target), ("format", options.format)] {
        if let Some(api) = api.filter(|api| !api.has_deferral()) {
            let known: Vec<String> = APIS_WITH_DEFERRAL.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            let message = format!("expected `{option}` to be one of {}, found `{}`", known.join(", "), api.as_str());
            return Err(Error::new(Code::InvalidOption, format!("/{option}"), message));
        }
    }
    let format = match options.format {
        Some(format) => format,
        None => {
            recognition::recognize(request, SentTo::target(options.target))?.ok_or_else(|| unrecognized(request))?
        }
    };
    let wire = wire::of(format);
    require_member(request, wire.history(), wire.expected_history(), |history| wire.accepts_history(history))?;
    let is_translated = options.target.is_some_and(|target| target != format);
    let is_untranslated = |api: Api| wire::of(api).translation().is_none();
    if is_translated && (is_untranslated(format) || options.target.is_some_and(is_untranslated)) {
        let message = "expected the request's own format as `target`, because requests of Bedrock Converse and Gemini \
            `generateContent` are not translated, found another format";
        return Err(Error::new(Code::InvalidOption, "/target", message));
    }
    // In formats with groups, a single group may replace the list.
    if wire.tools().groups().is_empty() {
        require_member(request, "tools", "an array of tools", |node| {
            matches!(node, None | Some(Data::Null | Data::Array(_)))
        })?;
    }
    let target = options.target.unwrap_or(format);
    if let Some(fits) = options.native.api().filter(|fits| *fits != target) {
        let fitting = Native::CHOICES.iter().filter(|(_, native)| native.api().is_none_or(|format| format == target));
        let fitting: Vec<String> = fitting.map(|(name, _)| format!("`{name}`")).collect();
        let (found, fits, target) = (options.native.as_str(), fits.as_str(), target.as_str());
        return Err(Error::new(
            Code::InvalidOption,
            "/native",
            format!(
                "expected a construct of the format `{target}` ({}), found `{found}`, which belongs to `{fits}`",
                fitting.join(", ")
            ),
        ));
    }
    Ok(FormatPair { format, target })
}

fn require_member(
    request: &Node<'_>,
    key: &str,
    expected: &str,
    fits: impl Fn(Option<&Data<'_>>) -> bool,
) -> Result<(), Error> {
    let node = match request.get(key) {
        Some(node) => Some(view(node)?),
        None => None,
    };
    if fits(node.as_deref().map(Node::data)) {
        return Ok(());
    }
    let found = node.as_deref().map_or("none", Node::kind);
    Err(Error::new(
        Code::InvalidRequest,
        format!("/{key}"),
        format!("expected `{key}` to be {expected}, found {found}"),
    ))
}

fn unrecognized(request: &Node<'_>) -> Error {
    let names = wire::histories();
    let (pointer, found) = match names.iter().find(|key| request.get(**key).is_some()) {
        Some(key) => (format!("/{key}"), "null"),
        None => (String::new(), "none"),
    };
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let names = match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    };
    Error::new(Code::InvalidRequest, pointer, format!("expected a request with {names}, found {found}"))
}
