//! `validate_result` and `fit_result`: the result of a call to an MCP tool, and the `outputSchema` of the tool.

use super::Input;
use crate::{
    error::Error,
    options::ResultOptions,
    repair::results::{self, FittedResult},
    schema::validate::Validation,
};

/// Validates the result of a call against the `outputSchema` of an MCP tool.
///
/// `result` is a `CallToolResult`, `tool` the tool as `tools/list` returns it. Pointers refer to the result and to the
/// tool. A tool without an `outputSchema` accepts every result, and a result with `isError: true` is not validated.
/// Messages contain no values of the result. [`Validation::valid`] is `None` in the same cases as for
/// [`validate_arguments`](crate::validate_arguments).
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
    results::validate(&result.given()?.read()?, &tool.given()?.read()?)
}

/// Fits the result of a call to the `outputSchema` of an MCP tool, so that no client refuses it.
///
/// `result` is a `CallToolResult`, `tool` the tool as `tools/list` returns it. The official SDKs refuse a whole result,
/// with its text, if the structured content does not match the schema or is missing. Therefore:
///
/// - Structured content of an error (`isError`) is removed if it does not match.
/// - Missing structured content is filled from the text, if the result has a single text, which is JSON that matches.
/// - Structured content that does not match, or cannot be filled, is handled by
///   [`mismatch`](ResultOptions::mismatch).
/// - Structured content is added as text if the result has no content
///   ([`structured_text`](ResultOptions::structured_text)).
///
/// Everything else is returned unchanged: results without structured content whose tool has no `outputSchema`, results
/// that match, and results of other kinds, such as a task or a request for input. Messages contain no values of the
/// result.
///
/// Sources: MCP 2025-11-25, *Tools*; `@modelcontextprotocol/sdk` 1.30, `Client.callTool`; HexSleeves/tailscale-mcp#101
/// (2026-05-17), koala73/worldmonitor#8330 (2026-09-18), MoonshotAI/kimi-code#2554 (2026-08-03), seuros/action_mcp#181
/// (2026-01-29).
///
/// ```
/// use serde_json::json;
/// use toolwire::{fit_result, ResultOptions};
/// let tool = json!({"name": "rate", "outputSchema": {"type": "object", "required": ["rate"]}});
/// let failed = json!({"isError": true, "content": [{"type": "text", "text": "no rate"}], "structuredContent": {}});
/// let fitted = fit_result(&failed, &tool, &ResultOptions::default())?;
/// assert_eq!(fitted.result, json!({"isError": true, "content": [{"type": "text", "text": "no rate"}]}));
/// assert_eq!(fitted.changes[0].rule.as_str(), "drop-error-content");
///
/// let text = r#"{"content":[{"type":"text","text":"{\"rate\":1.5}"}]}"#;
/// let fitted = fit_result(text, &tool, &ResultOptions::default())?;
/// assert!(fitted.result.ends_with(r#","structuredContent":{"rate":1.5}}"#));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-value` if the tool is not an object, `invalid-schema` if its `outputSchema` is neither an object nor a
/// boolean; `invalid-json`, `too-deep`.
pub fn fit_result<T: Input>(
    result: T,
    tool: impl Input,
    options: &ResultOptions,
) -> Result<FittedResult<T::Output>, Error> {
    let mut node = result.given()?.read()?;
    let fitted = results::fit(&mut node, &tool.given()?.read()?, options)?;
    let written = result.written(&node)?;
    Ok(fitted.map(|()| written))
}
