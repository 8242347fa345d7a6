//! Tool lists and whole requests: text and value agree, the output is accepted, a second run changes nothing, and
//! everything omitted is reported.

use arbitrary::{Result, Unstructured};
use serde_json::{json, Value};
use toolwire::{
    adapt_request, apply_deferred_loading, check_tools, dialects,
    options::{Api, Formats, Native, OnSetAside, Overflow},
    reports::Severity,
    sanitize_tools, AdaptOptions, Code, DeferredOptions, DialectId, Error, Exchange, ExchangeOptions, Restore,
    SanitizedTools, ToolListCache, ToolSet, ToolsOptions,
};

use crate::wire::Wire;

pub(crate) fn verdict(data: &mut Unstructured<'_>) -> Result<std::result::Result<usize, String>> {
    let dialect = data.choose(dialects())?.id();
    let wire = *data.choose(&Wire::ALL)?;
    let mut request = wire.request(data)?;
    let (target, native) = *data.choose(&ROUTES)?;
    if data.ratio(1_u8, 3_u8)? {
        let (key, format) = wire.response_format(data)?;
        request[key] = format;
    }
    let about = |fault: String| format!("{dialect}, {wire:?}: {fault}\n  in  {request}");
    let checked = list(&request["tools"], dialect, wire)
        .and_then(|()| whole(&request, dialect, wire))
        .and_then(|()| open_exchange(&request, dialect, wire))
        .and_then(|()| translate(&request, target, native))
        .map_err(about);
    Ok(checked.map(|()| 1))
}

/// Every target, with each of its native constructs.
const ROUTES: [(Api, Native); 9] = [
    (Api::Anthropic, Native::None),
    (Api::Anthropic, Native::References),
    (Api::Anthropic, Native::Changes),
    (Api::Anthropic, Native::Inline),
    (Api::OpenaiResponses, Native::None),
    (Api::OpenaiResponses, Native::AdditionalTools),
    (Api::OpenaiResponses, Native::ToolSearch),
    (Api::OpenaiChat, Native::None),
    (Api::OpenaiChat, Native::Kimi),
];

/// Translates the request to another API: text and value must agree, and a second run must change nothing.
fn translate(request: &Value, target: Api, native: Native) -> std::result::Result<(), String> {
    let options = DeferredOptions::default().target(target).native(native);
    let route = format!("to {target:?} with {native:?}");
    let by_text = apply_deferred_loading(request.to_string().as_str(), &options)
        .map(|done| done.request)
        .map(|text| text.into_owned());
    match (apply_deferred_loading(request, &options).map(|done| done.request).map(|value| value.to_string()), by_text) {
        (Ok(value), Ok(written)) if value == written => {
            match apply_deferred_loading(written.as_str(), &options).map(|done| done.request) {
                Ok(again) if again == written => Ok(()),
                Ok(again) => Err(format!("{route}: not idempotent\n  out {written}\n  2nd {again}")),
                Err(error) => Err(format!("{route}: refuses its own request: {error}\n  out {written}")),
            }
        }
        (Ok(value), Ok(written)) => Err(format!("{route} by value {value}\n  by text {written}")),
        (Err(one), Err(two)) => errors(&one, &two),
        (one, two) => Err(format!("{route}: {} by value, {} by text", describe(one.err()), describe(two.err()))),
    }
}

/// A tool set must give the same result, at first and after another list.
fn compare_tool_set(
    tools: &Value,
    options: &ToolsOptions,
    expected: &SanitizedTools<&Value>,
) -> std::result::Result<(), String> {
    let mut set = ToolSet::new(tools).map_err(|error| format!("a tool set: {error}"))?;
    for turn in 0..2 {
        let found = set.sanitize(options).map_err(|error| format!("a tool set: {error}"))?;
        let same = found.tools == expected.tools
            && found.quarantined == expected.quarantined
            && found.changes() == expected.changes()
            && found.lossless == expected.lossless
            && found.restore.to_json() == expected.restore.to_json();
        if !same {
            return Err(format!("a tool set, turn {turn}: {}\n  and alone {}", found.tools, expected.tools));
        }
        let fewer = tools.as_array().map(|tools| tools.iter().skip(1).cloned().collect::<Value>());
        if let Some(fewer) = fewer.filter(|fewer| turn == 0 && fewer != tools) {
            set.update(&fewer).and_then(|_| set.sanitize(options)).map_err(|error| format!("fewer tools: {error}"))?;
            set.update(tools).map_err(|error| format!("a tool set: {error}"))?;
        }
    }
    Ok(())
}

/// Checks a tool list.
fn list(tools: &Value, dialect: DialectId, wire: Wire) -> std::result::Result<(), String> {
    let mut options = ToolsOptions::new(dialect);
    options.format = Some(wire.format());
    let text = tools.to_string();
    let (by_value, by_text) = (sanitize_tools(tools, &options), sanitize_tools(&text, &options));
    let (value, written) = match (by_value, by_text) {
        (Ok(value), Ok(text)) => (value, text),
        (Err(one), Err(two)) => return errors(&one, &two),
        (one, two) => return Err(format!("a list: {} by value, {} by text", describe(one.err()), describe(two.err()))),
    };
    if value.tools.to_string() != written.tools {
        return Err(format!("a list by value {}\n  by text {}", value.tools, written.tools));
    }
    store_and_read(&value.restore)?;
    compare_tool_set(tools, &options, &value)?;
    if !dialect.as_str().starts_with("codex") {
        match check_tools(&value.tools, &[dialect]) {
            Ok(found) if found.iter().all(|violation| violation.severity == Severity::Ignored) => {}
            other => return Err(format!("check of the list: {other:?}\n  out {}", value.tools)),
        }
    }
    match sanitize_tools(&value.tools, &options) {
        Ok(again) if again.tools == value.tools => Ok(()),
        Ok(again) => Err(format!("the list is not idempotent\n  out {}\n  2nd {}", value.tools, again.tools)),
        Err(error) => Err(format!("refuses its own list: {error}\n  out {}", value.tools)),
    }
}

/// Checks a whole request, with deferred tools.
fn whole(request: &Value, dialect: DialectId, wire: Wire) -> std::result::Result<(), String> {
    let text = request.to_string();
    let deferred = DeferredOptions::default();
    match (
        apply_deferred_loading(request, &deferred).map(|done| done.request),
        apply_deferred_loading(&text, &deferred).map(|done| done.request),
    ) {
        (Ok(value), Ok(written)) if value.to_string() == written => {}
        (Ok(value), Ok(written)) => return Err(format!("deferred by value {value}\n  by text {written}")),
        (Err(one), Err(two)) => errors(&one, &two)?,
        (one, two) => {
            return Err(format!("deferred: {} by value, {} by text", describe(one.err()), describe(two.err())))
        }
    }
    let mut options = AdaptOptions::new(dialect).deferred(deferred);
    options.tools.format = Some(wire.format());
    for formats in [Formats::Native, Formats::Tool, Formats::Prompt, Formats::Ladder] {
        options.formats = formats;
        adapt(request, &options)?;
    }
    // Lists with more tools than the API accepts.
    adapt(request, &options.overflow(Overflow::Defer).max_tools(2))
}

/// Adapts the request by value and by text, which must agree.
fn adapt(request: &Value, options: &AdaptOptions) -> std::result::Result<(), String> {
    let text = request.to_string();
    match (adapt_request(request, options), adapt_request(&text, options)) {
        (Ok(value), Ok(written)) if value.request.to_string() == written.request => store_and_read(&value.restore),
        (Ok(value), Ok(written)) => Err(format!("adapted by value {}\n  by text {}", value.request, written.request)),
        (Err(one), Err(two)) => errors(&one, &two),
        (one, two) => Err(format!("adapted: {} by value, {} by text", describe(one.err()), describe(two.err()))),
    }
}

/// Opens the request as an exchange.
fn open_exchange(request: &Value, dialect: DialectId, wire: Wire) -> std::result::Result<(), String> {
    let (url, text) = (wire.url(), request.to_string());
    let options = ExchangeOptions::default().dialect(dialect);
    let exchange = match Exchange::open(url, &text, &options) {
        Ok(None) => return Err(format!("`{url}` is not known")),
        Ok(Some(exchange)) => exchange,
        Err(error) => {
            let refusal: Value =
                serde_json::from_str(&Exchange::refusal(url, &error)).map_err(|error| error.to_string())?;
            let describe =
                refusal["error"]["message"].as_str().is_some_and(|describe| describe.contains(error.message()));
            return if describe { errors(&error, &error) } else { Err(format!("the refusal {refusal} of {error}")) };
        }
    };
    let (aside, sent) = (&exchange.report().quarantined, exchange.request());
    if exchange.warning().is_some() == aside.is_empty() {
        return Err(format!("warns {:?} of {aside:?}", exchange.warning()));
    }
    let cache = ToolListCache::default();
    for turn in ["first", "second"] {
        match Exchange::open_cached(url, &text, &options, &cache) {
            Ok(Some(kept)) if kept.request() == sent && kept.report() == exchange.report() => {}
            other => return Err(format!("with a list cache, the {turn} time: {other:?}\n  alone {exchange:?}")),
        }
    }
    let forbids = options.on_set_aside(OnSetAside::Error);
    match Exchange::open(url, &text, &forbids) {
        Ok(_) if aside.is_empty() => {}
        Err(error) if !aside.is_empty() && error.code() == Code::NotRepresentable => {}
        other => return Err(format!("no tool may be missing: {:?} of {aside:?}", other.err())),
    }
    let searching = ExchangeOptions::default().dialect(dialect).overflow(Overflow::Defer).max_tools(2);
    if let Ok(Some(mut exchange)) = Exchange::open(url, &text, &searching) {
        // The exchange must accept any reply.
        exchange.reply(&text).map_err(|error| format!("a reply: {error}"))?;
    }
    // A request that requires a call must have tools.
    let sent: Value = serde_json::from_str(sent).map_err(|error| error.to_string())?;
    let has_tools = |request: &Value| request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let demands = [json!("required"), json!({"type": "any"})].contains(&request["tool_choice"]);
    if demands && wire != Wire::Gemini && has_tools(request) && !has_tools(&sent) {
        return Err(format!("requires a call, but sends no tool: {sent}"));
    }
    Ok(())
}

/// Checks that restore data can be stored and read again.
fn store_and_read(restore: &Restore) -> std::result::Result<(), String> {
    let text = restore.to_json();
    match Restore::from_json(&text) {
        Ok(again) if again.to_json() == text => Ok(()),
        other => Err(format!(
            "`restore` changed when it was written and read again: {:?}\n  {text}",
            other.map(|again| again.to_json())
        )),
    }
}

/// Checks that both errors are equal, and that neither is an exceeded budget or depth.
fn errors(one: &Error, two: &Error) -> std::result::Result<(), String> {
    let same = one.code() == two.code() && one.pointer() == two.pointer() && one.message() == two.message();
    if !same || matches!(one.code(), Code::BudgetExceeded | Code::TooDeep) {
        return Err(format!("errors: {one} by value, {two} by text"));
    }
    Ok(())
}

fn describe(error: Option<Error>) -> String {
    error.map_or_else(|| "an answer".into(), |error| error.to_string())
}
