//! The stand-ins of property names that the grammar cannot spell: one for each name of a document.
//!
//! What is one object may be said in several schemas, and they are others before and after a schema is rewritten. So a
//! name has one stand-in wherever it stands, no other name of the document is the same, and both the schema and the way
//! back read them here.

use alloc::{format, string::String, vec::Vec};
use core::cell::RefCell;

use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::{
        grammar::Grammar,
        name_rule::{NameRule, PropertyPattern},
    },
    json::{Data, LookUp, Member, Node, Object, Step, Text},
    names::{cut, Taken},
    schema::{keyword::Keyword, visit::SchemaPath},
};

/// Keywords with tables or lists of names, but for `properties`.
const LISTS: [Keyword; 4] =
    [Keyword::Required, Keyword::DependentRequired, Keyword::DependentSchemas, Keyword::Dependencies];

/// Keywords that apply their schema, each of a list, or each of a table to the very instance they stand at.
const ALONE: [Keyword; 4] = [Keyword::If, Keyword::Then, Keyword::Else, Keyword::Not];
const LISTED: [Keyword; 3] = [Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf];
const NAMED: [Keyword; 2] = [Keyword::DependentSchemas, Keyword::Dependencies];

/// Keywords that break below a name with braces.
const BREAKS_BELOW_BRACES: [&str; 4] = ["enum", "required", "anyOf", "$ref"];

/// Which names a schema can spell: what the grammar says, and whether a definition that stays holds a `/` in some key.
///
/// It goes for the whole schema, because what is one object may be said in several places, definitions or not.
#[derive(Clone, Copy, Debug)]
pub(in crate::sanitize) struct Spelling {
    pub(in crate::sanitize) rule: NameRule,
    pub(in crate::sanitize) no_slash: bool,
    /// It is the root whose properties are named: some shapes hold there only.
    pub(in crate::sanitize) is_root: bool,
}

impl Spelling {
    /// Returns the stand-in of a name that cannot be spelled, whatever other names there are.
    fn alias(self, name: &str) -> Option<String> {
        if self.rule.reserved.contains(&name) {
            return Some(format!("{}_", name.replace('$', "dollar_")));
        }
        if let Some(shape) = self.shape().filter(|shape| !shape.allows(name)) {
            return Some(shaped(shape, name));
        }
        let braces = self.rule.no_braces && has_braces(name);
        let slash = self.has_slash(name);
        (braces || slash).then(|| {
            name.replace(|character| matches!(character, '{' | '}' if braces) || (character == '/' && slash), "_")
        })
    }

    /// Can it spell every name?
    fn is_open(self) -> bool {
        self.rule.reserved.is_empty() && !self.rule.no_braces && self.rule.shape.is_none() && !self.no_slash
    }

    /// Does a name have a stand-in?
    pub(in crate::sanitize) fn replaces(self, name: &Text<'_>) -> bool {
        let has = |name: &str| {
            let braces = self.rule.no_braces && has_braces(name);
            self.rule.reserved.contains(&name) || self.is_misshapen(name) || braces || self.has_slash(name)
        };
        match name.as_plain() {
            Some(plain) => has(plain),
            None => name.value().is_some_and(|name| has(&name)),
        }
    }

    /// Does a schema name anything that has a stand-in? In most there is nothing of that kind.
    pub(super) fn concerns(self, object: &Object<'_>) -> bool {
        !self.is_open() && names_any(object, &|name| self.replaces(name))
    }

    fn shape(self) -> Option<PropertyPattern> {
        self.rule.shape.filter(|shape| self.is_root || !shape.root_only)
    }

    /// Is it no name of the shape that names have?
    pub(super) fn is_misshapen(self, name: &str) -> bool {
        self.shape().is_some_and(|shape| !shape.allows(name))
    }

    fn has_slash(self, name: &str) -> bool {
        self.no_slash && name.contains('/')
    }

    /// Does it stand for itself nowhere in the schema, whatever it names?
    pub(in crate::sanitize) fn goes_everywhere(self, name: &str) -> bool {
        self.rule.reserved.contains(&name) || self.has_slash(name)
    }
}

/// Is a schema about the same instance as the root?
pub(super) fn is_about_the_root(place: &SchemaPath<'_, '_>) -> bool {
    let mut steps = place.pointer.steps().iter();
    while let Some(step) = steps.next() {
        let is_one =
            |keywords: &[Keyword]| matches!(step, Step::Name(name) if keywords.iter().any(|one| one.name() == *name));
        if is_one(&LISTED) || is_one(&NAMED) {
            steps.next();
        } else if !is_one(&ALONE) {
            return false;
        }
    }
    true
}

/// The names in one schema.
struct Names<'n, 'a> {
    /// Those that `properties` has.
    described: Vec<&'n Text<'a>>,
    /// Those that are listed anywhere else.
    listed: Vec<&'n Text<'a>>,
}

impl<'n, 'a> Names<'n, 'a> {
    fn of(object: &'n Object<'a>) -> Self {
        let mut listed = Vec::new();
        for value in LISTS.iter().filter_map(|keyword| object.get(*keyword)) {
            match value.as_object() {
                Some(table) => table.iter().for_each(|member| {
                    listed.push(&member.key);
                    listed.extend(texts(&member.value));
                }),
                None => listed.extend(texts(value)),
            }
        }
        let table = object.get(Keyword::Properties).and_then(Node::as_object);
        Names { described: table.into_iter().flatten().map(|member| &member.key).collect(), listed }
    }
}

/// The names with braces of properties with what breaks below such a name.
fn broken<'n>(object: &'n Object<'_>) -> impl Iterator<Item = String> + 'n {
    let table = object.get(Keyword::Properties).and_then(Node::as_object);
    table.into_iter().flatten().filter_map(|member| {
        let name = member.key.value().filter(|name| has_braces(name))?;
        breaks(&member.value).then(|| name.into_owned())
    })
}

fn has_braces(name: &str) -> bool {
    name.contains('{') && name.contains('}')
}

/// The texts in a list, or one that stands in its place.
fn texts<'n, 'a>(list: &'n Node<'a>) -> impl Iterator<Item = &'n Text<'a>> {
    list.as_array().unwrap_or(core::slice::from_ref(list)).iter().filter_map(Node::as_text)
}

/// Returns the names that a schema lists and no property of it has.
pub(in crate::sanitize) fn only_listed<'n, 'a>(
    object: &'n Object<'a>,
    table: Option<&'n Object<'a>>,
) -> Vec<&'n Text<'a>> {
    let listed = Names { described: Vec::new(), ..Names::of(object) }.listed;
    if listed.is_empty() {
        return listed;
    }
    let known = table.map(LookUp::of);
    listed.into_iter().filter(|name| known.as_ref().is_none_or(|known| !known.has(name))).collect()
}

/// Maps the names of a document that cannot be spelled to their stand-ins. No two names have the same.
#[derive(Debug)]
pub(in crate::sanitize) struct StandIns {
    /// What cannot be spelled at some place of the document.
    spelling: Spelling,
    table: RefCell<Table>,
}

#[derive(Debug, Default)]
struct Table {
    taken: Taken,
    /// By the old names.
    new: Map<String, String>,
    /// Those of the old names that some property has.
    described: Set<String>,
    /// Names with braces of properties with what breaks below such a name.
    broken: Set<String>,
}

impl StandIns {
    /// Plans the stand-ins of a document as it was read.
    pub(in crate::sanitize) fn of(schema: &Node<'_>, grammar: &Grammar, budget: &Budget) -> Self {
        let no_slash = grammar.refs.no_slash_in_definitions;
        let spelling = Spelling { rule: grammar.names, no_slash, is_root: true };
        let mut table = Table::default();
        if !spelling.is_open()
            && each_object(schema, budget, &mut |object| names_any(object, &|name| spelling.replaces(name)))
        {
            let (mut of_root, mut described, mut listed) = (Vec::new(), Vec::new(), Vec::new());
            about_the_root(schema, budget, &mut |object| of_root.extend(Names::of(object).described));
            each_object(schema, budget, &mut |object| {
                let names = Names::of(object);
                described.extend(names.described);
                listed.extend(names.listed);
                if grammar.names.no_braces {
                    table.broken.extend(broken(object));
                }
                false
            });
            described.iter().chain(&listed).for_each(|name| table.taken.take(name));
            // The root's come first, and what is only listed comes last: the most is known of them.
            table.add(spelling, of_root.into_iter());
            table.add(spelling, described.iter().copied());
            table.described = table.new.keys().cloned().collect();
            table.add(spelling, listed.into_iter());
        }
        StandIns { spelling, table: RefCell::new(table) }
    }

    /// Is there no name that has one?
    pub(in crate::sanitize) fn is_empty(&self) -> bool {
        self.table.borrow().new.is_empty()
    }

    /// Returns the stand-in for a name, if it has one.
    pub(in crate::sanitize) fn of_name(&self, name: &str) -> Option<String> {
        self.table.borrow().new.get(name).cloned()
    }

    /// Does a name have its stand-in also in a schema that lists it, but has no such property? Another schema of the
    /// same object may have it.
    pub(in crate::sanitize) fn goes_where_listed(&self, spelling: Spelling, name: &str) -> bool {
        spelling.goes_everywhere(name)
            || self.is_broken(name)
            || (spelling.is_misshapen(name) && self.table.borrow().described.contains(name))
    }

    /// Has the name braces, and some property of that name what breaks below?
    pub(super) fn is_broken(&self, name: &str) -> bool {
        self.table.borrow().broken.contains(name)
    }

    /// Adds what a schema names that was not named, or no property, as the document was read.
    pub(super) fn learn(&self, object: &Object<'_>) {
        let table = &mut *self.table.borrow_mut();
        let names = Names::of(object);
        let replaced = |names: &[&Text<'_>]| {
            let replaced = names.iter().filter(|name| self.spelling.replaces(name));
            replaced.filter_map(|name| Some(name.value()?.into_owned())).collect::<Vec<String>>()
        };
        let described = replaced(&names.described);
        if !described.iter().chain(&replaced(&names.listed)).all(|name| table.new.contains_key(name)) {
            names.described.iter().chain(&names.listed).for_each(|name| table.taken.take(name));
            table.add(self.spelling, names.described.into_iter());
            table.add(self.spelling, names.listed.into_iter());
        }
        table.described.extend(described);
    }
}

impl Table {
    /// Adds the stand-ins of some names. If several names have the same alias, each gets a mark. A stand-in that is
    /// taken gets `_`, and then a number.
    fn add<'n, 'a: 'n>(&mut self, spelling: Spelling, names: impl Iterator<Item = &'n Text<'a>>) {
        let most = spelling.shape().map_or(usize::MAX, |shape| shape.most);
        let names = names.filter_map(Text::value).filter(|name| !self.new.contains_key(&**name));
        let aliases: Map<String, String> = names
            .filter_map(|name| Some((spelling.alias(&name)?, name.into_owned())))
            .map(|(alias, name)| (name, alias))
            .collect();
        let mut wanted: Map<&String, usize> = Map::new();
        aliases.values().for_each(|alias| *wanted.entry(alias).or_default() += 1);
        let mark = |(name, alias): (&String, &String)| {
            let is_shared = wanted.get(alias) != Some(&1);
            (name.clone(), if is_shared { marked(alias.clone(), name, most) } else { alias.clone() })
        };
        let (clear, disputed): (Vec<_>, Vec<_>) = aliases.iter().map(mark).partition(|(_, new)| !self.taken.has(new));
        let disputed = disputed.into_iter().map(|(name, new)| (name, format!("{}_", cut(&new, most - 1))));
        for (name, new) in clear.into_iter().chain(disputed) {
            let new = self.taken.free(new, most);
            self.new.insert(name, new);
        }
    }
}

/// Is something true of a name that a schema has? The members are read once: this runs for every object, and most have
/// no such name.
fn names_any(object: &Object<'_>, is: &dyn Fn(&Text<'_>) -> bool) -> bool {
    object.iter().any(|Member { key, value }| match Keyword::named(key) {
        Some(Keyword::Properties) => value.as_object().into_iter().flatten().any(|member| is(&member.key)),
        Some(keyword) if LISTS.contains(&keyword) => match value.as_object() {
            Some(table) => table.iter().any(|member| is(&member.key) || texts(&member.value).any(is)),
            None => texts(value).any(is),
        },
        _ => false,
    })
}

/// Visits each object of a document until one will do; gives true if one did. (What only looks like a schema counts,
/// too.)
fn each_object<'n, 'a>(schema: &'n Node<'a>, budget: &Budget, does: &mut dyn FnMut(&'n Object<'a>) -> bool) -> bool {
    let mut open = Vec::from([schema]);
    let is_container = |node: &&Node<'_>| matches!(node.data(), Data::Array(_) | Data::Object(_));
    while let Some(node) = open.pop() {
        match node.data() {
            Data::Array(items) if budget.pay(1 + items.len()) => open.extend(items.iter().filter(is_container)),
            Data::Object(object) if budget.pay(1 + object.len()) => {
                if does(object) {
                    return true;
                }
                open.extend(object.iter().map(|member| &member.value).filter(is_container));
            }
            _ => {}
        }
    }
    false
}

/// Visits each object that says something of the root's instance and stands in place.
fn about_the_root<'n, 'a>(schema: &'n Node<'a>, budget: &Budget, does: &mut dyn FnMut(&'n Object<'a>)) {
    let mut open = Vec::from([schema]);
    while let Some(node) = open.pop() {
        let Some(object) = node.as_object().filter(|object| budget.pay(1 + object.len())) else { continue };
        does(object);
        open.extend(in_place(object));
    }
}

/// The schemas in a schema that are about the same instance.
pub(in crate::sanitize) fn in_place<'n, 'a>(object: &'n Object<'a>) -> Vec<&'n Node<'a>> {
    let mut found = Vec::new();
    // Without a condition nothing follows from it.
    let is_conditional = object.has("if");
    let counts = |keyword: &&Keyword| is_conditional || !matches!(keyword, Keyword::Then | Keyword::Else);
    for value in LISTED.iter().chain(ALONE.iter().filter(counts)).filter_map(|keyword| object.get(*keyword)) {
        found.extend(value.as_array().unwrap_or(core::slice::from_ref(value)));
    }
    for table in NAMED.iter().filter_map(|keyword| object.get(*keyword)).filter_map(Node::as_object) {
        found.extend(table.iter().map(|member| &member.value));
    }
    found
}

/// A name of the shape that resembles another: what is not allowed becomes `_`, and what is cut off leaves a mark of
/// itself.
fn shaped(shape: PropertyPattern, name: &str) -> String {
    let filler = if shape.also.contains('_') { '_' } else { 'x' };
    let fits = |character: char| character.is_ascii_alphanumeric() || shape.also.contains(character);
    let mut new: String = name.chars().map(|character| if fits(character) { character } else { filler }).collect();
    let begins = |also: &str| new.starts_with(|first: char| first.is_ascii_alphabetic() || also.contains(first));
    if new.is_empty() || !shape.first.is_none_or(begins) {
        new.insert(0, filler);
    }
    if new.len() > shape.most {
        new = marked(new, name, shape.most);
    }
    new
}

/// A stand-in with a mark of the name it stands for.
fn marked(mut new: String, name: &str, most: usize) -> String {
    let mark = format!("x{:08x}", fnv(name));
    let mut end = new.len().min(most.saturating_sub(mark.len()));
    while !new.is_char_boundary(end) {
        end -= 1;
    }
    new.truncate(end);
    new.push_str(&mark);
    new
}

/// FNV-1a, 32 bits: short, and the same everywhere.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Does a schema hold what breaks below a name with braces?
pub(super) fn breaks(node: &Node<'_>) -> bool {
    match node.data() {
        Data::Object(object) => object
            .iter()
            .any(|member| BREAKS_BELOW_BRACES.iter().any(|keyword| member.key.is(keyword)) || breaks(&member.value)),
        Data::Array(items) => items.iter().any(breaks),
        _ => false,
    }
}
