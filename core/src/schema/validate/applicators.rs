//! Schemas that apply to the same value: references, `allOf`, `anyOf`, `oneOf`, `not`, `if`.

use alloc::format;

use super::{admitted, words, At, Entered, Place, Run, Verdict};
use crate::{
    json::{Node, Object},
    schema::{instance_types::InstanceTypes, keyword::Keyword},
};

impl<'s, 'a> Run<'_, 's, 'a> {
    /// `$ref`, where it leads to a schema of this document that is not being asked about this value already.
    #[inline(never)]
    pub(super) fn reference(&mut self, reference: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let prepared = self.prepared;
        let Some(target) = prepared.references.as_ref().and_then(|known| known.target(reference)) else {
            return Verdict::Unknown;
        };
        let Some((schema, pointer)) = prepared.target(target) else { return Verdict::Unknown };
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
        self.none_takes(branches, Keyword::AnyOf, value, at)
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
            (0, 0) => self.none_takes(branches, Keyword::OneOf, value, at),
            (2, _) => self.refuse(at, Keyword::OneOf.name(), || {
                let (count, kind) = (branches.len(), value.kind());
                format!("expected what exactly one of {count} schemas takes, found {kind} that more than one takes")
            }),
            _ => Verdict::Unknown,
        }
    }

    /// A union of which no branch takes the value. If one branch alone is for values of its kind, that one is meant,
    /// and says what is wrong: most unions are a type and null.
    fn none_takes(&mut self, branches: &'s [Node<'a>], union: Keyword, value: &Node<'_>, at: At<'_>) -> Verdict {
        if self.silent > 0 {
            return Verdict::Invalid;
        }
        let kind = InstanceTypes::of_instance(value);
        let types = |branch: &Node<'_>| branch.get(Keyword::Type).and_then(admitted);
        let is_meant =
            |branch: &Node<'_>| branch.as_object().is_some() && types(branch).is_none_or(|types| types.meets(kind));
        let mut meant = branches.iter().enumerate().filter(|(_, branch)| is_meant(branch));
        if let (Some((index, branch)), None) = (meant.next(), meant.next()) {
            let (place, told) = (Place::Item(at.schema, index), self.errors.len());
            self.schema(branch, value, At { schema: &place, ..at });
            if self.errors.len() > told {
                return Verdict::Invalid;
            }
        }
        self.refuse(at, union.name(), || {
            let all = branches.iter().map(types).try_fold(InstanceTypes::NONE, |all, one| Some(all.or(one?)));
            match (all, value.kind()) {
                (Some(all), found) if !all.meets(kind) => format!("expected {}, found {found}", words::types(all)),
                (_, found) => {
                    let count = branches.len();
                    format!("expected what one of {count} schemas takes, found {found} that none takes")
                }
            }
        })
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
