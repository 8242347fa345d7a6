//! Detects a tool's schema that is one level off: inside a wrapper, or a bare map of properties.
//!
//! Such a root matches the metaschema and accepts anything, so an API shows the model a tool without arguments.
//! Reported: `{"jsonSchema": {…}}` (twentyhq/twenty#15348), a map of properties (UKGovernmentBEIS/inspect_ai#1562).

use alloc::{format, string::String};

use super::{
    instance_types::TYPE_NAMES,
    keyword::{Keyword, Subschemas},
};
use crate::json::{Member, Node, Object};

/// Keys under which SDKs and APIs keep a tool's schema.
const WRAPPERS: [&str; 8] = [
    "jsonSchema",
    "json_schema",
    "schema",
    "inputSchema",
    "input_schema",
    "parameters",
    "parametersJsonSchema",
    "parameters_json_schema",
];

/// Location of the schema in a root that is not a schema itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misplaced {
    /// Under this key of the root: `{"jsonSchema": {"type": "object", …}}`.
    Wrapped(&'static str),
    /// The root is what belongs under `properties`: `{"city": {"type": "string"}}`.
    Properties,
}

/// Returns `None` if the root is a schema, or if its intended meaning is unclear.
pub(crate) fn find_misplaced(root: &Node<'_>) -> Option<Misplaced> {
    let object = root.as_object().filter(|object| !object.is_empty())?;
    if object.iter().any(is_schema_keyword) {
        return None;
    }
    let wrapped = |name: &&&str| object.get(name).is_some_and(|inner| is_object_schema(inner, object));
    if let Some(name) = WRAPPERS.iter().find(wrapped) {
        return Some(Misplaced::Wrapped(name));
    }
    object.iter().all(is_property).then_some(Misplaced::Properties)
}

/// Returns true for a keyword with a plausible value, unless it is only descriptive.
fn is_schema_keyword(member: &Member<'_>) -> bool {
    match Keyword::named(&member.key) {
        None | Some(Keyword::Description | Keyword::Title | Keyword::Schema) => false,
        Some(Keyword::Const | Keyword::Default | Keyword::Examples) => true,
        Some(keyword) => keyword.subschemas() != Subschemas::Value || !is_typed(&member.value),
    }
}

/// Returns true for the schema of an object, unless it is one of several members that all look like properties.
fn is_object_schema(inner: &Node<'_>, root: &Object<'_>) -> bool {
    let is_object = inner.get(Keyword::Type).is_some_and(|name| name.is_text("object"));
    let has_properties = inner.get(Keyword::Properties).is_some_and(|table| table.as_object().is_some());
    (is_object || has_properties) && (root.len() == 1 || !root.iter().all(is_property))
}

fn is_property(member: &Member<'_>) -> bool {
    let begins = |prefix: &str| member.key.display().starts_with(prefix);
    is_typed(&member.value) && !begins("$") && !begins("x-")
}

fn is_typed(value: &Node<'_>) -> bool {
    value.get(Keyword::Type).is_some_and(|name| TYPE_NAMES.iter().any(|known| name.is_text(known)))
}

/// Returns the `def` of a Zod 4 validator, if `def` repeats the type. `JSON.stringify` wrote the validator in place of
/// its JSON Schema. The schema itself is inside `def`, where no keyword is read.
pub(crate) fn zod_definition<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Object<'a>> {
    let definition = node.get("def")?.as_object()?;
    let kind = node.get(Keyword::Type)?.as_text()?;
    (definition.get(Keyword::Type)?.as_text()? == kind).then_some(definition)
}

impl Misplaced {
    pub(crate) fn in_words(self) -> String {
        match self {
            Misplaced::Wrapped(name) => format!("none: the schema is under `{name}`"),
            Misplaced::Properties => "none: the root is a map of properties, which belongs under `properties`".into(),
        }
    }
}
