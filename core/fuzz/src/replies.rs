//! Replies in pieces: the cuts do not affect the result, and nothing is lost. The same holds for calls.

use std::borrow::Cow;

use arbitrary::{Result, Unstructured};
use serde_json::{json, Value};
use toolwire::{
    adapt_request, dialects,
    options::{CustomTools, Formats},
    AdaptOptions, DeferredOptions, RepairOptions, Restore,
};

use crate::{
    grammar::{self, Style},
    wire::{self, Wire},
};

pub(crate) fn verdict(data: &mut Unstructured<'_>) -> Result<std::result::Result<usize, String>> {
    let dialect = data.choose(dialects())?.id();
    let wire = *data.choose(&Wire::ALL)?;
    let mut request = wire.request(data)?;
    let has_format = data.ratio(1_u8, 3_u8)?;
    if has_format {
        let (key, format) = wire.response_format(data)?;
        request[key] = format;
    }
    let mut options = AdaptOptions::new(dialect);
    options.tools.format = Some(wire.format());
    if data.arbitrary()? {
        options.deferred = Some(DeferredOptions::default().custom_tools(CustomTools::Function));
    }
    if data.arbitrary()? {
        options = options.repair(RepairOptions::default());
    }
    if has_format {
        options.formats = *data.choose(&[Formats::Tool, Formats::Ladder, Formats::Prompt])?;
    }
    let Ok(adapted) = adapt_request(&request, &options) else { return Ok(Ok(1)) };
    let mut names = Vec::new();
    collect(&adapted.request["tools"], &mut names);
    let events = wire.events(&names, data)?;
    let text = write_events(&events, data)?;
    let about = |fault: String| format!("{dialect}, {wire:?}: {fault}\n  in  {request}\n  stream {text:?}");
    let whole = feed(&adapted.restore, &[&text]);
    for _ in 0..3 {
        let pieces = cut(&text, data)?;
        let in_pieces = feed(&adapted.restore, &pieces);
        if in_pieces != whole {
            return Ok(Err(about(format!("cut as {pieces:?}\n  gives {in_pieces:?}\n  whole {whole:?}"))));
        }
    }
    if has_format {
        if let Some(fault) = answer(&adapted.restore, wire, data)? {
            return Ok(Err(about(fault)));
        }
    }
    for name in &names {
        let arguments = wire::arguments(data)?;
        if let Some(fault) = call(&adapted.restore, name, &arguments, &cut(&arguments, data)?) {
            return Ok(Err(about(fault)));
        }
    }
    for event in &events {
        if let Err(error) = adapted.restore.reply(event) {
            return Ok(Err(about(format!("an event as a reply: {error}"))));
        }
    }
    Ok(Ok(1))
}

/// Returns a description of the difference if the text of an answer differs between a complete reply and a stream, with
/// one text part or several.
fn answer(restore: &Restore, wire: Wire, data: &mut Unstructured<'_>) -> Result<Option<String>> {
    let mut text = grammar::value(data, Style::Tidy)?;
    if data.arbitrary()? {
        text = format!("{{\"response\":{text}}}");
    }
    if data.arbitrary()? {
        let (before, word) =
            (data.choose(&["", "\n", "So: "])?, data.choose(&["json\n", "\n", "", "JSON ", "text\n"])?);
        text =
            format!("{before}```{word}{text}{}", data.choose(&["\n```", "```", "\n```\n", "\n```\nSo.", "\n``", ""])?);
    }
    if data.ratio(1_u8, 4_u8)? {
        let at = data.choose_index(text.chars().count().max(1))?;
        text = text.chars().take(at).collect();
    }
    let (texts, pieces) = (cut(&text, data)?, data.int_in_range(1..=9_usize)?);
    let (events, whole) = wire.answer(&texts, pieces);
    let mut stream = restore.stream();
    let mut found = String::new();
    for event in &events {
        match stream.feed(event) {
            Ok(events) => events.iter().for_each(|event| wire::text_of(event, &mut found)),
            // A `Value` cannot contain an unpaired surrogate, but text can.
            Err(_) => return Ok(None),
        }
    }
    stream.finish().unwrap_or_default().iter().for_each(|event| wire::text_of(event, &mut found));
    let (mut expected, Ok(restored)) = (String::new(), restore.reply(&whole)) else { return Ok(None) };
    wire::text_of(&restored.reply, &mut expected);
    let (changes, whole_changes) = (stream.take_answer_changes(), restored.answer_changes);
    Ok((found != expected || changes != whole_changes).then(|| {
        format!(
            "the answer {texts:?} is {found:?} with {changes:?} in pieces, {expected:?} with {whole_changes:?} whole"
        )
    }))
}

/// Returns a description of the difference if a complete call, its stream and its client item disagree.
fn call(restore: &Restore, name: &str, arguments: &str, pieces: &[&str]) -> Option<String> {
    let streamed = |pieces: &[&str]| {
        let mut stream = restore.call_stream(name);
        let out: std::result::Result<String, toolwire::Error> =
            pieces.iter().map(|piece| stream.feed_text(piece)).collect();
        out.and_then(|out| Ok(out + &stream.finish_text()?))
    };
    let (whole, in_pieces) = (streamed(&[arguments]), streamed(pieces));
    if whole != in_pieces {
        return Some(format!("{arguments:?} of `{name}` is {whole:?}, and {in_pieces:?} as {pieces:?}"));
    }
    // Both forms leave truncated arguments unclosed.
    let alone = restore.call(name, arguments).ok()?;
    if alone.repaired.is_some() && whole.as_deref() != Ok(&*alone.arguments) {
        return Some(format!("{arguments:?} of `{name}` is {whole:?} in a stream, and {alone:?} alone"));
    }
    let given = json!({"id": "c", "name": name, "arguments": arguments});
    let own = match restore.client_call(&given) {
        Ok(own) => own.call,
        // A `Value` cannot contain an unpaired surrogate, but text can.
        Err(error) if error.message().contains("half a surrogate pair") => return None,
        Err(error) => return Some(format!("{given} is not a call: {error}")),
    };
    let input = own["input"].as_str().filter(|_| own["type"] == "custom_tool_call")?;
    (whole.as_deref() != Ok(input)).then(|| format!("{given} is {own}, and {whole:?} in pieces"))
}

/// Returns the output of a stream that arrives in these pieces, including error codes.
fn feed(restore: &Restore, pieces: &[&str]) -> String {
    let mut stream = restore.stream();
    let mut out = String::new();
    let mut take = |result: std::result::Result<String, toolwire::Error>| match result {
        Ok(text) => out.push_str(&text),
        Err(error) => out.push_str(&format!("[{}]", error.code().as_str())),
    };
    for piece in pieces {
        take(stream.feed_text(piece).map(Cow::into_owned));
    }
    take(stream.finish_text());
    out.push_str(&format!("{:?}", stream.take_repaired_calls()));
    out
}

/// Returns the events as text, with and without event names, with any line ending, and with other lines between them.
fn write_events(events: &[Value], data: &mut Unstructured<'_>) -> Result<String> {
    let end = *data.choose(&["\n", "\r\n", "\r"])?;
    let mut text = String::new();
    for event in events {
        if data.ratio(1_u8, 3_u8)? {
            text.push_str(&format!("event: {}{end}", event["type"].as_str().unwrap_or("message")));
        }
        if data.ratio(1_u8, 6_u8)? {
            text.push_str(data.choose(&[
                ": a comment",
                "id: 1",
                "retry: 10",
                "data",
                "data: [DONE]",
                "data: {\"a\":",
            ])?);
            text.push_str(end);
        }
        text.push_str(&format!("data: {event}{end}{end}"));
    }
    if data.arbitrary()? {
        text.push_str(&format!("data: [DONE]{end}{end}"));
    } else if data.arbitrary()? {
        text.truncate(text.trim_end().len());
    }
    Ok(text)
}

/// Cuts the text into pieces between any two characters.
fn cut<'t>(text: &'t str, data: &mut Unstructured<'_>) -> Result<Vec<&'t str>> {
    let limit = *data.choose(&[1_usize, 2, 7, 40, 300])?;
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let count = data.int_in_range(1..=limit)?;
        let at = rest.char_indices().nth(count).map_or(rest.len(), |(at, _)| at);
        let (piece, left) = rest.split_at(at);
        pieces.push(piece);
        rest = left;
    }
    Ok(pieces)
}

/// Collects the names of the tools that were sent.
fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            names.extend(members.get("name").and_then(Value::as_str).map(String::from));
            for key in ["function", "functionDeclarations", "tools"] {
                members.get(key).into_iter().for_each(|inner| collect(inner, names));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}
