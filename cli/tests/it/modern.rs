//! Servers and clients of MCP 2026-07-28, which has no `initialize`.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    io::Read as _,
    net::TcpStream,
    sync::{mpsc::channel, Mutex},
    thread,
    time::Duration,
};

use serde_json::{json, Value};

use crate::{
    client::{initialize_request, ProxyProcess},
    command::{program, ran},
    relay::{api, reply, write, Message},
};

const VERSION: &str = "2026-07-28";

/// A server in the language of the shell that knows only this version. It repeats what it receives.
pub(crate) const MODERN: &str = r#"
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=${line##*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"id":'*) ;;
    *) continue ;;
  esac
  case $line in
    *'modelcontextprotocol/protocolVersion":"2026-07-28"'*) ;;
    *) say '"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"]}}'; continue ;;
  esac
  case $line in
    *'"server/discover"'*) say '"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}}}' ;;
    *'"tools/list"'*) say '"result":{"resultType":"complete","tools":[{"name":"a.b","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}' ;;
    *) say '"result":{"resultType":"complete","content":[],"said":'"$line"'}' ;;
  esac
done
"#;

fn refuse(stream: &mut TcpStream, code: i32, id: &Value) {
    let error = json!({"code": code, "message": "no", "data": {"supported": [VERSION], "requested": "?"}});
    let body = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
    let head = format!("HTTP/1.1 400 No\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    write(stream, &format!("{head}{body}"));
}

/// A server at a URL that knows only this version, and demands its headers. Returns its port.
pub(crate) fn modern(answer: impl Fn(&Message, &mut TcpStream) -> Option<Value> + Send + Sync + 'static) -> u16 {
    api(move |request, stream| {
        if !request.start.starts_with("POST") {
            return write(stream, "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n");
        }
        let message = request.json();
        let stated = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        if stated != VERSION {
            // It has not read the id.
            return refuse(stream, -32022, &Value::Null);
        }
        let name = message["params"]["name"].as_str().or(message["params"]["uri"].as_str());
        let has = request.header("mcp-protocol-version") == Some(VERSION)
            && request.header("mcp-method") == message["method"].as_str()
            && request.header("mcp-name") == name;
        if !has {
            return refuse(stream, -32020, &message["id"]);
        }
        let result = match message["method"].as_str() {
            Some("server/discover") => {
                json!({"resultType": "complete", "supportedVersions": [VERSION], "capabilities": {"tools": {}}})
            }
            _ => match answer(request, stream) {
                Some(result) => result,
                None => return,
            },
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        reply(stream, "Content-Type: application/json\r\n", answer.as_bytes());
    })
}

#[test]
fn the_tools_of_a_server_without_initialize_are_listed() {
    let (stdout, stderr, _) = ran(program().args(["check", "-d", "openai-chat", "--", "sh", "-c", MODERN]), "");
    assert!(stdout.contains("tool-name"), "{stdout}{stderr}");
    let port = modern(|_, _| {
        Some(json!({"resultType": "complete", "tools": [{"name": "a.b", "inputSchema": {"type": "object"}}]}))
    });
    let url = format!("http://127.0.0.1:{port}/mcp");
    let (stdout, stderr, _) = ran(program().args(["check", "-d", "openai-chat", "--url", &url]), "");
    assert!(stdout.contains("tool-name"), "{stdout}{stderr}");
}

#[test]
fn a_server_of_an_unknown_version_is_an_error_that_names_it() {
    let script = MODERN.replace("[\"2026-07-28\"],\"capabilities", "[\"2999-01-01\"],\"capabilities");
    let (_, stderr, code) = ran(program().args(["check", "--", "sh", "-c", &script]), "");
    assert!(code == Some(2) && stderr.contains("versions are not supported: 2999-01-01\n"), "{stderr}");
    let script = "while IFS= read -r line; do echo '{\"id\":1,\"error\":{\"message\":\"first\"}}'; \
                  echo '{\"id\":2,\"error\":{\"message\":\"second\"}}'; done";
    let (_, stderr, code) = ran(program().args(["check", "--", "sh", "-c", script]), "");
    assert!(code == Some(2) && stderr.ends_with("did not list its tools: first\n"), "{stderr}");
}

fn stated(id: u64, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": VERSION});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn proxied(port: u16) -> ProxyProcess {
    let mut command = program();
    command.args(["proxy", "--url", &format!("http://127.0.0.1:{port}/mcp")]);
    ProxyProcess::start(command)
}

fn marked() -> Value {
    let region = json!({"type": "number", "x-mcp-header": "Region"});
    json!({"name": "a.b", "inputSchema": {"type": "object", "properties": {"region": region}}})
}

#[test]
fn clients_of_both_eras_call_the_tools_of_a_server_without_initialize() {
    let port = modern(|request, _| {
        Some(match request.json()["method"].as_str() {
            Some("tools/list") => json!({"tools": [marked()]}),
            _ => json!({"content": [], "header": request.header("mcp-param-region")}),
        })
    });
    let mut legacy = proxied(port).initialized();
    let list = legacy.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(list["result"]["tools"][0]["name"], "a_b", "{list}");
    let params = json!({"name": "a_b", "arguments": {"region": "2.5"}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    assert_eq!(legacy.ask(&call.to_string())["result"]["header"], "2.5");
    assert_eq!(legacy.end(), (String::new(), Some(0)));
    let mut client = proxied(port);
    assert_eq!(client.ask(&stated(1, "server/discover", json!({})))["result"]["supportedVersions"], json!([VERSION]));
    let call = stated(2, "tools/call", json!({"name": "a_b", "arguments": {"region": 2.5}}));
    assert_eq!(client.ask(&call)["result"]["header"], "2.5");
}

#[test]
fn a_modern_client_uses_a_legacy_program() {
    let mut command = program();
    command.args(["proxy", "--", "sh", "-c", crate::mcp::SERVER]);
    let mut client = ProxyProcess::start(command);
    // The server does not answer the first request, because it knows only its own methods.
    let list = client.ask(&stated(1, "tools/list", json!({})));
    assert_eq!(list["result"]["resultType"], "complete", "{list}");
    let said = client.ask(&stated(2, "tools/call", json!({"name": "a_b", "arguments": {"n": "1"}})));
    assert_eq!(said["result"]["said"]["params"], json!({"name": "a.b", "arguments": {"n": 1}}), "{said}");
}

#[test]
fn a_cancelled_call_ends_its_stream_and_needs_no_message() {
    let (ended, ends) = channel();
    let ended = Mutex::new(ended);
    let port = modern(move |request, stream| {
        if request.json()["method"] == "tools/list" {
            return Some(json!({"tools": [marked()]}));
        }
        write(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n:\n\n");
        let rest = stream.read(&mut [0; 10]);
        let _ = ended.lock().expect("no panic").send(rest.is_ok_and(|rest| rest == 0));
        None
    });
    let mut client = proxied(port);
    client.ask(&stated(1, "tools/list", json!({})));
    client.send(&stated(2, "tools/call", json!({"name": "a_b"})));
    thread::sleep(Duration::from_millis(300));
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    assert_eq!(ends.recv_timeout(Duration::from_secs(20)), Ok(true));
    assert_eq!(client.end(), (String::new(), Some(0)));
}

/// Whatever a server answers, each request has one answer.
#[test]
fn nonsense_is_an_error() {
    for (status, body) in [
        ("400 No", "nonsense"),
        ("400 No", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022}}"#),
        ("400 No", r#"{"error":{"code":-32022,"data":{"supported":7}}}"#),
        ("404 No", r#"{"jsonrpc":"2.0","id":"other","error":{"code":-32601,"message":"no"}}"#),
        ("200 OK", r#"{"jsonrpc":"2.0","id":null,"result":{}}"#),
        ("200 OK", r#"{"supportedVersions":["2026-07-28"]}"#),
        ("500 No", ""),
    ] {
        let port = api(move |_, stream| {
            let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
            write(stream, &format!("{head}\r\n\r\n{body}"));
        });
        let answer = proxied(port).ask(&stated(1, "tools/list", json!({})));
        assert!(answer["error"]["message"].is_string(), "{body}: {answer}");
        let answer = proxied(port).ask(&initialize_request());
        assert!(answer["error"].is_object(), "{body}: {answer}");
        let url = format!("http://127.0.0.1:{port}/mcp");
        assert_eq!(ran(program().args(["check", "--timeout", "5", "--url", &url]), "").2, Some(2), "{body}");
    }
}
