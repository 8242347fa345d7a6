//! Finds overlapping branches of unions: after every object is closed, a property that one branch declares is refused
//! by the other.
//!
//! If one of two branches declares, at every level, all properties of the other, nothing is lost: it still accepts what
//! both accepted.

use alloc::vec::Vec;

use crate::{
    budget::Budget,
    collections::Set,
    dialect::grammar::Grammar,
    error::Error,
    json::{Node, Object, Text},
    sanitize::{
        analysis::naming::Naming,
        context::PassContext,
        encode::layout::{self, AdditionalProperties, Definitions, Members, Shape, Typed},
    },
    schema::{
        emptiness::disjoint,
        keyword::{Keyword, Keywords},
        references::Number,
        visit::{self, Visit},
    },
};

/// Maximum number of pairs of schemas to compare; with more, the result is unknown.
const MAX_PAIRS: usize = 20_000;

/// Returns the objects that, when closed, refuse a property which another branch declares; `None` if there are too many
/// pairs.
pub(super) fn objects<'a>(
    root: &Node<'a>,
    definitions: &Definitions<'_, 'a>,
    context: &PassContext,
) -> Result<Option<Set<Number>>, Error> {
    let (grammar, budget, naming) = (context.grammar, &*context.budget, &context.diagnostics.naming);
    let mut search = OverlapSearch { definitions, grammar, budget, naming, spare: MAX_PAIRS, found: Set::new() };
    let mut is_whole = true;
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
        if let Shape::Union(branches) = layout::of(node, place.keyword.is_none(), grammar) {
            is_whole = is_whole && search.union(branches).is_some();
        }
        Ok(if is_whole { Visit::Descend } else { Visit::Skip })
    })?;
    Ok(is_whole.then_some(search.found))
}

struct OverlapSearch<'s, 'n, 'a> {
    definitions: &'s Definitions<'n, 'a>,
    grammar: &'s Grammar,
    budget: &'s Budget,
    naming: &'s Naming,
    spare: usize,
    found: Set<Number>,
}

/// Loss of two branches on the instances that both accept.
#[derive(Default)]
struct Loss {
    /// True for each of the two branches that loses something.
    by: [bool; 2],
    objects: Vec<Number>,
}

/// Properties that an object declares, and its rule for other members.
struct Named<'s, 'a> {
    table: Option<&'s Object<'a>>,
    others: AdditionalProperties<'s, 'a>,
}

impl<'s, 'a> Named<'s, 'a> {
    fn names(&self) -> impl Iterator<Item = (&'s Text<'a>, &'s Node<'a>)> {
        self.table.into_iter().flatten().map(|member| (&member.key, &member.value))
    }

    /// Returns the schema of a member.
    fn schema_of(&self, name: &Text<'a>) -> Option<&'s Node<'a>> {
        let others = match self.others {
            AdditionalProperties::Open(schema) => schema,
            AdditionalProperties::Closed | AdditionalProperties::Undeclared => None,
        };
        self.table.and_then(|table| table.get_text(name)).or(others)
    }

    /// True if closing this object refuses a property that the other one declares.
    fn loses_to(&self, other: &Named<'s, 'a>) -> bool {
        let is_unknown = |(name, _): (&Text<'a>, _)| self.table.is_none_or(|table| table.get_text(name).is_none());
        matches!(self.others, AdditionalProperties::Undeclared)
            && (matches!(other.others, AdditionalProperties::Open(_)) || other.names().any(is_unknown))
    }
}

impl<'s, 'a> OverlapSearch<'s, '_, 'a> {
    /// Compares all pairs of branches; `None` if there are too many.
    fn union(&mut self, branches: &'s [Node<'a>]) -> Option<()> {
        let mut leaves = Vec::new();
        for branch in branches {
            let mut inside = Vec::new();
            self.leaves(branch, &mut inside)?;
            leaves.extend(inside.into_iter().map(|leaf| (branch, leaf)));
        }
        for (at, (branch, one)) in leaves.iter().enumerate() {
            for (other, two) in leaves.iter().skip(at + 1) {
                if self.naming.are_alternatives(branch, other) {
                    continue;
                }
                let loss = self.compare(one, two)?;
                if loss.by == [true, true] && !disjoint(self.budget, one, two) {
                    self.found.extend(loss.objects);
                }
            }
        }
        Some(())
    }

    fn pay(&mut self) -> Option<()> {
        self.spare = self.spare.checked_sub(1).filter(|_| self.budget.pay(1))?;
        Some(())
    }

    /// Collects the schemas that are neither unions nor references, following both.
    fn leaves(&mut self, schema: &'s Node<'a>, leaves: &mut Vec<&'s Node<'a>>) -> Option<()> {
        let mut open = Vec::from([schema]);
        while let Some(schema) = open.pop() {
            self.pay()?;
            let schema = self.definitions.follow(schema)?;
            match layout::of(schema, self.definitions.is_root(schema), self.grammar) {
                Shape::Union(branches) => open.extend(branches.iter().rev()),
                _ => leaves.push(schema),
            }
        }
        Some(())
    }

    fn compare(&mut self, one: &'s Node<'a>, two: &'s Node<'a>) -> Option<Loss> {
        let (mut loss, mut seen, mut open) = (Loss::default(), Set::new(), Vec::from([(one, two)]));
        while let Some((one, two)) = open.pop() {
            self.pay()?;
            let (mut ones, mut twos) = (Vec::new(), Vec::new());
            self.leaves(one, &mut ones)?;
            self.leaves(two, &mut twos)?;
            for one in ones {
                for two in &twos {
                    let pair = (one.origin().number(), two.origin().number());
                    // Both come from the same sibling of the union.
                    let is_same = pair.0.is_some() && pair.0 == pair.1;
                    if !is_same && ((pair.0.is_none() && pair.1.is_none()) || seen.insert(pair)) {
                        self.pay()?;
                        self.pair(one, two, &mut loss, &mut open);
                    }
                }
            }
        }
        Some(loss)
    }

    /// Compares two schemas without their subschemas, and adds pairs of these to `open`.
    fn pair(
        &self,
        one: &'s Node<'a>,
        two: &'s Node<'a>,
        loss: &mut Loss,
        open: &mut Vec<(&'s Node<'a>, &'s Node<'a>)>,
    ) {
        let of = |schema| layout::of(schema, self.definitions.is_root(schema), self.grammar);
        let (ones, twos) = match (of(one), of(two)) {
            (Shape::Typed(ones), Shape::Typed(twos)) => (ones, twos),
            // A branch that accepts anything keeps what the other one loses.
            (Shape::Anything, Shape::Anything) => return,
            (Shape::Anything, _) => return loss.by = [loss.by[0], true],
            (_, Shape::Anything) => return loss.by = [true, loss.by[1]],
            _ => return,
        };
        if ones.array && twos.array {
            open.extend(ones.items.zip(twos.items));
        }
        let (Some(ones), Some(twos)) = (named(one, &ones), named(two, &twos)) else { return };
        if ones.loses_to(&twos) {
            loss.by[0] = true;
            loss.objects.extend(one.origin().number());
        }
        if twos.loses_to(&ones) {
            loss.by[1] = true;
            loss.objects.extend(two.origin().number());
        }
        open.extend(ones.names().filter_map(|(name, schema)| Some((schema, twos.schema_of(name)?))));
        let is_new = |name: &Text<'a>| ones.table.is_none_or(|table| table.get_text(name).is_none());
        let rest = twos.names().filter(|(name, _)| is_new(name));
        open.extend(rest.filter_map(|(name, schema)| Some((ones.schema_of(name)?, schema))));
        if let (AdditionalProperties::Open(Some(one)), AdditionalProperties::Open(Some(two))) =
            (ones.others, twos.others)
        {
            open.push((one, two));
        }
    }
}

fn named<'s, 'a>(schema: &'s Node<'a>, typed: &Typed<'s, 'a>) -> Option<Named<'s, 'a>> {
    let table = schema.object_at(Keyword::Properties);
    match typed.object.as_ref()? {
        Members::Record { others } => Some(Named { table, others: *others }),
        Members::Map(value) => Some(Named { table: None, others: AdditionalProperties::Open(*value) }),
        Members::Nothing => None,
    }
}
