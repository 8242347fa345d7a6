//! Writes example arguments of the tool's own schema as the model has to write them: the inverse of restoring.
//!
//! A value of a union is left as it is. The caller verifies that restoring gives the original arguments.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    json::{self, Child, Data, Member, Node, Object, Text},
    sanitize::encode::layout::{KEY, VALUE},
};

/// Maximum number of references to follow in a chain.
const MAX_REFERENCES: usize = 64;

/// Encodes arguments as the plan for strict modes describes.
pub(super) fn encode<'p>(arguments: &mut Node<'_>, plan: &'p Node<'p>, budget: &Budget) {
    let mut definitions = Map::from_iter([(String::from("#"), plan)]);
    for table in ["$defs", "definitions"] {
        for member in plan.object_at(table).into_iter().flatten() {
            if let Some(name) = member.key.value() {
                definitions.insert(format!("#/{table}/{name}"), &member.value);
            }
        }
    }
    Encode { budget, definitions }.value(arguments, plan);
}

struct Encode<'p, 'n> {
    budget: &'p Budget,
    /// Definitions of the plan, by reference.
    definitions: Map<String, &'p Node<'n>>,
}

impl<'p, 'n> Encode<'p, 'n> {
    fn target(&self, plan: &'p Node<'n>) -> Option<&'p Node<'n>> {
        let mut at = plan;
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = at.get("$ref") else { return Some(at) };
            at = self.definitions.get(&*reference.as_text()?.value()?).filter(|_| self.budget.pay(1))?;
        }
        None
    }

    fn value(&self, value: &mut Node<'_>, plan: &'p Node<'n>) {
        let Some(plan) = self.target(plan).filter(|_| self.budget.pay(1)) else { return };
        if plan.get("json").is_some_and(|kind| kind.is_text("any")) {
            *value = Node::string(json::write_plain(value));
            return;
        }
        match value.data() {
            Data::Object(_) => match plan.get("pairs") {
                Some(values) => self.pairs(value, values),
                None if plan.get("empty").is_some() => *value = Node::string(json::write_plain(value)),
                None => self.record(value, plan),
            },
            Data::Array(_) => {
                let Some(items) = plan.get("items") else { return };
                // The visitor never fails.
                let _ = value.visit_children::<()>(|_, inner| {
                    self.value(inner, items);
                    Ok(())
                });
            }
            _ => {}
        }
    }

    /// Turns the members of a map into key-value pairs.
    fn pairs<'a>(&self, value: &mut Node<'a>, values: &'p Node<'n>) {
        let Data::Object(members) = core::mem::take(value).into_data() else { return };
        let pair = |Member { key, value: mut inner }: Member<'a>| {
            self.value(&mut inner, values);
            Node::record([(KEY, Node::string(key)), (VALUE, inner)])
        };
        *value = Node::array(members.into_members().into_iter().map(pair).collect());
    }

    fn record<'a>(&self, value: &mut Node<'a>, plan: &'p Node<'n>) {
        let properties = plan.object_at("properties");
        let property = |name: &Text<'_>| properties.and_then(|table| table.get_text(name));
        if !self.budget.pay(value.as_object().map_or(0, Object::len)) {
            return;
        }
        // The visitor never fails.
        let _ = value.visit_children::<()>(|child, inner| {
            if let Child::Member(name) = child {
                if let Some(property) = property(name) {
                    self.value(inner, property);
                }
            }
            Ok(())
        });
        let Some(object) = value.as_object_mut() else { return };
        let absent: Vec<Text<'static>> = plan.items_at("absent").iter().filter_map(Node::as_text).map(owned).collect();
        if let Some((name, values)) =
            plan.get("others").and_then(|others| Some((others.text_at("name").map(owned)?, others.get("values")?)))
        {
            let absent: Set<&Text<'_>> = absent.iter().collect();
            let is_other = |key: &Text<'_>| property(key).is_none() && !absent.contains(&key);
            let (others, own): (Vec<Member<'a>>, Vec<Member<'a>>) =
                core::mem::take(object).into_members().into_iter().partition(|member| is_other(&member.key));
            *object = Object::from_unique(own);
            let mut pairs = Node::object(Object::from_unique(others));
            self.pairs(&mut pairs, values);
            object.set(name, pairs);
        }
        for name in absent {
            if object.get_text(&name).is_none() {
                object.set(name, Node::default());
            }
        }
    }
}

fn owned(text: &Text<'_>) -> Text<'static> {
    text.clone().into_owned()
}
