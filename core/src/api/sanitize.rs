//! `sanitize`, `normalize_envelope` and `check`.

use alloc::vec::Vec;

use super::{once::OnceValue, Form, Input, RestorePlan};
use crate::{
    check::{self as violations, findings::FindingLimit, Violation},
    envelope,
    error::Error,
    json::Node,
    options::SanitizeOptions,
    report::{lossless, Change, Recorder},
    sanitize::{self as rules, decode::Plan},
};

/// A rewritten schema. Its changes are computed when they are first read, from the input, which it therefore borrows;
/// [`into_owned`](Self::into_owned) copies it.
///
/// The changes are a second rewriting, which compares schemas to prove the effect of each change. Its steps are limited
/// because a server may publish a schema that makes such proofs expensive, so reading them can fail.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rewritten<T: Form> {
    /// The schema.
    pub schema: T::Output,
    input: T,
    /// `None` if only the envelope was repaired.
    options: Option<SanitizeOptions>,
    report: OnceValue<Result<SchemaReport, Error>>,
}

/// Changes to a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaReport {
    pub changes: Vec<Change>,
    pub lossless: bool,
    pub restore_plan: RestorePlan,
}

impl SchemaReport {
    pub(super) fn new(changes: Vec<Change>, plan: Plan) -> Self {
        SchemaReport { lossless: lossless(&changes), changes, restore_plan: RestorePlan(plan) }
    }
}

impl<T: Form> Rewritten<T> {
    fn new(input: T, schema: T::Output, options: Option<SanitizeOptions>) -> Self {
        Rewritten { schema, input, options, report: OnceValue::new() }
    }

    /// Returns every change, in document order.
    ///
    /// # Errors
    /// `budget-exceeded` if the report takes more than four times the steps that rewriting the schema may take.
    pub fn changes(&self) -> Result<&[Change], Error> {
        Ok(&self.report()?.changes)
    }

    /// Returns true if the same arguments are accepted and no guidance is lost.
    ///
    /// # Errors
    /// Same as [`Self::changes`].
    pub fn lossless(&self) -> Result<bool, Error> {
        Ok(self.report()?.lossless)
    }

    /// Returns the plan that restores the model's arguments to the shape of the tool's own schema. It is empty if
    /// nothing is encoded, as after [`normalize_envelope`].
    ///
    /// # Errors
    /// Same as [`Self::changes`].
    pub fn restore_plan(&self) -> Result<&RestorePlan, Error> {
        Ok(&self.report()?.restore_plan)
    }

    /// Returns the result with a copy of the input.
    ///
    /// ```
    /// use serde_json::{json, Value};
    /// use toolwire::{sanitize, Dialect, Rewritten, SanitizeOptions};
    /// fn rewritten() -> Result<Rewritten<Value>, toolwire::Error> {
    ///     let schema = json!({"type": "object", "properties": {"unit": {"const": "celsius"}}});
    ///     Ok(sanitize(&schema, &SanitizeOptions::new(Dialect::CODEX))?.into_owned())
    /// }
    /// assert!(rewritten()?.lossless()?);
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[must_use]
    pub fn into_owned(self) -> Rewritten<T::Owned> {
        let Rewritten { schema, input, options, report } = self;
        Rewritten { schema: schema.into(), input: input.copied(), options, report }
    }

    fn report(&self) -> Result<&SchemaReport, Error> {
        let report = self.report.get_or_init(|| {
            let node = self.input.given()?.read()?;
            Ok(match &self.options {
                Some(options) => sanitize_node(node, options)?.1,
                None => normalize_node(node, true).1,
            })
        });
        report.as_ref().map_err(Clone::clone)
    }
}

/// Rewrites a tool's parameter schema into one dialect, with the least loss of meaning.
///
/// ```
/// use serde_json::json;
/// use toolwire::{sanitize, Dialect, SanitizeOptions};
/// let schema = json!({"type": "object", "properties": {"unit": {"const": "celsius"}}});
/// let rewritten = sanitize(&schema, &SanitizeOptions::new(Dialect::CODEX))?;
/// assert_eq!(
///     rewritten.schema,
///     json!({"type": "object", "properties": {"unit": {"type": "string", "enum": ["celsius"]}}}),
/// );
/// assert!(rewritten.lossless()?);
/// assert_eq!(rewritten.changes()?.last().map(|change| change.pointer.as_str()), Some("/properties/unit"));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-option`, `invalid-json`, `too-deep`, `not-representable`, `too-lossy`, and the errors
/// that are specific to the dialect.
pub fn sanitize<T: Input>(schema: T, options: &SanitizeOptions) -> Result<Rewritten<T>, Error> {
    let mut node = schema.given()?.read()?;
    rules::sanitize(&mut node, options, false)?;
    let written = schema.written(&node)?;
    Ok(Rewritten::new(schema, written, Some(options.clone())))
}

/// Repairs the envelope of a tool's parameters: the root becomes an object with `properties`. Everything else is
/// unchanged.
///
/// ```
/// use serde_json::json;
/// let schema = json!({"properties": {"city": {"$ref": "#/$defs/City"}}});
/// assert_eq!(
///     toolwire::normalize_envelope(&schema)?.schema,
///     json!({"type": "object", "properties": {"city": {"$ref": "#/$defs/City"}}}),
/// );
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-json`, `too-deep`.
pub fn normalize_envelope<T: Input>(schema: T) -> Result<Rewritten<T>, Error> {
    let mut node = schema.given()?.read()?;
    envelope::normalize(&mut node, &mut Recorder::off());
    let written = schema.written(&node)?;
    Ok(Rewritten::new(schema, written, None))
}

/// Rewrites a schema and reports the changes. The step budget is larger than the budget of [`sanitize`], so that a
/// report can be made for every schema that was rewritten.
pub(super) fn sanitize_node<'a>(
    mut schema: Node<'a>,
    options: &SanitizeOptions,
) -> Result<(Node<'a>, SchemaReport), Error> {
    let (changes, plan) = rules::report(&mut schema, options)?;
    Ok((schema, SchemaReport::new(changes, plan)))
}

/// Like [`sanitize`], but accepts and returns trees, and returns the report. Schemas that exceed the step budget of
/// [`sanitize`] are refused.
///
/// # Errors
/// Same as [`sanitize`].
pub fn sanitize_with_report<'a>(
    schema: Node<'a>,
    options: &SanitizeOptions,
) -> Result<(Node<'a>, SchemaReport), Error> {
    rules::sanitize(&mut schema.clone(), options, false)?;
    sanitize_node(schema, options)
}

pub(super) fn normalize_node(mut schema: Node<'_>, with_report: bool) -> (Node<'_>, SchemaReport) {
    let mut recorder = if with_report { Recorder::on() } else { Recorder::off() };
    envelope::normalize(&mut schema, &mut recorder);
    (schema, SchemaReport::new(recorder.finish(), Plan::default()))
}

/// Returns what the dialect's API would refuse, reinterpret or ignore in a schema. An empty result means that the API
/// accepts the schema. At most 100 violations of a constraint are listed at a location; [`Violation::more`] counts the
/// others.
///
/// ```
/// use serde_json::json;
/// use toolwire::{check, Dialect, SanitizeOptions};
/// let schema = json!({"type": "array", "items": [{"type": "string"}]});
/// let violations = check(&schema, &SanitizeOptions::new(Dialect::CODEX_WIRE))?;
/// assert_eq!(violations[0].pointer, "/items");
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-option`, `invalid-json`, `too-deep`, `budget-exceeded`.
pub fn check(schema: impl Input, options: &SanitizeOptions) -> Result<Vec<Violation>, Error> {
    violations::check(&schema.given()?.read()?, options, FindingLimit::LISTED)
}
