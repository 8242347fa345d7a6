//! Keywords whose schemas apply to the same value: references, `allOf`, `anyOf`, `oneOf`, `not`, `if`.

use alloc::{format, vec::Vec};

use super::{admitted, words, At, Entered, Location, Run, Verdict};
use crate::{
    json::{Node, Object},
    schema::{instance_types::InstanceTypes, keyword::Keyword, references::Number},
};

impl<'v, 's, 'a> Run<'v, 's, 'a> {
    /// Returns `Unknown` if the reference does not resolve in this document, or if the target is already being applied
    /// to this value.
    #[inline(never)]
    pub(super) fn reference(&mut self, reference: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let Some((target, schema, pointer)) = self.end_of(reference) else { return Verdict::Unknown };
        let mut enclosing = at.entered;
        while let Some(entered) = enclosing {
            if entered.target == target && core::ptr::eq(entered.value, value) {
                return Verdict::Unknown;
            }
            enclosing = entered.before;
        }
        let (location, entered) = (Location::At(pointer), Entered { target, value, before: at.entered });
        self.schema(schema, value, At { schema: &location, entered: Some(&entered), ..at })
    }

    /// Returns number, schema and pointer of the target. A target that is only a reference is replaced by its own
    /// target. The end of such a chain is determined once, however many references point to its targets.
    pub(super) fn end_of(&mut self, reference: &'s Node<'a>) -> Option<(Number, &'s Node<'a>, &'v str)> {
        let prepared = self.prepared;
        let references = prepared.references.as_ref()?;
        let first_target = references.target(reference)?;
        let (schema, pointer) = prepared.target(first_target)?;
        let Some(next) = self.bare_reference(schema) else { return Some((first_target, schema, pointer)) };
        // A link is treated as unresolved until its end is known, so cycles end here.
        let mut links = Vec::from([first_target]);
        let mut next = if self.ends.contains_key(&first_target) { None } else { references.target(next) };
        let mut end = self.ends.insert(first_target, None).flatten();
        while let Some(link) = next.take() {
            if let Some(known) = self.ends.get(&link) {
                end = *known;
                break;
            }
            if !self.budget.pay(1) {
                return None;
            }
            let Some((schema, _)) = prepared.target(link) else { break };
            match self.bare_reference(schema) {
                Some(reference) => {
                    self.ends.insert(link, None);
                    links.push(link);
                    next = references.target(reference);
                }
                None => end = Some(link),
            }
        }
        self.ends.extend(links.into_iter().map(|link| (link, end)));
        let (schema, pointer) = prepared.target(end?)?;
        Some((end?, schema, pointer))
    }

    fn bare_reference(&self, schema: &'s Node<'a>) -> Option<&'s Node<'a>> {
        const NO_ASSERTION: [&str; 7] = ["$ref", "$id", "$anchor", "$defs", "definitions", "title", "description"];
        let object = schema.as_object()?;
        let reference = object.get(Keyword::Ref).filter(|reference| reference.as_text().is_some())?;
        let has_no_assertions = || object.iter().all(|member| NO_ASSERTION.iter().any(|name| member.key.is(name)));
        (self.prepared.draft.ignores_ref_siblings() || object.len() <= NO_ASSERTION.len() && has_no_assertions())
            .then_some(reference)
    }

    #[inline(never)]
    pub(super) fn all_of(&mut self, keyword_value: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let Some(branches) = branches(keyword_value) else { return Verdict::Unknown };
        let mut verdict = Verdict::Valid;
        for (index, branch) in branches.iter().enumerate() {
            let location = Location::Item(at.schema, index);
            verdict = verdict.and(self.schema(branch, value, At { schema: &location, ..at }));
            if verdict == Verdict::Invalid && self.is_silent() {
                break;
            }
        }
        verdict
    }

    #[inline(never)]
    pub(super) fn any_of(&mut self, keyword_value: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let Some(branches) = branches(keyword_value) else { return Verdict::Unknown };
        let mut is_unknown = false;
        for branch in branches {
            match self.check_silently(branch, value, at) {
                Verdict::Valid => return Verdict::Valid,
                Verdict::Unknown => is_unknown = true,
                Verdict::Invalid => {}
            }
        }
        if is_unknown {
            return Verdict::Unknown;
        }
        self.no_branch_accepts(branches, Keyword::AnyOf, value, at)
    }

    #[inline(never)]
    pub(super) fn one_of(&mut self, keyword_value: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let Some(branches) = branches(keyword_value) else { return Verdict::Unknown };
        let (mut valid, mut unknown) = (0, 0);
        for branch in branches {
            match self.check_silently(branch, value, at) {
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
            (0, 0) => self.no_branch_accepts(branches, Keyword::OneOf, value, at),
            (2, _) => self.refuse(at, Keyword::OneOf.name(), || {
                let (count, kind) = (branches.len(), value.kind());
                format!(
                    "expected a value that matches exactly one of {count} schemas, found {kind} that matches more \
                    than one"
                )
            }),
            _ => Verdict::Unknown,
        }
    }

    /// Refuses a value that no branch accepts. If only one branch accepts the type of the value, its violations are
    /// reported in place of the violation of the union. Most unions consist of a type and null.
    fn no_branch_accepts(&mut self, branches: &'s [Node<'a>], union: Keyword, value: &Node<'_>, at: At<'_>) -> Verdict {
        if self.silent_checks > 0 {
            return Verdict::Invalid;
        }
        let kind = InstanceTypes::of_instance(value);
        let types = |branch: &Node<'_>| branch.get(Keyword::Type).and_then(admitted);
        let accepts_type = |branch: &Node<'_>| {
            branch.as_object().is_some() && types(branch).is_none_or(|types| types.intersects(kind))
        };
        let mut candidates = branches.iter().enumerate().filter(|(_, branch)| accepts_type(branch));
        if let (Some((index, branch)), None) = (candidates.next(), candidates.next()) {
            let (location, error_count) = (Location::Item(at.schema, index), self.errors.len());
            self.schema(branch, value, At { schema: &location, ..at });
            if self.errors.len() > error_count {
                return Verdict::Invalid;
            }
        }
        self.refuse(at, union.name(), || {
            let accepted_types = branches
                .iter()
                .map(types)
                .try_fold(InstanceTypes::NONE, |accepted_types, types| Some(accepted_types.or(types?)));
            match (accepted_types, value.kind()) {
                (Some(accepted_types), found) if !accepted_types.intersects(kind) => {
                    format!("expected {}, found {found}", words::types(accepted_types))
                }
                (_, found) => {
                    let count = branches.len();
                    format!("expected a value that matches one of {count} schemas, found {found} that matches none")
                }
            }
        })
    }

    #[inline(never)]
    pub(super) fn not(&mut self, keyword_value: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        match self.check_silently(keyword_value, value, at) {
            Verdict::Invalid => Verdict::Valid,
            Verdict::Unknown => Verdict::Unknown,
            Verdict::Valid => self.refuse(at, Keyword::Not.name(), || {
                format!(
                    "expected a value that does not match the schema in `not`, found {} that matches it",
                    value.kind()
                )
            }),
        }
    }

    /// Applies `then` or `else`. If the result of the condition is unknown, both must have the same result.
    #[inline(never)]
    pub(super) fn condition(
        &mut self,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        value: &Node<'_>,
        at: At<'_>,
    ) -> Verdict {
        let (Location::Name(above, _), [then, otherwise]) =
            (*at.schema, [Keyword::Then, Keyword::Else].map(|keyword| schema.get(keyword)))
        else {
            return Verdict::Unknown;
        };
        if then.is_none() && otherwise.is_none() {
            return Verdict::Valid;
        }
        let condition = self.check_silently(keyword_value, value, at);
        if condition != Verdict::Unknown {
            let (branch, keyword) = match condition {
                Verdict::Valid => (then, Keyword::Then),
                _ => (otherwise, Keyword::Else),
            };
            let location = Location::Name(above, keyword.name());
            return branch.map_or(Verdict::Valid, |branch| self.schema(branch, value, At { schema: &location, ..at }));
        }
        let [then, otherwise] = [then, otherwise]
            .map(|branch| branch.map_or(Verdict::Valid, |branch| self.check_silently(branch, value, at)));
        match (then, otherwise) {
            (Verdict::Valid, Verdict::Valid) => Verdict::Valid,
            (Verdict::Invalid, Verdict::Invalid) => self.refuse(at, Keyword::If.name(), || {
                format!("expected a value that matches `then` or `else`, found {} that matches neither", value.kind())
            }),
            _ => Verdict::Unknown,
        }
    }
}

fn branches<'s, 'a>(keyword_value: &'s Node<'a>) -> Option<&'s [Node<'a>]> {
    keyword_value.as_array().filter(|branches| !branches.is_empty())
}
