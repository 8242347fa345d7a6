//! A client's request and its reply, which may need several requests to the backend. The request is adapted. If the
//! client left the tool search to the provider, and the model searches, this module runs the search and asks the model
//! again.
//!
//! This module performs no network access: the caller sends the requests that it returns and passes in the replies.

mod base64;
pub(crate) mod endpoint;
mod envelope;
mod frames;
mod hidden;
mod hidden_stream;
#[cfg(test)]
mod made_up_tests;
mod other_format;
pub(crate) mod plain;
pub(crate) mod searches;
pub(crate) mod usage;

use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use core::ops::Range;

use crate::{
    adapt::{self, overflow, AdaptReport, OVERFLOW},
    deferred,
    dialect::{lookup, Dialect, DialectId},
    error::Error,
    json::{self, lazy::view, Node, Text},
    options::{
        without_dialect, AdaptOptions, Api, DeferralQuery, DialectQuery, ExchangeOptions, Native, OnSetAside, Overflow,
        ServerToolSearch, ToolFormat,
    },
    reply::{
        call_repair::CallReports,
        restore::RestoreMap,
        streams::{
            restorer::Stream,
            sse::{self, Buffer, Sink},
        },
    },
    report::{AnswerChange, RepairedCall},
    request::{betas, carriers, tool_format},
    tools::{
        list_cache::{FoundLists, Lookup, ToolListCache},
        quarantine::{self, SetAsideWarning},
    },
    wire::anthropic::search_loop::SearchLoop,
    wire::{
        self,
        routes::{Errors, ReplyKind},
    },
};
use frames::Frames;
use hidden::HiddenLoop;
use searches::Searches;

/// A client's request and the state that is needed to translate its reply.
#[derive(Debug)]
pub(crate) struct Exchange {
    adapting: AdaptOptions,
    /// The next request to send.
    request: String,
    report: AdaptReport,
    restore_map: RestoreMap,
    on_set_aside: OnSetAside,
    warning: Option<SetAsideWarning>,
    /// `None` if no reply causes another request to the model.
    rounds: Option<Rounds>,
    /// The API of the URL.
    api: Api,
    reply_kind: ReplyKind,
    errors: Errors,
    /// `None` if streams never consist of frames.
    frames: Option<Frames>,
    /// `None` until the first byte of a stream.
    stream_kind: Option<StreamKind>,
    stream: Option<Stream>,
    lines: Buffer,
    /// True if the last finished stream ended with a search.
    asks: bool,
    reports: CallReports,
}

/// Kind of a stream, which does not change after its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamKind {
    /// Server-sent events.
    Text,
    Frames,
    /// Other bytes, for example frames at a URL without frames. They are passed on unchanged.
    Other,
}

#[derive(Debug)]
enum Rounds {
    /// The client receives the searches in the form in which Anthropic's servers send them.
    Shown(Box<SearchLoop>),
    Hidden(Box<HiddenLoop>),
}

pub(crate) fn api_of(url: &str) -> Option<Api> {
    endpoint::of(url).map(|endpoint| endpoint.api())
}

/// Returns a note for the user if requests to a URL may have tools, which are not adapted.
pub(crate) fn note(method: &str, url: &str) -> Option<&'static str> {
    endpoint::note(method, url)
}

pub(crate) fn model_range(url: &str) -> Option<Range<usize>> {
    endpoint::of(url)?.model_range()
}

/// Facts about a request that its URL determines.
#[derive(Clone, Debug)]
struct Target {
    api: Api,
    /// The model, if the path or the body around the request contains it.
    model: Option<String>,
    /// A member that every body of this format has.
    requires: Option<&'static str>,
    reply_kind: ReplyKind,
    errors: Errors,
}

impl ReplyKind {
    const fn has_tools(self) -> bool {
        !matches!(self, ReplyKind::NoTools | ReplyKind::Later)
    }

    const fn may_search(self) -> bool {
        matches!(self, ReplyKind::Model | ReplyKind::Frames(_))
    }

    const fn frames(self) -> Option<Frames> {
        match self {
            ReplyKind::Frames(framing) => Some(Frames::new(framing)),
            _ => None,
        }
    }
}

impl Rounds {
    fn asks_again(&self) -> bool {
        match self {
            Rounds::Shown(rounds) => rounds.asks_again,
            Rounds::Hidden(rounds) => rounds.asks_again,
        }
    }

    /// Records if the round contains structured output as a call. The model is then not asked again.
    fn record_answered(&mut self, is_answered: bool) {
        match self {
            Rounds::Shown(rounds) => rounds.is_answered = is_answered,
            Rounds::Hidden(rounds) => rounds.is_answered = is_answered,
        }
    }

    fn reply(&mut self, reply: &mut Node<'_>) -> Result<(), Error> {
        match self {
            Rounds::Shown(rounds) => rounds.reply(reply),
            Rounds::Hidden(rounds) => rounds.reply(reply),
        }
    }

    fn feed<'a>(&mut self, event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        match self {
            Rounds::Shown(rounds) => rounds.feed(event, out),
            Rounds::Hidden(rounds) => rounds.feed(event, out),
        }
    }

    fn begin_round(&mut self) {
        match self {
            Rounds::Shown(rounds) => rounds.begin_round(),
            Rounds::Hidden(rounds) => rounds.begin_round(),
        }
    }

    fn client_request(&self) -> &str {
        match self {
            Rounds::Shown(rounds) => &rounds.client_request,
            Rounds::Hidden(rounds) => &rounds.client_request,
        }
    }

    fn next_request(&mut self) -> Result<Node<'_>, Error> {
        match self {
            Rounds::Shown(rounds) => {
                rounds.asks_again = false;
                rounds.next_request()
            }
            Rounds::Hidden(rounds) => {
                rounds.asks_again = false;
                rounds.next_request()
            }
        }
    }
}

impl Exchange {
    /// Opens an exchange for a request. Returns `None` if requests to the URL cannot have tools, or if the body is not
    /// such a request; the caller then forwards the request unchanged. Looks up the request's tools in the cache before
    /// rewriting them.
    pub(crate) fn open(
        url: &str,
        body: &str,
        options: &ExchangeOptions,
        cache: Option<&ToolListCache>,
    ) -> Result<Option<Exchange>, Error> {
        let Some(endpoint) = endpoint::of(url).filter(|_| body.trim_start().starts_with('{')) else { return Ok(None) };
        envelope::open(endpoint, (url, body), options, cache)
    }

    /// Opens an exchange for a body that is a request.
    fn open_request(
        target: Target,
        (url, body): (&str, &str),
        options: &ExchangeOptions,
        cache: Option<&ToolListCache>,
    ) -> Result<Option<Exchange>, Error> {
        let found_lists = FoundLists::default();
        let mut node = crate::request::read(body)?;
        if target.requires.is_some_and(|member| node.get(member).is_none()) {
            return Ok(None);
        }
        let wire = wire::of(target.api);
        other_format::refuse_request(&node, target.api)?;
        // Other URLs also end in `/messages`: for example, OpenAI's threads accept a single message there.
        let is_conversation = || node.get(wire.history()).is_some_and(|messages| messages.as_array().is_some());
        if wire.requires_messages() && !is_conversation() {
            return Ok(None);
        }
        let member_text = |key: &str| -> Result<Option<String>, Error> {
            let member = node.get(key).map(view).transpose()?;
            Ok(member.and_then(|member| member.as_text().map(|text| text.display().into_owned())))
        };
        let model = match target.model {
            Some(model) => Some(model),
            None => member_text("model")?,
        };
        let model = model.or_else(|| options.adapt.model.clone());
        let (dialect, by_flag) = match &options.dialect {
            Some(dialect) => (*dialect, None),
            None => {
                let (api, host) = (Some(target.api), Some(url.into()));
                let query = DialectQuery { api, model: model.clone(), host, ..DialectQuery::default() };
                let dialect_row = lookup::dialect_for(&query)
                    .map_err(|error| without_dialect(&error, options.adapt.tools.sanitize.naming))?;
                // `strict: true` in the request selects a strict dialect, so that the client's strict tools and formats
                // remain strict.
                let strict = match options.adapt.tools.fallback {
                    None if has_strict_part(body, &mut node, target.api)? => lookup::strict_dialect(&query, url),
                    _ => None,
                };
                (strict.map_or(dialect_row.dialect, Dialect::id), strict.map(|_| dialect_row.dialect))
            }
        };
        let mut adapting = options.adapting(target.api.tools(), dialect)?;
        let header = adapting.betas.get_or_insert_default().clone();
        adapting.tools.by_flag = by_flag;
        adapting.model = model;
        adapting.host.get_or_insert_with(|| url.into());
        let can_hide = || wire::of(target.api).rounds().map_or(Ok(false), |rounds| rounds.allows_several_rounds(&node));
        let hides = adapting.tools.format != Some(ToolFormat::Anthropic);
        let is_stored = wire::of(target.api).rounds().map_or(Ok(false), |rounds| rounds.is_stored(&node))?;
        let is_later = target.reply_kind == ReplyKind::Later;
        if is_later || hides && (options.max_rounds == 0 || !can_hide()?) {
            // Nothing could run the model's searches, so tools beyond the maximum are set aside instead of deferred.
            adapting.overflow = Overflow::Quarantine;
        }
        if let Some(deferred) = adapting.deferred.as_mut().filter(|deferred| is_later && deferred.emulates_search()) {
            deferred.server_tool_search = Some(ServerToolSearch::LoadAll);
        }
        if options.native_is_auto {
            let known = native_of(&node, target.api, (dialect, url, &header), &adapting)?;
            if let Some(deferred) = adapting.deferred.as_mut().filter(|deferred| deferred.native == Native::None) {
                deferred.native = known;
            }
        }
        let hosted = SearchLoop::hosted_search_to_answer(&node, &adapting)?;
        let lookup = cache.and_then(|cache| Lookup::new(cache, options.tool_list_cache, &found_lists));
        let (report, mut restore_map, names) = adapt::adapt_with_names(&mut node, &adapting, lookup)?;
        let is_overfull =
            report.deferred.iter().flat_map(|report| &report.warnings).any(|warning| warning.code == OVERFLOW);
        let hosted = hosted.or_else(|| is_overfull.then(|| Text::literal(overflow::SEARCH)));
        let called = report.deferred.as_ref().and_then(|report| report.tool_search_name.as_deref());
        if let (Some(_), Some(called)) = (&hosted, called) {
            restore_map.turn_off_repairs(called);
        }
        let searched = hosted.zip(called).filter(|_| target.reply_kind.may_search());
        let rounds = searched.and_then(|(hosted, called)| {
            let search = options.search.clone().tool_search_name(called);
            let searches = Searches::new(hosted, search, adapting.clone(), names);
            let left = options.max_rounds;
            match hides {
                true => {
                    HiddenLoop::new(target.api, searches, (body, is_stored), left).map(Box::new).map(Rounds::Hidden)
                }
                false => Some(Rounds::Shown(Box::new(SearchLoop::new(searches, body, left)))),
            }
        });
        let request = json::text_of(body, &node).into_owned();
        let on_set_aside = options.on_set_aside;
        let warning = warning(&report, &adapting, on_set_aside)?;
        Ok(Some(Exchange {
            adapting,
            request,
            report,
            restore_map,
            on_set_aside,
            warning,
            rounds,
            api: target.api,
            reply_kind: target.reply_kind,
            errors: target.errors,
            frames: target.reply_kind.frames(),
            stream_kind: None,
            stream: None,
            lines: Buffer::default(),
            asks: false,
            reports: CallReports::default(),
        }))
    }

    /// Returns true if no state is buffered. A newly opened exchange could then continue the reply.
    pub(crate) fn is_at_rest(&self) -> bool {
        let is_between = self.frames.as_ref().is_none_or(Frames::is_at_rest) && self.lines.is_at_rest();
        // A later piece does not show the kind of the stream.
        let is_known = self.stream_kind.is_none_or(|kind| match &self.frames {
            Some(_) => kind == StreamKind::Frames,
            None => kind == StreamKind::Text,
        });
        self.rounds.is_none() && is_between && is_known && self.stream.as_ref().is_none_or(Stream::is_at_rest)
    }

    pub(crate) fn request(&self) -> &str {
        &self.request
    }

    pub(crate) fn report(&self) -> &AdaptReport {
        &self.report
    }

    /// Returns the betas that the header of the request has to name.
    pub(crate) fn betas(&self) -> &[String] {
        self.report.betas.as_ref().or(self.adapting.betas.as_ref()).map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn native(&self) -> Native {
        self.adapting.deferred.as_ref().map_or(Native::None, |deferred| deferred.native)
    }

    pub(crate) fn take_repaired_calls(&mut self) -> Vec<RepairedCall> {
        let mut calls = self.reports.take();
        calls.extend(self.stream.iter_mut().flat_map(Stream::take_repaired_calls));
        calls
    }

    pub(crate) fn take_answer_changes(&mut self) -> Vec<AnswerChange> {
        if let Some(stream) = &mut self.stream {
            self.reports.push_changes(stream.take_answer_changes());
        }
        self.reports.take_answer_changes()
    }

    pub(crate) fn take_request(&mut self) -> String {
        core::mem::take(&mut self.request)
    }

    pub(crate) fn warning(&self) -> Option<&SetAsideWarning> {
        self.warning.as_ref()
    }

    /// Translates a whole reply. Returns `None` if the model must be asked again.
    pub(crate) fn reply<'t>(&mut self, text: &'t str) -> Result<Option<Cow<'t, str>>, Error> {
        if !self.reply_kind.has_tools() {
            return Ok(Some(Cow::Borrowed(text)));
        }
        // A successful reply that is not JSON is passed on unchanged.
        let Ok(mut reply) = json::read(text) else { return Ok(Some(Cow::Borrowed(text))) };
        other_format::refuse_reply(&reply, self.api)?;
        let is_answered = self.restore_map.whole_reply(&mut reply, &mut self.reports)?;
        if let Some(rounds) = &mut self.rounds {
            rounds.record_answered(is_answered);
            rounds.reply(&mut reply)?;
            if rounds.asks_again() {
                self.build_next_request()?;
                return Ok(None);
            }
        }
        Ok(Some(json::text_of(text, &reply)))
    }

    pub(crate) fn feed_text<'p>(&mut self, piece: &'p str) -> Result<Cow<'p, str>, Error> {
        let mut lines = core::mem::take(&mut self.lines);
        let out = lines.feed(piece, self);
        self.lines = lines;
        out
    }

    /// Ends a stream. Afterwards, [`Self::asks_again`] returns true if the model must be asked again.
    pub(crate) fn finish_text(&mut self) -> Result<String, Error> {
        let mut lines = core::mem::take(&mut self.lines);
        let out = lines.finish(self);
        self.lines = lines;
        self.asks = false;
        let mut out = out?;
        self.end_stream();
        if self.rounds.as_ref().is_some_and(Rounds::asks_again) {
            // The next stream begins with a new event.
            sse::end(&mut out);
            if let Some(refusal) = self.begin_round() {
                out.push_str(&self.failed_text(&refusal));
            }
        }
        Ok(out)
    }

    pub(crate) fn stream_kind(&mut self, piece: &[u8]) -> StreamKind {
        if let (None, Some(first)) = (self.stream_kind, piece.first()) {
            // Text never contains a zero byte, and a frame is shorter than 16 MiB.
            self.stream_kind = Some(match (first, &self.frames) {
                (0, Some(_)) => StreamKind::Frames,
                (0, None) => StreamKind::Other,
                _ => StreamKind::Text,
            });
        }
        self.begun_kind()
    }

    pub(crate) fn begun_kind(&self) -> StreamKind {
        self.stream_kind.unwrap_or(StreamKind::Text)
    }

    pub(crate) fn feed_frames(&mut self, piece: &[u8]) -> Result<Vec<u8>, Error> {
        let Some(mut frames) = self.frames.take() else { return Ok(piece.to_vec()) };
        let out = frames.feed(piece, self);
        self.frames = Some(frames);
        out
    }

    /// Like [`Self::finish_text`].
    pub(crate) fn finish_frames(&mut self) -> Result<Vec<u8>, Error> {
        let Some(mut frames) = self.frames.take() else { return Ok(Vec::new()) };
        let out = frames.finish(self);
        self.frames = Some(frames);
        self.asks = false;
        let mut out = out?;
        self.end_stream();
        if self.rounds.as_ref().is_some_and(Rounds::asks_again) {
            if let Some(refusal) = self.begin_round() {
                out.extend(frames::error_frame(&refusal));
            }
        }
        Ok(out)
    }

    pub(crate) fn failed_frame(body: &str) -> Vec<u8> {
        frames::error_frame(body)
    }

    fn end_stream(&mut self) {
        if let Some(mut stream) = self.stream.take() {
            self.reports.extend(stream.take_repaired_calls(), stream.take_answer_changes());
        }
    }

    /// Builds the next request. If this fails, returns the body of an error. The caller sends the error as an event,
    /// because the client already has the beginning of the reply.
    fn begin_round(&mut self) -> Option<String> {
        self.rounds.as_mut()?.begin_round();
        match self.build_next_request() {
            Ok(()) => {
                self.asks = true;
                None
            }
            Err(error) => {
                self.rounds = None;
                Some(endpoint::refusal((self.api, self.errors), &error))
            }
        }
    }

    pub(crate) fn asks_again(&self) -> bool {
        self.asks
    }

    /// Returns an `error` event for a request that failed after the client received a part of the reply.
    pub(crate) fn failed_text(&self, body: &str) -> String {
        wire::of(self.api).error_event(body)
    }

    fn build_next_request(&mut self) -> Result<(), Error> {
        let Some(rounds) = &mut self.rounds else { return Ok(()) };
        let client_request = String::from(rounds.client_request());
        let mut node = rounds.next_request()?;
        let (report, mut restore_map) = adapt::adapt(&mut node, &self.adapting)?;
        if let Some(called) = report.deferred.as_ref().and_then(|report| report.tool_search_name.as_deref()) {
            restore_map.turn_off_repairs(called);
        }
        self.warning = warning(&report, &self.adapting, self.on_set_aside)?;
        self.request = json::text_of(&client_request, &node).into_owned();
        (self.report, self.restore_map) = (report, restore_map);
        Ok(())
    }
}

/// Returns the backend's construct for deferred loading. Returns `Native::None` (emulation) if the request leaves the
/// search to the provider but the construct has no hosted search: otherwise, the model could not find the deferred
/// tools. Tools beyond the API's maximum can only be deferred by emulation.
fn native_of(
    request: &Node<'_>,
    api: Api,
    (dialect, url, header): (DialectId, &str, &[String]),
    adapting: &AdaptOptions,
) -> Result<Native, Error> {
    if overflow::must_defer(request, api, adapting)? {
        return Ok(Native::None);
    }
    let query = DeferralQuery { api: Some(api), model: adapting.model.clone(), host: Some(url.into()) };
    let (mut betas, searches) = (betas::in_body(request)?, deferred::lists_hosted_search(request)?);
    betas.extend_from_slice(header);
    let known = lookup::deferral::Request { dialect: Some(dialect.as_str()), betas: &betas, searches };
    // Without a host and a model, no facts are known.
    let deferral = lookup::deferral::deferral_for_request(&query, &known);
    let native = deferral.map_or(Native::None, |choice| choice.native);
    let is_lost = searches && !deferred::has_hosted_search(native);
    Ok(if is_lost { Native::None } else { native })
}

fn warning(
    report: &AdaptReport,
    adapting: &AdaptOptions,
    on_set_aside: OnSetAside,
) -> Result<Option<SetAsideWarning>, Error> {
    quarantine::set_aside_warning(on_set_aside, report.dialect, &report.quarantined, adapting.tools.sanitize.naming)
}

impl Sink for Exchange {
    fn feed<'a>(&mut self, event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        if !self.reply_kind.has_tools() {
            return Ok(Vec::from([event]));
        }
        other_format::refuse_reply(&event, self.api)?;
        let stream = self.stream.get_or_insert_with(|| Stream::new(self.restore_map.clone()));
        let events = stream.feed(event)?;
        let Some(rounds) = &mut self.rounds else { return Ok(events) };
        rounds.record_answered(stream.is_answered());
        let mut out = Vec::with_capacity(events.len());
        for event in events {
            rounds.feed(event, &mut out)?;
        }
        Ok(out)
    }

    fn finish(&mut self) -> Result<Vec<Node<'static>>, Error> {
        let events = self.stream.as_mut().map_or(Ok(Vec::new()), Stream::finish)?;
        let Some(Rounds::Hidden(rounds)) = &mut self.rounds else { return Ok(events) };
        let mut out = Vec::with_capacity(events.len());
        let fed = events.into_iter().try_for_each(|event| rounds.feed(event, &mut out));
        out.extend(fed.and_then(|()| rounds.end())?);
        Ok(out)
    }

    fn hides_end(&self) -> bool {
        self.rounds.as_ref().is_some_and(Rounds::asks_again)
    }
}

/// Returns true if a request, or its history, has a tool or a response format with `strict: true`.
fn has_strict_part(body: &str, request: &mut Node<'_>, api: Api) -> Result<bool, Error> {
    // SDKs do not escape the word, so a text search suffices.
    if !body.contains("\"strict\"") {
        return Ok(false);
    }
    if crate::request::formats::has_strict(request, api)? {
        return Ok(true);
    }
    let is_strict = |entry: &Node<'_>| match tool_format::recognize(entry) {
        tool_format::Entry::Tool(shape) => shape.strict(entry).and_then(Node::as_bool) == Some(true),
        _ => false,
    };
    let tools = request.get("tools").map(view).transpose()?;
    let mut has_strict = tools.is_some_and(|tools| crate::request::entries(&tools).any(is_strict));
    carriers::each(request, api, None, |tools| has_strict |= tools.iter().any(is_strict))?;
    Ok(has_strict)
}
