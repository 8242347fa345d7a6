//! The general pipeline. Its passes write for a grammar and never depend on the name of a dialect.
//!
//! [`passes`] is the table of passes. This module runs them until they change nothing, then lowers what strict modes
//! cannot express. It also counts the calls whose passes ran again, and how many of these runs changed nothing.

mod passes;
#[cfg(test)]
mod tests;

use alloc::{format, rc::Rc, string::String, vec::Vec};
use core::sync::atomic::{AtomicUsize, Ordering};

#[cfg(test)]
use super::pass::off;
use super::{
    canonicalize::{misplaced, Canonicalize},
    context::PassContext,
    decode::PlanBuilder,
    diagnostics::{ChangeKind, Diagnostics},
    discriminators::Discriminators,
    encode,
    legalize::{refused_keys, replacement_names::ReplacementNames, root, Legalize},
    pass::{Pass, Run, VisitorPass},
    resolve::inline,
    wrap_root,
};
use crate::{
    budget::Budget,
    dialect::{
        grammar::{Grammar, TypeRequirement},
        Dialect,
    },
    error::{Code, Error},
    json::Node,
    options::{Refs, SanitizeOptions, Untyped},
    report::Recorder,
    rules::{Phase, Rule},
    schema::{
        keyword::{Draft, Keywords},
        protocol,
        references::{self, Form},
        visit,
    },
};
use passes::PASSES;

const RESPELL: ChangeKind = ChangeKind::of(Rule::RepairKeyword);

/// Maximum number of rounds. For most schemas that are changed, the second round changes nothing.
const MAX_ROUNDS: usize = 8;

/// From this round on, siblings of `$ref` are no longer merged into copies of definitions: an `anyOf` that has siblings
/// and contains itself would grow in every round.
const FIRST_ROUND_WITHOUT_GROWTH: usize = 5;

/// Runs all passes, again and again until no change requires another round (see [`Pass::wakes`]): a second call then
/// changes nothing. One round may require the next:
///
/// - A cut may remove what made a definition recursive or too deep.
/// - Merging adds keywords that hint at a type.
/// - The siblings of `anyOf` are merged into a copy of each branch. For a branch that is still a `$ref`, the copy is a
///   new definition.
///
/// If `is_done` returns true, the passes end, and this function returns true. Steps to restore arguments are added to
/// `plan`, if there is one.
pub(crate) fn sanitize<'a>(
    node: &mut Node<'a>,
    (dialect, grammar): (&'static Dialect, &'static Grammar),
    options: &SanitizeOptions,
    is_done: &dyn Fn(&Node<'_>) -> bool,
    (mut plan, wrapper): (Option<&mut PlanBuilder<'a>>, Option<&str>),
    recorder: &mut Recorder,
    budget: &Rc<Budget>,
) -> Result<bool, Error> {
    refuse_options(grammar, options)?;
    let mut diagnostics = Diagnostics::new(node, recorder, budget)?;
    if protocol::mentions_protocol_keywords(node) && (grammar.protocol_types || protocol::is_message(node, budget)?) {
        protocol::respell(node, budget, &mut |value, path, (name, keyword)| {
            diagnostics.report_respelled(path, value, keyword.name(), RESPELL, || {
                format!("wrote `{}` as `{}`", name.display(), keyword.name())
            });
        })?;
    }
    if grammar.object_root {
        misplaced::unwrap(node, &mut diagnostics);
    }
    let replacement_names = Rc::new(ReplacementNames::of(node, grammar, budget));
    if let Some(plan) = &mut plan {
        plan.keep(node, wrapper, &replacement_names, budget);
    }
    root::refuse_no_object(node, Form::Read, grammar, budget)?;
    if grammar.encodes() {
        diagnostics.collect_names(node, budget)?;
    }
    let discriminators = Discriminators::of(node, budget)?;
    let (draft, origin) = (Draft::of(node), node.origin());
    let shared = (&replacement_names, budget);
    let context = PassContext::new(node, (dialect, grammar), options, draft, Form::Read, diagnostics, shared)?;
    let (mut outcome, mut is_fitted);
    (diagnostics, outcome, is_fitted) = round(node, context, wrapper, plan.as_deref_mut())?;
    count_rewritten();
    // From here on, the input is an output of the passes, in draft 2020-12.
    let next_context = |node: &mut Node<'_>, mut diagnostics: Diagnostics| {
        node.track(origin);
        diagnostics.follow(node);
        PassContext::new(node, (dialect, grammar), options, Draft::Y2020, Form::Written, diagnostics, shared)
    };
    let mut is_finished = !node.is_intact() && is_done(node);
    for count in 1..MAX_ROUNDS {
        if is_finished || outcome != Outcome::NeedsRerun {
            break;
        }
        let mut context = next_context(node, diagnostics)?;
        context.may_specialize = count < FIRST_ROUND_WITHOUT_GROWTH;
        context.effects.is_fitted = is_fitted;
        (diagnostics, outcome, is_fitted) = round(node, context, None, plan.as_deref_mut())?;
        if count == 1 {
            count_rerun(outcome != Outcome::Unchanged);
        }
        is_finished = outcome != Outcome::Unchanged && is_done(node);
    }
    if grammar.encodes() {
        if let Some(plan) = plan {
            plan.encode(node, grammar, budget)?;
        }
        let mut context = next_context(node, diagnostics)?;
        encode::write(node, &mut context)?;
        diagnostics = context.diagnostics;
        // Encoding as text removes references, so a definition that was recursive may no longer be.
        if options.refs == Some(Refs::Inline) && references::mentions_references(node) {
            let mut context = next_context(node, diagnostics)?;
            inline::resolve_references(
                node,
                &references::of(node, Form::Written, Draft::Y2020, budget)?,
                &mut context,
            )?;
            diagnostics = context.diagnostics;
        }
    }
    discriminators.update_mappings(node, &mut diagnostics, budget)?;
    diagnostics.finish(node, |rule, cause| dialect.reason(rule, cause), recorder);
    Ok(is_finished)
}

const _: () = assert!(PASSES.len() <= 64, "`PassSet` has a bit for each pass");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Unchanged,
    /// Passes changed the schema, and no pass has to run again.
    Changed,
    /// Passes changed the schema, and some passes may have to run again.
    NeedsRerun,
}

impl Outcome {
    fn of(context: &PassContext) -> Self {
        if context.effects.changed.is_empty() {
            return Outcome::Unchanged;
        }
        let rerun = |(position, pass): (usize, &Pass)| {
            context.effects.changed.contains(position) && pass.wakes.is_needed(context)
        };
        let reruns = PASSES.iter().enumerate().any(rerun);
        #[cfg(test)]
        let reruns = off::reruns().unwrap_or(reruns);
        if reruns {
            Outcome::NeedsRerun
        } else {
            Outcome::Changed
        }
    }
}

/// Runs all passes once. If the schema is wrapped in an object with the property `wrapper`, its references resolve
/// against the inner schema. The last value is true if the schema is within the limits of strict modes.
fn round(
    node: &mut Node<'_>,
    mut context: PassContext,
    wrapper: Option<&str>,
    plan: Option<&mut PlanBuilder<'_>>,
) -> Result<(Diagnostics, Outcome, bool), Error> {
    if !context.survey.no_references {
        let budget = &context.budget;
        let document = wrap_root::unwrapped(node, wrapper);
        context.references = Some(Rc::new(references::of(document, context.form, context.draft, budget)?));
        context.is_wrapped = wrapper.is_some();
    }
    let mut remaining_passes = PASSES;
    while let Some(pass) = remaining_passes.first() {
        let position = PASSES.len() - remaining_passes.len();
        remaining_passes = match &pass.run {
            Run::Document(run) => {
                if pass.is_enabled(&context) {
                    #[cfg(test)]
                    context.diagnostics.expect(pass.rules);
                    let was_fitted = context.effects.is_fitted;
                    run(node, &mut context)?;
                    if node.clear_changed() {
                        context.effects.changed = context.effects.changed.insert(position);
                        // A change makes an earlier measurement outdated.
                        context.effects.is_fitted &= !was_fitted;
                    }
                }
                remaining_passes.get(1..).unwrap_or_default()
            }
            // Consecutive passes over single schemas share one walk.
            Run::Enter(_) | Run::Leave(_) => {
                let count = remaining_passes.iter().take_while(|pass| !matches!(pass.run, Run::Document(_))).count();
                let (walk, rest) = remaining_passes.split_at(count);
                let changed_before = context.effects.changed;
                walk_passes((walk, position), node, &mut context)?;
                context.effects.is_fitted &= !node.clear_changed() && context.effects.changed == changed_before;
                rest
            }
        };
    }
    #[cfg(test)]
    context.diagnostics.expect(crate::rules::Rule::ALL);
    context.budget.check(String::new)?;
    if let Some(plan) = plan {
        plan.no_slash |= context.survey.no_slash;
    }
    let outcome = Outcome::of(&context);
    Ok((context.diagnostics, outcome, context.effects.is_fitted))
}

fn walk_passes(
    (passes, first): (&'static [Pass], usize),
    node: &mut Node<'_>,
    context: &mut PassContext,
) -> Result<(), Error> {
    let (mut enter, mut leave) = (Vec::new(), Vec::new());
    for (position, pass) in (first..).zip(passes).filter(|(_, pass)| pass.is_enabled(context)) {
        match pass.run {
            Run::Document(_) => {}
            Run::Enter(run) => enter.push(VisitorPass { position, pass, run }),
            Run::Leave(run) => leave.push(VisitorPass { position, pass, run }),
        }
    }
    let budget = context.budget.clone();
    if passes.first().is_some_and(|pass| pass.phase == Phase::Canonicalize) {
        visit::walk_mut(&budget, node, Keywords::ALL, &mut Canonicalize { context, passes: enter })?;
        survey(context);
        return Ok(());
    }
    visit::walk_mut(&budget, node, Keywords::ALL, &mut Legalize::new(context, enter, leave))
}

fn survey(context: &mut PassContext) {
    context.survey.original_keywords = context.survey.keywords;
    context.enclosing_keywords = context.survey.keywords;
    context.survey.constrains_names = context.survey.lists_objects
        || refused_keys::NAME_CONSTRAINTS
            .iter()
            .any(|keyword| context.survey.keywords.contains(*keyword) && !context.grammar.refuses.contains(*keyword));
}

pub(crate) fn refuse_options(grammar: &Grammar, options: &SanitizeOptions) -> Result<(), Error> {
    let refused = |name: &str, why: &str| {
        let dialect = &options.dialect;
        let message = format!("expected another value of `{name}`, because `{dialect}` {why}, found \"keep\"");
        Err(Error::new(Code::InvalidOption, format!("/{name}"), message))
    };
    if options.untyped == Some(Untyped::Keep) && grammar.typed != TypeRequirement::No {
        return refused("untyped", "refuses schemas without a type");
    }
    if options.refs == Some(Refs::Keep) && !(grammar.refs.anywhere || grammar.refs.to_defs) {
        return refused("refs", "accepts no references");
    }
    Ok(())
}

static REWRITTEN: AtomicUsize = AtomicUsize::new(0);
static RERUN: AtomicUsize = AtomicUsize::new(0);
static RERUN_UNCHANGED: AtomicUsize = AtomicUsize::new(0);

/// Numbers of calls of the pipeline in this process. They wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rounds {
    /// Schemas that the passes rewrote.
    pub rewritten: usize,
    /// Rewritten schemas with a second round.
    pub rerun: usize,
    /// Rewritten schemas whose second round changed nothing.
    pub needless: usize,
}

impl Rounds {
    pub(crate) fn taken() -> Self {
        let [rewritten, rerun, needless] =
            [&REWRITTEN, &RERUN, &RERUN_UNCHANGED].map(|count| count.load(Ordering::Relaxed));
        Rounds { rewritten, rerun, needless }
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Rounds {
            rewritten: self.rewritten.wrapping_sub(before.rewritten),
            rerun: self.rerun.wrapping_sub(before.rerun),
            needless: self.needless.wrapping_sub(before.needless),
        }
    }
}

fn count_rewritten() {
    REWRITTEN.fetch_add(1, Ordering::Relaxed);
}

fn count_rerun(has_changed: bool) {
    RERUN.fetch_add(1, Ordering::Relaxed);
    if !has_changed {
        RERUN_UNCHANGED.fetch_add(1, Ordering::Relaxed);
    }
}
