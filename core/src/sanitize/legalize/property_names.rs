//! Property names that the grammar takes for keywords: renamed everywhere, and brought back by `restore_arguments`.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    dialect::name_rule::{NameRule, PropertyPattern},
    json::{Data, Member, Node, Object, Text},
    report::Accepts,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        keyword::{Keyword, Keywords},
        visit::SchemaPath,
    },
};

/// What names properties.
pub(in crate::sanitize) const CONCERNS: Keywords =
    Keywords::of(&[Keyword::Properties, Keyword::DependentRequired, Keyword::DependentSchemas, Keyword::Required]);

/// What holds of a property by its name, which a new name may escape or meet.
pub(in crate::sanitize) const JUDGES: [Keyword; 2] = [Keyword::PatternProperties, Keyword::PropertyNames];

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
    /// The name that stands for one that cannot be spelled, whatever else is in its table.
    ///
    /// It depends on the name alone, so that the plan for the way back needs nothing of the schema that was written.
    fn alias(self, name: &str) -> Option<String> {
        if self.rule.reserved.contains(&name) {
            return Some(format!("{}_", name.replace('$', "dollar_")));
        }
        if let Some(shape) = self.shape().filter(|shape| !shape.allows(name)) {
            return Some(shaped(shape, name));
        }
        let braces = self.rule.no_braces && name.contains('{') && name.contains('}');
        let slash = self.has_slash(name);
        (braces || slash).then(|| {
            name.replace(|character| matches!(character, '{' | '}' if braces) || (character == '/' && slash), "_")
        })
    }

    /// Can it spell every name?
    pub(in crate::sanitize) fn is_open(self) -> bool {
        self.rule.reserved.is_empty() && !self.rule.no_braces && self.rule.shape.is_none() && !self.no_slash
    }

    /// Does a name have a stand-in?
    pub(in crate::sanitize) fn replaces(self, name: &Text<'_>) -> bool {
        let has = |name: &str| {
            let braces = self.rule.no_braces && name.contains('{') && name.contains('}');
            self.rule.reserved.contains(&name)
                || self.shape().is_some_and(|shape| !shape.allows(name))
                || braces
                || self.has_slash(name)
        };
        match name.as_plain() {
            Some(plain) => has(plain),
            None => name.value().is_some_and(|name| has(&name)),
        }
    }

    /// Does a schema name anything that has a stand-in? In most there is nothing of that kind.
    fn concerns(self, object: &Object<'_>) -> bool {
        let listed = |list: &Node<'_>| {
            list.as_array().into_iter().flatten().filter_map(Node::as_text).any(|name| self.replaces(name))
        };
        let named = |table: &Node<'_>| {
            table.as_object().into_iter().flatten().any(|member| self.replaces(&member.key) || listed(&member.value))
        };
        !self.is_open()
            && (["properties", "dependentRequired", "dependentSchemas"]
                .iter()
                .any(|table| object.get(table).is_some_and(named))
                || object.get(Keyword::Required).is_some_and(listed))
    }

    /// The name that stands for one in a table which may have that one too.
    /// Those that several names would share carry a mark of the name.
    pub(in crate::sanitize) fn alias_among(self, name: &str, table: &Names) -> Option<String> {
        let mut new = self.alias(name)?;
        if table.shared.contains(&new) {
            new = marked(new, name, self.shape().map_or(usize::MAX, |shape| shape.most));
        }
        while table.taken.contains(&new) {
            new.push('_');
        }
        Some(new)
    }

    /// What the names of a table of properties are.
    pub(in crate::sanitize) fn names<'n, 'a: 'n>(self, names_of: impl Iterator<Item = &'n Text<'a>>) -> Names {
        let mut names = Names { taken: Set::new(), shared: Set::new() };
        let mut once = Set::new();
        for name in names_of.filter_map(Text::value) {
            if let Some(new) = self.alias(&name) {
                if !once.insert(new.clone()) {
                    names.shared.insert(new);
                }
            }
            names.taken.insert(name.into_owned());
        }
        names
    }

    fn shape(self) -> Option<PropertyPattern> {
        self.rule.shape.filter(|shape| self.is_root || !shape.root_only)
    }

    fn has_slash(self, name: &str) -> bool {
        self.no_slash && name.contains('/')
    }

    /// Does it stand for itself nowhere in the schema, whatever it names?
    pub(in crate::sanitize) fn goes_everywhere(self, name: &str) -> bool {
        self.rule.reserved.contains(&name) || self.has_slash(name)
    }
}

fn keys<'n, 'a>(table: &'n Object<'a>) -> impl Iterator<Item = &'n Text<'a>> {
    table.iter().map(|member| &member.key)
}

/// The names of a table of properties.
pub(in crate::sanitize) struct Names {
    /// All of them.
    taken: Set<String>,
    /// The stand-ins that several of them share.
    shared: Set<String>,
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

/// Renames properties of one schema, wherever it names them.
pub(in crate::sanitize) fn rename<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let spelling =
        Spelling { rule: context.grammar.names, no_slash: context.no_slash, is_root: place.keyword.is_none() };
    let Some(object) = node.as_object().filter(|object| spelling.concerns(object)) else { return };
    let mut renamed: Map<String, String> = Map::new();
    if let Some((all, table)) = object.get(Keyword::Properties).and_then(|all| Some((all, all.as_object()?))) {
        let names = spelling.names(keys(table));
        for member in table {
            let Some(name) = member.key.value() else { continue };
            let Some(new) = spelling.alias_among(&name, &names) else { continue };
            let misshapen = spelling.shape().is_some_and(|shape| !shape.allows(&name));
            if !spelling.goes_everywhere(&name) && !misshapen && !breaks(&member.value) {
                continue;
            }
            let effect = ChangeKind::of(Rule::RenameProperty);
            let effect = if context.judges_names { effect.accepts(Accepts::Mixed) } else { effect };
            // It is the name that is changed: what it names may come from elsewhere.
            let (from, to) = (Location::under(all, name.clone().into_owned()), Location::under(all, new.clone()));
            context
                .diagnostics
                .report(place.polarity, from, to, effect, || format!("renamed the property `{name}` to `{new}`"));
            renamed.insert(name.into_owned(), new);
        }
    }
    // Such a name has its stand-in also where another schema of the same object lists it.
    let new_name = |name: &Text<'_>| {
        let name = name.value()?;
        renamed.get(&*name).cloned().or_else(|| spelling.alias(&name).filter(|_| spelling.goes_everywhere(&name)))
    };
    // What is named without being a property is reported where it is named.
    for keyword in ["dependentRequired", "dependentSchemas", "required"] {
        let Some(value) = node.get(keyword) else { continue };
        let listed = |list: &Node<'a>| {
            let named = |name: &Node<'a>| Some((Location::of(name), name.as_text()?.clone()));
            list.as_array().into_iter().flatten().filter_map(named).collect::<Vec<_>>()
        };
        let names: Vec<(Location, Text<'a>)> = match value.as_object() {
            Some(table) => {
                let named = |member: &Member<'a>| {
                    (Location::under(value, member.key.display().into_owned()), member.key.clone())
                };
                table.iter().flat_map(|member| core::iter::once(named(member)).chain(listed(&member.value))).collect()
            }
            None => listed(value),
        };
        let is_new = |(_, name): &&(Location, Text<'a>)| name.value().is_some_and(|name| !renamed.contains_key(&*name));
        for (from, name) in names.iter().filter(is_new) {
            let Some(new) = new_name(name) else { continue };
            let (from, to) = (from.clone(), Location::under(node, keyword));
            let effect = ChangeKind::of(Rule::RenameProperty);
            context.diagnostics.report(place.polarity, from, to, effect, || {
                format!("renamed the property `{}` to `{new}`", name.display())
            });
        }
    }
    for keyword in ["properties", "dependentRequired", "dependentSchemas"] {
        let affected = |table: &Object<'_>| {
            table.iter().any(|member| new_name(&member.key).is_some() || lists(&member.value, &new_name))
        };
        if !node.get(keyword).and_then(Node::as_object).is_some_and(affected) {
            continue;
        }
        node.visit(keyword, |table| {
            let Some(names) = table.as_object().map(|table| spelling.names(keys(table))) else { return };
            for member in table.as_object_mut().into_iter().flat_map(Object::members_mut) {
                let marks = |new: String| match member.key.value() {
                    Some(name) if names.shared.contains(&new) && !renamed.contains_key(&*name) => {
                        marked(new, &name, usize::MAX)
                    }
                    _ => new,
                };
                if let Some(new) = new_name(&member.key).map(marks).filter(|new| !names.taken.contains(new)) {
                    member.key = Text::new(new);
                }
                if keyword == "dependentRequired" {
                    rename_list(&mut member.value, &new_name);
                }
            }
        });
    }
    node.visit(Keyword::Required, |names| rename_list(names, &new_name));
}

/// Does a schema list values with objects in them?
pub(in crate::sanitize) fn lists_objects(node: &Node<'_>, present: Keywords) -> bool {
    let holds = |keyword: &str| node.get(keyword).is_some_and(holds_object);
    (present.contains(Keyword::Enum) && holds("enum")) || (present.contains(Keyword::Const) && holds("const"))
}

fn holds_object(value: &Node<'_>) -> bool {
    value.as_object().is_some() || value.as_array().is_some_and(|items| items.iter().any(holds_object))
}

/// Does a schema hold what breaks below a name with braces?
fn breaks(node: &Node<'_>) -> bool {
    match node.data() {
        Data::Object(object) => object
            .iter()
            .any(|member| BREAKS_BELOW_BRACES.iter().any(|keyword| member.key.is(keyword)) || breaks(&member.value)),
        Data::Array(items) => items.iter().any(breaks),
        _ => false,
    }
}

fn lists(list: &Node<'_>, new_name: &dyn Fn(&Text<'_>) -> Option<String>) -> bool {
    list.as_array().is_some_and(|names| names.iter().filter_map(Node::as_text).any(|name| new_name(name).is_some()))
}

fn rename_list<'a>(list: &mut Node<'a>, new_name: &dyn Fn(&Text<'_>) -> Option<String>) {
    if !lists(list, new_name) {
        return;
    }
    for name in list.as_array_mut().into_iter().flatten() {
        if let Some(new) = name.as_text().and_then(new_name) {
            name.replace(Data::String(Text::new(new)));
        }
    }
}
