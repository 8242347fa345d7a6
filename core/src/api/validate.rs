//! `validate_arguments` and `validate_result`.

use alloc::{format, string::String, vec::Vec};

use super::Input;
use crate::{
    error::{Code, Error},
    json::Node,
    schema::{
        keyword::Keyword,
        validate::{ArgumentViolation, Validation, Validator},
    },
};

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
///
/// # Errors
/// Same as [`validate_arguments`].
pub(super) fn validate_node(arguments: &Node<'_>, schema: &Node<'_>) -> Result<Validation, Error> {
    Ok(Validator::new(schema)?.arguments(arguments))
}

/// Member of an MCP tool that contains the schema of its results.
const OUTPUT_SCHEMA: &str = "outputSchema";
/// Member of a result to which that schema applies.
const CONTENT: &str = "structuredContent";

/// Validates the result of a call against the `outputSchema` of an MCP tool.
///
/// `result` is a `CallToolResult`, `tool` the tool as `tools/list` returns it. Pointers refer to the result and to the
/// tool. A tool without an `outputSchema` accepts every result, and a result with `isError: true` is not validated.
/// Messages contain no values of the result. [`Validation::valid`] is `None` in the same cases as for
/// [`validate_arguments`].
///
/// Sources: MCP 2025-11-25, *Tools*: servers return results that conform to the schema, and clients should validate.
/// Structured content may have any type, as in MCP 2026-07-28.
///
/// ```
/// use serde_json::json;
/// use toolwire::validate_result;
/// let tool = json!({"name": "rate", "inputSchema": {"type": "object"},
///     "outputSchema": {"type": "object", "properties": {"rate": {"type": "number"}}, "required": ["rate"]}});
/// let found = validate_result(&json!({"content": [], "structuredContent": {"rate": "1.5"}}), &tool)?;
/// assert_eq!(found.valid, Some(false));
/// assert_eq!(found.errors[0].pointer, "/structuredContent/rate");
/// assert_eq!(found.errors[0].schema_pointer, "/outputSchema/properties/rate/type");
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-value` if the tool is not an object, `invalid-schema` if its `outputSchema` is neither an object nor a
/// boolean; `invalid-json`, `too-deep`.
pub fn validate_result(result: impl Input, tool: impl Input) -> Result<Validation, Error> {
    validate_result_node(&result.given()?.read()?, &tool.given()?.read()?)
}

/// Like [`validate_result`], but accepts trees.
///
/// # Errors
/// Same as [`validate_result`].
pub(super) fn validate_result_node(result: &Node<'_>, tool: &Node<'_>) -> Result<Validation, Error> {
    if tool.as_object().is_none() {
        let message = format!("expected a tool (an object with `name`), found {}", tool.kind());
        return Err(Error::new(Code::InvalidValue, "", message));
    }
    let wrong = |keyword: Keyword, message: String| {
        let error = ArgumentViolation {
            pointer: String::new(),
            schema_pointer: String::new(),
            keyword: keyword.name(),
            message,
        };
        Validation { valid: Some(false), errors: Vec::from([error]) }
    };
    if result.as_object().is_none() {
        return Ok(wrong(Keyword::Type, format!("expected the result to be an object, found {}", result.kind())));
    }
    let Some(schema) = tool.get(OUTPUT_SCHEMA).filter(|schema| !schema.is_null()) else {
        return Ok(Validation { valid: Some(true), errors: Vec::new() });
    };
    let validator = Validator::new(schema).map_err(|error| error.below(&format!("/{OUTPUT_SCHEMA}")))?;
    if result.bool_at("isError") == Some(true) {
        return Ok(Validation { valid: Some(true), errors: Vec::new() });
    }
    let Some(content) = result.get(CONTENT) else {
        let message = format!("expected the member `{CONTENT}`, found a result without it");
        return Ok(wrong(Keyword::Required, message));
    };
    let mut found = validator.value(content);
    for error in &mut found.errors {
        error.pointer.insert_str(0, &format!("/{CONTENT}"));
        error.schema_pointer.insert_str(0, &format!("/{OUTPUT_SCHEMA}"));
    }
    Ok(found)
}
