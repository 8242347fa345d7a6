//! The answer to an encoded schema, brought back: null that says "absent" goes, pairs become members, JSON text becomes JSON.
//!
//! Follows the plain schema that [`crate::sanitize::encode`] writes from, made again from the original, and asks the same questions of it.
//! What does not look as the schema says stays as it is.

use alloc::{rc::Rc, string::String, vec::Vec};
use core::cell::Cell;

use crate::{
    budget::Budget,
    collections::Set,
    dialect::{grammar::Grammar, Dialect},
    error::Error,
    json::{self, Child, Data, LookUp, Member, Node, Object, Text},
    options::SanitizeOptions,
    report::Recorder,
    sanitize::{
        encode::{
            layout::{self, Definitions, Members, Others, Shape, Typed},
            KEY, PAIRS, VALUE,
        },
        pipeline::{self, Finish},
        stays,
    },
};

/// How many steps choosing branches may take for all arguments together; after that the first branch of the right kind is taken.
pub(in crate::sanitize) const STEPS: usize = 100_000;

/// Brings arguments back from the shape that `sanitize` gave them. A schema that `sanitize` refuses has no such shape.
pub(in crate::sanitize) fn decode(
    arguments: &mut Node<'_>,
    schema: &Node<'_>,
    dialect: &'static Dialect,
    grammar: &'static Grammar,
    options: &SanitizeOptions,
    budget: &Rc<Budget>,
) -> Result<(), Error> {
    if !grammar.encodes() || stays(schema, grammar, options, budget)? {
        return Ok(());
    }
    let mut plain = schema.copy(budget);
    if pipeline::sanitize(&mut plain, dialect, grammar, options, Finish::Plain, &mut Recorder::off(), budget).is_err() {
        return budget.check(String::new);
    }
    let definitions = Definitions::of(&plain, budget);
    let decode = Decode { budget, grammar, definitions: &definitions, steps: Cell::new(STEPS) };
    decode.value(arguments, &plain, true);
    budget.check(String::new)
}

struct Decode<'d, 's, 'n> {
    budget: &'d Budget,
    grammar: &'static Grammar,
    definitions: &'d Definitions<'s, 'n>,
    steps: Cell<usize>,
}

impl<'d, 's: 'd, 'n> Decode<'d, 's, 'n> {
    fn value(&self, value: &mut Node<'_>, schema: &'d Node<'n>, is_root: bool) {
        let Some(schema) = self.definitions.follow(schema).filter(|schema| self.pay(value, schema)) else { return };
        match layout::of(schema, is_root || self.definitions.is_root(schema), self.grammar) {
            Shape::Reference => {}
            Shape::Anything if self.grammar.defines_any() => from_definition(value),
            Shape::Anything => from_text(value, |_| true),
            Shape::Values(values) => from_text(value, |read| values.iter().any(|known| json::same(known, read))),
            Shape::Union(branches) => self.union(value, branches),
            Shape::Typed(Typed { object, items, .. }) => match (value.data(), object) {
                (Data::Object(_), Some(Members::Record { others })) => self.record(value, schema, others),
                (Data::Array(_), Some(Members::Map(of))) => self.map(value, of),
                (Data::String(_), Some(Members::Nothing)) => from_text(value, |read| read.as_object().is_some_and(Object::is_empty)),
                (Data::Array(_), _) => self.items(value, items),
                _ => {}
            },
        }
    }

    /// Pays for looking at a value and what a schema says of it.
    fn pay(&self, value: &Node<'_>, schema: &Node<'n>) -> bool {
        let properties = schema.get("properties").and_then(Node::as_object).map_or(0, Object::len);
        let members = value.as_object().map_or(0, Object::len) + value.as_array().map_or(0, <[_]>::len);
        self.budget.pay(1 + properties + members)
    }

    fn record(&self, value: &mut Node<'_>, schema: &'d Node<'n>, others: Others<'d, 'n>) {
        let Some(object) = schema.as_object() else { return };
        let required = layout::required(object);
        let table = object.get("properties").and_then(Node::as_object).map(LookUp::of);
        let property = |name: &Text<'_>| table.as_ref().and_then(|table| table.get(name));
        if self.grammar.objects.all_required {
            let absent = |member: &Member<'_>| {
                let property = property(&member.key);
                member.value.is_null()
                    && !required.contains(&member.key)
                    && property.is_some_and(|property| self.definitions.null_is_absence(property, self.grammar))
            };
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
                    self.value(inner, property, false);
                }
            }
            Ok(())
        });
        if let Others::Open(of) = others {
            let name = layout::others_name(object);
            if !value.get(&name).is_some_and(are_pairs) {
                return;
            }
            let Some(members) = value.as_object_mut() else { return };
            let Some(mut pairs) = members.remove(&name) else { return };
            self.map(&mut pairs, of);
            let Data::Object(pairs) = pairs.into_data() else { return };
            // A pair says what no property says: one that names a property would give it a value that nobody held to its schema.
            let taken: Set<Text<'_>> = members.iter().map(|member| member.key.clone()).collect();
            let others = pairs.into_members().into_iter().filter(|member| !taken.contains(&member.key) && property(&member.key).is_none());
            members.members_mut().extend(others);
        }
    }

    /// Pairs of key and value become members.
    fn map(&self, value: &mut Node<'_>, of: Option<&'d Node<'n>>) {
        if !are_pairs(value) {
            // A list of something else may be what another type of the same schema accepts.
            return;
        }
        from_pairs(value, &mut |inner| match of {
            Some(schema) => self.value(inner, schema, false),
            None if self.grammar.defines_any() => from_definition(inner),
            None => from_text(inner, |_| true),
        });
    }

    fn items(&self, value: &mut Node<'_>, items: Option<&'d Node<'n>>) {
        // The visitor never fails.
        let _ = value.visit_children::<()>(|_, inner| {
            match items {
                Some(schema) => self.value(inner, schema, false),
                None if self.grammar.defines_any() => from_definition(inner),
                None => from_text(inner, |_| true),
            }
            Ok(())
        });
    }

    fn union(&self, value: &mut Node<'_>, branches: &'d [Node<'n>]) {
        let boxes = self.definitions.boxes(branches, self.grammar);
        let exact = branches.iter().zip(&boxes).find(|(branch, name)| self.fits_branch(value, branch, name.as_deref(), false));
        let chosen =
            exact.or_else(|| branches.iter().zip(&boxes).find(|(branch, name)| self.fits_branch(value, branch, name.as_deref(), true)));
        let Some((branch, name)) = chosen else { return };
        if let Some(name) = name {
            let inner = value.as_object_mut().and_then(|object| object.remove(name));
            if let Some(inner) = inner {
                value.replace(inner.into_data());
            }
        }
        self.value(value, branch, false);
    }

    fn fits_branch(&self, value: &Node<'_>, branch: &'d Node<'n>, name: Option<&str>, loosely: bool) -> bool {
        match name {
            None => self.fits(value, branch, loosely),
            Some(name) => value
                .as_object()
                .is_some_and(|object| object.len() == 1 && object.get(name).is_some_and(|inner| self.fits(inner, branch, loosely))),
        }
    }

    /// Does a value look as what is written for this schema? `loosely`: of the right kind.
    fn fits(&self, value: &Node<'_>, schema: &'d Node<'n>, loosely: bool) -> bool {
        let steps = self.steps.get();
        self.steps.set(steps.saturating_sub(1));
        let loosely = loosely || steps == 0;
        let Some(schema) = self.definitions.follow(schema).filter(|schema| self.pay(value, schema)) else { return false };
        match layout::of(schema, self.definitions.is_root(schema), self.grammar) {
            Shape::Reference => false,
            Shape::Anything => self.grammar.defines_any() || value.as_text().is_some(),
            Shape::Values(values) => values.iter().any(|known| value.is_text(&json::write_plain(known))),
            Shape::Union(_) if steps == 0 => true,
            Shape::Union(branches) => {
                let boxes = self.definitions.boxes(branches, self.grammar);
                branches.iter().zip(&boxes).any(|(branch, name)| self.fits_branch(value, branch, name.as_deref(), loosely))
            }
            Shape::Typed(typed) => self.fits_typed(value, schema, &typed, loosely),
        }
    }

    fn fits_typed(&self, value: &Node<'_>, schema: &'d Node<'n>, typed: &Typed<'d, 'n>, loosely: bool) -> bool {
        let Some(object) = schema.as_object() else { return false };
        match (value.data(), &typed.object) {
            (Data::String(_), Some(Members::Nothing)) => value.is_text("{}"),
            (Data::Array(items), Some(Members::Map(of))) => {
                loosely
                    || (are_pairs(value)
                        && of.is_none_or(|of| items.iter().filter_map(|pair| pair.get(VALUE)).all(|inner| self.fits(inner, of, false))))
            }
            (Data::Object(_), Some(Members::Map(_))) => false,
            (Data::Object(members), Some(Members::Record { others })) => {
                loosely || self.fits_record(members, object, matches!(others, Others::Open(_)))
            }
            (Data::Array(items), _) => {
                typed.array && (loosely || typed.items.is_none_or(|schema| items.iter().all(|item| self.fits(item, schema, false))))
            }
            _ => is_of(value, object),
        }
    }

    fn fits_record(&self, members: &Object<'_>, object: &'d Object<'n>, open: bool) -> bool {
        let (table, sent) = (object.get("properties").and_then(Node::as_object).map(LookUp::of), LookUp::of(members));
        let required = layout::required(object);
        let others = open.then(|| layout::others_name(object));
        let known = members.iter().all(|member| match table.as_ref().and_then(|table| table.get(&member.key)) {
            Some(property) => {
                let may_be_absent = self.grammar.objects.all_required && !required.contains(&member.key);
                (member.value.is_null() && may_be_absent) || self.fits(&member.value, property, false)
            }
            None => others.as_ref().is_some_and(|name| member.key.is(name) && are_pairs(&member.value)),
        });
        known && required.iter().all(|name| sent.has(name))
    }
}

/// Is a scalar, or a value of no other meaning, of the types and among the values of a schema?
fn is_of(value: &Node<'_>, object: &Object<'_>) -> bool {
    let kind = match value.data() {
        Data::Null => "null",
        Data::Bool(_) => "boolean",
        Data::String(_) => "string",
        Data::Number(_) => "number",
        Data::Array(_) => "array",
        Data::Object(_) | Data::Verbatim(_) => "object",
    };
    let whole = || value.as_number().is_some_and(json::is_integral);
    let typed =
        !object.has("type") || layout::declares(object, kind) || (kind == "number" && layout::declares(object, "integer") && whole());
    let listed = object.get("enum").and_then(Node::as_array).is_none_or(|values| values.iter().any(|known| json::same(known, value)));
    typed && listed && object.get("const").is_none_or(|known| json::same(known, value))
}

/// Is it a list of pairs of key and value, and nothing else?
fn are_pairs(value: &Node<'_>) -> bool {
    value.as_array().is_some_and(|items| {
        items.iter().all(|item| {
            item.as_object()
                .is_some_and(|pair| pair.len() == 2 && pair.get(KEY).is_some_and(|key| key.as_text().is_some()) && pair.has(VALUE))
        })
    })
}

/// Makes an object of a list of pairs, each value once `each` has seen it.
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

/// Any JSON as the definition says it.
fn from_definition(value: &mut Node<'_>) {
    let pairs = |object: &Object<'_>| object.len() == 1 && object.get(PAIRS).is_some_and(are_pairs);
    if value.as_object().is_some_and(pairs) {
        if let Some(inner) = value.as_object_mut().and_then(|object| object.remove(PAIRS)) {
            value.replace(inner.into_data());
            from_pairs(value, &mut |inner| from_definition(inner));
        }
        return;
    }
    // The visitor never fails.
    let _ = value.visit_children::<()>(|_, inner| {
        from_definition(inner);
        Ok(())
    });
}

/// A string that holds JSON, if that is a value that may stand here.
fn from_text(value: &mut Node<'_>, may_stand: impl Fn(&Node<'_>) -> bool) {
    let Some(text) = value.as_text().and_then(|text| text.value().map(|text| text.into_owned())) else { return };
    if let Ok(read) = json::read(&text) {
        if may_stand(&read) {
            value.replace(read.detached().into_data());
        }
    }
}
