//! `repair_arguments`, `validate_arguments` and `restore_arguments`, with the `RestorePlan` that restores arguments of
//! one schema.

use alloc::{borrow::Cow, string::String};

use super::{input::Given, Input};
use crate::{
    budget::Budget,
    error::Error,
    json::{self, Node},
    options::RepairOptions,
    repair::{self, unreadable, RawArguments},
    report::Repaired,
    sanitize::decode::Plan,
    schema::{
        protocol,
        validate::{Validation, Validator},
    },
};

/// Repairs invalid arguments that a model produced: text that is almost JSON, a list in a string, a number in quotes,
/// null for an optional member, a name in another spelling.
///
/// `schema` is the tool's own schema. Valid arguments are never changed, and no values are invented: each repair fixes
/// a violation, and is kept only if it introduces no other. Violations that cannot be repaired remain, which is not an
/// error. Arguments in text are the model's output: JSON or almost JSON. If the arguments are a value, a string is also
/// read as such text, and null represents missing arguments.
///
/// ```
/// use serde_json::json;
/// use toolwire::{repair_arguments, RepairOptions};
/// let schema = json!({
///     "properties": {"ids": {"type": "array", "items": {"type": "integer"}}, "limit": {"type": "integer"}}
/// });
/// let answered = json!({"ids": "[1, 2]", "limit": "10"});
/// let repaired = repair_arguments(&answered, &schema, &RepairOptions::default())?;
/// assert_eq!(repaired.arguments, json!({"ids": [1, 2], "limit": 10}));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// In addition to the arguments, the result contains every repair, the remaining violations, and whether the schema
/// accepts the repaired arguments.
///
/// ```
/// use toolwire::{repair_arguments, RepairOptions};
/// let schema = r#"{"properties": {"path": {"type": "string"}}, "required": ["path", "mode"]}"#;
/// let repaired = repair_arguments("```json\n{'path': \"a.txt\",}\n```", schema, &RepairOptions::default())?;
/// assert_eq!(repaired.arguments, r#"{"path":"a.txt"}"#);
/// assert_eq!((repaired.valid, repaired.left[0].keyword), (Some(false), "required"));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-json` if the text cannot be read, with the reason and the byte offset in the message; `invalid-schema`,
/// `too-deep`.
pub fn repair_arguments<T: Input>(
    arguments: T,
    schema: impl Input,
    options: &RepairOptions,
) -> Result<Repaired<T::Output>, Error> {
    let given = arguments.given()?;
    let raw = match given {
        Given::Value(value) => RawArguments::value(Node::from_value(value)?).map_err(unreadable)?,
        Given::Text(text) => RawArguments::text(text)?,
    };
    let repaired = repair_node(raw, &schema.given()?.read()?, options)?;
    let written = match (repaired.changed, given) {
        (false, _) => arguments.text(None)?,
        (true, Given::Value(_)) => arguments.written(&repaired.arguments)?,
        (true, Given::Text(_)) => arguments.text(Some(json::write(&repaired.arguments)))?,
    };
    Ok(repaired.map(|_| written))
}

pub(super) fn repair_text<'a>(
    arguments: &'a str,
    schema: &str,
    options: &RepairOptions,
) -> Result<Repaired<Cow<'a, str>>, Error> {
    let repaired = repair_node(RawArguments::text(arguments)?, &json::read(schema)?, options)?;
    let text = match repaired.changed {
        true => Cow::Owned(json::write(&repaired.arguments)),
        false => Cow::Borrowed(arguments),
    };
    Ok(repaired.map(|_| text))
}

pub(super) fn repair_node<'n>(
    raw: RawArguments<'n>,
    schema: &Node<'_>,
    options: &RepairOptions,
) -> Result<Repaired<Node<'n>>, Error> {
    repair::repair(&Validator::new(&protocol::read(schema))?, raw, options).map_err(unreadable)
}

/// Validates the arguments of a call against the tool's own schema.
///
/// `schema` contains the tool's parameters, in any draft from 4 to 2020-12. Arguments must be an object, even if the
/// root has no `type`. [`Validation::valid`] is `None` if validity cannot be determined; the documentation page of this
/// function lists the reasons. Messages contain no values of the arguments, so errors may be logged and sent to the
/// model.
///
/// ```
/// use serde_json::json;
/// use toolwire::validate_arguments;
/// let schema = json!({"properties": {"limit": {"type": "integer"}}, "required": ["query"]});
/// let found = validate_arguments(&json!({"limit": "10"}), &schema)?;
/// assert_eq!(found.valid, Some(false));
/// assert_eq!(found.errors[0].pointer, "/limit");
/// assert_eq!(found.errors[0].message, "expected an integer, found a string");
/// assert_eq!(found.errors[1].keyword, "required");
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-schema` if the schema is neither an object nor a boolean; `invalid-json`, `too-deep`.
pub fn validate_arguments(arguments: impl Input, schema: impl Input) -> Result<Validation, Error> {
    validate_node(&arguments.given()?.read()?, &schema.given()?.read()?)
}

/// Like [`validate_arguments`], but accepts trees.
pub(super) fn validate_node(arguments: &Node<'_>, schema: &Node<'_>) -> Result<Validation, Error> {
    let respelled = protocol::read(schema);
    let mut found = Validator::new(&respelled)?.arguments(arguments);
    if let Cow::Owned(_) = respelled {
        let budget = Budget::new(schema.values_read(), None);
        let mut pointers = protocol::Pointers::into_schema(schema, &budget);
        for error in &mut found.errors {
            error.schema_pointer = pointers.of(&error.schema_pointer);
        }
    }
    Ok(found)
}

/// Restores the model's arguments to the shape of the tool's own schema, if the dialect required an encoding.
///
/// `plan` is the result of [`Rewritten::restore_plan`](crate::Rewritten::restore_plan). Neither the schema nor the
/// dialect is needed. Arguments that do not match the plan are left unchanged.
///
/// ```
/// use serde_json::json;
/// use toolwire::{restore_arguments, sanitize, Dialect, SanitizeOptions};
/// let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}}});
/// let rewritten = sanitize(&schema, &SanitizeOptions::new(Dialect::MOONSHOT))?;
/// assert_eq!(rewritten.schema["properties"], json!({"dollar_ref_": {"type": "string"}}));
/// let arguments = json!({"dollar_ref_": "main"});
/// assert_eq!(restore_arguments(&arguments, rewritten.restore_plan()?)?, json!({"$ref": "main"}));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-json`, `too-deep`; `budget-exceeded` if `plan` was not made by [`sanitize`](crate::sanitize).
pub fn restore_arguments<T: Input>(arguments: T, plan: &RestorePlan) -> Result<T::Output, Error> {
    let mut node = arguments.given()?.read()?;
    plan.0.restore(&mut node)?;
    arguments.written(&node)
}

/// The changes to undo in arguments that follow a sanitized schema. The plan contains no other part of the schema.
///
/// [`Rewritten::restore_plan`](crate::Rewritten::restore_plan) returns it.
/// [`restore_arguments`](crate::restore_arguments) applies it without the schema and the dialect. Arguments may
/// therefore be restored in a later turn or in another process: [`Self::to_json`] and [`Self::from_json`] preserve the
/// plan until then.
///
/// ```
/// use serde_json::json;
/// use toolwire::{restore_arguments, sanitize, Dialect, RestorePlan, SanitizeOptions};
/// let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
/// let rewritten = sanitize(&schema, &SanitizeOptions::new(Dialect::OPENAI_STRICT))?;
/// let kept: String = rewritten.restore_plan()?.to_json();
/// // With null, the model indicates that `days` is absent.
/// let plan = RestorePlan::from_json(&kept)?;
/// assert_eq!(restore_arguments(&json!({"days": null}), &plan)?, json!({}));
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RestorePlan(pub(crate) Plan);

impl RestorePlan {
    /// Returns true if there is nothing to undo in any arguments.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the plan as JSON text, to be stored for a later turn.
    pub fn to_json(&self) -> String {
        json::write(&self.0.to_versioned_node())
    }

    /// Reads the JSON text that [`Self::to_json`] returned.
    ///
    /// # Errors
    /// `invalid-json`, `too-deep`; `invalid-value` if the text is not a plan, or is a plan of another version.
    pub fn from_json(text: &str) -> Result<RestorePlan, Error> {
        Plan::from_versioned_node(&json::read(text)?).map(RestorePlan)
    }
}

/// Two plans are equal if [`RestorePlan::to_json`] returns the same text.
impl PartialEq for RestorePlan {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Eq for RestorePlan {}
