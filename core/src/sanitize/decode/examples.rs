//! Writes example arguments of the tool's own schema as the model has to write them: the inverse of restoring.
//!
//! A value of a union is not changed. The caller verifies that restoring returns the original arguments.

use alloc::{rc::Rc, string::String, vec::Vec};
use core::cell::RefCell;

use crate::{
    budget::Budget,
    collections::{Map, Set},
    json::{self, Child, Data, LookUp, Member, Node, Object, Text},
    sanitize::{
        decode::encoded,
        encode::layout::{KEY, VALUE},
    },
};

/// Maximum number of references to follow in a chain.
const MAX_REFERENCES: usize = 64;

/// The tables are built once for all arguments.
pub(super) struct Encode<'p, 'n> {
    budget: &'p Budget,
    plan: &'p Node<'n>,
    /// Definitions of the plan, by reference.
    definitions: Map<String, &'p Node<'n>>,
    /// Properties of each plan, indexed when first needed.
    tables: RefCell<Map<*const Node<'n>, Table<'p, 'n>>>,
}

/// `None` if the plan has no properties.
type Table<'p, 'n> = Option<Rc<LookUp<'p, 'n>>>;

impl<'p, 'n> Encode<'p, 'n> {
    pub(super) fn new(plan: &'p Node<'n>, budget: &'p Budget) -> Self {
        let definitions = encoded::definitions(plan);
        // If the budget is spent, nothing is encoded.
        budget.pay(definitions.len());
        Encode { budget, plan, definitions, tables: RefCell::default() }
    }

    pub(super) fn arguments(&self, arguments: &mut Node<'_>) {
        self.value(arguments, self.plan);
    }

    fn table(&self, plan: &'p Node<'n>) -> Option<Table<'p, 'n>> {
        let mut tables = self.tables.borrow_mut();
        let key = core::ptr::from_ref(plan);
        if let Some(table) = tables.get(&key) {
            return Some(table.clone());
        }
        let properties = plan.object_at("properties");
        if !self.budget.pay(properties.map_or(0, Object::len)) {
            return None;
        }
        let table = properties.map(|properties| Rc::new(LookUp::of(properties)));
        tables.insert(key, table.clone());
        Some(table)
    }

    fn target(&self, plan: &'p Node<'n>) -> Option<&'p Node<'n>> {
        let mut plan = plan;
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = plan.get("$ref") else { return Some(plan) };
            plan = self.definitions.get(&*reference.as_text()?.value()?).filter(|_| self.budget.pay(1))?;
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

    fn pairs<'a>(&self, value: &mut Node<'a>, values: &'p Node<'n>) {
        let Data::Object(members) = core::mem::take(value).into_data() else { return };
        let pair = |Member { key, value: mut inner }: Member<'a>| {
            self.value(&mut inner, values);
            Node::record([(KEY, Node::string(key)), (VALUE, inner)])
        };
        *value = Node::array(members.into_members().into_iter().map(pair).collect());
    }

    fn record<'a>(&self, value: &mut Node<'a>, plan: &'p Node<'n>) {
        let members = value.as_object().map_or(0, Object::len) + plan.items_at("absent").len();
        let Some(table) = self.table(plan).filter(|_| self.budget.pay(members)) else { return };
        let property = |name: &Text<'_>| table.as_ref().and_then(|table| table.get(name));
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
        let absent_names: Vec<Text<'static>> =
            plan.items_at("absent").iter().filter_map(Node::as_text).map(to_owned_text).collect();
        if let Some((name, values)) = plan
            .get("others")
            .and_then(|additional| Some((additional.text_at("name").map(to_owned_text)?, additional.get("values")?)))
        {
            let absent_names: Set<&Text<'_>> = absent_names.iter().collect();
            let is_other = |key: &Text<'_>| property(key).is_none() && !absent_names.contains(&key);
            let (additional, declared): (Vec<Member<'a>>, Vec<Member<'a>>) =
                core::mem::take(object).into_members().into_iter().partition(|member| is_other(&member.key));
            *object = Object::from_unique(declared);
            let mut pairs = Node::object(Object::from_unique(additional));
            self.pairs(&mut pairs, values);
            object.set(name, pairs);
        }
        let present: Set<Text<'a>> = object.iter().map(|member| member.key.clone()).collect();
        for name in absent_names.into_iter().filter(|name| !present.contains(name)) {
            object.members_mut().push(Member { key: name, value: Node::default() });
        }
    }
}

fn to_owned_text(text: &Text<'_>) -> Text<'static> {
    text.clone().into_owned()
}
