//! Writes the restore map as JSON, to be kept for a later turn, and reads it.

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use super::{
    answer::Answer,
    call_repair::Schemas,
    restore::{read_text, spelled, RestoreEntry, RestoreMap},
};
use crate::{
    deferred::Client,
    error::{Code, Error},
    json::{self, Member, Node, Object, Text},
    options::{Api, RepairOptions},
    request::report::CallKind,
    sanitize::decode::{version, Plan},
    schema::validate::Prepared,
};

/// Member of `answer` with the name of the function that replaces the response format.
const TOOL: &str = "tool";
/// Member of `answer` that is true if the model may call only this function.
const ONLY: &str = "only";
/// Member of `answer` with the schema, if only the instructions contain it.
const SCHEMA: &str = "schema";

impl RestoreMap {
    /// Returns the map as JSON, to be kept for a later turn.
    pub(crate) fn to_node(&self) -> Node<'static> {
        let tools = self.list.iter().map(|(name, entry)| {
            let mut members = Vec::from([("name", owned(&entry.name))]);
            members.extend(entry.server.as_deref().map(|server| ("server", owned(server))));
            members.extend(entry.index.map(|index| ("index", Node::count(index as u64))));
            members.extend(entry.namespace.as_deref().map(|namespace| ("namespace", owned(namespace))));
            if entry.kind != CallKind::Function {
                members.push(("kind", Node::literal(entry.kind.as_str())));
            }
            if !entry.plan.is_empty() {
                members.push(("plan", entry.plan.to_node()));
            }
            if let Some((own, sent)) = entry.schemas.as_ref().map(|schemas| schemas.parts()) {
                members.push(("schema", own.clone()));
                members.extend(sent.map(|sent| ("sent", sent.clone())));
            }
            let members = members.into_iter().map(|(key, value)| Member { key: Text::literal(key), value });
            Member { key: Text::new(name.clone()), value: Node::object(Object::from_unique(members.collect())) }
        });
        let newest = match (&self.answer, &self.repair) {
            (Some(answer), _) if answer.instructed.is_some() => version::INSTRUCTED,
            (Some(answer), _) if answer.tool.is_some() => version::CALLING,
            (Some(_), _) => version::ANSWERING,
            (None, Some(_)) => version::REPAIRING,
            (None, None) => version::VERSION,
        };
        let mut members = Vec::from([
            ("version", Node::count(newest)),
            ("tools", Node::object(Object::from_unique(tools.collect()))),
        ]);
        if let Some(client) = &self.client {
            members.push(("format", Node::literal(client.format.as_str())));
            members.extend(client.search.as_ref().map(|search| ("search", Node::string(search.clone()))));
        }
        // Omitted if an entry has an `index`, which implies it.
        if self.has_indices && self.list.values().all(|entry| entry.index.is_none()) {
            members.push(("indices", Node::bool(true)));
        }
        members.extend(self.repair.as_ref().map(|options| ("repair", options.to_node())));
        members.extend(self.answer.as_ref().map(|answer| {
            let mut kept = answer.plan.to_node();
            if let Some(tool) = &answer.tool {
                kept.set(TOOL, Node::string(tool.clone()));
                if answer.is_only {
                    kept.set(ONLY, Node::bool(true));
                }
            }
            if let Some(schema) = &answer.instructed {
                kept.set(SCHEMA, schema.schema().clone());
            }
            ("answer", kept)
        }));
        Node::object(members.into_iter().map(|(key, value)| (Text::literal(key), value)).collect())
    }

    /// Reads the JSON that [`Self::to_node`] returns.
    pub(crate) fn from_node(node: &Node<'_>) -> Result<RestoreMap, Error> {
        let wrong = |pointer: String, expected: &str| {
            Error::new(
                Code::InvalidValue,
                pointer,
                format!("expected {expected} in an unchanged `restore`, found something else"),
            )
        };
        version::check(node, version::INSTRUCTED, "a `restore`", "sanitize the tools again")?;
        let tools = node.object_at("tools").ok_or_else(|| wrong("/tools".into(), "an object of tools"))?;
        let repair = node.get("repair").map(RepairOptions::from_node).transpose();
        let repair = repair.map_err(|error| wrong(String::from("/repair") + error.pointer(), "options of a repair"))?;
        let has_indices = node.bool_at("indices") == Some(true);
        let answer = node.get("answer").map(Plan::from_node).transpose().map_err(|error| error.below("/answer"))?;
        let tool = node.get("answer").and_then(|answer| text_at(answer, TOOL));
        let tool = tool.map(|tool| tool.ok_or_else(|| wrong("/answer/tool".into(), "a name"))).transpose()?;
        let tool = tool.map(|tool| tool.display().into_owned());
        let is_only = node.get("answer").and_then(|answer| answer.get(ONLY)?.as_bool()) == Some(true);
        let instructed = node.get("answer").and_then(|answer| answer.get(SCHEMA));
        let instructed =
            instructed.map(|schema| Prepared::new(schema).ok_or_else(|| wrong("/answer/schema".into(), "a schema")));
        let instructed = instructed.transpose()?;
        let answer = answer.map(|plan| Arc::new(Answer { plan, tool, is_only, instructed }));
        let mut restore_map =
            RestoreMap { client: client_of(node, &wrong)?, repair, has_indices, answer, ..RestoreMap::default() };
        for member in tools {
            let mut at = String::from("/tools");
            json::push_token(&mut at, &member.key.display());
            let text = |key: &str| member.value.get(key).map(|text| text.as_text().map(spelled));
            let name = text("name").flatten().ok_or_else(|| wrong(at.clone() + "/name", "a name"))?;
            let optional = |key: &str| {
                text(key).map(|name| name.ok_or_else(|| wrong(format!("{at}/{key}"), "a name"))).transpose()
            };
            let (server, namespace) = (optional("server")?, optional("namespace")?);
            let index = member.value.get("index").map(|index| {
                let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
                index.ok_or_else(|| wrong(at.clone() + "/index", "an index"))
            });
            let kind = match text_at(&member.value, "kind") {
                None => CallKind::Function,
                Some(kind) => kind
                    .and_then(CallKind::named)
                    .ok_or_else(|| wrong(at.clone() + "/kind", "`function`, `custom` or `search`"))?,
            };
            let plan = member
                .value
                .get("plan")
                .map(|plan| Plan::from_node(plan).map_err(|error| error.below(&(at.clone() + "/plan"))));
            let schemas = member.value.get("schema").map(|own| {
                Schemas::new(own, member.value.get("sent"))
                    .map(Arc::new)
                    .ok_or_else(|| wrong(at.clone() + "/schema", "a schema"))
            });
            let (plan, schemas) = (plan.transpose()?.unwrap_or_default(), schemas.transpose()?);
            let index = index.transpose()?;
            let entry = RestoreEntry { name, server, index, namespace, kind, plan, schemas };
            restore_map.add(member.key.display().to_string(), entry);
        }
        Ok(restore_map)
    }
}

/// Returns a member that has to be a string: `None` if it is absent, `Some(None)` if it is not a string.
fn text_at<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<Option<&'n Text<'a>>> {
    node.get(key).map(Node::as_text)
}

/// Reads the client that sent the request.
fn client_of(node: &Node<'_>, wrong: &dyn Fn(String, &str) -> Error) -> Result<Option<Client>, Error> {
    let Some(format) = text_at(node, "format") else { return Ok(None) };
    let format = format
        .and_then(|format| Api::WITH_DEFERRAL.iter().find(|(name, _)| format.is(name)))
        .map(|(_, format)| *format)
        .ok_or_else(|| {
            wrong(
                "/format".into(),
                "`anthropic`, `openai-chat`, `openai-responses`, `gemini-interactions` or `bedrock`",
            )
        })?;
    let search = text_at(node, "search")
        .map(|search| search.ok_or_else(|| wrong("/search".into(), "a name")))
        .transpose()?
        .map(|search| search.display().into_owned());
    Ok(Some(Client { format, search }))
}

fn owned(spelled: &str) -> Node<'static> {
    Node::string(read_text(spelled).into_owned())
}
