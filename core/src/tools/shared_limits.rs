//! Limits that concern all tools of a request together: the number of tools, properties and unions, the one table of
//! definitions, and the compiler. In the table, definitions with the same name have to be equal. The compiler has to
//! accept all tools.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    check,
    collections::{Map, Set},
    dialect::{
        surface::{self, Counted},
        Dialect,
    },
    error::Error,
    json::{self, push_token, unescaped_token, Node, Text},
    report::Change,
    schema::{
        complexity::Complexity,
        keyword::{Keyword, Keywords},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

pub(super) fn budget_exceeded(budget: surface::Budget, before: usize, cost: usize) -> String {
    let (limit, what) = (budget.limit, budget.counts.words());
    format!("expected at most {limit} {what} per request, found {before} before this tool and {cost} more")
}

pub(super) fn budget_cost(budget: surface::Budget, schema: Option<&Node<'_>>) -> usize {
    let Some(schema) = schema else { return usize::from(budget.counts == Counted::Tools) };
    // One walk never exceeds the budget of a call.
    let counts = Complexity::of(schema, &Budget::new(schema.values_read(), None)).unwrap_or_default();
    match budget.counts {
        Counted::Tools => 1,
        Counted::OptionalProperties => counts.optional,
        Counted::Properties => counts.properties,
        Counted::Unions => counts.unions,
    }
}

const TABLE: &str = "#/$defs/";

#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// Definitions by name, as canonical JSON text, which is the same for equal values.
    known: Map<String, String>,
    /// The last number that was appended to each name.
    numbers: Map<String, u32>,
}

impl Definitions {
    pub(super) fn conflicts<'n>(&self, schema: &'n Node<'_>) -> Vec<Cow<'n, str>> {
        let differs = |name: &str, definition: &Node<'_>| {
            self.known.get(name).is_some_and(|known| *known != json::canonical(definition))
        };
        members(schema).filter(|(name, definition)| differs(name, definition)).map(|(name, _)| name).collect()
    }

    pub(super) fn add(&mut self, schema: &Node<'_>) {
        for (name, definition) in members(schema) {
            if !self.known.contains_key(&*name) {
                self.known.insert(name.into_owned(), json::canonical(definition));
            }
        }
    }

    /// Returns the old and new names of all definitions that earlier tools also have. Equal definitions are renamed,
    /// too, because they may refer to renamed definitions.
    pub(super) fn new_names(&mut self, schema: &Node<'_>) -> Vec<(String, String)> {
        if self.conflicts(schema).is_empty() {
            return Vec::new();
        }
        let names: Set<Cow<'_, str>> = members(schema).map(|(name, _)| name).collect();
        let mut renamed = Vec::new();
        for name in names.iter().filter(|name| self.known.contains_key(&***name)) {
            let known = &self.known;
            let is_free = |new: &String| !known.contains_key(new) && !names.contains(&**new);
            let first = self.numbers.get(&**name).map_or(2, |last| last.saturating_add(1));
            let found = (first..).map(|count| (count, format!("{name}_{count}"))).find(|(_, new)| is_free(new));
            if let Some((count, new)) = found {
                self.numbers.insert(name.clone().into_owned(), count);
                renamed.push((name.clone().into_owned(), new));
            }
        }
        renamed
    }
}

fn members<'n>(schema: &'n Node<'_>) -> impl Iterator<Item = (Cow<'n, str>, &'n Node<'n>)> {
    let table = schema.object_at(Keyword::Defs);
    table.into_iter().flatten().map(|member| (member.key.display(), &member.value))
}

/// Renames definitions of a schema, including in its references and in the output pointers of changes.
pub(super) fn rename_definitions(
    schema: &mut Node<'_>,
    names: &[(String, String)],
    changes: &mut [Change],
    above: &str,
    budget: &Budget,
) -> Result<(), Error> {
    let table: Map<&str, &str> = names.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
    visit::walk_mut(budget, schema, Keywords::ALL, &mut Renaming { names: &table })?;
    schema.visit(Keyword::Defs, |definitions| {
        for member in definitions.as_object_mut().into_iter().flat_map(|table| table.members_mut()) {
            let new = table.get(&*member.key.display()).copied();
            if let Some(new) = new {
                member.key = Text::new(String::from(new));
            }
        }
    });
    let above = format!("{above}/$defs/");
    for output in changes.iter_mut().filter_map(|change| change.output_pointer.as_mut()) {
        let Some(inside) = output.strip_prefix(&above) else { continue };
        let (token, rest) = inside.split_at(inside.find('/').unwrap_or(inside.len()));
        if let Some(new) = table.get(&*unescaped_token(token)) {
            let mut moved = String::from(above.trim_end_matches('/'));
            push_token(&mut moved, new);
            *output = moved + rest;
        }
    }
    Ok(())
}

struct Renaming<'n> {
    names: &'n Map<&'n str, &'n str>,
}

impl<'a> VisitorMut<'a> for Renaming<'_> {
    fn enter(&mut self, node: &mut Node<'a>, _: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let reference = node.text_at(Keyword::Ref).and_then(Text::value);
        let new = reference.as_deref().and_then(|reference| self.names.get(reference.strip_prefix(TABLE)?).copied());
        if let Some(new) = new {
            node.visit(Keyword::Ref, |reference| *reference = Node::string(Text::new(format!("{TABLE}{new}"))));
        }
        Ok(Visit::Descend)
    }
}

#[derive(Debug, Default)]
pub(super) struct Backends {
    /// For each compiler, true if it accepts all tools so far.
    accepts_all: Vec<bool>,
    /// True if it was already reported that no compiler accepts all tools.
    is_reported: bool,
}

impl Backends {
    /// Returns true for the first tool after which no compiler accepts all tools, if at least one compiler accepts this
    /// tool.
    pub(super) fn add(&mut self, schema: &Node<'_>, dialect: &Dialect) -> Result<bool, Error> {
        let accepts = check::backends(schema, dialect, &Budget::new(schema.values_read(), None))?;
        // A tool that no compiler accepts is reported separately.
        if !accepts.contains(&true) {
            return Ok(false);
        }
        if self.accepts_all.is_empty() {
            self.accepts_all = accepts;
            return Ok(false);
        }
        self.accepts_all.iter_mut().zip(accepts).for_each(|(all, accepts)| *all &= accepts);
        let is_first = !self.accepts_all.contains(&true) && !self.is_reported;
        self.is_reported |= is_first;
        Ok(is_first)
    }
}

pub(super) fn backends_message() -> String {
    "expected tools that one compiler accepts together, found one that only another compiler accepts".into()
}
