//! `apply_deferred_loading`: plays the part of Anthropic's servers for an API that has never heard of deferred tools.
//!
//! Each request is one inference, so everything is decided while it is rewritten: what format it has (`format`), which
//! tools there are (`catalogue`), what the history says about them (`loads`), which of them are sent, what the history
//! says instead (`history`, `notice`, `split`), and, if wanted, the same in another format (`translate`).

mod announce;
mod betas;
mod catalogue;
mod choice;
mod format;
mod history;
mod loads;
mod marks;
mod namespace;
mod notice;
pub(crate) mod open;
mod report;
mod responses;
pub(crate) mod search;
mod split;
mod tool;
mod translate;

pub(crate) use betas::strip as strip_betas;
pub(crate) use marks::NAMES_TOOLS;
pub(crate) use namespace::flat as flat_name;
pub use report::{DeferredReport, NamespacedName, Warning};

use crate::{
    error::Error,
    json::{self, Data, Node, Text},
    options::{Announce, DeferredOptions, EmptyTools, Format, Mode, ServerToolSearch, Target},
};
use catalogue::Catalogue;
use format::Shape;
use history::Rewriter;
use loads::{Event, Events};
use namespace::NameMap;
use notice::Notices;
use report::Warnings;

/// Reads a request so that what cannot hold anything to rewrite stays text.
pub(crate) fn read(text: &str) -> Result<Node<'_>, Error> {
    json::read_outline(text, &["system", "messages", "input", "contents"], marks::of)
}

/// The format of a request, by its shape or by the options.
pub(crate) fn format_of(request: &Node<'_>, options: &DeferredOptions) -> Result<Format, Error> {
    // What it is to become has no say in what it is.
    Ok(format::recognise(request, &DeferredOptions { target: None, ..options.clone() })?.format)
}

/// The hosted search that a request offers, by its name. `None`: there is none, or the caller's own tool has the name that it would
/// be called by, so that its calls are the caller's.
#[cfg(feature = "search")]
pub(crate) fn hosted_search(request: &Node<'_>, called: &str) -> Result<Option<Text<'static>>, Error> {
    let Some(tools) = request.get("tools") else { return Ok(None) };
    let tools = open::view(tools)?;
    let mut found = None;
    for tool in tools.as_array().unwrap_or_default() {
        match tool::kind(tool) {
            tool::Kind::HostedSearch if found.is_none() => found = tool::name(tool).map(|name| name.clone().into_owned()),
            tool::Kind::Tool if tool::name(tool).is_some_and(|name| name.is(called)) => return Ok(None),
            _ => {}
        }
    }
    Ok(found)
}

/// Rewrites a request in place. `reports`: whether the report is wanted; without, what in it costs another look at all tools or
/// messages is left out.
pub(crate) fn apply(request: &mut Node<'_>, options: &DeferredOptions, reports: bool) -> Result<DeferredReport, Error> {
    // The tools are looked at from all sides; if they stay as they are, so does their text.
    let spelled = request
        .visit("tools", |tools| {
            let Data::Verbatim(text) = tools.data() else { return Ok(None) };
            let text = *text;
            *tools = json::read(text)?;
            Ok(Some(text))
        })
        .transpose()?
        .flatten();
    let shape = format::recognise(request, options)?;
    let mut warnings = Warnings::default();
    let mut report = rewrite(request, shape, options, &mut warnings, reports)?;
    let out = match shape.target {
        Some(Target::OpenaiResponses) => Format::OpenaiResponses,
        Some(Target::OpenaiChat) => Format::OpenaiChat,
        None => shape.format,
    };
    if let Some(target) = translation(request, shape, options)? {
        translate::request(request, target, &mut warnings)?;
    }
    settle_empty(request, out, report.emptied, options);
    if shape.target == Some(Target::OpenaiResponses) {
        translate::complete_choice(request);
    }
    if let Some(text) = spelled {
        request.visit("tools", |tools| {
            if tools.is_intact() {
                *tools = Node::read(Data::Verbatim(text), tools.origin());
            }
        });
    }
    report.report.warnings = warnings.finish();
    Ok(report.report)
}

/// What a request has to be translated to. A Chat Completions request that was recognised by its tools alone may be left
/// without any: then only its messages tell, and they are written as a translation writes them.
fn translation(request: &Node<'_>, shape: Shape, options: &DeferredOptions) -> Result<Option<Target>, Error> {
    let undecided = shape.format == Format::OpenaiChat && options.target == Some(Target::OpenaiChat) && options.format.is_none();
    if undecided && format::recognise(request, options)?.format == Format::Anthropic {
        return Ok(Some(Target::OpenaiChat));
    }
    Ok(shape.target)
}

/// A report in the making.
struct Outcome {
    report: DeferredReport,
    /// Whether there were tools, or null for them.
    emptied: bool,
}

/// Rewrites a request within its format.
fn rewrite<'a>(
    request: &mut Node<'a>,
    shape: Shape,
    options: &DeferredOptions,
    warnings: &mut Warnings,
    reports: bool,
) -> Result<Outcome, Error> {
    let Shape { format, .. } = shape;
    let mut names = NameMap::default();
    if format == Format::OpenaiResponses {
        responses::flatten_tools(request, &mut names);
    }
    let emulate = options.server_tool_search == ServerToolSearch::Emulate;
    let mut catalogue = Catalogue::read(listed(request), &options.tool_search_name, emulate, warnings);

    let mut events = Events { with_calls: options.load_used_tools, ..Events::default() };
    let mut items = responses::Items::default();
    if format == Format::OpenaiResponses {
        items = responses::scan(request, &mut events, &mut names)?;
    } else {
        for key in ["system", "messages"] {
            request.get(key).map_or(Ok(()), |list| events.scan_list(list))?;
        }
    }
    events.resolve(&mut catalogue, options, warnings);
    if options.mode == Mode::LoadAll {
        catalogue.load_all();
    } else if options.server_tool_search == ServerToolSearch::LoadAll && catalogue.lost_search() && catalogue.load_all() {
        warnings.warn("server_tool_search_unavailable");
    }
    let search = catalogue.search_function().map(alloc::string::String::from);
    choice::settle(request, format, &mut catalogue, options, search.as_deref(), warnings)?;

    let report = DeferredReport {
        loaded: catalogue.loaded(),
        hidden: catalogue.hidden(),
        saved_bytes: if reports { catalogue.saved_bytes(listed(request)) } else { 0 },
        name_map: names.finish(),
        ..DeferredReport::default()
    };
    let notices = notices(request, &catalogue, &events, &items, options)?;
    rewrite_history(request, format, &catalogue, (&notices, &events, &items), options, warnings)?;
    if format == Format::Anthropic {
        betas::settle(request)?;
    }

    let searchable = catalogue.search_visible();
    let filtered = options.mode == Mode::Filter && !(options.server_tool_search == ServerToolSearch::LoadAll && catalogue.lost_search());
    let deferred = if filtered && options.announce == Announce::Names { catalogue.deferred() } else { alloc::vec::Vec::new() };
    let emptied = request.get("tools").is_some_and(|tools| tools.is_null() || tools.as_array().is_some_and(|tools| !tools.is_empty()));
    settle_tools(request, format, catalogue, options);

    let mut outcome = Outcome { report, emptied };
    if !deferred.is_empty() && !announce::is_present(request)? {
        announce::append(request, format, &deferred)?;
    } else if reports && !outcome.report.hidden.is_empty() && !searchable {
        outcome.report.unreachable = !announce::is_present(request)?;
    }
    Ok(outcome)
}

/// The request's list of tools, empty if it has none.
fn listed<'n, 'a>(request: &'n Node<'a>) -> &'n [Node<'a>] {
    request.get("tools").and_then(Node::as_array).unwrap_or_default()
}

/// The texts that the history will say about tools.
fn notices<'a>(
    request: &Node<'a>,
    catalogue: &Catalogue<'a>,
    events: &Events<'a>,
    items: &responses::Items<'a>,
    options: &DeferredOptions,
) -> Result<Notices<'a>, Error> {
    let splits = history::splits(options);
    let mut notices = Notices::default();
    let referred = events.list.iter().filter_map(|event| match event {
        Event::Reference(name) | Event::Addition(name) => Some(name),
        Event::Removal(_) | Event::Call(_) | Event::Definition(_) => None,
    });
    for name in referred.chain(items.told(request, splits)?) {
        let (definition, pointer) = (catalogue.definition(name, listed(request)), catalogue.pointer(name));
        notices.prepare(name, definition, &pointer)?;
    }
    Ok(notices)
}

fn rewrite_history<'a>(
    request: &mut Node<'a>,
    format: Format,
    catalogue: &Catalogue<'a>,
    found: (&Notices<'a>, &Events<'a>, &responses::Items<'a>),
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let (notices, events, items) = found;
    let known = |name: &Text<'a>| catalogue.knows(name);
    let is_search = |name: &Text<'a>| catalogue.is_search(name);
    let text_type = if format == Format::OpenaiResponses { "input_text" } else { "text" };
    let mut rewriter = Rewriter::new(notices, options, &known, &is_search, (&events.server_calls, &events.search_results), text_type);
    if format == Format::OpenaiResponses {
        items.rewrite(request, &mut rewriter, warnings)?;
    } else {
        request.visit("system", |system| if system.as_array().is_some() { rewriter.blocks(system) } else { Ok(()) }).transpose()?;
        request.visit("messages", |messages| rewriter.messages(messages)).transpose()?;
    }
    for orphan in rewriter.orphans {
        warnings.about("orphan_tool_search_output", orphan);
    }
    Ok(())
}

/// Writes the list that is sent.
fn settle_tools<'a>(request: &mut Node<'a>, format: Format, catalogue: Catalogue<'a>, options: &DeferredOptions) {
    let function = |search: &Node<'a>| search::function(format, &options.tool_search_name, search);
    if request.get("tools").is_some() {
        request.visit("tools", |tools| catalogue.settle(tools, options.order, function));
    } else if catalogue.any_visible() {
        // The history brought tools to a request that lists none.
        let mut tools = Node::array(alloc::vec::Vec::new());
        catalogue.settle(&mut tools, options.order, function);
        if let Some(object) = request.as_object_mut() {
            object.set("tools", tools);
        }
    }
}

/// What is left of an empty list. A choice without tools is refused, and Chat Completions refuses an empty list, too.
fn settle_empty(request: &mut Node<'_>, format: Format, emptied: bool, options: &DeferredOptions) {
    if !request.get("tools").is_some_and(|tools| tools.as_array().is_some_and(<[Node<'_>]>::is_empty)) {
        return;
    }
    let omit = options.empty_tools == EmptyTools::Omit || format == Format::OpenaiChat;
    let mut remove = |key: &str| {
        if request.get(key).is_some() {
            tool::remove(request, key);
        }
    };
    if omit {
        remove("tools");
    }
    if omit || emptied {
        remove("tool_choice");
    }
    if omit && format == Format::OpenaiChat {
        remove("parallel_tool_calls");
    }
}
