//! The restore plan: the parts of a plain schema that are needed to restore a model's arguments, and nothing else.
//!
//! A plan consists of keywords of JSON Schema, and these members:
//!
//! | member | meaning |
//! |---|---|
//! | `json` | `"any"`: a string that holds JSON (a value of `enum`); `"definition"`: JSON with pairs for objects |
//! | `pairs` | the object is a list of key-value pairs, with this plan for the values |
//! | `others` | the property `name` holds undeclared members as pairs; `values` is the plan for their values |
//! | `absent` | the properties whose null means that they are absent |
//! | `empty` | the empty object is the string `{}` |
//! | `wrapper` | this branch of `anyOf` is wrapped in an object, whose only member has this name |
//!
//! Outside of unions the plan contains only the changes to undo. In unions it also contains the keywords that identify
//! the branch of an instance.

use alloc::vec::Vec;

use crate::{
    budget::Budget,
    dialect::grammar::{Grammar, RequiredRule},
    json::{self, Member, Node, Object, Text},
    sanitize::encode::layout::{self, AdditionalProperties, Definitions, Members, Shape, Typed},
    schema::{keyword::Keyword, references},
};

const TYPE_KEYWORDS: [&str; 3] = ["type", "enum", "const"];

/// Returns `None` if instances of the schema are not encoded.
pub(crate) fn of(plain: &Node<'_>, grammar: &'static Grammar, budget: &Budget) -> Option<Node<'static>> {
    let definitions = Definitions::of(plain, budget);
    let planner = Planner { definitions: &definitions, grammar, budget };
    let has_references = references::mentions_references(plain);
    let mut plan = planner.plan_schema(plain, if has_references { Needs::All } else { Needs::Undone })?;
    if has_references {
        for table in ["$defs", "definitions"] {
            let members = plain.object_at(table).into_iter().flatten();
            let member_plans =
                members.map(|member| Member { key: member.key.clone(), value: planner.full_plan(&member.value) });
            let member_plans: Vec<Member<'_>> = member_plans.collect();
            if let Some(object) = plan.as_object_mut().filter(|_| !member_plans.is_empty()) {
                object.set(Text::literal(table), Node::object(Object::from_unique(member_plans)));
            }
        }
    }
    Some(plan.detached())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Only the changes to undo.
    Undone,
    /// Also the keywords that tell whether an instance matches this schema.
    All,
}

struct Planner<'d, 'n, 'a> {
    definitions: &'d Definitions<'n, 'a>,
    grammar: &'static Grammar,
    budget: &'d Budget,
}

impl<'n, 'a> Planner<'_, 'n, 'a> {
    fn full_plan(&self, schema: &'n Node<'a>) -> Node<'a> {
        self.plan_schema(schema, Needs::All).unwrap_or_else(Node::empty_object)
    }

    fn plan_schema(&self, schema: &'n Node<'a>, needs: Needs) -> Option<Node<'a>> {
        if !self.budget.pay(1) {
            return None;
        }
        match layout::of(schema, self.definitions.is_root(schema), self.grammar) {
            Shape::Anything => Some(self.anything()),
            Shape::Reference => Some(Node::record([("$ref", schema.get(Keyword::Ref)?.copy(self.budget))])),
            Shape::Values(values) => Some(Node::record([
                ("json", Node::literal("any")),
                ("enum", Node::array(json::copies(values, self.budget))),
            ])),
            Shape::Union(branches) => self.plan_union(branches, needs),
            Shape::Typed(typed) => self.plan_typed(schema, &typed, needs),
        }
    }

    fn anything(&self) -> Node<'a> {
        Node::record([("json", Node::literal(if self.grammar.defines_any() { "definition" } else { "any" }))])
    }

    fn plan_union(&self, branches: &'n [Node<'a>], needs: Needs) -> Option<Node<'a>> {
        let wrappers = self.definitions.wrapper_names(branches, self.grammar);
        let is_undone = |branch: &'n Node<'a>| self.plan_schema(branch, Needs::Undone).is_some();
        if needs == Needs::Undone && wrappers.iter().all(Option::is_none) && !branches.iter().any(is_undone) {
            return None;
        }
        let member_plans = branches.iter().zip(wrappers).map(|(branch, wrapper)| {
            let mut plan = self.full_plan(branch);
            if let (Some(object), Some(name)) = (plan.as_object_mut(), wrapper) {
                object.set(Text::literal("wrapper"), Node::string(name));
            }
            plan
        });
        Some(Node::record([("anyOf", Node::array(member_plans.collect()))]))
    }

    fn plan_typed(&self, schema: &'n Node<'a>, typed: &Typed<'n, 'a>, needs: Needs) -> Option<Node<'a>> {
        let object = schema.as_object()?;
        let mut plan = Object::new();
        if needs == Needs::All {
            for (keyword, value) in
                TYPE_KEYWORDS.into_iter().filter_map(|keyword| Some((keyword, object.get(keyword)?)))
            {
                plan.set(Text::literal(keyword), value.copy(self.budget));
            }
        }
        match typed.object {
            None => {}
            Some(Members::Nothing) => plan.set(Text::literal("empty"), Node::bool(true)),
            Some(Members::Map(value_schema)) => plan.set(Text::literal("pairs"), self.plan_values(value_schema, needs)),
            Some(Members::Record { others }) => self.plan_record(object, others, needs, &mut plan),
        }
        let items = match typed.items {
            Some(items) => self.plan_schema(items, needs),
            None => (typed.accepts_arrays && self.grammar.arrays.require_items()).then(|| self.anything()),
        };
        if let Some(items) = items {
            plan.set(Text::literal("items"), items);
        }
        (needs == Needs::All || !plan.is_empty()).then(|| Node::object(plan))
    }

    fn plan_values(&self, value_schema: Option<&'n Node<'a>>, needs: Needs) -> Node<'a> {
        match value_schema {
            Some(schema) => self.plan_schema(schema, needs).unwrap_or_else(Node::empty_object),
            None => self.anything(),
        }
    }

    fn plan_record(
        &self,
        object: &'n Object<'a>,
        others: AdditionalProperties<'n, 'a>,
        needs: Needs,
        plan: &mut Object<'a>,
    ) {
        let required = layout::required(object);
        let (mut properties, mut absent) = (Vec::new(), Vec::new());
        // A pair with a declared name is dropped when pairs are restored, so all declared names are needed.
        let needs_all_names = needs == Needs::All || matches!(others, AdditionalProperties::Open(_));
        for Member { key, value } in object.object_at(Keyword::Properties).into_iter().flatten() {
            let property_plan = self.plan_schema(value, needs);
            if property_plan.is_some() || needs_all_names {
                properties.push(Member { key: key.clone(), value: property_plan.unwrap_or_else(Node::empty_object) });
            }
            if self.grammar.objects.required == RequiredRule::All
                && !required.contains(key)
                && self.definitions.may_use_null_for_absence(value, self.grammar)
            {
                absent.push(Node::string(key.clone()));
            }
        }
        if needs == Needs::All || !properties.is_empty() {
            plan.set(Text::literal("properties"), Node::object(Object::from_unique(properties)));
        }
        if let Some(names) = object.get(Keyword::Required).filter(|_| needs == Needs::All) {
            plan.set(Text::literal("required"), names.copy(self.budget));
        }
        if !absent.is_empty() {
            plan.set(Text::literal("absent"), Node::array(absent));
        }
        if let AdditionalProperties::Open(value_schema) = others {
            let name = Node::string(layout::additional_name(object));
            plan.set(
                Text::literal("others"),
                Node::record([("name", name), ("values", self.plan_values(value_schema, needs))]),
            );
        }
    }
}
