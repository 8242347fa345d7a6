//! Repairs invalid arguments of a model.
//!
//! Valid values are never changed. A repair fixes one failed assertion at one position, and is kept only if that
//! assertion then holds and no other one breaks. Of several readings the only exact one is chosen, otherwise the only
//! likely one. Each member is validated separately. Reports contain no value of the arguments.
//!
//! Each application of a schema to a value is a step of the budget, and so is each copied value. Once the budget is
//! spent, the rest is left unchanged.

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
pub(crate) use root::{repair, unreadable, RawArguments};
use view::View;

/// Maximum nesting of positions, branches and readings. Each level takes stack, and a call must run in 512 KiB.
const MAX_LEVEL: usize = 64;

/// Maximum number of strings to parse inside one another at one position.
const TEXTS: u8 = 3;

/// A value, and the repairs that were applied to it.
struct Fixed<'n> {
    value: Node<'n>,
    repairs: Vec<Repair>,
}

/// One run of repairs.
struct Repairer<'v, 's, 'a> {
    judge: Judge<'v, 's, 'a>,
    options: &'v RepairOptions,
    permits: Permits,
    /// Reasons why values in the result were left unchanged, by pointer.
    reasons: Map<String, LeftReason>,
}

impl<'s, 'a> Repairer<'_, 's, 'a> {
    /// Repairs one value by all schemas that apply to it. A value that they accept, or whose validity is unknown, is
    /// left unchanged.
    fn place<'n>(&mut self, schemas: &[&'s Node<'a>], value: Node<'n>, at: At<'_>) -> Fixed<'n> {
        let mut fixed = Fixed { value, repairs: Vec::new() };
        if at.level > MAX_LEVEL || self.verdict(schemas, &fixed.value, at) != Verdict::Invalid {
            return fixed;
        }
        // Reports contain pointers, whose length is that of the names on the path.
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

    /// Validates a value against several schemas.
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

    /// Returns true if a value has an accepted type, and is listed if values are listed.
    fn is_kind(&mut self, view: &View<'s, 'a>, value: &Node<'_>) -> bool {
        let listed = [Keyword::Type, Keyword::Enum, Keyword::Const];
        InstanceTypes::of_instance(value).within(view.kinds)
            && view
                .parts
                .iter()
                .all(|part| listed.iter().all(|keyword| self.judge.keyword(*keyword, part, value) != Verdict::Invalid))
    }

    /// Records why a value is left unchanged.
    fn leave(&mut self, at: At<'_>, reason: LeftReason) {
        self.reasons.insert(at.output_pointer(), reason);
    }
}
