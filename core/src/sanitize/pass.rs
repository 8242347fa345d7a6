//! What a pass is: one step of the pipeline, with what it needs and why it stands where it stands.

use super::context::PassContext;
use crate::{
    error::Error,
    json::Node,
    rules::{Phase, Rule},
    schema::{instance_types::InstanceTypes, keyword::Keywords, visit::SchemaPath},
};

/// One step of the pipeline.
pub(in crate::sanitize) struct Pass {
    /// The name that the pipeline's page has for it.
    #[cfg_attr(not(test), allow(dead_code, reason = "tests take passes out by name, and the page shows it"))]
    pub(in crate::sanitize) name: &'static str,
    pub(in crate::sanitize) phase: Phase,
    /// The rules whose changes it may report.
    #[cfg_attr(not(test), allow(dead_code, reason = "the page of the pipeline shows them"))]
    pub(in crate::sanitize) rules: &'static [Rule],
    /// It has nothing to do at a schema in which none of these stands.
    pub(in crate::sanitize) needs: Keywords,
    /// Whether it has anything to do for this grammar and this document.
    pub(in crate::sanitize) applies: fn(&PassContext) -> bool,
    pub(in crate::sanitize) run: Run,
    /// Why it stands there.
    #[cfg_attr(not(test), allow(dead_code, reason = "the page of the pipeline shows them"))]
    pub(in crate::sanitize) why: &'static str,
}

/// What a pass looks at.
pub(in crate::sanitize) enum Run {
    /// The document, once.
    Document(for<'a> fn(&mut Node<'a>, &mut PassContext) -> Result<(), Error>),
    /// Every schema, before those in it.
    Enter(AtSchema),
    /// Every schema, after those in it.
    Leave(AtSchema),
}

/// A pass over one schema.
pub(in crate::sanitize) type AtSchema =
    for<'p, 'a> fn(&mut Node<'a>, &Site<'p, 'a>, &mut PassContext) -> Result<Flow, Error>;

/// Whether other passes of the phase go on with the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sanitize) enum Flow {
    Continue,
    /// The schema is what it is to be.
    Stop,
}

/// Where a schema stands, and what is known of it.
pub(in crate::sanitize) struct Site<'p, 'a> {
    pub(in crate::sanitize) place: &'p SchemaPath<'p, 'a>,
    /// What stands in it.
    pub(in crate::sanitize) keywords: Keywords,
    pub(in crate::sanitize) known: InferenceContext,
}

impl Site<'_, '_> {
    pub(in crate::sanitize) const fn is_root(&self) -> bool {
        self.place.keyword.is_none()
    }
}

/// What the schemas around a schema say of its instance.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::sanitize) struct InferenceContext {
    /// The instance is of these types, because a schema that applies to it too says so.
    pub(in crate::sanitize) types: Option<InstanceTypes>,
    /// Nothing is typed here.
    pub(in crate::sanitize) not_typed: bool,
    /// The validator does not look here, so nothing needs to be given up for it.
    pub(in crate::sanitize) opaque: bool,
    /// The schema around it, whose items these are, says that it may be anything; nothing is said of the items of
    /// anything.
    pub(in crate::sanitize) of_anything: bool,
}

impl Pass {
    /// Whether the pass runs over this document. Tests take out single passes, to show what each is for.
    pub(in crate::sanitize) fn is_due(&self, context: &PassContext) -> bool {
        #[cfg(test)]
        if off::is_out(self.name) {
            return false;
        }
        (self.applies)(context)
    }
}

/// Runs the passes of a walk over one schema; `keywords` is what stands in it.
pub(in crate::sanitize) fn run_all<'a>(
    passes: &[(&Pass, AtSchema)],
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    known: InferenceContext,
    mut keywords: Keywords,
    context: &mut PassContext,
) -> Result<Keywords, Error> {
    for (pass, run) in passes {
        if pass.needs != Keywords::NONE && !keywords.intersects(pass.needs) {
            continue;
        }
        #[cfg(test)]
        context.diagnostics.expect(pass.rules);
        let flow = run(node, &Site { place, keywords, known }, context)?;
        // Most passes find nothing to do.
        if !node.is_unchanged() {
            keywords = node.as_object().map_or(Keywords::NONE, Keywords::in_object);
        }
        if flow == Flow::Stop {
            break;
        }
    }
    Ok(keywords)
}

#[cfg(test)]
pub(in crate::sanitize) mod off {
    extern crate std;

    use core::cell::Cell;

    std::thread_local! {
        static OUT: Cell<Option<&'static str>> = const { Cell::new(None) };
    }

    pub(in crate::sanitize) fn is_out(pass: &str) -> bool {
        OUT.with(|out| out.get() == Some(pass))
    }

    /// Runs `inside` without the pass of this name.
    pub(in crate::sanitize) fn without<R>(pass: &'static str, inside: impl FnOnce() -> R) -> R {
        OUT.with(|out| out.set(Some(pass)));
        let result = inside();
        OUT.with(|out| out.set(None));
        result
    }
}
