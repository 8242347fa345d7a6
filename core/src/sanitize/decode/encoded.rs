//! Restores arguments of an encoded schema: removes null that means absence, turns pairs into members, and parses JSON
//! text.
//!
//! Follows the plan that encoding returned ([`crate::sanitize::encode::plan`] documents its format). A value that does
//! not match the plan is not changed.

use alloc::{borrow::Cow, format, rc::Rc, string::String, vec::Vec};
use core::cell::{Cell, RefCell};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    json::{self, Child, Data, LookUp, Member, Node, Object, Text},
    limits::MAX_WALK_DEPTH,
    sanitize::{
        decode::discriminator::Discriminators,
        encode::layout::{self, KEY, PAIRS, VALUE},
    },
};

/// Maximum number of references to follow in a chain.
const MAX_REFERENCES: usize = 64;

pub(super) fn definitions<'d, 'n>(plan: &'d Node<'n>) -> Map<String, &'d Node<'n>> {
    let mut definitions = Map::from_iter([(String::from("#"), plan)]);
    for table in ["$defs", "definitions"] {
        for member in plan.object_at(table).into_iter().flatten() {
            if let Some(name) = member.key.value() {
                definitions.insert(format!("#/{table}/{name}"), &member.value);
            }
        }
    }
    definitions
}

/// The tables are built once for all arguments.
pub(super) struct Decode<'d, 'n> {
    budget: &'d Budget,
    plan: &'d Node<'n>,
    /// Definitions of the plan, by reference.
    definitions: Map<String, &'d Node<'n>>,
    discriminators: Discriminators<'d, 'n>,
    /// Results of comparing values with plans while a branch is chosen. The keys are the addresses of both, and true if
    /// only types are compared. Without this cache, a recursive union would compare a nested value once for each
    /// combination of branches around it.
    comparisons: RefCell<Map<(usize, usize, bool), bool>>,
    /// Nesting depth of calls. It is limited because a plan that was not created here may be a union of itself.
    level: Cell<usize>,
    /// Texts of the values that each plan lists, collected when first needed.
    listed_texts: RefCell<Map<*const Node<'n>, Rc<Set<String>>>>,
}

impl<'d, 'n> Decode<'d, 'n> {
    pub(super) fn new(plan: &'d Node<'n>, budget: &'d Budget) -> Self {
        let (discriminators, level) = (Discriminators::default(), Cell::new(0));
        let (comparisons, listed_texts) = (RefCell::default(), RefCell::default());
        Decode { budget, plan, definitions: definitions(plan), discriminators, comparisons, level, listed_texts }
    }

    pub(super) fn arguments(&self, arguments: &mut Node<'_>) {
        self.value(arguments, self.plan);
    }

    fn value(&self, value: &mut Node<'_>, plan: &'d Node<'n>) {
        if let Some(plan) = self.enter(value, plan) {
            self.value_of(value, plan);
            self.level.set(self.level.get() - 1);
        }
    }

    fn enter(&self, value: &Node<'_>, plan: &'d Node<'n>) -> Option<&'d Node<'n>> {
        let target = self.target(plan)?;
        let properties = target.object_at("properties").map_or(0, Object::len);
        let members = value.as_object().map_or(0, Object::len) + value.as_array().map_or(0, <[_]>::len);
        if self.level.get() >= MAX_WALK_DEPTH || !self.budget.pay(1 + properties + members) {
            return None;
        }
        self.level.set(self.level.get() + 1);
        Some(target)
    }

    fn target(&self, plan: &'d Node<'n>) -> Option<&'d Node<'n>> {
        let mut plan = plan;
        let mut remaining = MAX_REFERENCES;
        while let Some(reference) = plan.get("$ref") {
            let reference = reference.as_text()?.value()?;
            if !self.budget.pay(reference.len()) {
                return None;
            }
            plan = self.definitions.get(&*reference).filter(|_| remaining > 0)?;
            remaining -= 1;
        }
        Some(plan)
    }

    fn value_of(&self, value: &mut Node<'_>, plan: &'d Node<'n>) {
        if let Some(kind) = plan.get("json") {
            match kind.is_text("definition") {
                true => restore_any_json(value),
                false => parse_json_string(value, |read| {
                    listed_values(plan).is_none_or(|values| self.is_listed(read, plan, values))
                }),
            }
        } else if let Some(branches) = plan.array_at("anyOf") {
            self.union(value, branches);
        } else {
            match value.data() {
                Data::Object(_) => self.record(value, plan),
                Data::Array(_) => match (plan.get("pairs"), plan.get("items")) {
                    (Some(values), _) => self.pairs(value, values),
                    (None, Some(items)) => {
                        // The visitor never fails.
                        let _ = value.visit_children::<()>(|_, inner| {
                            self.value(inner, items);
                            Ok(())
                        });
                    }
                    (None, None) => {}
                },
                Data::String(_) if plan.get("empty").is_some() => {
                    parse_json_string(value, |read| read.as_object().is_some_and(Object::is_empty));
                }
                _ => {}
            }
        }
    }

    fn record(&self, value: &mut Node<'_>, plan: &'d Node<'n>) {
        let table = plan.object_at("properties").map(LookUp::of);
        let property = |name: &Text<'_>| table.as_ref().and_then(|table| table.get(name));
        if let Some(names) = plan.array_at("absent") {
            if !self.budget.pay(names.len()) {
                return;
            }
            let names: Set<&Text<'_>> = names.iter().filter_map(Node::as_text).collect();
            let absent = |member: &Member<'_>| member.value.is_null() && names.contains(&member.key);
            if value.as_object().is_some_and(|members| members.iter().any(absent)) {
                if let Some(members) = value.as_object_mut() {
                    members.retain(|member| !absent(member));
                }
            }
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
        if let Some((name, values)) = additional_plan(plan) {
            if !value.get(&name).is_some_and(are_pairs) {
                return;
            }
            let Some(members) = value.as_object_mut() else { return };
            let Some(mut pairs) = members.remove(&name) else { return };
            self.pairs(&mut pairs, values);
            let Data::Object(pairs) = pairs.into_data() else { return };
            // Pairs hold undeclared members. A pair that names a declared property would bypass the schema of that
            // property.
            let declared: Set<Text<'_>> = members.iter().map(|member| member.key.clone()).collect();
            let others = pairs
                .into_members()
                .into_iter()
                .filter(|member| !declared.contains(&member.key) && property(&member.key).is_none());
            members.members_mut().extend(others);
        }
    }

    fn pairs(&self, value: &mut Node<'_>, values: &'d Node<'n>) {
        // A list that does not consist of pairs may be valid for another type of the same schema.
        if are_pairs(value) {
            from_pairs(value, &mut |inner| self.value(inner, values));
        }
    }

    fn union(&self, value: &mut Node<'_>, branches: &'d [Node<'n>]) {
        self.comparisons.replace(Map::new());
        let exact_match =
            self.candidates(value, branches).into_iter().find(|branch| self.fits_branch(value, branch, false));
        let loose_match = || branches.iter().find(|branch| self.fits_branch(value, branch, true));
        let Some(branch) = exact_match.or_else(loose_match) else { return };
        if let Some(name) = wrapper(branch) {
            let inner = value.as_object_mut().and_then(|object| object.remove(&name));
            if let Some(inner) = inner {
                value.replace(inner.into_data());
            }
        }
        self.value(value, branch);
    }

    fn candidates(&self, value: &Node<'_>, branches: &'d [Node<'n>]) -> Vec<&'d Node<'n>> {
        self.discriminators.candidates(value, branches, self.budget, |branch| self.target(branch))
    }

    fn fits_branch(&self, value: &Node<'_>, branch: &'d Node<'n>, loosely: bool) -> bool {
        match wrapper(branch) {
            None => self.fits(value, branch, loosely),
            Some(name) => value.as_object().is_some_and(|object| {
                object.len() == 1 && object.get(&name).is_some_and(|inner| self.fits(inner, branch, loosely))
            }),
        }
    }

    /// Returns true if the value matches the plan. If `loosely` is true, only the type is checked.
    fn fits(&self, value: &Node<'_>, plan: &'d Node<'n>, loosely: bool) -> bool {
        let has_children = matches!(value.data(), Data::Object(_) | Data::Array(_));
        if !has_children && ["$ref", "anyOf"].iter().all(|key| plan.get(*key).is_none()) {
            return self.compare(value, plan, loosely);
        }
        let key = (core::ptr::from_ref(value).addr(), core::ptr::from_ref(plan).addr(), loosely);
        if let Some(result) = self.comparisons.borrow().get(&key) {
            return self.budget.pay(1) && *result;
        }
        // A plan that refers to itself for the same value matches no value. (Only a forged plan refers to itself.)
        self.comparisons.borrow_mut().insert(key, false);
        let fits = self.compare(value, plan, loosely);
        self.comparisons.borrow_mut().insert(key, fits);
        fits
    }

    fn compare(&self, value: &Node<'_>, plan: &'d Node<'n>, loosely: bool) -> bool {
        let Some(plan) = self.enter(value, plan) else { return false };
        let is_match = if let Some(kind) = plan.get("json") {
            match listed_values(plan) {
                Some(values) => value.as_text().and_then(Text::value).is_some_and(|text| {
                    self.listed_texts(plan, values).is_some_and(|listed_texts| listed_texts.contains(&*text))
                }),
                None => kind.is_text("definition") || value.as_text().is_some(),
            }
        } else if let Some(branches) = plan.array_at("anyOf") {
            match loosely {
                true => branches.iter().any(|branch| self.fits_branch(value, branch, true)),
                false => {
                    self.candidates(value, branches).into_iter().any(|branch| self.fits_branch(value, branch, false))
                }
            }
        } else {
            self.fits_typed(value, plan, loosely)
        };
        self.level.set(self.level.get() - 1);
        is_match
    }

    /// Returns true if the plan lists the value. The text is compared first, because most values have the listed
    /// spelling.
    fn is_listed(&self, value: &Node<'_>, plan: &'d Node<'n>, values: &[Node<'n>]) -> bool {
        let Some(listed_texts) = self.listed_texts(plan, values) else { return false };
        listed_texts.contains(&json::write_plain(value))
            || (self.budget.pay(listed_texts.iter().map(String::len).sum())
                && values.iter().any(|known| json::same(known, value)))
    }

    /// Returns the texts of the listed values, which are written once per plan. Returns `None` if the budget is spent.
    fn listed_texts(&self, plan: &'d Node<'n>, values: &[Node<'n>]) -> Option<Rc<Set<String>>> {
        let mut known = self.listed_texts.borrow_mut();
        let key = core::ptr::from_ref(plan);
        if let Some(listed_texts) = known.get(&key) {
            return Some(listed_texts.clone());
        }
        let listed_texts: Set<String> = values.iter().map(json::write_plain).collect();
        if !self.budget.pay(listed_texts.iter().map(String::len).sum()) {
            return None;
        }
        let listed_texts = Rc::new(listed_texts);
        known.insert(key, listed_texts.clone());
        Some(listed_texts)
    }

    fn fits_typed(&self, value: &Node<'_>, plan: &'d Node<'n>, loosely: bool) -> bool {
        let Some(object) = plan.as_object() else { return false };
        let pairs = plan.get("pairs");
        match value.data() {
            Data::String(_) if object.has("empty") => value.is_text("{}"),
            Data::Array(items) => match pairs {
                Some(value_plan) => {
                    let values_fit = || {
                        items.iter().filter_map(|pair| pair.get(VALUE)).all(|inner| self.fits(inner, value_plan, false))
                    };
                    loosely || (are_pairs(value) && values_fit())
                }
                None => {
                    // Listed values are scalars here.
                    let is_array =
                        layout::declares(object, "array") && listed_values(plan).is_none() && !object.has("const");
                    is_array
                        && (loosely
                            || plan
                                .get("items")
                                .is_none_or(|value_plan| items.iter().all(|item| self.fits(item, value_plan, false))))
                }
            },
            Data::Object(_) if pairs.is_some() => false,
            Data::Object(members) if object.has("properties") => loosely || self.fits_record(members, plan),
            _ => self.budget.pay(listed_values(plan).map_or(0, <[_]>::len)) && matches_type(value, object),
        }
    }

    fn fits_record(&self, members: &Object<'_>, plan: &'d Node<'n>) -> bool {
        let count = |key: &str| plan.array_at(key).map_or(0, <[_]>::len);
        if !self.budget.pay(count("absent") + count("required")) {
            return false;
        }
        let (table, members_by_name) = (plan.object_at("properties").map(LookUp::of), LookUp::of(members));
        let names = |key: &str| plan.items_at(key).iter().filter_map(Node::as_text);
        let absent: Set<&Text<'_>> = names("absent").collect();
        let additional = additional_plan(plan).map(|(name, _)| name);
        let are_valid = members.iter().all(|member| match table.as_ref().and_then(|table| table.get(&member.key)) {
            Some(property) => {
                (member.value.is_null() && absent.contains(&member.key)) || self.fits(&member.value, property, false)
            }
            None => additional.as_ref().is_some_and(|name| member.key.is(name) && are_pairs(&member.value)),
        });
        are_valid && names("required").all(|name| members_by_name.has(name))
    }
}

fn listed_values<'p, 'n>(plan: &'p Node<'n>) -> Option<&'p [Node<'n>]> {
    plan.array_at("enum")
}

fn wrapper<'p>(branch: &'p Node<'_>) -> Option<Cow<'p, str>> {
    branch.get("wrapper")?.as_text()?.value()
}

/// Returns the name of the property for undeclared members, and the plan for their values.
fn additional_plan<'p, 'n>(plan: &'p Node<'n>) -> Option<(Cow<'p, str>, &'p Node<'n>)> {
    let others = plan.get("others")?;
    Some((others.get("name")?.as_text()?.value()?, others.get("values")?))
}

fn matches_type(value: &Node<'_>, object: &Object<'_>) -> bool {
    let kind = match value.data() {
        Data::Null => "null",
        Data::Bool(_) => "boolean",
        Data::String(_) => "string",
        Data::Number(_) => "number",
        Data::Array(_) => "array",
        Data::Object(_) | Data::Verbatim(_) => "object",
    };
    let is_whole = || value.as_number().is_some_and(json::is_integral);
    let has_type = !object.has("type")
        || layout::declares(object, kind)
        || (kind == "number" && layout::declares(object, "integer") && is_whole());
    let is_listed = object.array_at("enum").is_none_or(|values| values.iter().any(|known| json::same(known, value)));
    has_type && is_listed && object.get("const").is_none_or(|known| json::same(known, value))
}

fn are_pairs(value: &Node<'_>) -> bool {
    value.as_array().is_some_and(|items| {
        items.iter().all(|item| {
            item.as_object().is_some_and(|pair| {
                pair.len() == 2 && pair.get(KEY).is_some_and(|key| key.as_text().is_some()) && pair.has(VALUE)
            })
        })
    })
}

fn from_pairs<'a>(value: &mut Node<'a>, each: &mut dyn FnMut(&mut Node<'a>)) {
    let Data::Array(items) = core::mem::replace(value.data_mut(), Data::Null) else { return };
    let mut members: Vec<Member<'a>> = Vec::with_capacity(items.len());
    for item in items {
        let Data::Object(mut pair) = item.into_data() else { continue };
        let key = pair.remove(KEY).and_then(|key| key.as_text().cloned());
        if let (Some(key), Some(mut inner)) = (key, pair.remove(VALUE)) {
            each(&mut inner);
            members.push(Member { key, value: inner });
        }
    }
    value.replace(Data::Object(Object::from_members(members)));
}

/// Restores any JSON that was written by the definition of "anything".
fn restore_any_json(value: &mut Node<'_>) {
    let pairs = |object: &Object<'_>| object.len() == 1 && object.get(PAIRS).is_some_and(are_pairs);
    if value.as_object().is_some_and(pairs) {
        if let Some(inner) = value.as_object_mut().and_then(|object| object.remove(PAIRS)) {
            value.replace(inner.into_data());
            from_pairs(value, &mut |inner| restore_any_json(inner));
        }
        return;
    }
    // The visitor never fails.
    let _ = value.visit_children::<()>(|_, inner| {
        restore_any_json(inner);
        Ok(())
    });
}

fn parse_json_string(value: &mut Node<'_>, is_accepted: impl Fn(&Node<'_>) -> bool) {
    let Some(text) = value.as_text().and_then(|text| text.value().map(|text| text.into_owned())) else { return };
    if let Ok(read) = json::read(&text) {
        if is_accepted(&read) {
            value.replace(read.detached().into_data());
        }
    }
}
