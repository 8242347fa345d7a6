//! Repairing arguments that a model answered wrongly.
//!
//! What validates is never touched. A repair answers one failed assertion at one place, and is kept only if that
//! assertion then holds and nothing that held is broken; of several readings the exact one is taken, or the one likely
//! one. Each member is judged by itself. No report has a value of the arguments.
//!
//! Every schema tried on a value is a step, and so is every value that is copied; where they are spent, the rest is
//! left.

mod apply;
mod at;
mod gone;
mod kinds;
mod members;
mod names;
mod root;
mod scalars;
mod unions;
mod view;
mod words;

use alloc::{string::String, vec::Vec};

use crate::{
    collections::Map,
    json::{Data, Node},
    options::RepairOptions,
    report::{LeftReason, Permits, Repair},
    schema::{
        instance_types::InstanceTypes,
        keyword::Keyword,
        validate::{Judge, Verdict},
    },
};
use at::At;
pub(crate) use root::{repair, unreadable, Answered};
use view::View;

/// The most places, branches and readings inside one another. Each takes stack, and a call does with 512 KiB.
const DEEPEST: usize = 64;

/// Maximum number of texts inside one another that are read at one place.
const TEXTS: u8 = 3;

/// A value, and the repairs that made it.
struct Fixed<'n> {
    value: Node<'n>,
    repairs: Vec<Repair>,
}

/// One repairing.
struct Repairer<'v, 's, 'a> {
    judge: Judge<'v, 's, 'a>,
    options: &'v RepairOptions,
    permits: Permits,
    /// Why places of the result were left.
    reasons: Map<String, LeftReason>,
}

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// Repairs the value of one place by all schemas that apply to it. What they take, or cannot judge, stays.
    fn place<'n>(&mut self, schemas: &[&'s Node<'a>], value: Node<'n>, at: At<'_>) -> Fixed<'n> {
        let mut fixed = Fixed { value, repairs: Vec::new() };
        if at.level > DEEPEST || self.verdict(schemas, &fixed.value, at) != Verdict::Invalid {
            return fixed;
        }
        // What is told of a place has its pointer, and that is as long as the names on the way.
        if !self.judge.budget().pay((at.from.length() + at.to.length()) / 64) {
            return fixed;
        }
        let Some(mut view) = self.view(schemas) else { return fixed };
        if at.is_untyped_root {
            view.kinds = view.kinds.and(InstanceTypes::OBJECT);
        }
        let at = At { outer: Some(at.outer.unwrap_or(view.kinds)), ..at };
        if !self.is_kind(&view, &fixed.value) {
            return self.exchange(&view, schemas, &fixed.value, at).unwrap_or(fixed);
        }
        match fixed.value.data() {
            Data::Object(_) => self.members(&view, &mut fixed, at),
            Data::Array(_) => self.items(&view, &mut fixed, at),
            _ => {}
        }
        if !view.unions.is_empty() {
            self.unions(&view, &mut fixed, at);
        }
        fixed
    }

    /// What schemas say of a value together.
    fn verdict(&mut self, schemas: &[&'s Node<'a>], value: &Node<'_>, at: At<'_>) -> Verdict {
        if at.is_untyped_root && value.as_object().is_none() {
            return Verdict::Invalid;
        }
        self.judge.together(|judge| {
            let mut all = Verdict::Valid;
            for schema in schemas {
                all = all.and(judge.verdict(schema, value));
                if all == Verdict::Invalid {
                    break;
                }
            }
            all
        })
    }

    /// Is a value of an admitted kind, and among those that are listed?
    fn is_kind(&mut self, view: &View<'s, 'a>, value: &Node<'_>) -> bool {
        let listed = [Keyword::Type, Keyword::Enum, Keyword::Const];
        InstanceTypes::of_instance(value).within(view.kinds)
            && view
                .parts
                .iter()
                .all(|part| listed.iter().all(|keyword| self.judge.keyword(*keyword, part, value) != Verdict::Invalid))
    }

    /// Notes why a place is left as it is.
    fn leave(&mut self, at: At<'_>, reason: LeftReason) {
        self.reasons.insert(at.output_pointer(), reason);
    }
}
