//! Restores property names of the tool's own schema.
//!
//! The plan contains the parts of the original schema that are needed:
//!
//! - `names` maps new names to old ones (`rootNames` at the root, if they differ there).
//! - `allOf` lists all plans for the same value.
//! - `properties`, `others` (plans for undeclared members), `prefixItems` and `items` contain the plans for members and
//!   items.
//! - A `$ref` names an entry in `$defs` of the root.

use alloc::{
    rc::Rc,
    string::{String, ToString},
    vec::Vec,
};
use core::cell::{Cell, RefCell};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::grammar::Grammar,
    error::Error,
    json::{Child, LookUp, Member, Node, Object, Text},
    sanitize::{
        legalize::replacement_names::{self, undeclared_names, ReplacementNames, Spelling},
        wrap_root,
    },
    schema::{
        keyword::Draft,
        references::{self, Number, References},
    },
};

/// Maximum number of plans for a value. Only a schema that was designed to be slow has more.
const MAX_PLANS: usize = 4096;

/// Returns `None` if no name was replaced. `no_slash` is set if names with `/` were replaced, too.
pub(super) fn plan(
    (original, wrapper, replacement_names): (&Node<'_>, Option<&str>, &ReplacementNames),
    grammar: &Grammar,
    no_slash: bool,
    budget: &Budget,
) -> Result<Option<Node<'static>>, Error> {
    let draft = Draft::of(original);
    let refers = references::has_references(original, budget)?;
    let references = if refers {
        references::resolve(wrap_root::unwrapped(original, wrapper), draft, budget)?
    } else {
        References::default()
    };
    let planner = Planner {
        budget,
        spelling: Spelling { rule: grammar.names, no_slash, is_root: false },
        replacement_names,
        names_required: grammar.encodes(),
        ignores_ref_siblings: draft.ignores_ref_siblings(),
        references: &references,
        first: original.origin().number().unwrap_or_default(),
        has_replaced_name: Cell::new(false),
    };
    let root = planner.schema(original);
    if !root.renames {
        return Ok(None);
    }
    let mut plan = root.plan;
    if refers {
        let targets = references.targets(original, budget).into_iter();
        let planned = targets.map(|(number, (target, _))| Member {
            key: Text::new(planner.name(number)),
            value: planner.schema(target).plan,
        });
        let planned: Vec<Member<'_>> = planned.collect();
        if let Some(object) = plan.as_object_mut() {
            object.set(Text::literal("$defs"), Node::object(Object::from_unique(planned)));
        }
    }
    // Without a replaced name, references undo nothing.
    Ok(planner.has_replaced_name.get().then(|| plan.detached()))
}

struct Planner<'r> {
    budget: &'r Budget,
    spelling: Spelling,
    replacement_names: &'r ReplacementNames,
    /// True if undeclared required names become properties.
    names_required: bool,
    ignores_ref_siblings: bool,
    references: &'r References,
    /// Number of the root. Names in the plan are relative to it, so they do not depend on the position of the schema in
    /// its input.
    first: Number,
    /// True once a replaced name was found.
    has_replaced_name: Cell<bool>,
}

struct Planned<'a> {
    plan: Node<'a>,
    /// True if a name in the schema was replaced, or may have been replaced in the target of a reference.
    renames: bool,
}

impl Planner<'_> {
    fn name(&self, target: Number) -> String {
        target.saturating_sub(self.first).to_string()
    }

    fn schema<'a>(&self, schema: &Node<'a>) -> Planned<'a> {
        let (mut plan, mut renames) = (Object::new(), false);
        let Some(object) = schema.as_object().filter(|object| self.budget.pay(1 + object.len())) else {
            return Planned { plan: Node::empty_object(), renames };
        };
        // In old drafts, siblings of a reference have no effect.
        if !(self.ignores_ref_siblings && object.has("$ref")) {
            renames |= self.names(object, &mut plan);
            renames |= self.plan_children(object, &mut plan);
        }
        let target = self.references.target_of(schema);
        if let Some(target) = target {
            renames = true;
            plan.set(Text::literal("$ref"), Node::string(self.name(target)));
        }
        let mut in_place = Vec::new();
        for branch in replacement_names::in_place(object) {
            let planned = self.schema(branch);
            renames |= planned.renames;
            in_place.extend(planned.plan.as_object().is_some_and(|plan| !plan.is_empty()).then_some(planned.plan));
        }
        if !in_place.is_empty() {
            plan.set(Text::literal("allOf"), Node::array(in_place));
        }
        Planned { plan: Node::object(plan), renames }
    }

    /// Returns true if the plans rename anything.
    fn plan_children<'a>(&self, object: &Object<'a>, plan: &mut Object<'a>) -> bool {
        let mut renames = false;
        let mut plan_if_renamed = |schema: &Node<'a>| {
            let planned = self.schema(schema);
            renames |= planned.renames;
            planned.renames.then_some(planned.plan)
        };
        let table = |keyword: &str| object.object_at(keyword).into_iter().flatten();
        let properties = table("properties").map(|member| {
            // All declared names are kept, because a member with a declared name was not renamed.
            Member { key: member.key.clone(), value: plan_if_renamed(&member.value).unwrap_or_else(Node::empty_object) }
        });
        let properties: Vec<Member<'a>> = properties.collect();
        let additional =
            table("patternProperties").map(|member| &member.value).chain(object.get("additionalProperties"));
        let additional: Vec<Node<'a>> = additional.filter_map(&mut plan_if_renamed).collect();
        let lists = ["prefixItems", "items"].into_iter().filter_map(|keyword| object.array_at(keyword));
        let prefix_items: Vec<Node<'a>> =
            lists.take(1).flatten().map(|schema| plan_if_renamed(schema).unwrap_or_else(Node::empty_object)).collect();
        let items =
            object.get("items").filter(|items| items.as_object().is_some()).or_else(|| object.get("additionalItems"));
        let items = items.and_then(plan_if_renamed);
        for (keyword, list) in [("others", additional), ("prefixItems", prefix_items)] {
            if !list.is_empty() {
                plan.set(Text::literal(keyword), Node::array(list));
            }
        }
        if !properties.is_empty() {
            plan.set(Text::literal("properties"), Node::object(Object::from_unique(properties)));
        }
        if let Some(items) = items {
            plan.set(Text::literal("items"), items);
        }
        renames
    }

    /// Returns true if any name was replaced.
    fn names<'a>(&self, object: &Object<'a>, plan: &mut Object<'a>) -> bool {
        let table = object.object_at("properties");
        let declared: Vec<&Text<'a>> = table.into_iter().flatten().map(|member| &member.key).collect();
        let listed = undeclared_names(object, table);
        self.budget.pay(declared.len() + listed.len());
        let [root, names] = [true, false]
            .map(|is_root| self.old_names_by_new(Spelling { is_root, ..self.spelling }, &declared, &listed));
        let root_differs = root.len() != names.len() || !root.iter().zip(&names).all(|(one, other)| one == other);
        let renames = !(root.is_empty() && names.is_empty());
        self.has_replaced_name.set(self.has_replaced_name.get() || renames);
        for (keyword, names) in [("names", names), ("rootNames", root)] {
            if (keyword == "names" && !names.is_empty()) || (keyword == "rootNames" && root_differs) {
                let old = names
                    .into_iter()
                    .map(|(new, old)| Member { key: Text::new(new), value: Node::string(old.clone()) });
                plan.set(Text::literal(keyword), Node::object(Object::from_unique(old.collect())));
            }
        }
        renames
    }

    /// Returns the old names by new name.
    fn old_names_by_new<'s, 'a>(
        &self,
        spelling: Spelling,
        declared: &[&'s Text<'a>],
        listed: &[&'s Text<'a>],
    ) -> Map<String, &'s Text<'a>> {
        // A name that is only listed was replaced if undeclared names become properties, or if it is replaced
        // everywhere.
        let is_named = |name: &&&Text<'a>| {
            let is_replaced = |name: &str| self.replacement_names.is_replaced_where_listed(spelling, name);
            self.names_required || name.value().is_some_and(|name| is_replaced(&name))
        };
        let replaced_names =
            declared.iter().chain(listed.iter().filter(is_named)).filter(|name| spelling.replaces(name));
        replaced_names.filter_map(|name| Some((self.replacement_names.get(&name.value()?)?, *name))).collect()
    }
}

/// Returns the new names by old name, except names that are replaced differently in different schemas.
pub(super) fn new_names(plan: &Node<'_>) -> Map<String, String> {
    let (mut names, mut open): (Map<String, Option<String>>, _) = (Map::new(), Vec::from([plan]));
    while let Some(node) = open.pop() {
        open.extend(node.as_array().into_iter().flatten());
        for Member { key, value } in node.as_object().into_iter().flatten() {
            open.push(value);
            let Some(old) = value.as_text().filter(|_| !key.is("$ref")) else { continue };
            let new = key.display().into_owned();
            let known = names.entry(old.display().into_owned()).or_insert_with(|| Some(new.clone()));
            if known.as_ref() != Some(&new) {
                *known = None;
            }
        }
    }
    names.into_iter().filter_map(|(old, new)| Some((old, new?))).collect()
}

/// The tables are built once for all arguments.
pub(super) struct Names<'p, 'n> {
    budget: &'p Budget,
    plan: &'p Node<'n>,
    targets: Option<LookUp<'p, 'n>>,
    /// True if original names are replaced with new names, false for the reverse.
    to_new: bool,
    /// Properties of each plan, collected when first needed.
    tables: RefCell<Map<*const Node<'n>, Table<'p, 'n>>>,
}

/// `None` if the plan has no properties.
type Table<'p, 'n> = Option<Rc<LookUp<'p, 'n>>>;

impl<'p, 'n> Names<'p, 'n> {
    pub(super) fn to_original(plan: &'p Node<'n>, budget: &'p Budget) -> Self {
        let targets = plan.object_at("$defs").map(LookUp::of);
        Names { budget, plan, targets, tables: RefCell::default(), to_new: false }
    }

    pub(super) fn to_new(plan: &'p Node<'n>, budget: &'p Budget) -> Self {
        Names { to_new: true, ..Names::to_original(plan, budget) }
    }

    pub(super) fn arguments(&self, arguments: &mut Node<'_>) {
        self.value(arguments, &[self.plan], true);
    }

    fn value(&self, value: &mut Node<'_>, plans: &[&'p Node<'n>], is_root: bool) {
        if plans.is_empty() || (value.as_object().is_none() && value.as_array().is_none()) {
            return;
        }
        let members = value.as_object().map_or(0, Object::len) + value.as_array().map_or(0, <[_]>::len);
        let Some(plans) = self.in_place(plans) else { return };
        let Some(tables) = plans.iter().map(|plan| self.table(plan)).collect::<Option<Vec<_>>>() else { return };
        // Each member is looked up in each plan.
        if !self.budget.pay(plans.len().saturating_mul(members)) {
            return;
        }
        // Plans list members under their original names.
        if !self.to_new {
            self.names(value, &plans, &tables, is_root);
        }
        // The visitor never fails.
        let _ = value.visit_children::<()>(|child, inner| {
            let child_plans: Vec<&'p Node<'n>> = match child {
                Child::Member(name) => plans
                    .iter()
                    .zip(&tables)
                    .flat_map(|(plan, table)| member_plans(plan, table.as_deref(), name))
                    .collect(),
                Child::Item(index) => plans.iter().filter_map(|plan| item_plan(plan, index)).collect(),
            };
            self.value(inner, &child_plans, false);
            Ok(())
        });
        if self.to_new {
            self.names(value, &plans, &tables, is_root);
        }
    }

    /// Returns these plans and all other plans for their value. Returns `None` if the budget is spent.
    fn in_place(&self, plans: &[&'p Node<'n>]) -> Option<Vec<&'p Node<'n>>> {
        let mut seen: Set<*const Node<'n>> = Set::new();
        let mut all_plans: Vec<&'p Node<'n>> = Vec::new();
        let mut open: Vec<&'p Node<'n>> = plans.iter().rev().copied().collect();
        while let Some(plan) = open.pop().filter(|_| all_plans.len() < MAX_PLANS) {
            let parts = plan.items_at("allOf");
            if !self.budget.pay(1 + parts.len()) {
                return None;
            }
            if !seen.insert(core::ptr::from_ref(plan)) {
                continue;
            }
            all_plans.push(plan);
            let target = plan.text_at("$ref");
            open.extend(target.and_then(|target| self.targets.as_ref()?.get(target)));
            open.extend(parts);
        }
        Some(all_plans)
    }

    /// Indexes the properties once per plan. Returns `None` if the budget is spent.
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

    fn names(&self, value: &mut Node<'_>, plans: &[&'p Node<'n>], tables: &[Table<'p, 'n>], is_root: bool) {
        let Some(object) = value.as_object() else { return };
        let mut originals: Map<&Text<'n>, &Text<'n>> = Map::new();
        for plan in plans {
            let root = plan.get("rootNames").filter(|_| is_root);
            let names = root.or_else(|| plan.get("names")).and_then(Node::as_object).into_iter().flatten();
            let pair = |member: &'p Member<'n>| Some((&member.key, member.value.as_text()?));
            let pair = |member| pair(member).map(|(new, old)| if self.to_new { (old, new) } else { (new, old) });
            originals.extend(names.filter_map(pair));
        }
        if originals.is_empty() || !self.budget.pay(originals.len()) {
            return;
        }
        let existing = LookUp::of(object);
        let is_known = |key: &Text<'_>| !self.to_new && tables.iter().flatten().any(|table| table.has(key));
        // A name that is already in use is not assigned again.
        let original =
            |key: &Text<'_>| originals.get(key).copied().filter(|name| !is_known(key) && !existing.has(name));
        let renamed: Vec<Option<Text<'static>>> =
            object.iter().map(|member| original(&member.key).map(|name| name.clone().into_owned())).collect();
        if renamed.iter().all(Option::is_none) {
            return;
        }
        for (member, new) in value.as_object_mut().into_iter().flat_map(Object::members_mut).zip(renamed) {
            if let Some(new) = new {
                member.key = new;
            }
        }
    }
}

fn member_plans<'p, 'n>(plan: &'p Node<'n>, table: Option<&LookUp<'p, 'n>>, name: &Text<'_>) -> Vec<&'p Node<'n>> {
    if let Some(property) = table.and_then(|table| table.get(name)) {
        return Vec::from([property]);
    }
    plan.items_at("others").iter().collect()
}

fn item_plan<'p, 'n>(plan: &'p Node<'n>, index: usize) -> Option<&'p Node<'n>> {
    let first = plan.array_at("prefixItems").and_then(|items| items.get(index));
    first.or_else(|| plan.get("items"))
}
