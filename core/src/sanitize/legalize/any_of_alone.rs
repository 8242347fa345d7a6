//! Unions for grammars that accept no siblings of `anyOf`. Assertions are distributed into every branch before other
//! legalization; annotations follow afterwards.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    error::Error,
    json::{self, Data, Member, Node, Object, Text},
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{merge_conflicts::intersected, ChangeKind, Location},
        legalize::distribute,
    },
    schema::{
        keyword::{Keyword, Keywords, Role},
        references,
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const DISTRIBUTE: ChangeKind = ChangeKind::of(Rule::DistributeIntoAnyOf);
const UNSAID: ChangeKind = ChangeKind::of(Rule::DistributeIntoAnyOf).accepts(Accepts::Wider).guidance(Guidance::Lost);
const LIFT: ChangeKind = ChangeKind::of(Rule::UnwrapSingleBranch);
const TEXTS: ChangeKind = ChangeKind::of(Rule::DistributeAnnotations);
const TEXTS_LOST: ChangeKind = ChangeKind::of(Rule::DistributeAnnotations).guidance(Guidance::Lost);

/// Keywords that may become `anyOf`.
const UNIONS: Keywords = Keywords::of(&[Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf]);

/// True if the grammar accepts no assertions as siblings of `anyOf`.
fn is_alone(context: &PassContext) -> bool {
    !context.grammar.any_of.beside.contains(Keyword::Type)
}

/// True if the grammar accepts no assertions as siblings of `anyOf`, and there may be a union.
pub(crate) fn concerns(context: &PassContext) -> bool {
    is_alone(context) && context.keywords.intersects(UNIONS)
}

/// Distributes siblings of unions into the branches, from the root down.
pub(crate) fn join<'a>(root: &mut Node<'a>, context: &mut PassContext) -> Result<(), Error> {
    // After references were inlined, the schema may have any keyword.
    if !references::mentions(root, Keywords::of(&[Keyword::AnyOf])) {
        return Ok(());
    }
    let spare = context.max_nodes;
    visit::walk_mut(&context.budget.clone(), root, Keywords::ALL, &mut Join { context, spare })
}

struct Join<'r> {
    context: &'r mut PassContext,
    /// Number of nodes that may still be copied.
    spare: usize,
}

impl<'a> VisitorMut<'a> for Join<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        self.distribute(node, place);
        Ok(Visit::Descend)
    }
}

impl Join<'_> {
    fn distribute<'a>(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) {
        let Some(object) = node.as_object() else { return };
        let Some(count) = object.array_at(Keyword::AnyOf).map(<[_]>::len) else { return };
        if !object.iter().any(applies) {
            return;
        }
        let weight: usize = object
            .iter()
            .filter(|member| applies(member))
            .map(|member| json::size(&member.value, &self.context.budget))
            .sum();
        let affordable = self.spare.checked_sub(weight.saturating_mul(count));
        let location = Location::under(node, "anyOf");
        let effect = if affordable.is_some() { DISTRIBUTE } else { UNSAID };
        self.context.diagnostics.report(place, location.in_place(), effect, || match affordable {
            Some(_) => format!("distributed the keywords next to `anyOf` into its {count} branches"),
            None => {
                format!(
                    "removed the keywords next to `anyOf`: repeating them in {count} branches would make the \
                    schema too large"
                )
            }
        });
        self.spare = affordable.unwrap_or(self.spare);
        let origin = node.origin();
        let Some(object) = node.as_object_mut() else { return };
        let (bundle, mut rest): (Vec<Member<'a>>, Vec<Member<'a>>) =
            core::mem::take(object).into_members().into_iter().partition(|member| applies(member));
        let bundle = Node::object(Object::from_unique(bundle)).with_origin(origin);
        if affordable.is_some() {
            let mut joined = Vec::new();
            for member in rest.iter_mut().filter(|member| member.key.is(Keyword::AnyOf)) {
                let list = core::mem::take(&mut member.value);
                let list_origin = list.origin();
                if let Data::Array(branches) = list.into_data() {
                    let each = branches.into_iter().filter_map(|branch| {
                        distribute::into_branch(&bundle, branch, place.polarity, self.context).ok()
                    });
                    joined = each.collect();
                }
                member.value = Node::array(core::mem::take(&mut joined)).with_origin(list_origin);
                if member.value.as_array().is_some_and(<[_]>::is_empty) {
                    *member = Member { key: Text::literal("not"), value: Node::empty_object() };
                }
            }
        }
        node.replace(Data::Object(Object::from_unique(rest)));
    }
}

/// True if a sibling of `anyOf` constrains the instance.
fn applies(member: &Member<'_>) -> bool {
    !member.key.is(Keyword::AnyOf)
        && Keyword::named(&member.key)
            .is_some_and(|keyword| keyword.role() == Role::Assertion || keyword.applies_to().is_some())
}

/// Replaces a union of one branch with the branch; otherwise moves annotations into the branches.
pub(crate) fn apply<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if !is_alone(context) {
        return;
    }
    let Some(branches) = node.array_at(Keyword::AnyOf) else { return };
    if branches.len() == 1 {
        lift(node, place, context);
        return;
    }
    let beside = context.grammar.any_of.beside;
    let moves = |member: &Member<'_>| {
        !member.key.is(Keyword::AnyOf)
            && Keyword::named(&member.key).is_none_or(|keyword| !beside.contains(keyword))
            && !is_table(member)
    };
    let Some(object) = node.as_object().filter(|object| object.iter().any(moves)) else { return };
    let mut moved: Vec<(String, bool)> = Vec::new();
    let (texts, rest): (Vec<Member<'a>>, Vec<Member<'a>>) =
        object.copy(&context.budget).into_members().into_iter().partition(moves);
    node.replace(Data::Object(Object::from_unique(rest)));
    node.visit(Keyword::AnyOf, |list| {
        for text in texts {
            let found = list.as_array_mut().is_some_and(|branches| settle(&text, branches, &context.budget));
            moved.push((text.key.display().into_owned(), found));
        }
    });
    for (name, found) in moved {
        let to = if found { Location::under(node, "anyOf") } else { Location::Nowhere };
        context.diagnostics.report(
            place,
            Location::under(node, name.clone()).to(to),
            if found { TEXTS } else { TEXTS_LOST },
            || match found {
                true => format!("moved `{name}` into the branches of `anyOf`"),
                false => format!("removed `{name}`: it is not allowed next to `anyOf`"),
            },
        );
    }
}

fn is_table(member: &Member<'_>) -> bool {
    Keyword::named(&member.key).is_some_and(|keyword| matches!(keyword.role(), Role::Definitions))
}

/// Replaces a union of one branch with the branch, merged with the siblings.
fn lift<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let (origin, met) = (node.origin(), Location::of(node));
    let Some(object) = node.as_object_mut() else { return };
    let at = object.position(Keyword::AnyOf).unwrap_or_default();
    let Some(Data::Array(mut branches)) = object.remove(Keyword::AnyOf).map(Node::into_data) else { return };
    let Some(branch) = branches.pop() else { return };
    context.diagnostics.report(place, Location::of(&branch).to(met.clone()), LIFT, || {
        String::from("replaced an `anyOf` of one branch with the branch")
    });
    let rest = core::mem::take(node);
    *node = intersected((rest, branch), at, place.polarity, Some(&met), context).with_origin(origin);
    node.touch();
}

/// Moves an annotation into branches that lack it. Returns false if no branch has room for it.
pub(crate) fn settle<'a>(text: &Member<'a>, branches: &mut [Node<'a>], budget: &Budget) -> bool {
    let describes = text.key.is(Keyword::Description);
    let mut found = false;
    for branch in branches.iter_mut() {
        if let Some(object) =
            branch.as_object_mut().filter(|object| !object.has(Keyword::AnyOf) && object.get_text(&text.key).is_none())
        {
            // A description is worth repeating; any other annotation is written once.
            if found && !describes {
                break;
            }
            object.set(text.key.clone(), text.value.copy(budget));
            found = true;
        }
    }
    if found || !describes {
        return found;
    }
    // Every branch has a description, so the outer one is put before that of the first branch.
    let outer = text.value.as_text().and_then(Text::value);
    let Some(own) = branches.first_mut().and_then(|branch| branch.as_object_mut()?.get_mut(Keyword::Description))
    else {
        return false;
    };
    let (Some(outer), Some(inner)) = (outer, own.as_text().and_then(Text::value)) else { return false };
    let both = format!("{outer}\n{inner}");
    own.replace(Data::String(Text::new(both)));
    true
}
