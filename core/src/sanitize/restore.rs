//! `restore_arguments`: the model's arguments brought back into the shape that the tool's own schema has.
//!
//! Everything is found again from the original schema: nothing of the rewriting is kept. What is not understood stays as it is.

use alloc::{rc::Rc, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::{self, grammar::Grammar, Dialect, Method},
    error::Error,
    json::{Child, Data, LookUp, Node, Object, Text},
    options::SanitizeOptions,
    report::{Change, Recorder},
    rules::Rule,
    sanitize::{
        decode,
        legalize::property_names::Spelling,
        pipeline::{self, Finish},
        texts,
    },
    schema::{
        draft::Draft,
        graph::located,
        references::{self, Number, References},
    },
};

/// Keywords that apply their schemas to the very instance they stand at.
const IN_PLACE: [&str; 6] = ["allOf", "anyOf", "oneOf", "if", "then", "else"];

/// How many schemas are looked at for one value; more would be a schema that was made to be slow.
const MOST: usize = 4096;

/// Restores arguments in place.
pub(crate) fn restore<'a>(arguments: &mut Node<'a>, schema: &Node<'_>, options: &SanitizeOptions) -> Result<(), Error> {
    let dialect = dialect::of(options)?;
    let Method::Rules(grammar) = dialect.method else { return Ok(()) };
    let budget = Rc::new(Budget::new(schema.values_read() + arguments.values_read(), options.max_steps).spelled(options.naming));
    // What was written last is undone first.
    decode::decode(arguments, schema, dialect, grammar, options, &budget)?;
    texts::read(arguments, schema, dialect, grammar, options, &budget)?;
    let refers = references::has_references(schema, &budget)?;
    let references = if refers { references::resolve(schema, Draft::of(schema), &budget)? } else { References::default() };
    let wanted: Set<Number> = references.all_targets().collect();
    let found = located(schema, &wanted, &budget).into_iter();
    let targets = found.filter_map(|target| Some((target.origin().number()?, target))).collect();
    let no_slash = refers && loses_slashes(schema, dialect, grammar, options, &budget)?;
    let spelling = Spelling { rule: grammar.names, no_slash, is_root: false };
    let names_required = grammar.encodes();
    let ref_stands_alone = Draft::of(schema).ref_stands_alone();
    let restore = Restore { ref_stands_alone, budget: &budget, spelling, names_required, references: &references, targets };
    restore.value(arguments, &[schema], true);
    budget.check(String::new)
}

/// Were property names with `/` renamed? That depends on which definitions stay, and only the rules know.
fn loses_slashes(
    schema: &Node<'_>,
    dialect: &'static Dialect,
    grammar: &'static Grammar,
    options: &SanitizeOptions,
    budget: &Rc<Budget>,
) -> Result<bool, Error> {
    fn named_so(node: &Node<'_>) -> bool {
        match node.data() {
            Data::Object(object) => object.iter().any(|member| member.key.display().contains('/') || named_so(&member.value)),
            Data::Array(items) => items.iter().any(named_so),
            _ => false,
        }
    }
    if !grammar.refs.no_slash_in_definitions || !named_so(schema) {
        return Ok(false);
    }
    let mut recorder = Recorder::on();
    let written =
        pipeline::sanitize(&mut schema.copy(budget), dialect, grammar, options, Finish::Written(&|_| false), &mut recorder, budget);
    budget.check(String::new)?;
    let renames = |change: &Change| {
        change.rule == Rule::RenameProperty.id() && change.pointer.rsplit('/').next().is_some_and(|name| name.contains("~1"))
    };
    // What could not be written has no arguments to restore.
    Ok(written.is_ok() && recorder.finish().iter().any(renames))
}

struct Restore<'r, 's, 'n> {
    ref_stands_alone: bool,
    budget: &'r Budget,
    spelling: Spelling,
    /// What is required and not described becomes a property.
    names_required: bool,
    references: &'r References,
    targets: Map<Number, &'s Node<'n>>,
}

impl<'s, 'n> Restore<'_, 's, 'n> {
    /// Restores one value that some of these schemas describe.
    fn value(&self, value: &mut Node<'_>, schemas: &[&'s Node<'n>], is_root: bool) {
        if schemas.is_empty() || (value.as_object().is_none() && value.as_array().is_none()) {
            return;
        }
        let schemas = self.in_place(schemas);
        self.names(value, &schemas, is_root);
        let tables = if value.as_object().is_some() { tables(&schemas) } else { Vec::new() };
        // The visitor never fails.
        let _ = value.visit_children::<()>(|child, inner| {
            let below: Vec<&'s Node<'n>> = match child {
                Child::Member(name) => {
                    schemas.iter().zip(&tables).flat_map(|(schema, table)| member(schema, table.as_ref(), name)).collect()
                }
                Child::Item(place) => schemas.iter().filter_map(|schema| item(schema, place)).collect(),
            };
            self.value(inner, &below, false);
            Ok(())
        });
    }

    /// These schemas and all that apply to the same value.
    fn in_place(&self, schemas: &[&'s Node<'n>]) -> Vec<&'s Node<'n>> {
        let mut seen: Set<Number> = Set::new();
        let mut found: Vec<&'s Node<'n>> = Vec::new();
        let mut open: Vec<&'s Node<'n>> = schemas.iter().rev().copied().collect();
        while let Some(schema) = open.pop() {
            if found.len() >= MOST || schema.origin().number().is_some_and(|number| !seen.insert(number)) {
                continue;
            }
            // In old drafts, what stands beside a reference says nothing.
            if !(self.ref_stands_alone && schema.get("$ref").is_some()) {
                found.push(schema);
            }
            self.budget.pay(1);
            let target = references::reference_number(schema).and_then(|number| self.references.target(number));
            open.extend(target.and_then(|target| self.targets.get(&target).copied()));
            // Without a condition nothing follows from it.
            let is_conditional = schema.get("if").is_some();
            for keyword in IN_PLACE.into_iter().filter(|keyword| is_conditional || !matches!(*keyword, "then" | "else")) {
                match schema.get(keyword).map(|value| (value, value.as_array())) {
                    Some((_, Some(branches))) => open.extend(branches),
                    Some((branch, None)) => open.push(branch),
                    None => {}
                }
            }
        }
        found
    }

    /// The names that a schema gives properties: those it describes; and those it only requires, where they have a new name, too.
    fn names_of(&self, schema: &'s Node<'n>) -> (Vec<&'s Text<'n>>, Vec<&'s Text<'n>>) {
        let table = schema.get("properties").and_then(Node::as_object);
        let known = table.map(LookUp::of);
        let required = schema.get("required").and_then(Node::as_array).into_iter().flatten().filter_map(Node::as_text);
        let is_named = |name: &Text<'_>| self.names_required || name.value().is_some_and(|name| self.spelling.goes_everywhere(&name));
        let mut seen: Set<&Text<'n>> = Set::new();
        let only_required =
            |name: &&'s Text<'n>| is_named(name) && known.as_ref().is_none_or(|known| !known.has(name)) && seen.insert(*name);
        (table.into_iter().flatten().map(|member| &member.key).collect(), required.filter(only_required).collect())
    }

    /// Gives properties back the names the schemas have for them.
    fn names(&self, value: &mut Node<'_>, schemas: &[&'s Node<'n>], is_root: bool) {
        let spelling = Spelling { is_root, ..self.spelling };
        let Some(object) = value.as_object() else { return };
        let mut originals: Map<String, &Text<'n>> = Map::new();
        for schema in schemas {
            let (described, required) = self.names_of(schema);
            self.budget.pay(described.len() + required.len());
            let names = spelling.names(described.iter().copied());
            let new = |name: &Text<'_>, names| name.value().and_then(|spelled| spelling.stand_in_among(&spelled, names));
            originals.extend(described.iter().filter_map(|name| Some((new(name, &names)?, *name))));
            if required.is_empty() {
                continue;
            }
            // They became properties once the others had their names.
            let renamed = described.iter().map(|name| new(name, &names).map_or_else(|| (*name).clone(), Text::new));
            let all: Vec<Text<'_>> = renamed.chain(required.iter().map(|name| (*name).clone())).collect();
            let names = spelling.names(all.iter());
            originals.extend(required.iter().filter_map(|name| Some((new(name, &names)?, *name))));
        }
        if originals.is_empty() {
            return;
        }
        let (tables, sent) = (tables(schemas), LookUp::of(object));
        let is_known = |key: &Text<'_>| tables.iter().flatten().any(|table| table.has(key));
        let original = |key: &Text<'_>| key.value().filter(|_| !is_known(key)).and_then(|key| originals.get(&*key).copied());
        // A name that is there already is not given twice.
        let moves = |key: &Text<'_>| original(key).filter(|name| !sent.has(name)).map(|name| name.clone().into_owned());
        let renamed: Vec<Option<Text<'static>>> = object.iter().map(|member| moves(&member.key)).collect();
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

/// The properties of each schema.
fn tables<'s, 'n>(schemas: &[&'s Node<'n>]) -> Vec<Option<LookUp<'s, 'n>>> {
    schemas.iter().map(|schema| schema.get("properties").and_then(Node::as_object).map(LookUp::of)).collect()
}

/// The schemas that one schema has for a member; `table` are its properties.
fn member<'s, 'n>(schema: &'s Node<'n>, table: Option<&LookUp<'s, 'n>>, name: &Text<'_>) -> Vec<&'s Node<'n>> {
    if let Some(property) = table.and_then(|table| table.get(name)) {
        return Vec::from([property]);
    }
    let patterns = schema.get("patternProperties").and_then(Node::as_object).into_iter().flatten().map(|member| &member.value);
    patterns.chain(schema.get("additionalProperties")).collect()
}

/// The schema that one schema has for an item.
fn item<'s, 'n>(schema: &'s Node<'n>, place: usize) -> Option<&'s Node<'n>> {
    let positional = |keyword| schema.get(keyword).and_then(Node::as_array).and_then(|items| items.get(place));
    positional("prefixItems")
        .or_else(|| positional("items"))
        .or_else(|| schema.get("items").filter(|items| items.as_object().is_some()))
        .or_else(|| schema.get("additionalItems"))
}
