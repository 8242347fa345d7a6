//! `defer --turns` with conversations that are too long for the files of cases.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::{json, Value};
use toolwire_command::{Command, Need, Printed};

fn play(arguments: &[&str], request: &Value) -> Printed {
    let arguments = [&["defer", "--turns"], arguments].concat();
    let mut command = Command::new(&json!({"arguments": arguments, "environment": {}}).to_string());
    while let Some(need) = command.need() {
        match need {
            Need::Input => command.give(request.to_string().as_bytes()),
            _ => command.fail("ENOENT"),
        }
    }
    while command.step().is_some() {}
    command.finish()
}

fn talk(turns: usize) -> Value {
    let message = |role: &str| json!({"role": role, "content": "a"});
    let messages: Vec<Value> =
        (0..2 * turns - 1).map(|at| message(if at % 2 == 0 { "user" } else { "assistant" })).collect();
    json!({"model": "m", "messages": messages})
}

#[test]
fn a_conversation_of_more_than_200_turns_is_refused() {
    let longest = play(&[], &talk(200));
    assert_eq!(longest.exit_code, 0, "{}", longest.stderr);
    assert!(longest.stdout.contains("\nturn 200: "), "{}", longest.stdout);
    let more = play(&[], &talk(201));
    let expected = "limit-exceeded: expected at most 200 turns, found 201: leave earlier messages out";
    assert_eq!(more.stderr, format!("toolwire: <stdin>:/messages: {expected}\n"));
    assert_eq!((more.stdout.as_str(), more.exit_code), ("", 1));
}

/// Returns a conversation in which each turn removes a tool that an early message has loaded. Each removal changes that
/// message, and therefore the prompt from there on.
fn changing(turns: usize, text: &str) -> Value {
    let name = |at: usize| format!("t{at}");
    let tool = |at| json!({"name": name(at), "input_schema": {"type": "object"}, "defer_loading": true});
    let reference = |at| json!({"type": "tool_reference", "tool_name": name(at)});
    let find = json!({"name": "find", "input_schema": {"type": "object"}});
    let tools: Vec<Value> = std::iter::once(find).chain((0..turns).map(tool)).collect();
    let mut messages = Vec::from([
        json!({"role": "user", "content": "Go."}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "s", "name": "find", "input": {}}]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "s", "content": (0..turns).map(reference).collect::<Vec<_>>()},
            {"type": "text", "text": text},
        ]}),
    ]);
    for at in 0..turns {
        let removal = json!({"type": "tool_removal", "tool": {"type": "tool_reference", "name": name(at)}});
        messages.push(json!({"role": "assistant", "content": "Gone."}));
        messages.push(json!({"role": "user", "content": "Next."}));
        messages.push(json!({"role": "system", "content": [removal]}));
    }
    json!({"model": "m", "max_tokens": 64, "messages": messages, "tools": tools})
}

#[test]
fn repeated_large_messages_are_stored_once_and_limited_in_json() {
    let request = changing(24, &"a".repeat(4 << 20));
    let backend = ["--target", "openai-chat", "--native", "kimi"];
    let people = play(&backend, &request);
    assert_eq!(people.exit_code, 0, "{}", people.stderr);
    assert!((4 << 20..5 << 20).contains(&people.stdout.len()), "{} bytes", people.stdout.len());
    assert_eq!(people.stdout.matches("(1 earlier message changed)").count(), 23);
    let machines = play(&[&backend[..], &["--json"]].concat(), &request);
    let expected = "limit-exceeded: expected turns that show at most 64 MiB, found more in 17 of 26";
    assert_eq!(machines.stderr, format!("toolwire: <stdin>:/messages: {expected}: leave earlier messages out\n"));
    assert_eq!((machines.stdout.as_str(), machines.exit_code), ("", 1));
}
