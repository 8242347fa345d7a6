//! Servers and clients of MCP 2026-07-28, which has no `initialize`.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::net::TcpStream;

use serde_json::{json, Value};

use crate::{
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

/// Returns a version error with this id, as a server at a URL answers.
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
