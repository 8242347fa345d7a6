//! Compares the reported effect on accepted arguments or answers, and the restored values, with a validator.

use arbitrary::{Result, Unstructured};
use jsonschema::Draft;
use serde_json::{json, Value};
use toolwire::{
    dialects, options::Use, restore_arguments, sanitize, sanitize_tools, Code, Dialect, DialectId, Restore,
    RestorePlan, SanitizeOptions, SanitizedTools, ToolsOptions,
};

#[path = "../../tests/it/report_soundness/answers.rs"]
mod answers;
#[path = "../../tests/it/report_soundness/judge.rs"]
mod judge;
#[path = "../../tests/it/report_soundness/named.rs"]
mod named;
#[path = "../../tests/it/report_soundness/openapi.rs"]
mod openapi;

use crate::{
    circles,
    grammar::{self, Style},
    instances::Instances,
};

/// Number of instances of the schema, and of model answers to the rewritten schema.
const INSTANCES: usize = 6;

pub(crate) fn verdict(data: &mut Unstructured<'_>, used_as: Use) -> Result<std::result::Result<usize, String>> {
    // The dialects of Codex emulate Codex's losses, which the report does not describe.
    let of_use = |dialect: &&Dialect| match used_as {
        Use::Response => dialect.response_format().is_some(),
        _ => !dialect.name.starts_with("codex"),
    };
    let known: Vec<DialectId> = dialects().iter().filter(of_use).map(Dialect::id).collect();
    let dialect = *data.choose(&known)?;
    let (style, draft) =
        if data.ratio(1_u8, 4_u8)? { (Style::Draft7, Draft::Draft7) } else { (Style::Tidy, Draft::Draft202012) };
    let text = grammar::schema(data, style)?;
    let Ok(schema) = serde_json::from_str::<Value>(&text) else {
        return Ok(Err(format!("the grammar wrote no JSON: {text}")));
    };
    if circles::has_circle(&schema) {
        return Ok(Ok(0));
    }
    // The rest of the data determines the instances. It may be empty, in which case the text determines them.
    let rest = [data.bytes(data.len())?, text.as_bytes()].concat();
    let mut data = Unstructured::new(&rest);
    let instances = (0..INSTANCES).map(|_| Instances::of(&schema).one(&mut data)).collect::<Result<Vec<Value>>>()?;
    // Arguments must be objects; answers may be any value.
    let is_possible = |instance: &Value| used_as == Use::Response || instance.is_object();
    let instances: Vec<Value> = instances.into_iter().filter(is_possible).collect();
    let options = SanitizeOptions::new(dialect).used_as(used_as);
    let judged = judge::judge(&schema, draft, &instances, &options);
    let mut faults = judged.faults;
    if judged.became == "limit-exceeded" {
        // Exceeding a size limit of an API is a valid outcome.
        faults.clear();
    }
    if judged.became == "not-representable" && text.contains("\"$ref\"") {
        // Known limitation: `sanitize` adds the type that a definition's keywords imply, and the definition may then
        // refuse the objects that the root must accept. (Parts of the root itself do not refuse them.)
        faults.retain(|fault| !fault.starts_with("not-representable: "));
    }
    let mut verdicts = judged.verdicts;
    if let Some(sent) = judged.sent {
        let readable = judge::readable(&sent.schema, &options);
        let deserialized = if used_as == Use::Tool {
            Deserialized::of(&schema, &options)
        } else {
            Deserialized { list: None, plan: None }
        };
        faults.extend(instances.iter().filter_map(|instance| deserialized.disagreement(instance, &schema)));
        for _ in 0..INSTANCES {
            let answer = Instances::of(&readable).one(&mut data)?;
            let verdict = judge::answered(&sent, &schema, &answer);
            verdicts += usize::from(verdict.is_some());
            faults.extend(verdict.and_then(std::result::Result::err));
            faults.extend(deserialized.disagreement(&answer, &schema));
            faults.extend(restore_with_forged_plan(&schema, &answer));
        }
    }
    Ok(faults.into_iter().next().map_or(Ok(verdicts), |fault| Err(format!("{dialect}: {fault}"))))
}

/// The stored forms for later calls, parsed from JSON again.
struct Deserialized {
    /// Restores with a list of this one tool; `None` if the tool was set aside.
    list: Option<Restore>,
    /// Restores with the plan of the schema alone.
    plan: Option<RestorePlan>,
}

impl Deserialized {
    fn of(schema: &Value, options: &SanitizeOptions) -> Deserialized {
        let tools = json!([{"name": "tool", "inputSchema": schema}]);
        let done = sanitize_tools(&tools, &ToolsOptions::new(options.dialect)).ok();
        // A tool that is not sent as strict is written in another dialect.
        let as_asked = |done: &SanitizedTools<&Value>| {
            done.quarantined.is_empty()
                && done.changes().iter().copied().flatten().all(|about| about.dialect == options.dialect)
        };
        let list = done.filter(|done| as_asked(done)).map(|done| done.restore.to_json());
        let plan = sanitize(schema, options).ok().and_then(|rewritten| Some(rewritten.restore_plan().ok()?.to_json()));
        Deserialized {
            list: list.map(|text| Restore::from_json(&text).expect("written data can be read")),
            plan: plan.map(|text| RestorePlan::from_json(&text).expect("written data can be read")),
        }
    }

    /// Returns a description of the difference if the list restores an answer differently from the plan of its schema.
    fn disagreement(&self, answer: &Value, schema: &Value) -> Option<String> {
        let by_plan = restore_arguments(answer, self.plan.as_ref()?).ok()?;
        let by_list = self.list.as_ref()?.call("tool", answer).ok()?.arguments;
        (by_list != by_plan).then(|| {
            format!("{answer} is restored as {by_plan} by its plan and as {by_list} by the list\n  in  {schema}")
        })
    }
}

/// Restores an answer with a forged plan: the schema, whose keywords resemble a plan's keywords. Reading and applying
/// it must terminate without unexpected errors.
fn restore_with_forged_plan(schema: &Value, answer: &Value) -> Option<String> {
    if !schema.is_object() {
        return None;
    }
    let deserialized = json!({"version": 2, "encoded": schema, "json": schema, "names": schema}).to_string();
    let error = RestorePlan::from_json(&deserialized).and_then(|plan| restore_arguments(answer, &plan)).err()?;
    // The restored value may exceed the maximum depth.
    let is_expected = matches!(error.code(), Code::BudgetExceeded | Code::TooDeep);
    (!is_expected).then(|| format!("{answer} by a forged plan: {error}\n  in  {schema}"))
}
