//! Calls of tools, and their results.

use toolwire::{
    json::{self, Node},
    validate_result,
};

use super::{
    catalogue::Target,
    gathering::What,
    message::{self, INVALID_PARAMS, SERVER_ERROR},
    Effect, Pending, Proxy, State, TOOLS_CALL,
};

impl Proxy {
    /// A call of the client. Before the tools are known, it waits for them: nobody else can say which tool it means.
    pub(super) fn call(&mut self, id: &str, message: &Node<'_>, text: &str, is_whole: bool) {
        if !self.catalogue.is_given() {
            let is_asked = !self.waiting.is_empty();
            self.waiting.push((id.to_string(), text.to_string()));
            if !is_asked {
                self.gather(What::Tools, None, &message::meta_of(message));
            }
            return;
        }
        let Some(name) = message::text_at(message, &["params", "name"]) else {
            let found = "expected the name of a tool in `params.name`, found none";
            return self.to_client(message::error(id, INVALID_PARAMS, found));
        };
        let arguments = message::at(message, &["params", "arguments"]).map(json::write);
        let call = match self.catalogue.resolve(&name, arguments.as_deref()) {
            Ok(Target::Server(call)) => *call,
            Ok(Target::Answer(result)) => return self.to_client(message::result(id, &result)),
            // The server may have a tool that it does not list.
            Ok(Target::Unknown) if self.is_one() => return self.send_call(id, 0, Some(name), text, is_whole),
            Ok(Target::Unknown) => {
                let found = format!("expected the name of a tool that was listed, found `{name}`");
                return self.to_client(message::error(id, INVALID_PARAMS, &found));
            }
            Err(error) => return self.to_client(message::error(id, INVALID_PARAMS, error.message())),
        };
        if let Some(repaired) = &call.repaired {
            for repair in &repaired.repairs {
                let at = if repair.pointer.is_empty() { "the arguments" } else { repair.pointer.as_str() };
                let line = format!("{}: {} at {at}", call.name, repair.rule.as_str());
                self.told("repaired", &line);
            }
            if let (Some(false), Some(wrong)) = (repaired.valid, &repaired.retry_message) {
                self.told("refused", &format!("{}: arguments that do not match its schema", call.name));
                return self.to_client(message::result(id, &message::failed_call(wrong)));
            }
        }
        let is_same = call.name == name && call.arguments == arguments;
        if is_same {
            return self.send_call(id, call.server, Some(call.name), text, is_whole);
        }
        let mut restored = message.clone();
        let arguments = call.arguments.as_deref().map(json::read).and_then(Result::ok);
        restored.visit("params", |params| {
            params.set("name", Node::string(call.name.as_str()));
            if let Some(arguments) = arguments {
                params.set("arguments", arguments);
            }
        });
        let restored = json::write(&restored);
        self.send_call(id, call.server, Some(call.name), &restored, false);
    }

    fn send_call(&mut self, id: &str, server: usize, tool: Option<String>, text: &str, is_whole: bool) {
        self.send(id, server, TOOLS_CALL, tool, text, is_whole);
    }

    /// Hands a request of the client to a server.
    pub(super) fn send(
        &mut self,
        id: &str,
        server: usize,
        method: &str,
        tool: Option<String>,
        text: &str,
        is_whole: bool,
    ) {
        if self.servers.get(server).is_none_or(|server| server.state != State::Up) {
            let found =
                format!("expected the server {} to run, found that it is being started again", self.name(server));
            return self.to_client(message::error(id, SERVER_ERROR, &found));
        }
        self.pending.insert(id.to_string(), Pending { server, tool, method: method.to_string() });
        let effect = if is_whole { Effect::PassToServer(server) } else { Effect::ToServer(server, text.to_string()) };
        self.effects.push(effect);
    }

    /// What a result has against the `outputSchema` of its tool.
    pub(super) fn breaks(&self, server: usize, tool: &str, result: &Node<'_>) -> Option<String> {
        let own = self.catalogue.own(server, tool)?;
        result.get("structuredContent")?;
        let found = validate_result(json::write(result).as_str(), own).ok()?;
        let error = found.errors.first().filter(|_| found.valid == Some(false))?;
        let at = if error.pointer.is_empty() { "structuredContent" } else { error.pointer.as_str() };
        Some(format!("the result of `{tool}` does not match its outputSchema at {at}: {}", error.message))
    }

    /// Tells what became of a call: in the report, and on standard error if that was asked for.
    pub(super) fn told(&mut self, what: &str, line: &str) {
        if self.settings.verbose {
            self.log(&format!("{what} {line}"));
        }
        let line = format!("{{\"{what}\":{}}}", message::quoted(line));
        self.effects.push(Effect::Report(line));
    }
}
