//! Validates the result of a call against the `outputSchema` of its MCP tool, and changes results that clients refuse.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{
    error::{Code, Error},
    json::{self, Data, Node},
    limits::MAX_DEPTH,
    options::{Mismatch, ResultOptions, StructuredText},
    report::{ResultChange, ResultRule},
    schema::{
        keyword::Keyword,
        validate::{ArgumentViolation, Validation, Validator},
    },
};

const OUTPUT_SCHEMA: &str = "outputSchema";
const STRUCTURED: &str = "structuredContent";
const CONTENT: &str = "content";
const IS_ERROR: &str = "isError";

/// Members of results that are not a `CallToolResult`: a task, and a request for input. Since MCP 2026-07-28,
/// the member [`RESULT_TYPE`] names the kind of a result.
const OTHER_RESULTS: [&str; 3] = ["task", "inputRequests", "requestState"];
const RESULT_TYPE: &str = "resultType";

/// Maximum nesting of structured content that is read from text. The message around it adds two levels.
const MAX_FILLED_DEPTH: usize = MAX_DEPTH - 2;

/// The result of a call, as it may be sent to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FittedResult<T> {
    /// The result, fitted or unchanged.
    pub result: T,
    /// True if anything was changed.
    pub changed: bool,
    /// False if the structured content violates the `outputSchema` or is missing, and cannot be filled from the text;
    /// `None` if this cannot be determined.
    pub valid: Option<bool>,
    /// All changes, in the order in which they were made.
    pub changes: Vec<ResultChange>,
    /// The violations in the given result, at most 100, also if `mismatch` removed or replaced their cause; empty if
    /// `valid` is `None`.
    pub errors: Vec<ArgumentViolation>,
}

impl<T> FittedResult<T> {
    pub(crate) fn map<U>(self, form: impl FnOnce(T) -> U) -> FittedResult<U> {
        let FittedResult { result, changed, valid, changes, errors } = self;
        FittedResult { result: form(result), changed, valid, changes, errors }
    }
}

pub(crate) fn validate(result: &Node<'_>, tool: &Node<'_>) -> Result<Validation, Error> {
    let validator = validator_of(tool)?;
    Ok(match (result.as_object(), &validator) {
        (None, _) => violation(Keyword::Type, format!("expected the result to be an object, found {}", result.kind())),
        (Some(_), Some(validator)) if !is_error(result) => validate_content(validator, result),
        _ => Validation { valid: Some(true), errors: Vec::new() },
    })
}

fn validator_of<'s, 'a>(tool: &'s Node<'a>) -> Result<Option<Validator<'s, 'a>>, Error> {
    if tool.as_object().is_none() {
        let message = format!("expected a tool (an object with `name`), found {}", tool.kind());
        return Err(Error::new(Code::InvalidValue, "", message));
    }
    let schema = tool.get(OUTPUT_SCHEMA).filter(|schema| !schema.is_null());
    schema.map(Validator::new).transpose().map_err(|error| error.below(&format!("/{OUTPUT_SCHEMA}")))
}

fn violation(keyword: Keyword, message: String) -> Validation {
    let (pointer, schema_pointer) = (String::new(), String::new());
    let error = ArgumentViolation { pointer, schema_pointer, keyword: keyword.name(), message };
    Validation { valid: Some(false), errors: Vec::from([error]) }
}

fn is_error(result: &Node<'_>) -> bool {
    result.bool_at(IS_ERROR) == Some(true)
}

/// Validates the structured content of a result, also of an error.
fn validate_content(validator: &Validator<'_, '_>, result: &Node<'_>) -> Validation {
    let Some(content) = result.get(STRUCTURED) else {
        return violation(Keyword::Required, format!("expected the member `{STRUCTURED}`, found a result without it"));
    };
    let mut validation = validator.value(content);
    for error in &mut validation.errors {
        error.pointer.insert_str(0, &format!("/{STRUCTURED}"));
        error.schema_pointer.insert_str(0, &format!("/{OUTPUT_SCHEMA}"));
    }
    validation
}

pub(crate) fn fit(result: &mut Node<'_>, tool: &Node<'_>, options: &ResultOptions) -> Result<FittedResult<()>, Error> {
    let validator = validator_of(tool)?;
    if is_another_result(result) {
        let (changes, errors) = (Vec::new(), Vec::new());
        return Ok(FittedResult { result: (), changed: false, valid: Some(true), changes, errors });
    }
    let mut changes = Vec::new();
    let validation = match &validator {
        _ if result.as_object().is_none() => validate(result, tool)?,
        Some(validator) if !is_error(result) => fill_from_text(result, validator, options.mismatch, &mut changes),
        _ => Validation { valid: Some(true), errors: Vec::new() },
    };
    if validation.valid == Some(false) && options.mismatch == Mismatch::Refuse {
        changes.push(replace_with_error(result, tool, &validation));
    } else {
        changes.extend(add_content_as_text(result, options.structured_text));
        changes.extend(drop_content(result, validator.as_ref(), &validation, options.mismatch));
    }
    let changed = !changes.is_empty();
    Ok(FittedResult { result: (), changed, valid: validation.valid, changes, errors: validation.errors })
}

fn is_another_result(result: &Node<'_>) -> bool {
    if result.text_at(RESULT_TYPE).is_some_and(|kind| !kind.is("complete")) {
        return true;
    }
    let is_call_result = [CONTENT, STRUCTURED].iter().any(|member| result.get(*member).is_some());
    !is_call_result && OTHER_RESULTS.iter().any(|member| result.get(*member).is_some())
}

fn fill_from_text(
    result: &mut Node<'_>,
    validator: &Validator<'_, '_>,
    mismatch: Mismatch,
    changes: &mut Vec<ResultChange>,
) -> Validation {
    let validation = validate_content(validator, result);
    // Some servers write null for a missing member.
    let is_missing = result.get(STRUCTURED).is_none_or(Node::is_null);
    if validation.valid != Some(false) || !(is_missing || mismatch == Mismatch::Drop) {
        return validation;
    }
    let Some((index, content)) = content_in_text(result, validator) else { return validation };
    if !is_missing {
        changes.extend(validation.errors.first().map(|error| removal_of_content(ResultRule::DropContent, "", error)));
    }
    result.set(STRUCTURED, content);
    changes.push(ResultChange {
        pointer: format!("/{CONTENT}/{index}/text"),
        output_pointer: Some(format!("/{STRUCTURED}")),
        rule: ResultRule::FillContent,
        message: format!("filled `{STRUCTURED}` from the text, which is JSON that matches the `{OUTPUT_SCHEMA}`"),
    });
    Validation { valid: Some(true), errors: if is_missing { Vec::new() } else { validation.errors } }
}

/// Returns the JSON in the only text of a result, with the index of its block, if the JSON matches.
///
/// Ignores several texts: they could be parts of one document, or a document and a note. Ignores JSON with a repeated
/// name: it has two readings.
fn content_in_text(result: &Node<'_>, validator: &Validator<'_, '_>) -> Option<(usize, Node<'static>)> {
    let mut texts = text_blocks(result);
    let (index, text) = texts.next()?;
    if texts.next().is_some() {
        return None;
    }
    let (content, has_repeated_names) = json::read_and_find_duplicates(&text).ok()?;
    let is_usable = !has_repeated_names && !is_deeper_than(&content, MAX_FILLED_DEPTH);
    (is_usable && validator.value(&content).valid == Some(true)).then(|| (index, content.detached()))
}

/// Returns the text blocks with their indexes. Blocks with an unpaired surrogate are omitted.
fn text_blocks<'n>(result: &'n Node<'_>) -> impl Iterator<Item = (usize, Cow<'n, str>)> {
    let blocks = result.items_at(CONTENT).iter().enumerate();
    blocks.filter_map(|(index, block)| {
        block.get("type").filter(|kind| kind.is_text("text"))?;
        Some((index, block.text_at("text")?.value()?))
    })
}

fn is_deeper_than(node: &Node<'_>, levels: usize) -> bool {
    let mut pending = Vec::from([(node, 0)]);
    while let Some((node, depth)) = pending.pop() {
        match node.data() {
            Data::Array(_) | Data::Object(_) if depth == levels => return true,
            Data::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Data::Object(object) => pending.extend(object.iter().map(|member| (&member.value, depth + 1))),
            _ => {}
        }
    }
    false
}

/// Adds the structured content as text, for clients that show only `content`.
fn add_content_as_text(result: &mut Node<'_>, when: StructuredText) -> Option<ResultChange> {
    let structured = result.get(STRUCTURED).filter(|content| !content.is_null())?;
    let blocks = result.get(CONTENT).filter(|content| !content.is_null());
    // No text is added to content that is not a list, because a client refuses such content.
    let count = blocks.map_or(Some(0), |blocks| blocks.as_array().map(<[_]>::len))?;
    let is_added = match when {
        StructuredText::Never => false,
        StructuredText::Empty => count == 0,
        StructuredText::Missing => !text_blocks(result).any(|(_, text)| is_text_of(&text, structured)),
    };
    if !is_added {
        return None;
    }
    let block = Node::record([("type", Node::literal("text")), ("text", Node::string(json::write(structured)))]);
    if count == 0 {
        result.set(CONTENT, Node::array(Vec::from([block])));
    } else {
        result.visit(CONTENT, |blocks| blocks.as_array_mut().map(|blocks| blocks.push(block)));
    }
    Some(ResultChange {
        pointer: format!("/{STRUCTURED}"),
        output_pointer: Some(format!("/{CONTENT}/{count}")),
        rule: ResultRule::AddText,
        message: format!("added `{STRUCTURED}` as text"),
    })
}

fn is_text_of(text: &str, content: &Node<'_>) -> bool {
    match (json::read(text), content.as_text()) {
        (Ok(value), _) if json::same(&value, content) => true,
        (_, Some(string)) => string.value().is_some_and(|string| string == text),
        _ => false,
    }
}

/// Removes structured content that does not match the schema. It is always removed from an error, because a client
/// would refuse the error.
fn drop_content(
    result: &mut Node<'_>,
    validator: Option<&Validator<'_, '_>>,
    validation: &Validation,
    mismatch: Mismatch,
) -> Option<ResultChange> {
    let content = result.get(STRUCTURED)?;
    if content.is_null() && validator.is_none() {
        result.remove(STRUCTURED);
        let message = format!("removed `{STRUCTURED}`, which is null: clients expect an object or no member");
        let rule = if is_error(result) { ResultRule::DropErrorContent } else { ResultRule::DropContent };
        return Some(ResultChange { pointer: format!("/{STRUCTURED}"), output_pointer: None, rule, message });
    }
    let (rule, suffix, errors) = if is_error(result) {
        (ResultRule::DropErrorContent, " of an error", Cow::Owned(validate_content(validator?, result)))
    } else if mismatch == Mismatch::Drop {
        (ResultRule::DropContent, "", Cow::Borrowed(validation))
    } else {
        return None;
    };
    let error = errors.errors.first().filter(|_| errors.valid == Some(false))?;
    let change = removal_of_content(rule, suffix, error);
    result.remove(STRUCTURED);
    Some(change)
}

fn removal_of_content(rule: ResultRule, suffix: &str, error: &ArgumentViolation) -> ResultChange {
    let message = format!(
        "removed `{STRUCTURED}`{suffix}, which does not match the `{OUTPUT_SCHEMA}`: {} ({})",
        error.message, error.schema_pointer
    );
    ResultChange { pointer: format!("/{STRUCTURED}"), output_pointer: None, rule, message }
}

fn replace_with_error(result: &mut Node<'_>, tool: &Node<'_>, validation: &Validation) -> ResultChange {
    let name = tool.text_at("name").map(|name| format!(" of `{}`", name.display())).unwrap_or_default();
    let message = validation.errors.first().map(|error| match error.pointer.as_str() {
        "" => error.message.clone(),
        pointer => format!("`{pointer}`: {}", error.message),
    });
    let text = format!("The result{name} does not match its output schema: {}.", message.unwrap_or_default());
    let block = Node::record([("type", Node::literal("text")), ("text", Node::string(text))]);
    if result.as_object().is_none() {
        *result = Node::empty_object();
    }
    result.remove(STRUCTURED);
    result.set(CONTENT, Node::array(Vec::from([block])));
    result.set(IS_ERROR, Node::bool(true));
    ResultChange {
        pointer: String::new(),
        output_pointer: Some(String::new()),
        rule: ResultRule::RefuseResult,
        message: format!("replaced a result that does not match the `{OUTPUT_SCHEMA}` with an error"),
    }
}
