"""Verdicts on the public reports in `issue_cases_4.jsonl`, if that file exists next to the checkout.

Each row states the result that a user must get (`expected`). `CONDITIONS` implements that as a function of the row.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import toolwire
from reference import ROOT, sources

Condition: TypeAlias = Callable[[Any], bool]

PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "toolwire"
CHAT_URL = "http://localhost/v1/chat/completions"
ID_MEMBERS = {"id", "call_id", "toolUseId", "tool_use_id", "tool_call_id"}

UNSOLVED = {
    "history-qwen-template": "out of scope: the server's template reads arguments that the protocol defines as text",
    "choice-gemini-any-without-parameters": "not covered: one report of June 2025, and no recorded answer confirms it",
    "choice-gemini-any-without-parameters-mcp": "not covered: the schema of a tool without arguments is left out",
    "schema-nova-dialect": "not covered: the reason of `dialect_for` does not name Nova; one fact of `bedrock` does",
    "schema-vscode-defs": "not covered: only `cowork` inlines references, `vscode` and `claude-desktop` keep them",
    "schema-zod-raw": "wrong: `check` names the Zod validator, but the tool is sent without arguments",
    "stream-text-xml": "out of scope: the server has to parse the text of its model",
    "fireworks-camel": "out of scope: the spelling of an SDK, in a member that is not about tools",
    "copilot-studio": "out of scope: the thread names no cause",
}
"""The unsolved rows, with the reason."""


def expanded(value: Any) -> Any:
    """Replace `{"$repeat": [text, count]}`, with which the file shortens long text."""
    if isinstance(value, dict):
        if "$repeat" in value:
            text, count = value["$repeat"]
            return text * count
        return {key: expanded(item) for key, item in value.items()}
    return [expanded(item) for item in value] if isinstance(value, list) else value


ROWS: list[Any] = [
    expanded(row) for source in sources() if source.name == "whole" for row in source.rows("issue_cases_4.jsonl")
]


# Requests.


def violations(request: Any, row: Any) -> set[str]:
    """Return the constraints that `check_request` reports as refused."""
    options = {key: value for key, value in row["call"]["opts"].items() if key in {"dialect", "host", "model"}}
    check: Any = toolwire.check_request
    return {violation.constraint for violation in check(request, **options) if violation.severity == "refused"}


def adapted(row: Any) -> Any:
    return toolwire.adapt_request(row["input"], **row["call"]["opts"])


def sent(row: Any) -> Any:
    return adapted(row).request


def fixes(constraint: str, holds: Condition | None = None) -> Condition:
    """Return true if the request violates a constraint, and the adapted one fulfills it and reports the change."""

    def condition(row: Any) -> bool:
        result = adapted(row)
        rules = {change.rule for change in result.report.request_changes}
        return (
            constraint in violations(row["input"], row)
            and constraint in rules
            and constraint not in violations(result.request, row)
            and (holds is None or holds(result.request))
        )

    return condition


def sends(holds: Condition) -> Condition:
    return lambda row: holds(sent(row))


def ids_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        ids = [item for key, item in value.items() if key in ID_MEMBERS]
        return ids + [name for item in value.values() for name in ids_of(item)]
    return [name for item in value for name in ids_of(item)] if isinstance(value, list) else []


def has_ids(pattern: str) -> Condition:
    """Return true if the call and its result have one id, which matches the pattern."""

    def condition(request: Any) -> bool:
        ids = ids_of(request)
        return len(ids) == 2 and len(set(ids)) == 1 and re.fullmatch(pattern, ids[0]) is not None

    return condition


def lacks(*members: str) -> Condition:
    return lambda request: not any(f'"{member}"' in json.dumps(request) for member in members)


def item_ids_fit(request: Any) -> bool:
    calls = [item for item in request["input"] if item.get("type") == "function_call"]
    return len(calls) == 1 and calls[0].get("id", "fc_").startswith("fc_")


def declares_read(request: Any) -> bool:
    (tool,) = request["toolConfig"]["tools"]
    schema = tool["toolSpec"]["inputSchema"]["json"]
    is_open = schema.get("additionalProperties", True) is not False
    return tool["toolSpec"]["name"] == "read" and schema["type"] == "object" and is_open


def hosted_tool_is_set_aside(row: Any) -> bool:
    result = adapted(row)
    return [tool["name"] for tool in result.request["tools"]] == ["read"] and [
        tool.name for tool in result.report.quarantined
    ] == ["web_search"]


def flags_are_equal(request: Any) -> bool:
    return len({tool["function"].get("strict", False) for tool in request["tools"]}) == 1


def empty_description_is_left_out(row: Any) -> bool:
    found = toolwire.check_tools(row["input"]["toolConfig"]["tools"], dialects=["bedrock"])
    (tool,) = sent(row)["toolConfig"]["tools"]
    return "description" not in tool["toolSpec"] and [violation.constraint for violation in found] == [
        "empty-description"
    ]


def responses_are_complete(request: Any) -> bool:
    _, calls, results = request["contents"]
    return sum("functionCall" in part for part in calls["parts"]) == sum(
        "functionResponse" in part for part in results["parts"]
    )


def result_is_first(request: Any) -> bool:
    return [block["type"] for block in request["messages"][2]["content"]] == ["tool_result", "text"]


def response_is(expected: Any) -> Condition:
    return lambda request: request["contents"][2]["parts"][0]["functionResponse"]["response"] == expected


def allowed_functions_are_the_tools(row: Any) -> bool:
    """Add a second function, which the choice excludes."""
    (tools,) = row["input"]["tools"]
    tools = {"functionDeclarations": [*tools["functionDeclarations"], {"name": "write", "description": "Writes."}]}
    longer = {**row, "input": {**row["input"], "tools": [tools]}}

    def holds(request: Any) -> bool:
        (sent_tools,) = request["tools"]
        names = [function["name"] for function in sent_tools["functionDeclarations"]]
        return names == ["read"] and lacks("allowedFunctionNames")(request)

    return fixes("choice-kind", holds)(row) and fixes("choice-kind", holds)(longer)


def functions_have_parameters(tools: Any) -> bool:
    return all(function.get("parameters", {}).get("type") == "object" for function in tools[0]["functionDeclarations"])


def has_placeholder(request: Any) -> bool:
    return bool(request["contents"][1]["parts"][0]["thoughtSignature"] == "skip_thought_signature_validator")


def arguments_are_json(request: Any) -> bool:
    return isinstance(json.loads(request["messages"][1]["tool_calls"][0]["function"]["arguments"]), dict)


def calls_without_tools(row: Any) -> bool:
    return "calls-without-tools" in violations(row["input"], row) or "tools" in sent(row)


def is_documented_as_untranslated(_: Any) -> bool:
    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [], "tool_choice": "required"}
    with pytest.raises(toolwire.ToolwireError, match="`generateContent` are not translated"):
        toolwire.adapt_request(request, dialect="gemini", deferred={"target": "gemini"})
    return True


def compatible_format_is_strict(row: Any) -> bool:
    """Anthropic accepts 24 optional properties, so the condition does not demand that all are required."""
    result = adapted(row).request["response_format"]["json_schema"]
    schema = result["schema"]
    is_closed = schema["additionalProperties"] is False
    return result["strict"] is True and is_closed and lacks("minimum")(schema) and not violations(sent(row), row)


def format_is_translated(request: Any) -> bool:
    schema = request["output_config"]["format"]["schema"]
    return "response_format" not in request and schema["additionalProperties"] is False


def other_forms_do_without_the_format(_: Any) -> bool:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    native = {"type": "json_schema", "json_schema": {"name": "p", "schema": schema}}
    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "response_format": native}
    tool = toolwire.adapt_request(request, dialect="portable", formats="tool").request
    prompt = toolwire.adapt_request(request, dialect="portable", formats="prompt").request
    is_forced = tool["tool_choice"]["function"]["name"] == tool["tools"][0]["function"]["name"]
    is_described = '"required":["a"]' in prompt["messages"][0]["content"]
    return is_forced and is_described and "response_format" not in {**tool, **prompt}


def namespace_is_flattened(row: Any) -> bool:
    (tool,) = sent(row)["tools"]
    is_described = "GitHub." in tool["description"] and "Finds." in tool["description"]
    return fixes("namespace")(row) and tool["type"] == "function" and is_described


# Schemas and lists.


def refusals(schema: Any, options: Any) -> set[str]:
    return {violation.constraint for violation in toolwire.check(schema, **options) if violation.severity == "refused"}


def rewrites(constraint: str | None, holds: Condition) -> Condition:
    """Return true if a schema violates a constraint, and the rewritten one fulfills all and has a property."""

    def condition(row: Any) -> bool:
        options = {"dialect": row["call"]["dialect"], **row["call"].get("opts", {})}
        schema = toolwire.sanitize(row["input"], **options).schema
        before = refusals(row["input"], options)
        return (constraint in before if constraint else not before) and not refusals(schema, options) and holds(schema)

    return condition


def property_is(name: str, expected: Any) -> Condition:
    return lambda schema: schema["properties"][name] == expected


def property_has_type(name: str) -> Condition:
    return lambda schema: "type" in schema["properties"][name]


def branches_have_types(schema: Any) -> bool:
    return all("type" in branch for branch in schema.get("anyOf", []))


def lost_reference_is_reported(row: Any) -> bool:
    changes = toolwire.sanitize(row["input"], dialect=row["call"]["dialect"]).changes
    is_reported = any(change.rule == "unresolved-ref" and change.accepts == "wider" for change in changes)
    return is_reported and rewrites("ref-target", lacks("$ref"))(row)


def root_is_named(row: Any) -> bool:
    with pytest.raises(toolwire.ToolwireError, match="expected a root that accepts an object") as raised:
        toolwire.sanitize(row["input"], dialect="openai-chat")
    constraints = refusals(row["input"], {"dialect": "openai-chat"})
    return raised.value.code == "not-representable" and "root-object" in constraints


def zod_validator_is_set_aside_or_read(row: Any) -> bool:
    result = toolwire.sanitize_tools([{"name": "q", "inputSchema": row["input"]}], dialect="anthropic")
    found = toolwire.check(row["input"], dialect="anthropic")
    is_solved = bool(result.quarantined) or "query" in result.tools[0]["input_schema"]["properties"]
    return is_solved and any("Zod" in violation.message for violation in found)


def arguments_are_restored(row: Any) -> bool:
    result = toolwire.sanitize(row["input"], dialect="anthropic")
    legal, *_ = result.schema["required"]
    arguments = toolwire.restore_arguments({legal: 1}, result.restore_plan)
    keys_are_legal = all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", key) for key in result.schema["properties"])
    return arguments == {"$top": 1} and keys_are_legal and rewrites("property-name", lambda _: True)(row)


def keys_are_legal_and_distinct(schema: Any) -> bool:
    keys = list(schema["properties"])
    return len(keys) == 2 and all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", key) for key in keys)


def dialect_knows_nova(row: Any) -> bool:
    choice = toolwire.dialect_for(**row["input"])
    return "nova" in f"{choice.dialect} {choice.because}".lower()


def groq_tool_is_widened(row: Any) -> bool:
    tools = [{"name": "web_search", "inputSchema": row["input"]}]
    result = toolwire.sanitize_tools(tools, dialect="groq", lenient_types=True)
    types = result.tools[0]["function"]["parameters"]["properties"]["count"]["type"]
    call = result.restore.call("web_search", {"query": "x", "count": "3"})
    return {"integer", "string"} <= set(types) and call.arguments == {"query": "x", "count": 3}


def listed(row: Any) -> Any:
    """Return the rewritten list, of which nothing is set aside."""
    result = toolwire.sanitize_tools(row["input"], dialect=row["call"]["dialect"])
    assert not result.quarantined
    return result.tools


def finds_in_list(row: Any) -> set[str]:
    found = toolwire.check_tools(row["input"], dialects=[row["call"]["dialect"]])
    return {violation.constraint for violation in found if violation.severity == "refused"}


def lists(constraint: str | None, holds: Condition) -> Condition:
    """Return true if a list violates a constraint, and the rewritten one has a property."""

    def condition(row: Any) -> bool:
        found = finds_in_list(row)
        return (constraint in found if constraint else not found) and holds(listed(row))

    return condition


def function_has_no_parameters_or_an_object(tools: Any) -> bool:
    return "parameters" not in tools[0]["functionDeclarations"][0] or functions_have_parameters(tools)


def has_a_legal_name(tools: Any) -> bool:
    return re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tools[0]["name"]) is not None


def output_schema_is_gone_or_fixed(tools: Any) -> bool:
    return tools[0].get("outputSchema", {"type": "object"})["type"] == "object"


# Calls, replies and streams.


def repaired(expected: Any) -> Condition:
    def condition(row: Any) -> bool:
        result = toolwire.repair_arguments(row["input"]["arguments"], row["input"]["schema"])
        return bool(result.arguments == expected) and result.valid is True

    return condition


def truncation_is_refused(row: Any) -> bool:
    with pytest.raises(toolwire.ToolwireError, match="truncated") as raised:
        toolwire.repair_arguments(row["input"]["arguments"], row["input"]["schema"])
    return raised.value.code == "invalid-json"


def opened(row: Any) -> toolwire.Exchange:
    exchange = toolwire.Exchange.open(CHAT_URL, json.dumps(row["input"]["request"]), **row["call"]["opts"])
    assert exchange is not None
    return exchange


def replies(arguments: str) -> Condition:
    def condition(row: Any) -> bool:
        reply = json.loads(opened(row).reply(json.dumps(row["input"]["reply"])) or "")
        (call,) = reply["choices"][0]["message"]["tool_calls"]
        return bool(call["function"]["arguments"] == arguments)

    return condition


def streams(*expected: tuple[int, str, str]) -> Condition:
    """Return true if a client that joins the pieces with one index gets these indexes, names and arguments."""

    def condition(row: Any) -> bool:
        exchange = opened(row)
        text = "".join(exchange.feed_text(f"data: {json.dumps(event)}\n\n") for event in row["input"]["events"])
        text += exchange.feed_text("data: [DONE]\n\n") + exchange.finish_text()
        calls: dict[int, tuple[str, str]] = {}
        for data in re.findall(r"^data: (\{.*)$", text, re.MULTILINE):
            for piece in json.loads(data)["choices"][0]["delta"].get("tool_calls", []):
                name, arguments = calls.get(piece["index"], ("", ""))
                function = piece["function"]
                calls[piece["index"]] = (name + function.get("name", ""), arguments + function.get("arguments", ""))
        return [(index, *call) for index, call in sorted(calls.items())] == list(expected)

    return condition


# The proxy.

SERVER = """
import json, sys
given = json.loads(sys.argv[1])
info = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = info
    elif message["method"] == "tools/list":
        result = {"tools": given["tools"]}
    else:
        result = given["result"] or {"content": [{"type": "text", "text": json.dumps(message["params"])}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def proxied(row: Any, *flags: str) -> tuple[Any, Any]:
    """List the tools and call the first one through `toolwire proxy`, and return the tool and the result of the call.

    Without a result in the row, the server returns the parameters of the call as text.
    """
    if not PROGRAM.is_file():
        pytest.skip(f"{PROGRAM} is not compiled")
    given = {"tools": row["input"]["tools"], "result": row["input"].get("result")}
    server = ["--", sys.executable, "-c", SERVER, json.dumps(given)]
    command = [str(PROGRAM), "proxy", *row["call"]["flags"], *flags, *server]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(number: int, method: str, params: Any) -> Any:
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            print(json.dumps(message), file=process.stdin, flush=True)
            answers = (json.loads(line) for line in process.stdout or [])
            return next(answer for answer in answers if answer.get("id") == number)["result"]

        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        ask(1, "initialize", client)
        print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=process.stdin, flush=True)
        (tool,) = ask(2, "tools/list", {})["tools"]
        arguments = row["input"]["call"]["arguments"]
        result = ask(3, "tools/call", {"name": tool["name"], "arguments": arguments})
        process.stdin.close()
    return tool, result


def received(result: Any) -> Any:
    """Return the parameters of the call, as the server received them."""
    return json.loads(result["content"][0]["text"])


def name_leaves_room_for_the_prefix(row: Any) -> bool:
    tool, result = proxied(row, "--name", "s")
    return len(f"mcp__s__{tool['name']}") <= 64 and received(result)["name"] == row["input"]["tools"][0]["name"]


def name_is_legal_and_restored(row: Any) -> bool:
    tool, result = proxied(row)
    return has_a_legal_name([tool]) and received(result)["name"] == row["input"]["tools"][0]["name"]


def the_object_arrives(row: Any) -> bool:
    return bool(received(proxied(row)[1])["arguments"] == {"body": {"data": {"a": 1}}})


def error_has_no_structured_content(row: Any) -> bool:
    result = proxied(row)[1]
    return "structuredContent" not in result and result["content"] == row["input"]["result"]["content"]


def structured_content_is_added(row: Any) -> bool:
    tool, result = proxied(row)
    return "outputSchema" not in tool or result.get("structuredContent") == {"t": 1}


def structured_content_is_text(*flags: str) -> Condition:
    def condition(row: Any) -> bool:
        content = row["input"]["result"]["structuredContent"]
        texts = [block["text"] for block in proxied(row, *flags)[1]["content"]]
        return any(text.startswith("{") and json.loads(text) == content for text in texts)

    return condition


PARIS = '{"city":"paris"}'
ROME = '{"city":"rome"}'

CONDITIONS: dict[str, Condition] = {
    "id-mistral-inplace": fixes("call-id", has_ids(r"[a-zA-Z0-9]{9}")),
    "id-anthropic-inplace": fixes("call-id", has_ids(r"[a-zA-Z0-9_-]+")),
    "id-anthropic-from-chat": sends(has_ids(r"[a-zA-Z0-9_-]+")),
    "id-responses-too-long": fixes("call-id", has_ids(r".{1,64}")),
    "id-responses-too-long-from-chat": sends(has_ids(r".{1,64}")),
    "id-responses-item-id-from-anthropic": sends(item_ids_fit),
    "id-bedrock-pattern": fixes("call-id", has_ids(r"[a-zA-Z0-9_.:-]{1,64}")),
    "id-kimi-kept": sends(has_ids(r"functions\.Bash:0")),
    "tool-member-gateway": fixes(
        "unsupported-member", lacks("eager_input_streaming", "input_examples", "allowed_callers")
    ),
    "tool-strict-mixed": sends(flags_are_equal),
    "tool-hosted-fireworks": hosted_tool_is_set_aside,
    "tool-mcp-members": lists(None, lacks("title", "_meta", "annotations", "icons", "execution")),
    "tool-empty-description": empty_description_is_left_out,
    "tool-empty-description-mcp": lists("empty-description", lacks("description")),
    "list-empty": fixes("empty-list", lacks("tools")),
    "list-empty-openai": fixes("empty-list", lacks("tools")),
    "name-client-prefix-claude": name_leaves_room_for_the_prefix,
    "pairs-gemini-parallel": fixes("history-pairs", responses_are_complete),
    "pairs-anthropic-orphan-call": fixes("history-pairs", has_ids("t1")),
    "pairs-anthropic-late-text": fixes("history-pairs", result_is_first),
    "pairs-minimax-orphan-result": fixes("history-pairs", lacks("tool_call_id")),
    "pairs-responses-orphan-output": fixes("history-pairs", lacks("function_call_output")),
    "pairs-server-search": fixes("search-result", lacks("server_tool_use")),
    "history-bedrock-no-toolconfig": fixes("calls-without-tools", declares_read),
    "history-bedrock-no-tools-chat": calls_without_tools,
    "history-gemini-signature": fixes("call-signature", has_placeholder),
    "history-gemini-response-text": fixes("result-not-object", response_is({"result": "plain text"})),
    "history-gemini-response-list": fixes("result-not-object", response_is({"result": [1, 2]})),
    "history-mistral-role-order": fixes("turn-order", lambda request: request["messages"][3]["role"] == "assistant"),
    "history-dashscope-interrupted": fixes("history-arguments", arguments_are_json),
    "choice-gemini-allowed-auto": allowed_functions_are_the_tools,
    "choice-gemini-any-without-parameters": sends(lambda request: functions_have_parameters(request["tools"])),
    "choice-gemini-any-without-parameters-mcp": lists(None, functions_have_parameters),
    "choice-anthropic-any-to-responses": sends(lambda request: request["tool_choice"] == "required"),
    "choice-anthropic-none-to-chat": sends(lambda request: request["tool_choice"] == "none"),
    "choice-required-to-gemini": is_documented_as_untranslated,
    "schema-nova-dialect": dialect_knows_nova,
    "schema-fireworks-required-branches": rewrites("untyped", branches_have_types),
    "schema-vscode-array-items": rewrites("array-without-items", property_is("keys", {"type": "array", "items": {}})),
    "schema-copilot-cli-no-properties": rewrites("object-without-properties", lambda schema: not schema["properties"]),
    "schema-vscode-defs": rewrites(None, lacks("$ref", "$defs")),
    "schema-refs-inline-option": rewrites(None, lacks("$ref", "$defs")),
    "schema-ref-into-properties": rewrites(
        "refused-keyword", property_is("b", {"type": "object", "properties": {"x": {"type": "string"}}})
    ),
    "schema-openapi-ref": lost_reference_is_reported,
    "schema-php-empty-array-nested": rewrites(
        "properties-not-object", lambda schema: not isinstance(schema["properties"]["o"].get("properties"), list)
    ),
    "schema-root-string": root_is_named,
    "schema-gemini-enum-untyped": rewrites("untyped", property_is("a", {"type": "string", "enum": ["x", "y"]})),
    "schema-zod-raw": zod_validator_is_set_aside_or_read,
    "schema-format-uint": lambda row: rewrites(None, lambda schema: bool(schema == row["input"]))(row),
    "schema-anthropic-odata-roundtrip": arguments_are_restored,
    "schema-anthropic-long-key": rewrites("property-name", keys_are_legal_and_distinct),
    "schema-vertex-empty": lists(None, function_has_no_parameters_or_an_object),
    "schema-vertex-empty-property": rewrites("untyped", property_has_type("x")),
    "format-anthropic-compat-strict": compatible_format_is_strict,
    "format-chat-to-anthropic": sends(format_is_translated),
    "format-fireworks-strict-kept": lambda row: bool(sent(row) == row["input"]),
    "format-silent-ignore": other_forms_do_without_the_format,
    "format-anthropic-grammar-budget": lambda row: "format-schema" in violations(row["input"], row),
    "mcp-desktop-dots": lists("tool-name", has_a_legal_name),
    "mcp-desktop-dots-proxy": name_is_legal_and_restored,
    "mcp-output-array": lists("root-object", output_schema_is_gone_or_fixed),
    "mcp-input-empty": lists("root-object", lambda tools: tools[0]["inputSchema"]["type"] == "object"),
    "mcp-error-structured": error_has_no_structured_content,
    "mcp-structured-missing": structured_content_is_added,
    "mcp-structured-lost-summary": structured_content_is_text("--structured-text", "missing"),
    "mcp-structured-only": structured_content_is_text(),
    "mcp-output-csp": lambda row: finds_in_list(row) == set() and bool(listed(row) == row["input"]),
    "mcp-array-as-text": the_object_arrives,
    "mcp-array-items-as-text": repaired({"children": [{"type": "paragraph"}]}),
    "args-null": replies("{}"),
    "args-object-in-reply": replies('{"path":"a"}'),
    "args-truncated-not-run": truncation_is_refused,
    "groq-validates-calls": groq_tool_is_widened,
    "stream-shared-index": streams((0, "a.time", PARIS), (1, "a.weather", ROME)),
    "stream-shared-index-strict": streams((0, "a.time", PARIS), (1, "a.weather", ROME)),
    "stream-missing-index": streams((0, "a.time", PARIS)),
    "stream-cumulative": streams((0, "a.time", PARIS)),
    "stream-wrong-index": streams((0, "a.time", PARIS)),
    "stream-name-repeated": streams((0, "a.time", PARIS)),
    "namespace-flatten": namespace_is_flattened,
}
"""The result that a user must get, by the id of the row."""


def test_each_row_has_a_verdict() -> None:
    if not ROWS:
        pytest.skip("issue_cases_4.jsonl is not next to this checkout")
    ids = [row["id"] for row in ROWS]
    assert len(ids) == 84
    assert set(ids) == {*CONDITIONS, *UNSOLVED}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_row_is_solved_unless_the_table_names_it(row: Any) -> None:
    name = row["id"]
    is_solved = name in CONDITIONS and CONDITIONS[name](row)
    assert is_solved or name in UNSOLVED, f"not solved: {row['expected']}"
    assert not is_solved or name not in UNSOLVED, "solved: remove the row from `UNSOLVED`"
