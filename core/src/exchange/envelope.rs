//! Opens exchanges for requests, and for bodies that contain requests. Endpoints that count tokens or
//! run batches have such bodies.

use alloc::{borrow::Cow, format, string::String, sync::Arc, vec::Vec};

use super::{base64, endpoint::Endpoint, Exchange, Target};
use crate::{
    adapt::AdaptReport,
    collections::Set,
    deferred,
    dialect::backends,
    error::Error,
    json::{self, push_token, Node},
    options::{ExchangeOptions, OnSetAside},
    reply::restore::RestoreMap,
    request::{betas, report::DeferredReport},
    tools::{list_cache::ToolListCache, quarantine::SetAsideWarning},
    wire::{
        self,
        routes::{Part, ReplyKind, EACH},
    },
};

/// Opens an exchange for a body. Uses the first location of the endpoint's requests that exists in the body.
pub(super) fn open(
    endpoint: Endpoint<'_>,
    (url, body): (&str, &str),
    options: &ExchangeOptions,
    cache: Option<&ToolListCache>,
) -> Result<Option<Exchange>, Error> {
    let route = endpoint.route;
    let target = |part: &Part, model: Option<String>| Target {
        api: part.api,
        model,
        requires: part.requires,
        reply_kind: route.reply,
        errors: route.errors,
    };
    let model = endpoint.model().map(Cow::into_owned);
    for part in route.parts {
        if part.at.is_empty() {
            return Exchange::open_request(target(part, model), (url, body), options, cache);
        }
        let node = json::read(body)?;
        let mut requests = Vec::new();
        find(&node, (part, part.at), String::new(), &mut requests);
        if requests.is_empty() {
            continue;
        }
        let outer = route.model.and_then(|member| node.text_at(member));
        let model = model.or_else(|| outer.map(|model| model.display().into_owned()));
        let target = target(part, model);
        let opened = open_parts((&target, part.is_base64), (url, body), requests, options, cache)?;
        return Ok(opened.map(|(exchange, replacements)| with_replacements(exchange, body, part, replacements)));
    }
    Ok(None)
}

/// The new value of each request in a body; `None` if the request does not change.
type Replacements = Vec<Option<Node<'static>>>;

/// The requests in a body, with their pointers.
type Requests<'n, 'a> = Vec<(String, &'n Node<'a>)>;

fn spelling_in(node: &Node<'_>, part: &Part, member: &'static str) -> Option<Cow<'static, str>> {
    let mut names = part.namings.iter().map(|naming| naming.spell(member));
    names.find(|name| node.get(&**name).is_some_and(|value| !value.is_null()))
}

fn find<'n, 'a>(
    node: &'n Node<'a>,
    (part, at): (&Part, &'static [&'static str]),
    pointer: String,
    requests: &mut Requests<'n, 'a>,
) {
    let Some((first, rest)) = at.split_first() else {
        requests.push((pointer, node));
        return;
    };
    if *first == EACH {
        for (index, item) in node.as_array().unwrap_or_default().iter().enumerate() {
            find(item, (part, rest), format!("{pointer}/{index}"), requests);
        }
    } else if let Some(name) = spelling_in(node, part, first) {
        let mut pointer = pointer;
        push_token(&mut pointer, &name);
        node.get(&*name).into_iter().for_each(|member| find(member, (part, rest), pointer.clone(), requests));
    }
}

/// Opens an exchange for all requests of a body. Returns it with the new values of the requests. Returns `None` if no
/// value is a request.
fn open_parts(
    (target, is_base64): (&Target, bool),
    (url, body): (&str, &str),
    requests: Requests<'_, '_>,
    options: &ExchangeOptions,
    cache: Option<&ToolListCache>,
) -> Result<Option<(Exchange, Replacements)>, Error> {
    let is_later = target.reply_kind == ReplyKind::Later;
    let mut options = Cow::Borrowed(options);
    if is_later && options.adapt.tools.repair.is_some() {
        // This library does not receive the replies, so it cannot repair their calls.
        options.to_mut().adapt.tools.repair = None;
    }
    // Keeps only known betas, because each request would read the whole header.
    let header = options.adapt.betas.clone().unwrap_or_default();
    if !header.is_empty() {
        let host = options.adapt.host.as_deref().unwrap_or(url);
        let is_known = |name: &&str| backends::host_has_beta_fact(host, name) || deferred::is_about_beta(name);
        let known: Set<&str> = betas::names_in(&header).filter(is_known).collect();
        let known = known.iter().map(|name| String::from(*name)).collect();
        options.to_mut().adapt.betas = Some(known);
    }
    let mut all: Option<Exchange> = None;
    let mut replacements = Vec::with_capacity(requests.len());
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for (pointer, value) in requests {
        let text = match is_base64 {
            true => value.as_text().and_then(|text| base64::decode(&text.display())).map(String::from_utf8),
            false => value.as_object().map(|_| Ok(json::write(value))),
        };
        // The API refuses a value that is not a request.
        let Some(text) = text.and_then(Result::ok).filter(|text| text.trim_start().starts_with('{')) else {
            replacements.push(None);
            continue;
        };
        let opened = Exchange::open_request(target.clone(), (url, &text), &options, cache);
        let opened = match opened.map_err(|error| error.below(&pointer)) {
            // The API reports errors for each request of a batch.
            Err(error) if is_later && options.on_set_aside != OnSetAside::Error => {
                let empty = without_tools(target, url, &options).ok().flatten().ok_or_else(|| error.clone())?;
                refused.push(error);
                Some((empty, true))
            }
            opened => opened?.map(|exchange| {
                let is_kept = is_later && !exchange.restore_map.is_empty();
                if is_kept {
                    kept.push(pointer.clone());
                }
                (exchange, is_kept)
            }),
        };
        let Some((mut exchange, is_kept)) = opened else {
            replacements.push(None);
            continue;
        };
        if is_kept {
            exchange.report = AdaptReport::new(exchange.report.dialect);
            exchange.warning = None;
        }
        let is_changed = !is_kept && exchange.request != text;
        let changed = |request: &str| match is_base64 {
            true => Ok(Node::string(base64::encode(request.as_bytes()))),
            false => json::read(request).map(|request| request.detached()),
        };
        replacements.push(is_changed.then(|| changed(&exchange.request)).transpose()?);
        exchange.report.shift_below(&pointer);
        match &mut all {
            Some(all) => {
                all.report.append(exchange.report);
                all.warning = all.warning.take().or(exchange.warning);
            }
            None => all = Some(exchange),
        }
    }
    let Some(mut all) = all else { return Ok(None) };
    all.request = body.into();
    all.report.betas = all.report.beta_changes.apply(&header);
    all.adapting.betas = Some(header);
    all.restore_map = RestoreMap::default();
    if options.on_set_aside == OnSetAside::Warn {
        let warnings = [all.warning.take(), kept_warning(&kept), refused_warning(&refused)];
        all.warning = warnings.into_iter().flatten().reduce(|first, second| SetAsideWarning {
            message: first.message + "; " + &second.message,
            key: first.key + "; " + &second.key,
        });
    }
    Ok(Some((all, replacements)))
}

/// Opens an exchange for a request with an empty history, in place of a request that cannot be adapted.
fn without_tools(target: &Target, url: &str, options: &ExchangeOptions) -> Result<Option<Exchange>, Error> {
    let body = Node::record([(wire::of(target.api).history(), Node::array(Vec::new()))]);
    Exchange::open_request(target.clone(), (url, &json::write(&body)), options, None)
}

fn kept_warning(pointers: &[String]) -> Option<SetAsideWarning> {
    let (count, first) = (pointers.len(), pointers.first()?);
    let message = format!(
        "{count} of the requests in a batch is sent as it came (the first one at `{first}`): the names or arguments of \
            its calls would have to be restored, and the replies of a batch arrive in another response; adapt it with \
            `adaptRequest`, and restore its reply with `restore`"
    );
    Some(SetAsideWarning { key: message.clone(), message })
}

fn refused_warning(errors: &[Error]) -> Option<SetAsideWarning> {
    let (count, first) = (errors.len(), errors.first()?);
    let (code, at, why) = (first.code().as_str(), first.pointer(), first.message());
    let message = format!(
        "{count} of the requests in a batch is sent as it came, because it cannot be adapted (the first one: {code} at \
            `{at}`: {why})"
    );
    Some(SetAsideWarning { key: message.clone(), message })
}

fn with_replacements(mut exchange: Exchange, body: &str, part: &Part, replacements: Replacements) -> Exchange {
    if replacements.iter().any(Option::is_some) {
        if let Ok(mut node) = json::read(body) {
            put(&mut node, (part, part.at), &mut replacements.into_iter());
            exchange.request = json::text_of(body, &node).into_owned();
        }
    }
    exchange
}

/// Replaces the values at a location, in the order of [`find`].
fn put(
    node: &mut Node<'_>,
    (part, at): (&Part, &'static [&'static str]),
    replacements: &mut impl Iterator<Item = Option<Node<'static>>>,
) {
    let Some((first, rest)) = at.split_first() else {
        if let Some(Some(value)) = replacements.next() {
            *node = value;
        }
        return;
    };
    if *first == EACH {
        let infallible = node.visit_children(|_, item| {
            put(item, (part, rest), replacements);
            Ok::<(), core::convert::Infallible>(())
        });
        infallible.unwrap_or_default();
    } else if let Some(name) = spelling_in(node, part, first) {
        node.visit(&*name, |member| put(member, (part, rest), replacements));
    }
}

impl AdaptReport {
    fn shift_below(&mut self, pointer: &str) {
        if pointer.is_empty() {
            return;
        }
        let shift = |text: &mut String| text.insert_str(0, pointer);
        for about in Arc::make_mut(&mut self.changes) {
            shift(&mut about.change.pointer);
            about.change.output_pointer.iter_mut().for_each(shift);
        }
        for about in &mut self.format_changes {
            shift(&mut about.change.pointer);
            about.change.output_pointer.iter_mut().for_each(shift);
        }
        self.quarantined.iter_mut().for_each(|tool| shift(&mut tool.pointer));
        self.request_changes.iter_mut().for_each(|change| shift(&mut change.pointer));
        let warnings = self.deferred.iter_mut().flat_map(|report| &mut report.warnings);
        warnings.filter_map(|warning| warning.pointer.as_mut()).for_each(shift);
    }

    /// Adds the report of another request. The choice remains the first request's choice, if it has one.
    fn append(&mut self, other: AdaptReport) {
        let AdaptReport { deferred, quarantined, changes, unforced, choice, request_changes, format_changes, .. } =
            other;
        // The requests share a header.
        self.beta_changes.add_changes(&other.beta_changes);
        Arc::make_mut(&mut self.changes).extend(changes.iter().cloned());
        self.quarantined.extend(quarantined);
        self.unforced.extend(unforced);
        self.choice = self.choice.take().or(choice);
        self.request_changes.extend(request_changes);
        self.format_changes.extend(format_changes);
        match (&mut self.deferred, deferred) {
            (Some(all), Some(more)) => all.append(more),
            (all, more) => *all = all.take().or(more),
        }
    }
}

impl DeferredReport {
    fn append(&mut self, other: DeferredReport) {
        self.loaded.extend(other.loaded);
        self.hidden.extend(other.hidden);
        self.warnings.extend(other.warnings);
        self.unreachable |= other.unreachable;
        self.saved_bytes += other.saved_bytes;
        for beta in other.betas {
            if !self.betas.contains(&beta) {
                self.betas.push(beta);
            }
        }
    }
}
