//! `normalize_envelope`: repairs the tool-parameter envelope (an object root with `properties`) and nothing else.
//!
//! The rules are the rules of openai/codex pull request 22166, with one additional step (see [`normalize`]).

use alloc::{format, string::String};

use crate::{
    dialect::json_schema::ENVELOPE,
    effect::{Accepts, Guidance},
    json::{Data, Node},
    report::{Change, Recorder},
    rules::Rule,
};

/// Repairs the envelope in place.
pub(crate) fn normalize(node: &mut Node<'_>, recorder: &mut Recorder) {
    if !accepts_objects(node) {
        // `true` accepts every object, and so does its replacement.
        let everything = node.as_bool() == Some(true);
        recorder.record(0, || {
            let (accepts, guidance) =
                if everything { (Accepts::Same, Guidance::Same) } else { (Accepts::Wider, Guidance::Lost) };
            change(
                true,
                "",
                accepts,
                guidance,
                Rule::ReplaceRoot,
                format!("replaced {} with an object schema without properties", root_description(node)),
            )
        });
        node.replace(
            Node::record([("type", Node::literal("object")), ("properties", Node::empty_object())]).into_data(),
        );
        return;
    }

    let Some(object) = node.as_object() else { return };
    let (type_at, properties_at) = (object.position("type"), object.position("properties"));
    let has_type = object.get("type").is_some_and(|value| !value.is_null());
    let properties = object.get("properties");
    let has_properties = properties.is_some_and(|value| value.as_object().is_some());
    if has_type && has_properties {
        return;
    }
    let old_kind = properties.filter(|value| !value.is_null()).map(Node::kind);
    let Some(object) = node.as_object_mut() else { return };
    let mut after_type = type_at.map_or(0, |index| index + 1);
    if !has_type {
        recorder.record(0, || {
            change(
                type_at.is_some(),
                "/type",
                Accepts::Same,
                Guidance::Same,
                Rule::AddType,
                "added `type: \"object\"`".into(),
            )
        });
        match type_at {
            Some(_) => object.set("type", Node::literal("object")),
            None => {
                object.insert_at(0, "type", Node::literal("object"));
                after_type = 1;
            }
        }
    }
    if !has_properties {
        recorder.record(0, || {
            let message = match old_kind {
                Some(kind) => format!("replaced {kind} under `properties` with `{{}}`"),
                None => "added `properties: {}`".into(),
            };
            change(properties_at.is_some(), "/properties", Accepts::Same, Guidance::Same, Rule::AddProperties, message)
        });
        match properties_at {
            Some(_) => object.set("properties", Node::empty_object()),
            None => object.insert_at(after_type, "properties", Node::empty_object()),
        }
    }
}

/// Returns true if `type` is missing, null, `"object"` or a list that contains `"object"`.
fn accepts_objects(node: &Node<'_>) -> bool {
    let Some(object) = node.as_object() else { return false };
    match object.get("type").map(Node::data) {
        None | Some(Data::Null) => true,
        Some(Data::String(name)) => name.is("object"),
        Some(Data::Array(names)) => names.iter().any(|name| name.is_text("object")),
        Some(_) => false,
    }
}

fn root_description(node: &Node<'_>) -> String {
    match node.get("type") {
        Some(found) => format!("a schema of type `{}`", crate::json::write_plain(found)),
        None => node.kind().into(),
    }
}

fn change(is_in_input: bool, at: &str, accepts: Accepts, guidance: Guidance, rule: Rule, message: String) -> Change {
    Change {
        // An added key is reported at its parent, the root.
        pointer: if is_in_input { at.into() } else { String::new() },
        output_pointer: Some(at.into()),
        rule,
        accepts,
        guidance,
        encoded: false,
        reason: ENVELOPE.reason(),
        message,
    }
}
