//! Plays the host: loads the built library, calls it through the C ABI, and checks the results that CLIProxyAPI would
//! receive.
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test fails by panicking, and calls a library through pointers"
)]

use std::{
    env,
    ffi::{c_char, c_int, c_void, CString},
    mem::MaybeUninit,
    ptr, slice,
    sync::{Mutex, MutexGuard, PoisonError},
};

use base64::{engine::general_purpose::STANDARD, Engine};
use libloading::{library_filename, Library, Symbol};
use serde_json::{json, Value};

#[repr(C)]
struct Buffer {
    ptr: *mut c_void,
    len: usize,
}

#[repr(C)]
struct PluginApi {
    abi_version: u32,
    call: Option<unsafe extern "C" fn(*const c_char, *const u8, usize, *mut Buffer) -> c_int>,
    free_buffer: Option<unsafe extern "C" fn(*mut c_void, usize)>,
    shutdown: Option<extern "C" fn()>,
}

type Init = unsafe extern "C" fn(*const c_void, *mut PluginApi) -> c_int;

/// A library is loaded once for a process, so only one test at a time has a host.
static ALONE: Mutex<()> = Mutex::new(());

struct Host {
    table: PluginApi,
    _library: Library,
    _alone: MutexGuard<'static, ()>,
}

impl Host {
    fn load() -> Host {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // Cargo builds the library into the tests' folder.
        let folder = env::current_exe().unwrap().parent().unwrap().to_owned();
        let path = folder.join(library_filename("toolwire"));
        let library = unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut table = MaybeUninit::<PluginApi>::zeroed();
        let init: Symbol<'_, Init> = unsafe { library.get(b"cliproxy_plugin_init") }.unwrap();
        assert_eq!(unsafe { init(ptr::null(), ptr::null_mut()) }, 1);
        assert_eq!(unsafe { init(ptr::null(), table.as_mut_ptr()) }, 0);
        let table = unsafe { table.assume_init() };
        assert_eq!(table.abi_version, 1);
        Host { table, _library: library, _alone: alone }
    }

    /// Calls a method, and returns its envelope.
    fn call(&self, method: &str, request: &[u8]) -> Value {
        let method = CString::new(method).unwrap();
        let mut response = Buffer { ptr: ptr::null_mut(), len: 0 };
        let (data, len) = (if request.is_empty() { ptr::null() } else { request.as_ptr() }, request.len());
        assert_eq!(unsafe { self.table.call.unwrap()(method.as_ptr(), data, len, &mut response) }, 0);
        let text = unsafe { slice::from_raw_parts(response.ptr.cast::<u8>(), response.len) }.to_vec();
        unsafe { self.table.free_buffer.unwrap()(response.ptr, response.len) };
        serde_json::from_slice(&text).unwrap()
    }

    fn result(&self, method: &str, request: &Value) -> Value {
        let envelope = self.call(method, request.to_string().as_bytes());
        assert_eq!(envelope["ok"], true, "{envelope}");
        envelope["result"].clone()
    }

    /// Returns the body that the host would use after a hook.
    fn body_after(&self, method: &str, request: &Value, body: &str) -> Option<String> {
        let mut request = request.clone();
        request["Body"] = STANDARD.encode(body).into();
        let result = self.result(method, &request);
        if result["DropChunk"] == true {
            return None;
        }
        let changed = result["Body"].as_str().map(|text| String::from_utf8(STANDARD.decode(text).unwrap()).unwrap());
        Some(changed.unwrap_or_else(|| body.to_owned()))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.table.shutdown.unwrap()();
    }
}

fn of(id: &str) -> Value {
    json!({"RequestID": id, "SourceFormat": "openai", "ToFormat": "openai", "Model": "kimi-k3", "ChunkIndex": 0})
}

fn asks() -> String {
    let schema = json!({
        "type": "object",
        "properties": {
            "$ref": {"type": "string"},
            "days": {"type": "integer"},
            "when": {"type": "string", "anyOf": [{"format": "date"}, {"format": "date-time"}]},
        },
    });
    let function = json!({"name": "weather.of", "parameters": schema});
    json!({
        "model": "kimi-k3",
        "messages": [{"role": "user", "content": "Rome?"}],
        "tools": [{"type": "function", "function": function}],
    })
    .to_string()
}

fn configured(host: &Host, yaml: &str) -> Value {
    let request = json!({"config_yaml": STANDARD.encode(yaml), "schema_version": 6});
    host.call("plugin.register", request.to_string().as_bytes())
}

#[test]
fn the_plugin_registers_and_refuses_wrong_settings() {
    let host = Host::load();
    let result = configured(&host, "enabled: true\ndialect: moonshot # Kimi\n")["result"].clone();
    assert_eq!(result["schema_version"], 2);
    assert_eq!(result["capabilities"]["request_interceptor"], true);
    assert_eq!(result["metadata"]["Name"], "toolwire");
    let wrong = configured(&host, "dialect: \"kimi\"\n");
    assert_eq!(
        wrong["error"],
        json!({"code": "invalid_config", "message": "expected the name of a dialect, found `kimi`"})
    );
    assert_eq!(host.call("model.route", b"{}")["error"]["code"], "unknown_method");
    assert_eq!(host.call("request.intercept_after", b"{")["error"]["code"], "invalid_request");
    assert_eq!(host.call("plugin.shutdown", b"")["ok"], true);
}

#[test]
fn a_request_is_adapted_and_its_whole_reply_restored() {
    let host = Host::load();
    configured(&host, "dialect: moonshot\n");
    let id = of("whole");
    let sent = host.body_after("request.intercept_after", &id, &asks()).unwrap();
    let body: Value = serde_json::from_str(&sent).unwrap();
    let function = &body["tools"][0]["function"];
    assert_eq!(function["name"], "weather_of");
    assert!(function["parameters"]["properties"]["when"].get("type").is_none(), "{sent}");
    // Another credential: the host may pass the adapted body again.
    assert_eq!(host.body_after("request.intercept_after", &id, &sent).unwrap(), sent);

    let called = json!({"name": "weather_of", "arguments": "{\"dollar_ref_\":\"main\",\"days\":\"3\"}"});
    let message = json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": called}]});
    let reply = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).to_string();
    let restored = host.body_after("response.intercept_after", &id, &reply).unwrap();
    assert!(restored.contains("weather.of"), "{restored}");
    assert!(restored.contains(r#"{\"$ref\":\"main\",\"days\":3}"#), "{restored}");

    // After its completion, and without an id, everything is passed on unchanged.
    host.result("request.complete", &id);
    assert_eq!(host.body_after("response.intercept_after", &id, &reply).unwrap(), reply);
    assert_eq!(host.body_after("request.intercept_after", &json!({"Model": "kimi-k3"}), &asks()).unwrap(), asks());
}

#[test]
fn streams_of_the_same_request_are_restored_independently() {
    let host = Host::load();
    configured(&host, "dialect: moonshot\n");
    let ids = [of("first"), of("second")];
    for id in &ids {
        host.body_after("request.intercept_after", id, &asks());
    }
    let chunk = |delta: Value, end: Value| {
        json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
            .to_string()
    };
    let call = |id: &str, name: Option<&str>, arguments: &str| {
        let mut function = json!({"arguments": arguments});
        if let Some(name) = name {
            function["name"] = name.into();
        }
        json!({"tool_calls": [{"index": 0, "id": id, "type": "function", "function": function}]})
    };
    let rest = ["{\"dollar_", "ref_\":\"main\",", "\"days\":\"3\"}"];
    // The two forms in which the host passes chunks: JSON alone for Chat Completions, and whole events.
    for (form, end) in [(false, ""), (true, "\n\n")] {
        let text = |json: String| if form { format!("data: {json}{end}") } else { json };
        let mut chunks = vec![text(chunk(json!({"role": "assistant", "content": "data: "}), Value::Null))];
        chunks.push(text(chunk(call("c", Some("weather_of"), ""), Value::Null)));
        chunks.extend(rest.map(|piece| text(chunk(call("c", None, piece), Value::Null))));
        chunks.push(text(chunk(json!({}), "tool_calls".into())));
        let mut got = [String::new(), String::new()];
        for piece in &chunks {
            for (id, got) in ids.iter().zip(&mut got) {
                if let Some(body) = host.body_after("response.intercept_stream_chunk", id, piece) {
                    assert!(body.ends_with(end));
                    // The event that CLIProxyAPI writes for such a chunk.
                    *got += &if form { body } else { format!("data: {body}\n\n") };
                }
            }
        }
        let [first, second] = got;
        assert_eq!(first, second);
        let mut arguments = String::new();
        for event in first.split("\n\n").filter(|event| !event.is_empty()) {
            let event: Value = serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap();
            let function = &event["choices"][0]["delta"]["tool_calls"][0]["function"];
            assert_ne!(function["name"], "weather_of");
            arguments += function["arguments"].as_str().unwrap_or_default();
        }
        assert_eq!(arguments, "{\"$ref\":\"main\",\"days\":3}");
        assert!(first.contains("weather.of"), "{first}");
        for id in &ids {
            host.result("request.complete", id);
            host.body_after("request.intercept_after", id, &asks());
        }
    }
}

#[test]
fn events_of_anthropic_messages_keep_their_names() {
    let host = Host::load();
    configured(&host, "dialect: moonshot\n");
    let mut id = of("messages");
    id["SourceFormat"] = "claude".into();
    let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
    let tools = json!([{"name": "weather.of", "input_schema": schema}]);
    let messages = json!([{"role": "user", "content": "Rome?"}]);
    let request = json!({"model": "kimi-k3", "max_tokens": 9, "messages": messages, "tools": tools}).to_string();
    host.body_after("request.intercept_after", &id, &request);
    let block = json!({"type": "tool_use", "id": "t", "name": "weather_of", "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": "{\"days\":\"3\"}"});
    let events = [
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
    ];
    let got: String = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .filter_map(|event| host.body_after("response.intercept_stream_chunk", &id, &event))
        .collect();
    assert!(got.contains("event: content_block_start\ndata: "), "{got}");
    assert!(got.contains("weather.of") && got.contains(r#"{\"days\":3}"#), "{got}");
    assert!(got.ends_with("\n\n"), "{got}");
}

#[test]
fn without_a_setting_the_model_determines_the_dialect() {
    let host = Host::load();
    configured(&host, "enabled: true\n");
    let mut id = of("by model");
    let kimi = host.body_after("request.intercept_after", &id, &asks()).unwrap();
    // Only for Kimi, the type is moved into the branches of `anyOf`.
    let type_of_when = |body: &str| {
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["tools"][0]["function"]["name"], "weather_of");
        body["tools"][0]["function"]["parameters"]["properties"]["when"]["type"].clone()
    };
    assert_eq!(type_of_when(&kimi), Value::Null, "{kimi}");
    // Another credential has another model: the client's request is adapted again, whichever body the host passes.
    id["Model"] = "gpt-5".into();
    for body in [kimi, asks()] {
        let gpt = host.body_after("request.intercept_after", &id, &body).unwrap();
        assert_eq!(type_of_when(&gpt), "string", "{gpt}");
        let call = json!({"name": "weather_of", "arguments": "{\"$ref\":\"main\"}"});
        let message = json!({"tool_calls": [{"id": "c", "type": "function", "function": call}]});
        let reply = json!({"choices": [{"index": 0, "message": message}]}).to_string();
        let restored = host.body_after("response.intercept_after", &id, &reply).unwrap();
        assert!(restored.contains("weather.of"), "{restored}");
        id["Model"] = "kimi-k3".into();
        host.body_after("request.intercept_after", &id, &asks());
        id["Model"] = "gpt-5".into();
    }
    // The beginning of a stream has no chunk.
    id["ChunkIndex"] = (-1).into();
    assert_eq!(host.result("response.intercept_stream_chunk", &id), json!({}));
}

/// Arguments that take too many steps to restore, and the schema of their tool (as in `core/tests/it/streams.rs`).
fn too_large() -> (Value, String) {
    let branch = |at: usize| {
        // No property has listed values, so every branch has to be tried.
        let properties = json!({"kind": {"type": "string"}, format!("note{at}"): {"type": "string"}});
        json!({"type": "object", "properties": properties, "required": ["kind"], "additionalProperties": false})
    };
    let branches: Vec<Value> = (0..400).map(branch).collect();
    let items = json!({"type": "array", "items": {"anyOf": branches}});
    let schema = json!({"type": "object", "properties": {"items": items}, "required": ["items"]});
    let item = json!({"kind": "x", "note399": null});
    (schema, json!({"items": vec![item; 9000]}).to_string())
}

#[test]
fn unrestorable_reply_becomes_an_error_in_the_clients_format() {
    let host = Host::load();
    configured(&host, "dialect: openai-strict\n");
    let (schema, arguments) = too_large();
    let function = json!({"name": "log", "parameters": schema});
    let chat = json!({
        "model": "gpt-5",
        "messages": [{"role": "user", "content": "Log."}],
        "tools": [{"type": "function", "function": function}],
    });
    let called = json!({"name": "log", "arguments": arguments});
    let calls = json!([{"index": 0, "id": "c", "type": "function", "function": called}]);
    let choice = |name: &str, value: Value, reason: Value| {
        json!({"choices": [{"index": 0, name: value, "finish_reason": reason}]}).to_string()
    };
    let id = of("whole");
    host.body_after("request.intercept_after", &id, &chat.to_string());
    let reply = choice("message", json!({"role": "assistant", "tool_calls": calls}), "tool_calls".into());
    let got = host.body_after("response.intercept_after", &id, &reply).unwrap();
    let error: Value = serde_json::from_str(&got).unwrap();
    assert_eq!(error["error"]["code"], "budget-exceeded", "{}", &got[..200.min(got.len())]);

    // The two forms of a chunk.
    for (name, start, end) in [("json", "", ""), ("event", "data: ", "\n\n")] {
        let id = of(name);
        let sent = host.body_after("request.intercept_after", &id, &chat.to_string()).unwrap();
        let chunks = [
            choice("delta", json!({"role": "assistant", "content": "So"}), Value::Null),
            choice("delta", json!({"tool_calls": calls}), Value::Null),
            choice("delta", json!({}), "tool_calls".into()),
            "[DONE]".to_owned(),
        ]
        .map(|text| format!("{start}{text}{end}"));
        let feed = |text: &String| host.body_after("response.intercept_stream_chunk", &id, text);
        let got: Vec<String> = chunks.iter().filter_map(feed).collect();
        let (last, first) = got.split_last().unwrap();
        assert!(first.iter().all(|chunk| !chunk.contains("note") && !chunk.contains("error")), "{first:?}");
        assert!(last.starts_with(&format!("{start}{{\"error\":{{")) && last.ends_with(&format!("}}}}{end}")), "{last}");
        assert!(last.contains(r#""code":"budget-exceeded""#), "{last}");

        // The host tries another credential: the new stream begins without the error of the previous one.
        assert_eq!(feed(&chunks[0]), None);
        assert_eq!(host.body_after("request.intercept_after", &id, &sent).unwrap(), sent);
        assert_eq!(feed(&chunks[0]).as_ref(), Some(&chunks[0]));
    }
}

#[test]
fn an_error_event_of_anthropic_messages_has_its_name() {
    let host = Host::load();
    configured(&host, "dialect: openai-strict\n");
    let (schema, arguments) = too_large();
    let mut id = of("messages");
    id["SourceFormat"] = "claude".into();
    let messages = json!([{"role": "user", "content": "Log."}]);
    let tools = json!([{"name": "log", "input_schema": schema}]);
    let request = json!({"model": "gpt-5", "max_tokens": 9, "messages": messages, "tools": tools}).to_string();
    host.body_after("request.intercept_after", &id, &request);
    let block = json!({"type": "tool_use", "id": "t", "name": "log", "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": arguments});
    let events = [
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_stop"}),
    ];
    let got: Vec<String> = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .filter_map(|event| host.body_after("response.intercept_stream_chunk", &id, &event))
        .collect();
    let [start, error] = &got[..] else { panic!("expected two events, found {}", got.len()) };
    assert!(start.starts_with("event: content_block_start\n"), "{start}");
    assert!(error.starts_with("event: error\ndata: {\"type\":\"error\",\"error\":{"), "{error}");
    assert!(error.contains("budget-exceeded") && error.ends_with("}\n\n"), "{error}");
}

#[test]
fn stream_starts_again_with_another_credential() {
    let host = Host::load();
    configured(&host, "dialect: moonshot\n");
    let id = of("again");
    let sent = host.body_after("request.intercept_after", &id, &asks()).unwrap();
    let chunk = |function: Value| {
        let calls = json!([{"index": 0, "id": "c", "type": "function", "function": function}]);
        json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": null}]}).to_string()
    };
    let whole = chunk(json!({"name": "weather_of", "arguments": "{\"dollar_ref_\":\"main\"}"}));
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}).to_string();
    let feed = |text: &str| host.body_after("response.intercept_stream_chunk", &id, text).unwrap_or_default();
    feed(&chunk(json!({"name": "weather_of", "arguments": "{\"dollar_ref_\":\"ma"})));
    assert_eq!(host.body_after("request.intercept_after", &id, &sent).unwrap(), sent);
    let got = feed(&whole) + &feed(&end);
    assert!(got.contains("weather.of") && got.contains(r#"{\"$ref\":\"main\"}"#), "{got}");
    assert!(!got.contains("error"), "{got}");
}

#[test]
fn unadaptable_request_is_rejected() {
    let host = Host::load();
    configured(&host, "dialect: moonshot\n");
    let mut id = of("rejected");
    id["Body"] = STANDARD.encode(json!({"model": "m", "messages": [], "tools": 3}).to_string()).into();
    let result = host.result("request.intercept_after", &id);
    assert_eq!(
        (&result["Reject"], &result["Terminate"], &result["StatusCode"]),
        (&json!(true), &json!(true), &json!(400))
    );
    assert!(result["RejectReason"].as_str().unwrap().contains("expected"), "{result}");
    let body = STANDARD.decode(result["ResponseBody"].as_str().unwrap()).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["error"]["code"], "invalid-request");
}
