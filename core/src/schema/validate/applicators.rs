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
        let mut before = at.entered;
        while let Some(entered) = before {
            if entered.target == target && core::ptr::eq(entered.value, value) {
                return Verdict::Unknown;
            }
            before = entered.before;
        }
        let (location, entered) = (Location::At(pointer), Entered { target, value, before: at.entered });
        self.schema(schema, value, At { schema: &location, entered: Some(&entered), ..at })
    }

    /// Returns number, schema and pointer of the target. Targets that are only a reference are skipped. The end of such
    /// a chain is found once, however many references point into it.
    pub(super) fn end_of(&mut self, reference: &'s Node<'a>) -> Option<(Number, &'s Node<'a>, &'v str)> {
        let prepared = self.prepared;
        let references = prepared.references.as_ref()?;
        let first = references.target(reference)?;
        let (schema, pointer) = prepared.target(first)?;
        let Some(next) = self.only_reference(schema) else { return Some((first, schema, pointer)) };
        // A link is treated as unresolved until its end is known, so cycles end here.
        let mut links = Vec::from([first]);
        let mut next = if self.ends.contains_key(&first) { None } else { references.target(next) };
        let mut end = self.ends.insert(first, None).flatten();
        while let Some(link) = next.take() {
            if let Some(known) = self.ends.get(&link) {
                end = *known;
                break;
            }
            if !self.budget.pay(1) {
                return None;
            }
            let Some((schema, _)) = prepared.target(link) else { break };
            match self.only_reference(schema) {
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

    fn only_reference(&self, schema: &'s Node<'a>) -> Option<&'s Node<'a>> {
        const SILENT: [&str; 7] = ["$ref", "$id", "$anchor", "$defs", "definitions", "title", "description"];
        let object = schema.as_object()?;
        let reference = object.get(Keyword::Ref).filter(|reference| reference.as_text().is_some())?;
        let is_silent = || object.iter().all(|member| SILENT.iter().any(|name| member.key.is(name)));
        (self.prepared.draft.ignores_ref_siblings() || object.len() <= SILENT.len() && is_silent()).then_some(reference)
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
            match self.quietly(branch, value, at) {
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

    /// If only one branch accepts the type of the value, its violations are reported in place of the violation of the
    /// union. Most unions consist of a type and null.
    fn no_branch_accepts(&mut self, branches: &'s [Node<'a>], union: Keyword, value: &Node<'_>, at: At<'_>) -> Verdict {
        if self.silent > 0 {
            return Verdict::Invalid;
        }
        let kind = InstanceTypes::of_instance(value);
        let types = |branch: &Node<'_>| branch.get(Keyword::Type).and_then(admitted);
        let is_meant =
            |branch: &Node<'_>| branch.as_object().is_some() && types(branch).is_none_or(|types| types.meets(kind));
        let mut meant = branches.iter().enumerate().filter(|(_, branch)| is_meant(branch));
        if let (Some((index, branch)), None) = (meant.next(), meant.next()) {
            let (location, reported) = (Location::Item(at.schema, index), self.errors.len());
            self.schema(branch, value, At { schema: &location, ..at });
            if self.errors.len() > reported {
                return Verdict::Invalid;
            }
        }
        self.refuse(at, union.name(), || {
            let all = branches.iter().map(types).try_fold(InstanceTypes::NONE, |all, one| Some(all.or(one?)));
            match (all, value.kind()) {
                (Some(all), found) if !all.meets(kind) => format!("expected {}, found {found}", words::types(all)),
                (_, found) => {
                    let count = branches.len();
                    format!("expected a value that matches one of {count} schemas, found {found} that matches none")
                }
            }
        })
    }

    #[inline(never)]
    pub(super) fn not(&mut self, keyword_value: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        match self.quietly(keyword_value, value, at) {
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

    /// If the result of the condition is unknown, `then` and `else` must give the same result.
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
        let condition = self.quietly(keyword_value, value, at);
        if condition != Verdict::Unknown {
            let (branch, keyword) = match condition {
                Verdict::Valid => (then, Keyword::Then),
                _ => (otherwise, Keyword::Else),
            };
            let location = Location::Name(above, keyword.name());
            return branch.map_or(Verdict::Valid, |branch| self.schema(branch, value, At { schema: &location, ..at }));
        }
        let [then, otherwise] =
            [then, otherwise].map(|branch| branch.map_or(Verdict::Valid, |branch| self.quietly(branch, value, at)));
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
