//! Property names that the grammar takes for keywords: renamed everywhere, and brought back by `restore_arguments`.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    dialect::name_rule::{NameRule, PropertyPattern},
    json::{Data, LookUp, Member, Node, Object, Text},
    names::{cut, Taken},
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
    /// Returns the stand-in of a name that cannot be spelled, whatever other names there are.
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

    /// Plans the stand-ins for the names of an object. `required` are names that `required` lists and no property has:
    /// they get theirs once the properties have their own.
    pub(in crate::sanitize) fn stand_ins<'n, 'a: 'n>(
        self,
        properties: impl Iterator<Item = &'n Text<'a>> + Clone,
        required: impl Iterator<Item = &'n Text<'a>> + Clone,
    ) -> StandIns {
        let mut found = StandIns::default();
        properties.clone().chain(required.clone()).for_each(|name| found.taken.take(name));
        self.add(&mut found, properties);
        self.add(&mut found, required);
        found
    }

    /// Adds the stand-ins of some names. If several names have the same alias, each gets a mark. A stand-in that is
    /// taken gets `_`, and then a number.
    fn add<'n, 'a: 'n>(self, found: &mut StandIns, names: impl Iterator<Item = &'n Text<'a>>) {
        let most = self.shape().map_or(usize::MAX, |shape| shape.most);
        let aliases = names.filter_map(Text::value).filter_map(|name| Some((self.alias(&name)?, name.into_owned())));
        let aliases: Map<String, String> = aliases.map(|(alias, name)| (name, alias)).collect();
        let mut wanted: Map<&String, usize> = Map::new();
        aliases.values().for_each(|alias| *wanted.entry(alias).or_default() += 1);
        let mark = |(name, alias): (&String, &String)| {
            let is_shared = wanted.get(alias) != Some(&1);
            (name.clone(), if is_shared { marked(alias.clone(), name, most) } else { alias.clone() })
        };
        let (clear, disputed): (Vec<_>, Vec<_>) = aliases.iter().map(mark).partition(|(_, new)| !found.taken.has(new));
        let disputed = disputed.into_iter().map(|(name, new)| (name, format!("{}_", cut(&new, most - 1))));
        for (name, new) in clear.into_iter().chain(disputed) {
            let new = found.taken.free(new, most);
            found.new.insert(name, new);
        }
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

fn keys<'n, 'a>(table: &'n Object<'a>) -> impl Iterator<Item = &'n Text<'a>> + Clone {
    table.iter().map(|member| &member.key)
}

/// Maps the names of an object that cannot be spelled to their stand-ins. No two names have the same.
#[derive(Default)]
pub(in crate::sanitize) struct StandIns {
    taken: Taken,
    /// By the old names.
    new: Map<String, String>,
}

impl StandIns {
    /// Returns the stand-in for a name, if it has one.
    pub(in crate::sanitize) fn of(&self, name: &str) -> Option<&String> {
        self.new.get(name)
    }
}

/// Returns the names that `required` lists and no property has.
pub(in crate::sanitize) fn only_required<'n, 'a>(
    object: &'n Object<'a>,
    table: Option<&'n Object<'a>>,
) -> Vec<&'n Text<'a>> {
    let Some(required) = object.get(Keyword::Required).and_then(Node::as_array) else { return Vec::new() };
    let known = table.map(LookUp::of);
    let is_new = |name: &&Text<'a>| known.as_ref().is_none_or(|known| !known.has(name));
    required.iter().filter_map(Node::as_text).filter(is_new).collect()
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
    let described = object.get(Keyword::Properties).and_then(|all| Some((all, all.as_object()?)));
    let table = described.map(|(_, table)| table);
    let names = spelling.stand_ins(table.into_iter().flat_map(keys), only_required(object, table).into_iter());
    if let Some((all, table)) = described {
        for member in table {
            let Some(name) = member.key.value() else { continue };
            let Some(new) = names.of(&name).cloned() else { continue };
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
        let everywhere = || names.of(&name).cloned().or_else(|| spelling.alias(&name));
        renamed.get(&*name).cloned().or_else(|| spelling.goes_everywhere(&name).then(everywhere).flatten())
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
            let Some(known) = table.as_object() else { return };
            // Names that are not properties may meet here. They stay as they are.
            let mut taken: Set<String> = keys(known).filter_map(Text::value).map(Cow::into_owned).collect();
            for member in table.as_object_mut().into_iter().flat_map(Object::members_mut) {
                if let Some(new) = new_name(&member.key).filter(|new| taken.insert(new.clone())) {
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
