//! Makes one property required in every object, for APIs that demand it.
//!
//! Null then means that the property is absent, and `restore_arguments` removes it.

use alloc::{format, string::String, vec::Vec};

use crate::{
    effect::{Accepts, Guidance},
    error::Error,
    json::{Flags, Member, Node, Object, Step, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        encode::layout::{self, Definitions},
        legalize::nullable,
    },
    schema::{
        keyword::{InstanceType, Keyword, Keywords, Role},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const REQUIRE_OPTIONAL: ChangeKind = ChangeKind::of(Rule::RequireOptional);
const DROP_KEYWORD: ChangeKind = ChangeKind::of(Rule::DropKeyword).accepts(Accepts::Wider).guidance(Guidance::Lost);
const DECLARE_OPEN: ChangeKind = ChangeKind::of(Rule::DeclareOpen);

/// Name of the property that an object without properties gets.
const ADDED_PROPERTY: &str = "none";

/// Keywords that an additional required property does not affect.
const UNAFFECTED_KEYWORDS: Keywords = Keywords::of(&[
    Keyword::Type,
    Keyword::Properties,
    Keyword::Required,
    Keyword::AdditionalProperties,
    Keyword::Nullable,
]);

/// Keywords that may forbid a property by its name, or by the number of properties.
const FORBIDDING_KEYWORDS: [Keyword; 3] = [Keyword::PatternProperties, Keyword::PropertyNames, Keyword::MaxProperties];

/// Returns the property for which null means absence.
pub(crate) fn property_with_null_for_absence<'n, 'a>(schema: &'n Node<'a>) -> Option<&'n Node<'a>> {
    match schema.array_at(Keyword::Required) {
        Some([name]) if schema.flags().intersection(Flags::ENCODING) == Flags::REQUIRES_OPTIONAL => Some(name),
        _ => None,
    }
}

pub(crate) fn require_one_property(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    let budget = context.budget.clone();
    visit::walk_mut(&budget, root, Keywords::ALL, &mut Requiring { context, constrained_by_union: Vec::new() })
}

struct Requiring<'c> {
    context: &'c mut PassContext,
    /// Depths of the enclosing schemas that have a union and other assertions. A branch with a union is included if its
    /// enclosing schema is.
    constrained_by_union: Vec<usize>,
}

/// Returns true if `restore_arguments` reaches this schema.
fn is_restorable(path: &SchemaPath<'_, '_>) -> bool {
    let is_restorable_step = |step: &Step<'_>| match step {
        Step::Name(name) => matches!(*name, "properties" | "items" | "additionalProperties" | "anyOf"),
        Step::Member(_) | Step::Index(_) => true,
    };
    // A list in `items` is a tuple, not a schema for all items.
    let is_tuple = |steps: &[Step<'_>]| matches!(steps, [Step::Name("items"), Step::Index(_)]);
    let steps = path.pointer.steps();
    steps.iter().all(is_restorable_step) && !steps.windows(2).any(is_tuple)
}

impl<'a> VisitorMut<'a> for Requiring<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let depth = path.pointer.steps().len();
        // Removes schemas that do not enclose this schema.
        while self.constrained_by_union.last().is_some_and(|above| *above >= depth) {
            self.constrained_by_union.pop();
        }
        let Some(object) = node.as_object() else { return Ok(Visit::Skip) };
        let has_union = object.has(Keyword::AnyOf);
        let has_other_assertions = object.iter().any(|member| {
            let role = Keyword::named(&member.key).map(Keyword::role);
            !member.key.is(Keyword::AnyOf) && role == Some(Role::Assertion)
        });
        // A branch of such a union constrains the instance of the enclosing schema. A branch is two steps below the
        // schema: `anyOf` and an index.
        let is_branch = self
            .constrained_by_union
            .last()
            .is_some_and(|above| *above + 2 == depth && path.keyword == Some(Keyword::AnyOf));
        if has_union && (has_other_assertions || is_branch) {
            self.constrained_by_union.push(depth);
        }
        if !layout::declares(object, "object") {
            return Ok(Visit::Descend);
        }
        let requires_property = object.array_at(Keyword::Required).is_some_and(|names| !names.is_empty());
        let additional = object.get(Keyword::AdditionalProperties);
        let is_root = path.keyword.is_none();
        let is_map = !is_root && additional.is_some_and(|additional| additional.as_bool() != Some(false));
        if requires_property || is_map {
            return Ok(Visit::Descend);
        }
        let may_encode = is_restorable(path) && !is_branch;
        let table = object.object_at(Keyword::Properties).filter(|table| !table.is_empty());
        match table {
            Some(table) => {
                let name = self.first_optional(table);
                self.make_required(node, path, name, may_encode);
            }
            None if !is_root && additional.is_none() => self.accept_additional(node, path),
            None => self.add_null_property(node, path, may_encode),
        }
        Ok(Visit::Descend)
    }
}

impl<'a> Requiring<'_> {
    /// Returns the first property that may use null for absence, with true. Otherwise, returns the first property, with
    /// false.
    fn first_optional(&self, table: &Object<'a>) -> Option<(Text<'a>, bool)> {
        // No references are left at this point.
        let (nothing, grammar) = (Node::default(), self.context.grammar);
        let definitions = Definitions::of(&nothing, &self.context.budget);
        let without_null = table.iter().find(|member| !definitions.admits_null(&member.value, grammar));
        match without_null {
            Some(member) => Some((member.key.clone(), true)),
            None => table.iter().next().map(|member| (member.key.clone(), false)),
        }
    }

    fn effect_of_requiring(node: &Node<'_>) -> ChangeKind {
        let constrains_members = |member: &Member<'_>| {
            Keyword::named(&member.key).is_some_and(|keyword| {
                keyword.role() == Role::Assertion
                    && keyword.applies_to().is_none_or(|kind| kind == InstanceType::Object)
                    && !UNAFFECTED_KEYWORDS.contains(keyword)
            })
        };
        match node.as_object().is_some_and(|object| object.iter().any(constrains_members)) {
            true => REQUIRE_OPTIONAL.accepts(Accepts::Mixed).encoded(true),
            false => REQUIRE_OPTIONAL.encoded(true),
        }
    }

    fn make_required(
        &mut self,
        node: &mut Node<'a>,
        path: &SchemaPath<'_, 'a>,
        name: Option<(Text<'a>, bool)>,
        may_encode: bool,
    ) {
        let Some((name, null_means_absence)) = name else { return };
        let grammar = self.context.grammar;
        let encodes = null_means_absence && may_encode;
        let effect = match (encodes, may_encode) {
            (true, _) => Self::effect_of_requiring(node),
            (false, true) => REQUIRE_OPTIONAL.accepts(Accepts::Narrower),
            // Keywords that constrain the same object may reverse the effect.
            (false, false) => REQUIRE_OPTIONAL.accepts(Accepts::Mixed),
        };
        let label = name.display().into_owned();
        let at = node
            .get(Keyword::Properties)
            .and_then(|table| table.origin().number())
            .map_or_else(|| Location::of(node), |number| Location::Keyword(number, label.clone().into()));
        self.context.diagnostics.report(path, at.in_place(), effect, || match encodes {
            true => format!(
                "made optional `{label}` required, with null if it is absent: an object must have a required property"
            ),
            false => format!("made optional `{label}` required: an object must have a required property"),
        });
        if encodes {
            node.visit(Keyword::Properties, |table| {
                let members = table.as_object_mut().into_iter().flat_map(Object::members_mut);
                for member in members.filter(|member| member.key == name) {
                    nullable::admit_null(&mut member.value, grammar);
                }
            });
        }
        set_required(node, name);
        if encodes {
            node.unflag(Flags::ENCODING);
            node.flag(Flags::REQUIRES_OPTIONAL);
        }
    }

    fn accept_additional(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) {
        let (from, to) = (Location::of(node), Location::under(node, "additionalProperties"));
        // From now on additional members are evaluated, so `unevaluatedProperties` no longer applies to them.
        let evaluates_more = node.get(Keyword::UnevaluatedProperties).is_some();
        let effect =
            if evaluates_more || !is_restorable(path) { DECLARE_OPEN.accepts(Accepts::Wider) } else { DECLARE_OPEN };
        self.context.diagnostics.report(path, from.to(to), effect, || {
            String::from(
                "added `additionalProperties: true`: an object without a required property must accept additional ones",
            )
        });
        if let Some(object) = node.as_object_mut() {
            object.set(Text::literal("additionalProperties"), Node::bool(true));
        }
    }

    fn add_null_property(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, may_encode: bool) {
        self.drop_forbidding_keywords(node, path);
        let (from, to) = (Location::of(node), Location::under(node, "properties"));
        let effect =
            if may_encode { Self::effect_of_requiring(node) } else { REQUIRE_OPTIONAL.accepts(Accepts::Mixed) };
        self.context.diagnostics.report(path, from.to(to), effect, || {
            format!(
                "added the property `{ADDED_PROPERTY}`, which is always null: an object must have a required property"
            )
        });
        if node.object_at(Keyword::Properties).is_none() {
            if let Some(object) = node.as_object_mut() {
                let after = object.position(Keyword::Type).map_or(0, |index| index + 1);
                object.insert_at(after, Text::literal("properties"), Node::empty_object());
            }
        }
        node.visit(Keyword::Properties, |table| {
            let null_schema =
                Node::record([("type", Node::literal("null")), ("description", Node::literal("Always null"))]);
            if let Some(table) = table.as_object_mut() {
                table.set(Text::literal(ADDED_PROPERTY), null_schema);
            }
        });
        set_required(node, Text::literal(ADDED_PROPERTY));
        if may_encode {
            node.unflag(Flags::ENCODING);
            node.flag(Flags::REQUIRES_OPTIONAL);
        }
    }

    fn drop_forbidding_keywords(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) {
        for keyword in FORBIDDING_KEYWORDS {
            let Some(object) = node.as_object_mut() else { return };
            if object.remove(keyword).is_none() {
                continue;
            }
            if keyword == Keyword::PatternProperties {
                // Names that matched a pattern must stay accepted.
                object.remove(Keyword::AdditionalProperties);
            }
            let from = Location::under(node, keyword.name());
            self.context.diagnostics.report(path, from.removed(), DROP_KEYWORD, || {
                format!("removed `{}`: it might forbid the property that an object must have", keyword.name())
            });
        }
    }
}

fn set_required<'a>(node: &mut Node<'a>, name: Text<'a>) {
    let names = Node::array(alloc::vec![Node::string(name)]);
    if let Some(object) = node.as_object_mut() {
        object.set(Text::literal("required"), names);
    }
}
