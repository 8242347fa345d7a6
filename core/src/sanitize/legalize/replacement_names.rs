//! Replacements for property names that the grammar refuses: one replacement for each refused name of a document.
//!
//! Several schemas may describe the same object, and rewriting changes which schemas do. So a name has one replacement
//! everywhere, and the replacement differs from all other names of the document. The passes and the restore plan use
//! the same replacements.

use alloc::{format, string::String, vec::Vec};
use core::cell::RefCell;

use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::{
        grammar::Grammar,
        name_rules::{NameRule, PropertyPattern},
    },
    json::{Data, LookUp, Member, Node, Object, Step, Text},
    names::{cut, Taken},
    schema::{
        keyword::{Keyword, Keywords},
        visit::SchemaPath,
    },
};

/// Keywords other than `properties` that hold tables or lists of property names.
const NAME_LISTS: [Keyword; 4] =
    [Keyword::Required, Keyword::DependentRequired, Keyword::DependentSchemas, Keyword::Dependencies];

/// In-place applicators that hold one schema, a list of schemas, and a table of schemas.
const SINGLE_APPLICATORS: [Keyword; 4] = [Keyword::If, Keyword::Then, Keyword::Else, Keyword::Not];
const LIST_APPLICATORS: [Keyword; 3] = [Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf];
const TABLE_APPLICATORS: [Keyword; 2] = [Keyword::DependentSchemas, Keyword::Dependencies];

/// Keywords that an API does not accept below a property with braces in its name.
const BREAKS_BELOW_BRACES: [&str; 4] = ["enum", "required", "anyOf", "$ref"];

/// Rule for the property names that a schema may contain. It depends on the grammar, and on keys with `/` in kept
/// definitions.
///
/// The rule applies to the whole schema, because several schemas, also in definitions, may describe the same object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelling {
    pub(crate) rule: NameRule,
    pub(crate) no_slash: bool,
    /// True for schemas that describe the root's instance: some rules apply only there.
    pub(crate) is_root: bool,
}

impl Spelling {
    /// Returns an accepted spelling of the name, which need not be unique. Returns `None` if the name is accepted.
    fn alias(self, name: &str) -> Option<String> {
        if self.rule.reserved.contains(&name) {
            return Some(format!("{}_", name.replace('$', "dollar_")));
        }
        if let Some(property_pattern) =
            self.property_pattern().filter(|property_pattern| !property_pattern.allows(name))
        {
            return Some(fit_to_pattern(property_pattern, name));
        }
        let braces = self.rule.no_braces && has_braces(name);
        let slash = self.has_slash(name);
        (braces || slash).then(|| {
            name.replace(|character| matches!(character, '{' | '}' if braces) || (character == '/' && slash), "_")
        })
    }

    fn is_open(self) -> bool {
        self.rule.reserved.is_empty() && !self.rule.no_braces && self.rule.shape.is_none() && !self.no_slash
    }

    pub(crate) fn replaces(self, name: &Text<'_>) -> bool {
        let is_refused = |name: &str| {
            let braces = self.rule.no_braces && has_braces(name);
            self.rule.reserved.contains(&name) || self.violates_pattern(name) || braces || self.has_slash(name)
        };
        match name.as_plain() {
            Some(plain) => is_refused(plain),
            None => name.value().is_some_and(|name| is_refused(&name)),
        }
    }

    pub(super) fn concerns(self, object: &Object<'_>) -> bool {
        !self.is_open() && names_any(object, &|name| self.replaces(name))
    }

    fn property_pattern(self) -> Option<PropertyPattern> {
        self.rule.shape.filter(|property_pattern| self.is_root || !property_pattern.root_only)
    }

    pub(super) fn violates_pattern(self, name: &str) -> bool {
        self.property_pattern().is_some_and(|property_pattern| !property_pattern.allows(name))
    }

    fn has_slash(self, name: &str) -> bool {
        self.no_slash && name.contains('/')
    }

    /// Returns true if the name is replaced in every keyword, even if it is only listed.
    pub(crate) fn is_replaced_everywhere(self, name: &str) -> bool {
        self.rule.reserved.contains(&name) || self.has_slash(name)
    }
}

pub(super) fn describes_root_instance(path: &SchemaPath<'_, '_>) -> bool {
    let mut steps = path.pointer.steps().iter();
    while let Some(step) = steps.next() {
        let is_any = |keywords: &[Keyword]| {
            let is_step = |keyword: &Keyword| matches!(step, Step::Name(name) if keyword.name() == *name);
            keywords.iter().any(is_step)
        };
        if is_any(&LIST_APPLICATORS) || is_any(&TABLE_APPLICATORS) {
            steps.next();
        } else if !is_any(&SINGLE_APPLICATORS) {
            return false;
        }
    }
    true
}

struct Names<'n, 'a> {
    /// Names in `properties`.
    declared: Vec<&'n Text<'a>>,
    /// Names in other keywords.
    only_named: Vec<&'n Text<'a>>,
}

impl<'n, 'a> Names<'n, 'a> {
    fn of(object: &'n Object<'a>) -> Self {
        let mut only_named = Vec::new();
        for value in NAME_LISTS.iter().filter_map(|keyword| object.get(*keyword)) {
            match value.as_object() {
                Some(table) => table.iter().for_each(|member| {
                    only_named.push(&member.key);
                    only_named.extend(strings_of(&member.value));
                }),
                None => only_named.extend(strings_of(value)),
            }
        }
        let table = object.object_at(Keyword::Properties);
        Names { declared: table.into_iter().flatten().map(|member| &member.key).collect(), only_named }
    }
}

fn names_with_refused_content<'n>(object: &'n Object<'_>) -> impl Iterator<Item = String> + 'n {
    let table = object.object_at(Keyword::Properties);
    table.into_iter().flatten().filter_map(|member| {
        let name = member.key.value().filter(|name| has_braces(name))?;
        contains_refused_keyword(&member.value).then(|| name.into_owned())
    })
}

fn has_braces(name: &str) -> bool {
    name.contains('{') && name.contains('}')
}

fn strings_of<'n, 'a>(list: &'n Node<'a>) -> impl Iterator<Item = &'n Text<'a>> {
    list.as_array().unwrap_or(core::slice::from_ref(list)).iter().filter_map(Node::as_text)
}

pub(crate) fn undeclared_names<'n, 'a>(object: &'n Object<'a>, table: Option<&'n Object<'a>>) -> Vec<&'n Text<'a>> {
    let other_names = Names { declared: Vec::new(), ..Names::of(object) }.only_named;
    if other_names.is_empty() {
        return other_names;
    }
    let declared = table.map(LookUp::of);
    other_names.into_iter().filter(|name| declared.as_ref().is_none_or(|declared| !declared.has(name))).collect()
}

/// Each name that the grammar refuses has a different replacement.
#[derive(Debug)]
pub(crate) struct ReplacementNames {
    /// The rule for the root, which includes all restrictions.
    spelling: Spelling,
    table: RefCell<Table>,
}

#[derive(Debug, Default)]
struct Table {
    used_names: Taken,
    by_original: Map<String, String>,
    /// Original names that are properties of some schema.
    declared: Set<String>,
    /// Names with braces, if the property contains a keyword that the API does not accept below such a name.
    with_refused_content: Set<String>,
}

impl ReplacementNames {
    /// `schema` is the document as it was read.
    pub(crate) fn of(schema: &Node<'_>, grammar: &Grammar, budget: &Budget) -> Self {
        let no_slash = grammar.refs.no_slash_in_definitions;
        let spelling = Spelling { rule: grammar.names, no_slash, is_root: true };
        let mut table = Table::default();
        if !spelling.is_open()
            && visit_objects(schema, budget, &mut |object| names_any(object, &|name| spelling.replaces(name)))
        {
            let (mut of_root, mut declared, mut only_named) = (Vec::new(), Vec::new(), Vec::new());
            visit_root_schemas(schema, budget, &mut |object| of_root.extend(Names::of(object).declared));
            visit_objects(schema, budget, &mut |object| {
                let names = Names::of(object);
                declared.extend(names.declared);
                only_named.extend(names.only_named);
                if grammar.names.no_braces {
                    table.with_refused_content.extend(names_with_refused_content(object));
                }
                false
            });
            declared.iter().chain(&only_named).for_each(|name| table.used_names.take(name));
            // In order of priority: properties of the root, other properties, names that are only listed.
            table.add(spelling, of_root.into_iter());
            table.add(spelling, declared.iter().copied());
            table.declared = table.by_original.keys().cloned().collect();
            table.add(spelling, only_named.into_iter());
        }
        ReplacementNames { spelling, table: RefCell::new(table) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.borrow().by_original.is_empty()
    }

    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.table.borrow().by_original.get(name).cloned()
    }

    /// Returns true if the name is replaced in a schema that lists it but does not declare it. Another schema of the
    /// object may declare the property.
    pub(crate) fn is_replaced_where_listed(&self, spelling: Spelling, name: &str) -> bool {
        spelling.is_replaced_everywhere(name)
            || self.has_refused_content(name)
            || (spelling.violates_pattern(name) && self.table.borrow().declared.contains(name))
    }

    pub(super) fn has_refused_content(&self, name: &str) -> bool {
        self.table.borrow().with_refused_content.contains(name)
    }

    /// Adds names that the document did not contain, or did not declare as properties, when it was read.
    pub(super) fn extend_from(&self, object: &Object<'_>) {
        let table = &mut *self.table.borrow_mut();
        let names = Names::of(object);
        let replaced = |names: &[&Text<'_>]| {
            let replaced = names.iter().filter(|name| self.spelling.replaces(name));
            replaced.filter_map(|name| Some(name.value()?.into_owned())).collect::<Vec<String>>()
        };
        let declared = replaced(&names.declared);
        if !declared.iter().chain(&replaced(&names.only_named)).all(|name| table.by_original.contains_key(name)) {
            names.declared.iter().chain(&names.only_named).for_each(|name| table.used_names.take(name));
            table.add(self.spelling, names.declared.into_iter());
            table.add(self.spelling, names.only_named.into_iter());
        }
        table.declared.extend(declared);
    }
}

impl Table {
    /// Adds replacements for names. If several names have one alias, they get a hash. If a name is already used, `_` is
    /// appended, then a number.
    fn add<'n, 'a: 'n>(&mut self, spelling: Spelling, names: impl Iterator<Item = &'n Text<'a>>) {
        let max_length = spelling.property_pattern().map_or(usize::MAX, |property_pattern| property_pattern.max_length);
        let names = names.filter_map(Text::value).filter(|name| !self.by_original.contains_key(&**name));
        let aliases: Map<String, String> = names
            .filter_map(|name| Some((spelling.alias(&name)?, name.into_owned())))
            .map(|(alias, name)| (name, alias))
            .collect();
        let mut alias_counts: Map<&String, usize> = Map::new();
        aliases.values().for_each(|alias| *alias_counts.entry(alias).or_default() += 1);
        let with_distinct_alias = |(name, alias): (&String, &String)| {
            let is_shared = alias_counts.get(alias) != Some(&1);
            (name.clone(), if is_shared { with_hash(alias.clone(), name, max_length) } else { alias.clone() })
        };
        let (unused, used): (Vec<_>, Vec<_>) =
            aliases.iter().map(with_distinct_alias).partition(|(_, new)| !self.used_names.has(new));
        let used = used.into_iter().map(|(name, new)| (name, format!("{}_", cut(&new, max_length - 1))));
        for (name, new) in unused.into_iter().chain(used) {
            let new = self.used_names.reserve_unused(new, max_length);
            self.by_original.insert(name, new);
        }
    }
}

/// Reads the members only once, because this runs for every object, and most objects have no such name.
fn names_any(object: &Object<'_>, is: &dyn Fn(&Text<'_>) -> bool) -> bool {
    const ALL: Keywords = Keywords::of(&NAME_LISTS);
    object.iter().any(|Member { key, value }| match Keyword::named(key) {
        Some(Keyword::Properties) => value.as_object().into_iter().flatten().any(|member| is(&member.key)),
        Some(keyword) if ALL.contains(keyword) => match value.as_object() {
            Some(table) => table.iter().any(|member| is(&member.key) || strings_of(&member.value).any(is)),
            None => strings_of(value).any(is),
        },
        _ => false,
    })
}

/// Visits every object, also objects that are not schemas. Stops if the callback returns true, and then returns true.
fn visit_objects<'n, 'a>(schema: &'n Node<'a>, budget: &Budget, visit: &mut dyn FnMut(&'n Object<'a>) -> bool) -> bool {
    let mut open = Vec::from([schema]);
    while let Some(node) = open.pop() {
        match node.data() {
            Data::Array(items) if budget.pay(1 + items.len()) => {
                for item in items {
                    if item.is_container() {
                        open.push(item);
                    }
                }
            }
            Data::Object(object) if budget.pay(1 + object.len()) => {
                if visit(object) {
                    return true;
                }
                for Member { value, .. } in object {
                    if value.is_container() {
                        open.push(value);
                    }
                }
            }
            _ => {}
        }
    }
    false
}

fn visit_root_schemas<'n, 'a>(schema: &'n Node<'a>, budget: &Budget, visit: &mut dyn FnMut(&'n Object<'a>)) {
    let mut open = Vec::from([schema]);
    while let Some(node) = open.pop() {
        let Some(object) = node.as_object().filter(|object| budget.pay(1 + object.len())) else { continue };
        visit(object);
        open.extend(in_place(object));
    }
}

pub(crate) fn in_place<'n, 'a>(object: &'n Object<'a>) -> Vec<&'n Node<'a>> {
    let mut schemas = Vec::new();
    // `then` and `else` have no effect without `if`.
    let is_conditional = object.has("if");
    let has_effect = |keyword: &&Keyword| is_conditional || !matches!(keyword, Keyword::Then | Keyword::Else);
    for value in LIST_APPLICATORS
        .iter()
        .chain(SINGLE_APPLICATORS.iter().filter(has_effect))
        .filter_map(|keyword| object.get(*keyword))
    {
        schemas.extend(value.as_array().unwrap_or(core::slice::from_ref(value)));
    }
    for table in TABLE_APPLICATORS.iter().filter_map(|keyword| object.get(*keyword)).filter_map(Node::as_object) {
        schemas.extend(table.iter().map(|member| &member.value));
    }
    schemas
}

fn fit_to_pattern(property_pattern: PropertyPattern, name: &str) -> String {
    let filler = if property_pattern.also.contains('_') { '_' } else { 'x' };
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || property_pattern.also.contains(character);
    let mut new: String =
        name.chars().map(|character| if is_allowed(character) { character } else { filler }).collect();
    let begins_with_allowed =
        |also: &str| new.starts_with(|first: char| first.is_ascii_alphabetic() || also.contains(first));
    if new.is_empty() || !property_pattern.first.is_none_or(begins_with_allowed) {
        new.insert(0, filler);
    }
    if new.len() > property_pattern.max_length {
        new = with_hash(new, name, property_pattern.max_length);
    }
    new
}

fn with_hash(mut new: String, name: &str, max_length: usize) -> String {
    let hash = format!("x{:08x}", fnv(name));
    let mut end = new.len().min(max_length.saturating_sub(hash.len()));
    while !new.is_char_boundary(end) {
        end -= 1;
    }
    new.truncate(end);
    new.push_str(&hash);
    new
}

/// FNV-1a, 32 bits: short, and the same on every platform.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

pub(super) fn contains_refused_keyword(node: &Node<'_>) -> bool {
    match node.data() {
        Data::Object(object) => object.iter().any(|member| {
            BREAKS_BELOW_BRACES.iter().any(|keyword| member.key.is(keyword)) || contains_refused_keyword(&member.value)
        }),
        Data::Array(items) => items.iter().any(contains_refused_keyword),
        _ => false,
    }
}
