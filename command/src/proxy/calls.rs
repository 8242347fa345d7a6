//! Tool calls and their results.

use toolwire::{
    json::{self, Node},
    validate_result,
};

use super::{
    catalogue::Target,
    gathering::What,
    message::{self, Envelope, INVALID_PARAMS, SERVER_ERROR},
    Effect, Pending, Proxy, State, Waiting, MAX_WAITING, TOOLS_CALL,
};

impl Proxy {
    /// Handles a call from the client. A call waits for the first tool list, because only that list maps its name to a
    /// tool.
    pub(super) fn call(&mut self, envelope: &Envelope, message: &Node<'_>, text: &str, is_whole: bool) {
        let (id, key) = (envelope.id.as_str(), envelope.key.as_str());
        if !self.catalogue.is_given() {
            let size: usize = self.waiting.iter().map(|waiting| waiting.text.len()).sum();
            if size.saturating_add(text.len()) > MAX_WAITING {
                let found = "too many calls are waiting for the list of tools";
                return self.write_client(message::error(id, SERVER_ERROR, found));
            }
            let is_asked = !self.waiting.is_empty();
            self.waiting.push(Waiting { id: id.into(), key: key.into(), text: text.into() });
            if !is_asked {
                self.gather(What::Tools, None, &message::meta_of(message));
            }
            return;
        }
        let Some(name) = message::text_at(message, &["params", "name"]) else {
            let found = "expected the name of a tool in `params.name`, found none";
            return self.write_client(message::error(id, INVALID_PARAMS, found));
        };
        let arguments = message::at(message, &["params", "arguments"]).map(json::write);
        let call = match self.catalogue.resolve(&name, arguments.as_deref()) {
            Ok(Target::Server(call)) => *call,
            Ok(Target::Answer(result)) => return self.answer(id, &result),
            // The server may have tools that it does not list.
            Ok(Target::Unknown) if self.is_one() => return self.send_call(envelope, 0, Some(name), text, is_whole),
            Ok(Target::Unknown) => {
                let found = format!("expected the name of a listed tool, found `{name}`");
                return self.write_client(message::error(id, INVALID_PARAMS, &found));
            }
            Err(error) => return self.write_client(message::error(id, INVALID_PARAMS, error.message())),
        };
        if let Some(repaired) = &call.repaired {
            for repair in &repaired.repairs {
                // The pointer is omitted: it may contain names that the model derived from values.
                self.report_line("repaired", &format!("{}: {}", call.name, repair.rule.as_str()));
            }
            if let (Some(false), Some(wrong)) = (repaired.valid, &repaired.retry_message) {
                self.report_line("refused", &format!("{}: arguments that do not match its schema", call.name));
                return self.answer(id, &message::failed_call(wrong));
            }
        }
        if call.name == name && call.arguments == arguments {
            return self.send_call(envelope, call.server, Some(call.name), text, is_whole);
        }
        let mut restored = message.clone();
        let arguments = call.arguments.as_deref().map(|text| json::read(text).unwrap_or_else(|_| Node::string(text)));
        restored.visit("params", |params| {
            params.set("name", Node::string(call.name.as_str()));
            match arguments {
                Some(arguments) => params.set("arguments", arguments),
                None => {
                    params.remove("arguments");
                }
            }
        });
        let restored = json::write(&restored);
        self.send_call(envelope, call.server, Some(call.name), &restored, false);
    }

    fn send_call(&mut self, envelope: &Envelope, server: usize, tool: Option<String>, text: &str, is_whole: bool) {
        self.send(&envelope.id, &envelope.key, server, TOOLS_CALL, tool, text, is_whole);
    }

    /// Sends a client request to a server: the message just received if it is a whole line, or else `text`.
    #[allow(clippy::too_many_arguments, reason = "a request, its destination and its options")]
    pub(super) fn send(
        &mut self,
        id: &str,
        key: &str,
        server: usize,
        method: &str,
        tool: Option<String>,
        text: &str,
        is_whole: bool,
    ) {
        if self.servers.get(server).is_none_or(|server| server.state != State::Up) {
            let found = format!("the server {} is restarting", self.name(server));
            return self.write_client(message::error(id, SERVER_ERROR, &found));
        }
        let pending = Pending { id: id.to_string(), server, tool, method: method.to_string() };
        self.pending.insert(key.to_string(), pending);
        let effect = if is_whole { Effect::PassToServer(server) } else { Effect::ToServer(server, text.to_string()) };
        self.effects.push(effect);
    }

    /// Returns the first violation of the tool's `outputSchema`. The message contains no values of the result.
    pub(super) fn violation(&self, server: usize, tool: &str, result: &Node<'_>) -> Option<String> {
        let own = self.catalogue.own(server, tool)?;
        result.get("structuredContent")?;
        let found = validate_result(json::write(result).as_str(), own).ok()?;
        let error = found.errors.first().filter(|_| found.valid == Some(false))?;
        Some(format!("a result of `{tool}` does not match its outputSchema ({})", error.schema_pointer))
    }

    /// Writes a repaired or refused call, or a change of a tool, to the report file and, with `--verbose`, to standard
    /// error.
    pub(super) fn report_line(&mut self, what: &str, line: &str) {
        if self.settings.verbose {
            self.log(&format!("{what} {line}"));
        }
        let line = crate::escaped_lines(&format!("{{\"{what}\":{}}}", message::quoted(line)));
        self.effects.push(Effect::Report(line));
    }
}
