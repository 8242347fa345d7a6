//! Cuts references through which a schema applies to itself at the same instance location, so a validator would never
//! finish.
//!
//! `X = anyOf [X, Y]` and `X = allOf [X, Y]` accept what `Y` accepts, so the branch or the reference is removed. If `X
//! = anyOf [Z, Y]` and `Z = anyOf [X, W]` are both used, each schema needs the other: the references are removed, and
//! both schemas accept more.
//!
//! Also cuts recursion that the API's validator finds endless, so that the rest of the definition can be kept.
//! [`ReferenceCutter`] cuts references: the schema then accepts anything.

use alloc::{format, rc::Rc, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::grammar::Recursion,
    effect::Accepts,
    error::Error,
    json::{Data, Node, Object, Step},
    options::Untyped,
    rules::Rule,
    sanitize::{
        anything,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize,
        resolve::inline::siblings,
    },
    schema::{
        cycles::{self, Cycles, Role, SchemaIndex},
        definitions::{self, definition_name},
        keyword::{Keyword, Keywords},
        references::{self, Number, References},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const CUT: ChangeKind = ChangeKind::of(Rule::CutRecursion).accepts(Accepts::Same);
const CUT_INEXACTLY: ChangeKind = ChangeKind::of(Rule::CutRecursion);

pub(crate) fn cut(root: &mut Node<'_>, references: &References, context: &mut PassContext) -> Result<(), Error> {
    let budget = context.budget.clone();
    let mut cycles = Cycles::of(root, references, cycles::IN_PLACE, context.draft, &budget)?;
    if cycles.is_empty() {
        return Ok(());
    }
    let ends = ends_of_chains(root, references, &cycles, &budget)?;
    let mut redirected = references.clone();
    if !ends.is_empty() {
        redirected.redirect(&ends);
        cycles = Cycles::of(root, &redirected, cycles::IN_PLACE, context.draft, &budget)?;
    }
    let targets = redirected.all_targets().collect();
    let mut cutter = CycleCutter {
        cycles: &cycles,
        next: 0,
        references: &redirected,
        targets,
        branches_to_remove: Vec::new(),
        references_to_remove: Vec::new(),
        context,
    };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut cutter)?;
    for (number, first) in cycles.parts() {
        cutter.next = *first;
        if let Some(part) = references::node_with_number_mut(root, *number, &budget) {
            visit::walk_mut(&budget, part, Keywords::ALL, &mut cutter)?;
        }
    }
    context.references = Some(Rc::new(redirected));
    Ok(())
}

/// Some targets consist only of a reference in a cycle, and form chains. Returns the end of the chain for each such
/// target. A union may then lose a branch to which other references point.
fn ends_of_chains(
    root: &Node<'_>,
    references: &References,
    cycles: &Cycles,
    budget: &Budget,
) -> Result<Map<Number, Number>, Error> {
    let (mut next_of, mut next) = (Map::new(), 0);
    cycles::walk(root, references, budget, &mut |node, path, _| {
        let is_bare = node.as_object().is_some_and(|object| object.len() == 1 && object.has(Keyword::Ref));
        if is_bare && cycles.contains(next) {
            if let (Some(number), Some(target)) = (references.number_at(node, path), references.target_of(node)) {
                next_of.insert(number, target);
            }
        }
        next += 1;
        Ok(Visit::Descend)
    })?;
    let mut ends: Map<Number, Option<Number>> = Map::new();
    for start in next_of.keys() {
        let (mut chain, mut number) = (Vec::new(), *start);
        let end = loop {
            if let Some(known) = ends.get(&number) {
                break *known;
            }
            let Some(target) = next_of.get(&number) else { break Some(number) };
            // A chain that returns to this target has no end.
            ends.insert(number, None);
            chain.push(number);
            number = *target;
        };
        for number in chain {
            ends.insert(number, end);
        }
    }
    Ok(ends.iter().filter_map(|(number, end)| Some((*number, (*end)?))).collect())
}

struct RemovedBranch {
    /// Depth of the schema with the union.
    depth: usize,
    /// `anyOf` or `oneOf`.
    union: Keyword,
    index: usize,
    /// Keyword of the reference that closes the cycle.
    keyword: &'static str,
    effect: ChangeKind,
}

struct CycleCutter<'c> {
    cycles: &'c Cycles,
    /// Number of schemas that were entered.
    next: SchemaIndex,
    references: &'c References,
    targets: Set<Number>,
    /// Branches to remove from the current schema and from the schemas that enclose it.
    branches_to_remove: Vec<RemovedBranch>,
    /// References to remove from the current schema and from the schemas that enclose it: depth, keyword, effect. They
    /// are removed when the visitor leaves the schema, because the subschemas of ignored siblings must be counted
    /// first.
    references_to_remove: Vec<(usize, &'static str, ChangeKind)>,
    context: &'c mut PassContext,
}

impl<'a> VisitorMut<'a> for CycleCutter<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let index = self.next;
        self.next += 1;
        for (keyword, name) in references::KEYWORDS.iter().enumerate() {
            let Some(role) = self.cycles.role(index, keyword) else { continue };
            let effect = if matches!(role, Role::Branch | Role::Part) { CUT } else { CUT_INEXACTLY };
            match (role, path.keyword, path.pointer.steps().last()) {
                // References into a branch need it.
                (Role::Branch | Role::InexactBranch, Some(union), Some(Step::Index(index)))
                    if !self.references.points_into(node, path, &self.targets) =>
                {
                    let depth = path.depth.saturating_sub(1);
                    self.branches_to_remove.push(RemovedBranch { depth, union, index: *index, keyword: name, effect });
                }
                (Role::Branch | Role::InexactBranch, ..) => {
                    self.references_to_remove.push((path.depth, name, CUT_INEXACTLY))
                }
                (Role::Part | Role::Inexact, ..) => self.references_to_remove.push((path.depth, name, effect)),
            }
        }
        Ok(Visit::Descend)
    }

    fn leave(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        let first_of_schema =
            self.branches_to_remove.iter().rposition(|branch| branch.depth != path.depth).map_or(0, |last| last + 1);
        let removed = self.branches_to_remove.split_off(first_of_schema);
        for union in [Keyword::AnyOf, Keyword::OneOf] {
            self.remove_branches(node, path, union, &removed);
        }
        while let Some((_, keyword, effect)) =
            self.references_to_remove.last().copied().filter(|(depth, ..)| *depth == path.depth)
        {
            self.references_to_remove.pop();
            self.remove_reference(node, path, keyword, effect);
        }
        Ok(())
    }
}

impl CycleCutter<'_> {
    fn report(&mut self, node: &Node<'_>, path: &SchemaPath<'_, '_>, keyword: &'static str, effect: ChangeKind) {
        self.context.diagnostics.report(
            path,
            node.get(keyword).map_or(Location::of(node), Location::of).removed(),
            effect,
            || {
                let reference = node.text_at(keyword).map(|text| text.display().into_owned()).unwrap_or_default();
                format!("removed `{keyword}: \"{reference}\"`: a schema must not apply to the same value endlessly")
            },
        );
    }

    fn remove_reference(
        &mut self,
        node: &mut Node<'_>,
        path: &SchemaPath<'_, '_>,
        keyword: &'static str,
        effect: ChangeKind,
    ) {
        if self.context.draft.ignores_ref_siblings() && keyword == "$ref" && !siblings::siblings_apply(node) {
            siblings::drop_ignored_siblings(node, path.polarity, self.context);
        }
        self.report(node, path, keyword, effect);
        if let Some(object) = node.as_object_mut() {
            object.remove(keyword);
        }
        if node.as_object().is_some_and(Object::is_empty) {
            node.replace(Data::Bool(true));
        }
    }

    fn remove_branches(
        &mut self,
        node: &mut Node<'_>,
        path: &SchemaPath<'_, '_>,
        union: Keyword,
        removed: &[RemovedBranch],
    ) {
        let Some(branches) = node.array_at(union) else { return };
        let removed: Map<usize, &RemovedBranch> =
            removed.iter().filter(|branch| branch.union == union).map(|branch| (branch.index, branch)).collect();
        if removed.is_empty() {
            return;
        }
        // Without branches, the union would accept nothing.
        let removes_all = removed.len() == branches.len();
        for (at, branch) in branches.iter().enumerate() {
            if let Some(RemovedBranch { keyword, effect, .. }) = removed.get(&at) {
                self.report(branch, path, keyword, if removes_all { CUT_INEXACTLY } else { *effect });
            }
        }
        let Some(object) = node.as_object_mut() else { return };
        if removes_all {
            object.remove(union);
            return;
        }
        let mut indices = 0..;
        if let Some(branches) = object.get_mut(union).and_then(Node::as_array_mut) {
            branches.retain(|_| !indices.next().is_some_and(|at: usize| removed.contains_key(&at)));
        }
    }
}

const CUT_UNENDING: ChangeKind = ChangeKind::of(Rule::CutRecursion);

/// Cuts references to definitions without a finite instance. All definitions must be in `$defs` of the root.
pub(crate) fn cut_unending(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    if context.grammar.refs.recursion != Recursion::MustEnd || root.get(Keyword::Defs).is_none() {
        return Ok(());
    }
    let endless = definitions::without_finite_instance(root);
    if endless.is_empty() {
        return Ok(());
    }
    let describe: &dyn Fn(&str) -> String =
        &|name| format!("removed a reference to `{name}`: the API's validator considers the recursion infinite");
    // The first step cuts only references that make their own definition endless. If definitions are still endless, the
    // second step cuts every reference to them.
    let forced = definitions::forced_references(root, &endless);
    visit::walk_mut(
        &context.budget.clone(),
        root,
        Keywords::ALL,
        &mut ReferenceCutter {
            context,
            is_cut: &|_, path| forced.contains(&path.pointer.render()),
            effect: CUT_UNENDING,
            describe,
        },
    )?;
    let still_endless = definitions::without_finite_instance(root);
    if still_endless.is_empty() {
        return Ok(());
    }
    visit::walk_mut(
        &context.budget.clone(),
        root,
        Keywords::ALL,
        &mut ReferenceCutter {
            context,
            is_cut: &|name, _| still_endless.contains(name),
            effect: CUT_UNENDING,
            describe,
        },
    )?;
    if let Some(Data::Object(table)) =
        root.as_object_mut().and_then(|object| object.get_mut(Keyword::Defs)).map(Node::data_mut)
    {
        table.retain(|member| member.key.value().is_none_or(|name| !still_endless.contains(&*name)));
        if table.is_empty() {
            if let Some(object) = root.as_object_mut() {
                object.remove(Keyword::Defs);
            }
        }
    }
    Ok(())
}

pub(crate) struct ReferenceCutter<'c> {
    pub(crate) context: &'c mut PassContext,
    /// Returns true if the reference to the definition of this name is cut.
    pub(crate) is_cut: &'c dyn Fn(&str, &SchemaPath<'_, '_>) -> bool,
    pub(crate) effect: ChangeKind,
    pub(crate) describe: &'c dyn Fn(&str) -> String,
}

impl<'a> VisitorMut<'a> for ReferenceCutter<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let Some(name) = definition_name(node).map(String::from) else { return Ok(Visit::Descend) };
        if !(self.is_cut)(&name, path) {
            return Ok(Visit::Descend);
        }
        self.context.diagnostics.report(
            path,
            Location::under(node, "$ref").to(Location::of(node)),
            self.effect,
            || (self.describe)(&name),
        );
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
        // In an in-place applicator the next round infers the type from the enclosing schema, so no string is assumed.
        let in_place = path.keyword.is_some_and(|keyword| legalize::IN_PLACE.contains(keyword));
        if !(in_place && self.context.untyped == Untyped::String) {
            anything::write(node, path, self.context);
        }
        Ok(Visit::Skip)
    }
}
