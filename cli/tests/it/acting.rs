//! An MCP server in the language of the shell that acts by the name of the called tool, also wrongly.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{json, Value};

use crate::client::ProxyProcess;

/// A script for `sh -c`. The variable SEEN may name a file, to which the script writes what has happened.
pub(crate) const ACTING: &str = r#"
say() { printf '{"jsonrpc":"2.0",%s}\n' "$1"; }
text() { say '"id":'"$1"',"result":{"content":[{"type":"text","text":"'"$2"'"}]}'; }
after() { rest=${line##*"\"$1\":"}; rest=${rest%%[,\}]*}; }
large() { printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"; head -c "$1" /dev/zero | tr '\0' y; printf '"}]}}\n'; }
seen() { [ -z "$SEEN" ] || echo "$1" >>"$SEEN"; }
schema='{"type":"object","properties":{"$ref":{"type":"string"},"count":{"type":"integer"}},"required":["$ref"]}'
tools='{"name":"files.read","inputSchema":'$schema'}'
for name in die leave hang flood rubbish wrong-id twice child big pid slow ask steps many; do
  tools=$tools',{"name":"'$name'","inputSchema":{"type":"object","properties":{}}}'
done
while IFS= read -r line; do
  after id; id=$rest
  case $line in
    *'"id":"question"'*) after text; text "$call" "${rest#\"}" | tr -d '\r' | sed 's/""/"/' ;;
    *'"initialize"'*) after protocolVersion; say '"id":'"$id"',"result":{"protocolVersion":'"$rest"',"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}' ;;
    *'"tools/list"'*) say '"id":'"$id"',"result":{"tools":['"$tools"']}' ;;
    *'"tools/call"'*) case $line in
      *'"name":"die"'*) exit 3 ;;
      *'"name":"leave"'*) setsid sleep 20 & exit 3 ;;
      *'"name":"hang"'*) ;;
      *'"name":"flood"'*) large 83886080 ;;
      *'"name":"big"'*) large 20971520 ;;
      *'"name":"rubbish"'*) printf 'Listening on port 3000\n\033[2Jnull\n{"a":\n'; text "$id" fine ;;
      *'"name":"wrong-id"'*) text "${id}000" 'not yours'; text "$id" yours ;;
      *'"name":"twice"'*) text "$id" first; text "$id" second ;;
      *'"name":"child"'*) sleep 1000 >/dev/null 2>&1 </dev/null & text "$id" $! ;;
      *'"name":"pid"'*) text "$id" $$ ;;
      *'"name":"slow"'*) after says; says=${rest#\"}; seen began; (sleep 0.3; text "$id" "${says%\"}"; seen answered) & ;;
      *'"name":"ask"'*) call=$id; say '"id":"question","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}' ;;
      *'"name":"steps"'*) after progressToken
        for step in 1 2; do say '"method":"notifications/progress","params":{"progressToken":'"$rest"',"progress":'$step',"total":2}'; done
        text "$id" there ;;
      *'"name":"many"'*) after progressToken; filled=$(head -c 10000 /dev/zero | tr '\0' x); step=0
        while [ $step -lt 4000 ]; do step=$((step + 1)); say '"method":"notifications/progress","params":{"progressToken":'"$rest"',"progress":'$step',"message":"'$filled'"}'
        [ $step -ne 2500 ] || seen '25 MB'; done
        text "$id" there ;;
      *) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"said":%s}}\n' "$id" "$line" ;;
    esac ;;
    *'"method"'*'"id"'*|*'"id"'*'"method"'*) say '"id":'"$id"',"result":{}' ;;
  esac
done
"#;

/// Number of tools of the server.
pub(crate) const TOOLS: usize = 15;

pub(crate) fn call(id: impl Into<Value>, name: &str, arguments: &Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params})
}

pub(crate) fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}")).into()
}

pub(crate) fn called(proxied: &mut ProxyProcess, name: &str, arguments: &Value) -> Value {
    proxied.ask(&call(name, name, arguments).to_string())
}

pub(crate) fn listed(proxied: &mut ProxyProcess) -> Vec<Value> {
    let answer = proxied.ask(r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#);
    answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list in {answer}")).clone()
}
