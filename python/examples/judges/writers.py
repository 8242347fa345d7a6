"""Writes planned conversations in the six formats of requests."""

from __future__ import annotations

import json
from typing import Any

from plans import MODELS, Call, Conversation, Writer


class Anthropic(Writer):
    """Messages."""

    def text(self) -> dict[str, Any]:
        return {"type": "text", "text": self.mark(), **self.some(0.1, "cache_control", {"type": "ephemeral"})}

    def image(self) -> dict[str, Any]:
        sources = (
            {"type": "base64", "media_type": "image/png", "data": self.data()},
            {"type": "url", "url": f"https://example.com/{self.mark()}.png"},
        )
        return {"type": "image", "source": self.random.choice(sources)}

    def document(self) -> dict[str, Any]:
        sources = (
            {"type": "text", "media_type": "text/plain", "data": self.mark()},
            {"type": "base64", "media_type": "application/pdf", "data": self.data()},
            {"type": "url", "url": f"https://example.com/{self.mark()}.pdf"},
        )
        source = self.random.choice(sources)
        return {"type": "document", "source": source, **self.some(0.5, "title", self.mark())}

    def user(self, kinds: list[str]) -> None:
        if kinds == ["text"] and self.chance(0.5):
            self.history.append({"role": "user", "content": self.mark()})
            return
        made = {"text": self.text, "image": self.image, "document": self.document}
        self.history.append({"role": "user", "content": [made[kind]() for kind in kinds if kind in made]})

    def model(self, kinds: list[str], calls: list[Call]) -> None:
        if kinds in (["text"], ["refusal"]) and not calls and self.chance(0.5):
            self.history.append({"role": "assistant", "content": self.mark()})
            return
        blocks = [block for kind in kinds for block in self.part(kind)]
        for call in calls:
            if call.kind == "search" and self.chance(0.5):
                call.kind = "server-search"
                call.id = f"srv{call.id}"
                name = "tool_search_tool_bm25"
                blocks.append({"type": "server_tool_use", "id": call.id, "name": name, "input": call.arguments})
                found = {"type": "tool_search_tool_search_result", "tool_references": [self.reference(call.loads)]}
                blocks.append({"type": "tool_search_tool_result", "tool_use_id": call.id, "content": found})
                blocks.append(self.text())
                continue
            use = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
            blocks.append({**use, **self.some(0.1, "caller", {"type": "direct"})})
        self.history.append({"role": "assistant", "content": blocks})

    def reference(self, name: str) -> dict[str, Any]:
        return {"type": "tool_reference", "tool_name": name}

    def part(self, kind: str) -> list[dict[str, Any]]:
        if kind == "thinking":
            return [{"type": "thinking", "thinking": self.mark(), "signature": self.data()}]
        if kind == "redacted":
            return [{"type": "redacted_thinking", "data": self.data()}]
        if kind == "hosted":
            search = f"srvtoolu_{self.mark()}"
            page = {"type": "web_search_result", "url": f"https://example.com/{self.mark()}", "title": self.mark()}
            return [
                {"type": "server_tool_use", "id": search, "name": "web_search", "input": {"query": self.mark()}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": search,
                    "content": [{**page, "encrypted_content": self.data()}],
                },
            ]
        return [self.text()]

    def results(self, calls: list[Call]) -> None:
        blocks: list[Any] = []
        for call in calls:
            if call.kind == "server-search":
                continue
            content: Any = self.mark()
            if call.kind == "search":
                content = [self.reference(call.loads)]
            elif call.result == "blocks":
                source = {
                    "type": "search_result",
                    "source": self.mark(),
                    "title": self.mark(),
                    "content": [self.text()],
                }
                content = [self.text(), source if self.chance(0.3) else self.text()]
            elif call.result == "image":
                content = [self.text(), self.image()]
            block = {"type": "tool_result", "tool_use_id": call.id, "content": content}
            blocks.append({**block, **({"is_error": True} if call.result == "error" else {})})
        if not blocks:
            # The servers answered the search within the message.
            self.history.append({"role": "user", "content": self.mark()})
            return
        self.history.append({"role": "user", "content": blocks + ([self.text()] if self.chance(0.1) else [])})

    def system_message(self) -> None:
        content: Any = self.mark()
        if self.deferred and self.chance(0.5):
            content = [self.text(), self.change("tool_addition"), *self.later("tool_removal")]
        self.history.append({"role": "user", "content": self.mark()})
        self.history.append({"role": "system", "content": content})
        self.history.append({"role": "assistant", "content": self.mark()})

    def change(self, kind: str) -> dict[str, Any]:
        return {"type": kind, "tool": {"type": "tool_reference", "name": self.late[1]}}

    def later(self, kind: str) -> list[dict[str, Any]]:
        return [self.change(kind)] if self.chance(0.2) else []

    def tool(self, name: str) -> dict[str, Any]:
        return {
            "name": name,
            **self.some(0.8, "description", self.mark()),
            "input_schema": self.schema(),
            **self.some(0.1, "type", "custom"),
            **self.some(0.1, "input_examples", [{"q": self.mark()}]),
            **self.some(0.1, "eager_input_streaming", True),
            **self.some(0.1, "cache_control", {"type": "ephemeral", "ttl": "1h"}),
        }

    def request(self) -> dict[str, Any]:
        tools: list[Any] = [self.tool(name) for name in self.names]
        for name in self.late:
            late = self.tool(name)
            late.pop("cache_control", None)
            tools.append({**late, "defer_loading": True})
        if self.late:
            tools.append(
                {"name": "ToolSearch", "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}}}
            )
            tools.append({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"})
        if self.chance(0.2):
            tools.append({"type": "web_search_20250305", "name": "web_search", "max_uses": 3})
        named = {"type": "tool", "name": self.names[0]}
        choice = self.random.choice(({"type": "auto"}, {"type": "any"}, {"type": "none"}, named))
        answer = {"type": "json_schema", "schema": self.format_schema()}
        system = self.random.choice((self.mark(), [self.text(), self.text()]))
        return {
            "model": MODELS[self.api],
            "max_tokens": 9000,
            **self.some(0.7, "system", system),
            **self.some(0.2, "metadata", {"user_id": self.mark()}),
            **self.some(0.2, "stop_sequences", [self.mark()]),
            **self.some(0.2, "thinking", {"type": "enabled", "budget_tokens": 2000}),
            **self.some(0.2, "output_config", {"format": answer}),
            **self.some(0.2, "stream", True),
            "messages": self.history,
            "tools": tools,
            **self.some(0.4, "tool_choice", choice),
        }


class Chat(Writer):
    """Chat Completions."""

    def part(self, kind: str) -> dict[str, Any]:
        if kind == "image":
            return {"type": "image_url", "image_url": {"url": f"https://example.com/{self.mark()}.png"}}
        if kind == "document":
            data = f"data:application/pdf;base64,{self.data()}"
            return {"type": "file", "file": {"filename": f"{self.mark()}.pdf", "file_data": data}}
        if kind == "audio":
            return {"type": "input_audio", "input_audio": {"data": self.data(), "format": "wav"}}
        return {"type": "text", "text": self.mark()}

    def user(self, kinds: list[str]) -> None:
        content: Any = [self.part(kind) for kind in kinds]
        if kinds == ["text"] and self.chance(0.5):
            content = self.mark()
        self.history.append({"role": "user", "content": content, **self.some(0.05, "name", self.mark())})

    def model(self, kinds: list[str], calls: list[Call]) -> None:
        message: dict[str, Any] = {"role": "assistant"}
        if "refusal" in kinds:
            message |= {"content": None, "refusal": self.mark()}
        elif "text" in kinds:
            message["content"] = self.mark() if self.chance(0.7) else [self.part("text"), self.part("text")]
        elif self.chance(0.5):
            message["content"] = None
        made: list[Any] = []
        for call in calls:
            text = json.dumps(call.arguments)
            if call.custom:
                made.append({"id": call.id, "type": "custom", "custom": {"name": call.name, "input": self.mark()}})
            else:
                function = {"name": call.name, "arguments": text}
                made.append({"id": call.id, "type": "function", "function": function})
        self.history.append({**message, **({"tool_calls": made} if made else {})})

    def results(self, calls: list[Call]) -> None:
        for call in calls:
            content: Any = self.mark() if call.result != "blocks" else [self.part("text"), self.part("text")]
            self.history.append({"role": "tool", "tool_call_id": call.id, "content": content})

    def system_message(self) -> None:
        self.history.append({"role": self.random.choice(("system", "developer")), "content": self.mark()})

    def tool(self, name: str) -> dict[str, Any]:
        function = {"name": name, **self.some(0.8, "description", self.mark()), "parameters": self.schema()}
        return {"type": "function", "function": {**function, **self.some(0.1, "strict", False)}}

    def request(self) -> dict[str, Any]:
        # The format has no deferred tools: the flag is a member that toolwire reads, and no type has it.
        tools = [self.tool(name) for name in self.names]
        tools += [{**self.tool(name), "defer_loading": True} for name in self.late]
        if self.late:
            tools.append(self.tool("ToolSearch"))
        for name in self.custom:
            custom = {"name": name, "description": self.mark(), **self.some(0.5, "format", {"type": "text"})}
            tools.append({"type": "custom", "custom": custom})
        named = {"type": "function", "function": {"name": self.names[0]}}
        allowed = [{"type": "function", "function": {"name": name}} for name in self.names]
        some = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": allowed}}
        choice = self.random.choice(("auto", "none", "required", named, some))
        answer = {
            "type": "json_schema",
            "json_schema": {"name": "place", "schema": self.format_schema(), "strict": True},
        }
        if self.chance(0.7):
            role = self.random.choice(("system", "developer"))
            self.history.insert(0, {"role": role, "content": self.mark()})
            self.shift = 1
        return {
            "model": MODELS[self.api],
            **self.some(0.2, "max_completion_tokens", 9000),
            **self.some(0.2, "metadata", {"key": self.mark()}),
            **self.some(0.2, "stop", [self.mark()]),
            **self.some(0.2, "reasoning_effort", "low"),
            **self.some(0.2, "parallel_tool_calls", False),
            **self.some(0.2, "response_format", answer if self.chance(0.7) else {"type": "json_object"}),
            **self.some(0.2, "stream", True),
            "messages": self.history,
            "tools": tools,
            **self.some(0.4, "tool_choice", choice),
        }


class Responses(Writer):
    """Responses."""

    def part(self, kind: str) -> dict[str, Any]:
        if kind == "image":
            return {"type": "input_image", "detail": "auto", "image_url": f"https://example.com/{self.mark()}.png"}
        if kind == "document":
            data = f"data:application/pdf;base64,{self.data()}"
            return {"type": "input_file", "filename": f"{self.mark()}.pdf", "file_data": data}
        return {"type": "input_text", "text": self.mark()}

    def user(self, kinds: list[str]) -> None:
        content: Any = [self.part(kind) for kind in kinds if kind != "audio"]
        if kinds == ["text"] and self.chance(0.5):
            content = self.mark()
        self.history.append({"role": "user", "content": content, **self.some(0.5, "type", "message")})

    def model(self, kinds: list[str], calls: list[Call]) -> None:
        for kind in kinds:
            self.said(kind)
        for call in calls:
            text = json.dumps(call.arguments)
            if call.kind == "search":
                item = {"type": "tool_search_call", "call_id": call.id, "execution": "client", "status": "completed"}
                self.history.append({**item, "arguments": call.arguments})
            elif call.custom:
                item = {"type": "custom_tool_call", "call_id": call.id, "name": call.name}
                self.history.append({**item, "input": self.mark()})
            else:
                item = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": text}
                inner = {"namespace": call.name} if call.name in self.late else {}
                self.history.append({**item, **inner, **self.some(0.4, "id", f"fc_{self.mark()}")})

    def said(self, kind: str) -> None:
        if kind == "thinking":
            summary = [{"type": "summary_text", "text": self.mark()}]
            item = {"type": "reasoning", "id": f"rs_{self.mark()}", "summary": summary}
            self.history.append({**item, **self.some(0.7, "encrypted_content", self.data())})
        elif kind == "hosted":
            action = {"type": "search", "query": self.mark()}
            item = {"type": "web_search_call", "id": f"ws_{self.mark()}", "status": "completed"}
            self.history.append({**item, "action": action})
        elif kind in ("text", "refusal"):
            if kind == "text" and self.chance(0.4):
                self.history.append({"role": "assistant", "content": self.mark()})
                return
            text = {"type": "output_text", "text": self.mark(), "annotations": []}
            part = text if kind == "text" else {"type": "refusal", "refusal": self.mark()}
            item = {"type": "message", "id": f"msg_{self.mark()}", "role": "assistant", "status": "completed"}
            self.history.append({**item, "content": [part]})

    def results(self, calls: list[Call]) -> None:
        for call in calls:
            content: Any = self.mark()
            if call.kind == "search":
                kind = {"type": "tool_search_output", "call_id": call.id, "execution": "client", "status": "completed"}
                self.history.append({**kind, "tools": [self.definitions[call.loads]]})
                continue
            if call.result in ("blocks", "image"):
                content = [self.part("text"), self.part("image" if call.result == "image" else "text")]
            kind = {"type": "custom_tool_call_output" if call.custom else "function_call_output"}
            self.history.append({**kind, "call_id": call.id, "output": content})

    def system_message(self) -> None:
        if self.deferred and self.chance(0.5):
            tools = [self.tool("added_one")]
            self.history.append({"type": "additional_tools", "role": "developer", "tools": tools})
            return
        self.history.append({"role": self.random.choice(("system", "developer")), "content": self.mark()})

    def tool(self, name: str) -> dict[str, Any]:
        kind = {"type": "function", "name": name, **self.some(0.8, "description", self.mark())}
        return {**kind, "parameters": self.schema(), "strict": False}

    def plan(self) -> Conversation:
        self.definitions = {name: {**self.tool(name), "defer_loading": True} for name in ("late_one", "late/two")}
        return super().plan()

    def request(self) -> dict[str, Any]:
        tools: list[Any] = [self.tool(name) for name in self.names]
        tools += [self.definitions[name] for name in self.late]
        if self.late:
            query = {"type": "object", "properties": {"query": {"type": "string"}}}
            tools.append(
                {"type": "tool_search", "execution": "client", "description": self.mark(), "parameters": query}
            )
        for name in self.custom:
            lark = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}
            tools.append({"type": "custom", "name": name, "description": self.mark(), **self.some(0.5, "format", lark)})
        if self.chance(0.2):
            inner = [self.tool("inner_one"), self.tool("inner_two")]
            tools.append({"type": "namespace", "name": "crm", "description": self.mark(), "tools": inner})
        if self.chance(0.2):
            tools.append({"type": "web_search"})
        named = {"type": "function", "name": self.names[0]}
        some = {
            "type": "allowed_tools",
            "mode": "auto",
            "tools": [{"type": "function", "name": one} for one in self.names],
        }
        choice = self.random.choice(("auto", "none", "required", named, some))
        answer = {"type": "json_schema", "name": "place", "schema": self.format_schema(), "strict": True}
        return {
            "model": MODELS[self.api],
            **self.some(0.7, "instructions", self.mark()),
            **self.some(0.2, "max_output_tokens", 9000),
            **self.some(0.2, "metadata", {"key": self.mark()}),
            **self.some(0.2, "reasoning", {"effort": "low"}),
            **self.some(0.2, "parallel_tool_calls", False),
            **self.some(0.2, "text", {"format": answer}),
            **self.some(0.2, "store", False),
            **self.some(0.2, "stream", True),
            "input": self.history,
            "tools": tools,
            **self.some(0.4, "tool_choice", choice),
        }


class Gemini(Writer):
    """`generateContent`."""

    def part(self, kind: str) -> dict[str, Any]:
        if kind == "image":
            return {"inlineData": {"mimeType": "image/png", "data": self.data()}}
        if kind == "audio":
            return {"inlineData": {"mimeType": "audio/wav", "data": self.data()}}
        if kind == "document":
            return {"fileData": {"mimeType": "application/pdf", "fileUri": f"https://example.com/{self.mark()}.pdf"}}
        return {"text": self.mark()}

    def user(self, kinds: list[str]) -> None:
        self.history.append({"role": "user", "parts": [self.part(kind) for kind in kinds]})

    def model(self, kinds: list[str], calls: list[Call]) -> None:
        parts: list[dict[str, Any]] = []
        for kind in kinds:
            if kind == "thinking":
                parts.append({"text": self.mark(), "thought": True})
            elif kind == "hosted":
                parts.append({"executableCode": {"language": "PYTHON", "code": self.mark()}})
                parts.append({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": self.mark()}})
            elif kind in ("text", "refusal"):
                parts.append({"text": self.mark(), **self.some(0.2, "thoughtSignature", self.data())})
        self.ids = self.chance(0.5)
        for number, call in enumerate(calls):
            function = {"name": call.name, "args": call.arguments, **({"id": call.id} if self.ids else {})}
            signature = {"thoughtSignature": self.data()} if number == 0 else {}
            parts.append({"functionCall": function, **signature})
        self.history.append({"role": "model", "parts": parts or [{"text": self.mark()}]})

    def results(self, calls: list[Call]) -> None:
        parts: list[Any] = []
        for call in calls:
            key = "error" if call.result == "error" else "output"
            function: dict[str, Any] = {"name": call.name, "response": {key: self.mark()}}
            if call.kind == "search":
                function["response"] = {"tool_references": [{"tool_name": call.loads}]}
            elif call.result == "json":
                function["response"] = {self.mark(): [self.mark(), 1]}
            if call.result == "image":
                function["parts"] = [{"inlineData": {"mimeType": "image/png", "data": self.data()}}]
            parts.append({"functionResponse": {**function, **({"id": call.id} if self.ids else {})}})
        self.history.append({"role": "user", "parts": parts})

    def tool(self, name: str) -> dict[str, Any]:
        described = {"name": name, "description": self.mark()}
        if self.carrier == "parameters":
            city = {"type": "STRING", "description": self.mark(), **self.some(0.3, "enum", ["a", "b"])}
            return {**described, "parameters": {"type": "OBJECT", "properties": {"q": city}, "required": ["q"]}}
        return {**described, "parametersJsonSchema": self.schema()}

    def request(self) -> dict[str, Any]:
        self.carrier = self.random.choice(("parameters", "parametersJsonSchema"))
        functions = [self.tool(name) for name in self.names]
        # The format has no deferred tools: the flag is a member that toolwire reads, and no type has it.
        functions += [{**self.tool(name), "defer_loading": True} for name in self.late]
        if self.late:
            functions.append(self.tool("ToolSearch"))
        modes = ({"mode": "AUTO"}, {"mode": "ANY"}, {"mode": "NONE"})
        named = {"mode": "ANY", "allowedFunctionNames": self.names[:2]}
        choice = self.random.choice((*modes, named))
        generation = {
            **self.some(0.3, "maxOutputTokens", 9000),
            **self.some(0.3, "stopSequences", [self.mark()]),
            **self.some(0.3, "thinkingConfig", {"includeThoughts": True}),
        }
        if self.chance(0.2):
            generation |= {"responseMimeType": "application/json", "responseJsonSchema": self.format_schema()}
        return {
            **self.some(0.7, "systemInstruction", {"parts": [{"text": self.mark()}]}),
            "contents": self.history,
            "tools": [{"functionDeclarations": functions}],
            **self.some(0.4, "toolConfig", {"functionCallingConfig": choice}),
            **({"generationConfig": generation} if generation else {}),
            **self.some(0.1, "labels", {"key": self.mark()}),
        }


class Interactions(Writer):
    """Gemini Interactions."""

    def part(self, kind: str) -> dict[str, Any]:
        if kind == "image":
            where = {"uri": f"https://example.com/{self.mark()}.png"} if self.chance(0.5) else {"data": self.data()}
            return {"type": "image", "mime_type": "image/png", **where}
        if kind == "document":
            return {"type": "document", "data": self.data(), "mime_type": "application/pdf"}
        if kind == "audio":
            return {"type": "audio", "data": self.data(), "mime_type": "audio/wav"}
        return {"type": "text", "text": self.mark()}

    def user(self, kinds: list[str]) -> None:
        self.history.append({"type": "user_input", "content": [self.part(kind) for kind in kinds]})

    def model(self, kinds: list[str], calls: list[Call]) -> None:
        for kind in kinds:
            if kind == "thinking":
                summary = [{"type": "text", "text": self.mark()}]
                self.history.append({"type": "thought", "signature": self.data(), **self.some(0.7, "summary", summary)})
            elif kind == "hosted":
                search = f"gs_{self.mark()}"
                arguments = {"queries": [self.mark()]}
                self.history.append({"type": "google_search_call", "id": search, "arguments": arguments})
                found = [{"search_suggestions": self.mark()}]
                self.history.append({"type": "google_search_result", "call_id": search, "result": found})
            elif kind in ("text", "refusal"):
                self.history.append({"type": "model_output", "content": [self.part("text")]})
        for call in calls:
            if call.kind == "search":
                item = {"type": "tool_search_call", "id": call.id, "arguments": {"function_names": [call.loads]}}
                self.history.append({**item, **self.some(0.5, "signature", self.data())})
                continue
            item = {"type": "function_call", "id": call.id, "name": call.name, "arguments": call.arguments}
            self.history.append(item)

    def results(self, calls: list[Call]) -> None:
        for call in calls:
            result: Any = [self.part("text")]
            if call.kind == "search":
                item = {"type": "tool_search_result", "call_id": call.id, "result": [self.definitions[call.loads]]}
                self.history.append({**item, **self.some(0.5, "signature", self.data())})
                continue
            if call.result in ("blocks", "image"):
                result = [self.part("text"), self.part("image" if call.result == "image" else "text")]
            elif call.result == "json":
                result = {"value": self.mark()}
            elif call.result == "text" and self.chance(0.5):
                result = self.mark()
            item = {"type": "function_result", "call_id": call.id, "name": call.name, "result": result}
            self.history.append({**item, **({"is_error": True} if call.result == "error" else {})})

    def tool(self, name: str) -> dict[str, Any]:
        return {"type": "function", "name": name, "description": self.mark(), "parameters": self.schema()}

    def plan(self) -> Conversation:
        self.definitions = {name: {**self.tool(name), "defer_loading": True} for name in ("late_one", "late/two")}
        return super().plan()

    def request(self) -> dict[str, Any]:
        tools: list[Any] = [self.tool(name) for name in self.names]
        tools += [self.definitions[name] for name in self.late]
        if self.late:
            query = {"type": "object", "properties": {"query": {"type": "string"}}}
            client = {"execution": "client", "name": "find_tools", "description": self.mark(), "parameters": query}
            tools.append({"type": "tool_search", **(client if self.chance(0.5) else {})})
        if self.chance(0.2):
            tools.append({"type": "google_search"})
        some = {"allowed_tools": {"mode": "any", "tools": self.names[:2]}}
        choice = self.random.choice(("auto", "none", "any", some))
        answer = {"type": "text", "mime_type": "application/json", "schema": self.format_schema()}
        generation = {**self.some(0.3, "max_output_tokens", 9000), **self.some(0.3, "tool_choice", choice)}
        return {
            "model": MODELS[self.api],
            **self.some(0.7, "system_instruction", self.mark()),
            "input": self.history,
            "tools": tools,
            **({"generation_config": generation} if generation else {}),
            **self.some(0.2, "response_format", answer),
            **self.some(0.2, "store", False),
            **self.some(0.2, "stream", True),
        }


class Converse(Writer):
    """Bedrock Converse."""

    def part(self, kind: str) -> dict[str, Any]:
        if kind == "image":
            return {"image": {"format": "png", "source": {"bytes": self.data()}}}
        if kind == "document":
            return {"document": {"format": "pdf", "name": self.mark(), "source": {"bytes": self.data()}}}
        return {"text": self.mark()}

    def user(self, kinds: list[str]) -> None:
        parts = [self.part(kind) for kind in kinds if kind != "audio"]
        point = [{"cachePoint": {"type": "default"}}] if self.chance(0.1) else []
        self.history.append({"role": "user", "content": parts + point})

    def model(self, kinds: list[str], calls: list[Call]) -> None:
        parts: list[Any] = []
        for kind in kinds:
            if kind == "thinking":
                text = {"text": self.mark(), "signature": self.data()}
                parts.append({"reasoningContent": {"reasoningText": text}})
            elif kind == "redacted":
                parts.append({"reasoningContent": {"redactedContent": self.data()}})
            elif kind in ("text", "refusal"):
                parts.append(self.part("text"))
        for call in calls:
            parts.append({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}})
        self.history.append({"role": "assistant", "content": parts or [self.part("text")]})

    def results(self, calls: list[Call]) -> None:
        parts: list[Any] = []
        for call in calls:
            content: list[Any] = [self.part("text")]
            if call.kind == "search":
                content = [{"json": {"tool_references": [{"tool_name": call.loads}]}}]
            elif call.result == "json":
                content = [{"json": {self.mark(): [self.mark()]}}]
            elif call.result in ("blocks", "image"):
                content.append(self.part("image" if call.result == "image" else "text"))
            status = {"status": "error"} if call.result == "error" else {}
            parts.append({"toolResult": {"toolUseId": call.id, "content": content, **status}})
        self.history.append({"role": "user", "content": parts})

    def system_message(self) -> None:
        parts = [self.part("text")]
        if self.deferred and self.chance(0.5):
            parts.append({"toolAddition": {"tool": {"type": "tool_reference", "name": self.late[1]}}})
        self.history.append({"role": "user", "content": [self.part("text")]})
        self.history.append({"role": "system", "content": parts})
        self.history.append({"role": "assistant", "content": [self.part("text")]})

    def tool(self, name: str) -> dict[str, Any]:
        tool = {"name": name, "description": self.mark(), "inputSchema": {"json": self.schema()}}
        return {"toolSpec": tool}

    def request(self) -> dict[str, Any]:
        tools: list[Any] = [self.tool(name) for name in self.names]
        # The format has no deferred tools: the flag is a member that toolwire reads, and no type has it.
        tools += [{**self.tool(name), "defer_loading": True} for name in self.late]
        if self.late:
            tools.append(self.tool("ToolSearch"))
        if self.chance(0.2):
            tools.append({"cachePoint": {"type": "default"}})
        choice: Any = self.random.choice(({"auto": {}}, {"any": {}}, {"tool": {"name": self.names[0]}}))
        structure = {"jsonSchema": {"schema": json.dumps(self.format_schema()), "name": "place"}}
        answer = {"textFormat": {"type": "json_schema", "structure": structure}}
        return {
            "modelId": MODELS[self.api],
            **self.some(0.7, "system", [{"text": self.mark()}]),
            "messages": self.history,
            "toolConfig": {"tools": tools, **self.some(0.4, "toolChoice", choice)},
            **self.some(0.3, "inferenceConfig", {"maxTokens": 9000, "stopSequences": [self.mark()]}),
            **self.some(0.2, "outputConfig", answer),
            **self.some(0.2, "requestMetadata", {"key": self.mark()}),
        }
