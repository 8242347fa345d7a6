//! Definition of a pass: one step of the pipeline, its conditions, and the reason for its position.

use super::context::PassContext;
use crate::{
    error::Error,
    json::Node,
    rules::{Phase, Rule},
    schema::{instance_types::InstanceTypes, keyword::Keywords, visit::SchemaPath},
};

pub(crate) struct Pass {
    /// Name of the pass in `docs/pipeline.md`.
    #[cfg_attr(not(test), allow(dead_code, reason = "tests take passes out by name, and the page shows it"))]
    pub(crate) name: &'static str,
    pub(crate) phase: Phase,
    /// Rules whose changes the pass may report.
    #[cfg_attr(not(test), allow(dead_code, reason = "the page of the pipeline shows them"))]
    pub(crate) rules: &'static [Rule],
    /// The pass is skipped for a schema that has none of these keywords; it runs on every schema if the set is empty.
    pub(crate) needs: Keywords,
    pub(crate) applies: fn(&PassContext) -> bool,
    /// Condition under which a change of the pass may require this pass or an earlier pass to run again. All passes
    /// then run again.
    pub(crate) wakes: Wakes,
    pub(crate) run: Run,
    #[cfg_attr(not(test), allow(dead_code, reason = "the page of the pipeline shows them"))]
    pub(crate) why: &'static str,
}

pub(crate) enum Wakes {
    /// Earlier passes would not change the output of the pass.
    Never,
    /// The text describes the condition in docs/pipeline.md. For example, a pass that removes references may leave
    /// definitions that are unused, or no longer recursive.
    If(
        #[cfg_attr(not(test), allow(dead_code, reason = "the page of the pipeline shows it"))] &'static str,
        fn(&PassContext) -> bool,
    ),
    Always,
}

impl Wakes {
    pub(crate) fn holds(&self, context: &PassContext) -> bool {
        match self {
            Wakes::Never => false,
            Wakes::If(_, holds) => holds(context),
            Wakes::Always => true,
        }
    }
}

pub(crate) enum Run {
    Document(for<'a> fn(&mut Node<'a>, &mut PassContext) -> Result<(), Error>),
    /// Every schema, before its subschemas.
    Enter(AtSchema),
    /// Every schema, after its subschemas.
    Leave(AtSchema),
}

pub(crate) type AtSchema =
    for<'p, 'a> fn(&mut Node<'a>, &VisitedSchema<'p, 'a>, &mut PassContext) -> Result<Flow, Error>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    /// The schema is final: skip the remaining passes.
    Stop,
}

pub(crate) struct VisitedSchema<'p, 'a> {
    pub(crate) path: &'p SchemaPath<'p, 'a>,
    pub(crate) keywords: Keywords,
    pub(crate) known: InferenceContext,
}

impl VisitedSchema<'_, '_> {
    pub(crate) const fn is_root(&self) -> bool {
        self.path.keyword.is_none()
    }
}

/// Facts about the instance that the enclosing schemas imply.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InferenceContext {
    /// Types of the instance, if another schema that applies to it declares them.
    pub(crate) types: Option<InstanceTypes>,
    /// True if no type is inferred here.
    pub(crate) not_typed: bool,
    /// True if the API's validator does not check this schema, so nothing has to be removed from it.
    pub(crate) opaque: bool,
    /// True for `items` of a schema that may be anything: types are not inferred for them.
    pub(crate) of_anything: bool,
}

impl Pass {
    /// Tests turn off single passes, to show what each is for.
    pub(crate) fn is_due(&self, context: &PassContext) -> bool {
        #[cfg(test)]
        if off::disabled(self.name) {
            return false;
        }
        (self.applies)(context)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Walked {
    pub(crate) position: usize,
    pub(crate) pass: &'static Pass,
    pub(crate) run: AtSchema,
}

/// Returns the keywords that the schema has afterwards.
pub(crate) fn run_all<'a>(
    passes: &[Walked],
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    known: InferenceContext,
    mut keywords: Keywords,
    context: &mut PassContext,
) -> Result<Keywords, Error> {
    for Walked { position, pass, run } in passes {
        if pass.needs != Keywords::NONE && !keywords.intersects(pass.needs) {
            continue;
        }
        #[cfg(test)]
        context.diagnostics.expect(pass.rules);
        let flow = run(node, &VisitedSchema { path, keywords, known }, context)?;
        // Most passes change nothing, so the keywords are collected again only after a change.
        if node.clear_changed() {
            context.effects.changed = context.effects.changed.insert(*position);
            keywords = node.as_object().map_or(Keywords::NONE, Keywords::in_object);
        }
        if flow == Flow::Stop {
            break;
        }
    }
    Ok(keywords)
}

#[cfg(test)]
pub(crate) mod off {
    extern crate std;

    use core::cell::Cell;

    std::thread_local! {
        static OUT: Cell<Option<&'static str>> = const { Cell::new(None) };
        static RERUNS: Cell<Option<bool>> = const { Cell::new(None) };
    }

    /// Returns `None` if no test decides this.
    pub(crate) fn reruns() -> Option<bool> {
        RERUNS.with(Cell::get)
    }

    /// Passes run again after every change if `always` is true, otherwise never.
    pub(crate) fn with_reruns<R>(always: bool, inside: impl FnOnce() -> R) -> R {
        RERUNS.with(|reruns| reruns.set(Some(always)));
        let result = inside();
        RERUNS.with(|reruns| reruns.set(None));
        result
    }

    pub(crate) fn disabled(pass: &str) -> bool {
        OUT.with(|out| out.get() == Some(pass))
    }

    pub(crate) fn without<R>(pass: &'static str, inside: impl FnOnce() -> R) -> R {
        OUT.with(|out| out.set(Some(pass)));
        let result = inside();
        OUT.with(|out| out.set(None));
        result
    }
}
