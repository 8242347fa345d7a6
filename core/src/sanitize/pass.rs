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
    /// If this condition is true and the pass changed the schema, all passes run again.
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
    pub(crate) fn is_needed(&self, context: &PassContext) -> bool {
        match self {
            Wakes::Never => false,
            Wakes::If(_, condition) => condition(context),
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
    pub(crate) inferred: InferenceContext,
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
    /// True if types are not inferred for this schema.
    pub(crate) skips_types: bool,
    /// True if the API's validator does not check this schema, so nothing has to be removed from it.
    pub(crate) opaque: bool,
    /// True for `items` of a schema that accepts anything: types are not inferred for them.
    pub(crate) is_item_of_anything: bool,
}

impl Pass {
    /// Tests disable single passes, to show what breaks without them.
    pub(crate) fn is_enabled(&self, context: &PassContext) -> bool {
        #[cfg(test)]
        if off::disabled(self.name) {
            return false;
        }
        (self.applies)(context)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct VisitorPass {
    pub(crate) position: usize,
    pub(crate) pass: &'static Pass,
    pub(crate) run: AtSchema,
}

/// Runs passes on a schema, and returns its keywords afterwards.
pub(crate) fn run_all<'a>(
    passes: &[VisitorPass],
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    inferred: InferenceContext,
    mut keywords: Keywords,
    context: &mut PassContext,
) -> Result<Keywords, Error> {
    for VisitorPass { position, pass, run } in passes {
        if pass.needs != Keywords::NONE && !keywords.intersects(pass.needs) {
            continue;
        }
        #[cfg(test)]
        context.diagnostics.expect(pass.rules);
        let flow = run(node, &VisitedSchema { path, keywords, inferred }, context)?;
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
        static DISABLED: Cell<Option<&'static str>> = const { Cell::new(None) };
        static RERUNS: Cell<Option<bool>> = const { Cell::new(None) };
    }

    /// Returns `None` unless a test forces or forbids reruns.
    pub(crate) fn reruns() -> Option<bool> {
        RERUNS.with(Cell::get)
    }

    /// Runs `inside`; in it, all passes run again after every change if `always` is true, and never otherwise.
    pub(crate) fn with_reruns<R>(always: bool, inside: impl FnOnce() -> R) -> R {
        RERUNS.with(|reruns| reruns.set(Some(always)));
        let result = inside();
        RERUNS.with(|reruns| reruns.set(None));
        result
    }

    pub(crate) fn disabled(pass: &str) -> bool {
        DISABLED.with(|name| name.get() == Some(pass))
    }

    pub(crate) fn without<R>(pass: &'static str, inside: impl FnOnce() -> R) -> R {
        DISABLED.with(|name| name.set(Some(pass)));
        let result = inside();
        DISABLED.with(|name| name.set(None));
        result
    }
}
