//! Schemas that apply to the same value: references, `allOf`, `anyOf`, `oneOf`, `not`, `if`.

use alloc::format;

use super::{At, Entered, Place, Run, Verdict};
use crate::{
    json::{Node, Object},
    schema::keyword::Keyword,
};

impl<'s, 'a> Run<'_, 's, 'a> {
    /// `$ref`, where it leads to a schema of this document that is not being asked about this value already.
    #[inline(never)]
    pub(super) fn reference(&mut self, reference: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let prepared = self.prepared;
        let Some(target) = prepared.references.target(reference) else { return Verdict::Unknown };
        let Some((schema, pointer)) = prepared.targets.get(&target) else { return Verdict::Unknown };
        let mut before = at.entered;
        while let Some(entered) = before {
            if entered.target == target && core::ptr::eq(entered.value, value) {
                return Verdict::Unknown;
            }
            before = entered.before;
        }
        let (place, entered) = (Place::At(pointer), Entered { target, value, before: at.entered });
        self.schema(schema, value, At { schema: &place, entered: Some(&entered), ..at })
    }

    #[inline(never)]
    pub(super) fn all_of(&mut self, says: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let Some(branches) = branches(says) else { return Verdict::Unknown };
        let mut verdict = Verdict::Valid;
        for (index, branch) in branches.iter().enumerate() {
            let place = Place::Item(at.schema, index);
            verdict = verdict.and(self.schema(branch, value, At { schema: &place, ..at }));
            if verdict == Verdict::Invalid && self.silent > 0 {
                break;
            }
        }
        verdict
    }

    #[inline(never)]
    pub(super) fn any_of(&mut self, says: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let Some(branches) = branches(says) else { return Verdict::Unknown };
        let mut is_unknown = false;
        for branch in branches {
            match self.quietly(branch, value, at) {
                Verdict::Valid => return Verdict::Valid,
                Verdict::Unknown => is_unknown = true,
                Verdict::Invalid => {}
            }
        }
        if is_unknown {
            return Verdict::Unknown;
        }
        self.refuse(at, Keyword::AnyOf.name(), || {
            let (count, kind) = (branches.len(), value.kind());
            format!("expected what at least one of {count} schemas takes, found {kind} that none takes")
        })
    }

    #[inline(never)]
    pub(super) fn one_of(&mut self, says: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let Some(branches) = branches(says) else { return Verdict::Unknown };
        let (mut valid, mut unknown) = (0, 0);
        for branch in branches {
            match self.quietly(branch, value, at) {
                Verdict::Valid => valid += 1,
                Verdict::Unknown => unknown += 1,
                Verdict::Invalid => {}
            }
            if valid > 1 {
                break;
            }
        }
        match (valid, unknown) {
            (1, 0) => Verdict::Valid,
            (0, 0) | (2, _) => self.refuse(at, Keyword::OneOf.name(), || {
                let (count, kind) = (branches.len(), value.kind());
                let found = if valid == 0 { "none takes" } else { "more than one takes" };
                format!("expected what exactly one of {count} schemas takes, found {kind} that {found}")
            }),
            _ => Verdict::Unknown,
        }
    }

    #[inline(never)]
    pub(super) fn not(&mut self, says: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        match self.quietly(says, value, at) {
            Verdict::Invalid => Verdict::Valid,
            Verdict::Unknown => Verdict::Unknown,
            Verdict::Valid => self.refuse(at, Keyword::Not.name(), || {
                format!("expected what the schema in `not` refuses, found {} that it takes", value.kind())
            }),
        }
    }

    /// `if` with what stands beside it. Where it cannot be told, both have to agree.
    #[inline(never)]
    pub(super) fn condition(
        &mut self,
        says: &'s Node<'a>,
        schema: &'s Object<'a>,
        value: &Node<'_>,
        at: At<'_>,
    ) -> Verdict {
        let (Place::Name(above, _), [then, otherwise]) =
            (*at.schema, [Keyword::Then, Keyword::Else].map(|keyword| schema.get(keyword)))
        else {
            return Verdict::Unknown;
        };
        if then.is_none() && otherwise.is_none() {
            return Verdict::Valid;
        }
        let condition = self.quietly(says, value, at);
        if condition != Verdict::Unknown {
            let (branch, keyword) = match condition {
                Verdict::Valid => (then, Keyword::Then),
                _ => (otherwise, Keyword::Else),
            };
            let place = Place::Name(above, keyword.name());
            return branch.map_or(Verdict::Valid, |branch| self.schema(branch, value, At { schema: &place, ..at }));
        }
        let [then, otherwise] =
            [then, otherwise].map(|branch| branch.map_or(Verdict::Valid, |branch| self.quietly(branch, value, at)));
        match (then, otherwise) {
            (Verdict::Valid, Verdict::Valid) => Verdict::Valid,
            (Verdict::Invalid, Verdict::Invalid) => self.refuse(at, Keyword::If.name(), || {
                format!("expected what `then` or `else` takes, found {} that neither takes", value.kind())
            }),
            _ => Verdict::Unknown,
        }
    }
}

/// The schemas of a list that has any.
fn branches<'s, 'a>(says: &'s Node<'a>) -> Option<&'s [Node<'a>]> {
    says.as_array().filter(|branches| !branches.is_empty())
}
