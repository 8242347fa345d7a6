//! The shape of a plain schema: which encoding its instances need. Lowering and the restore plan both use it, so they
//! cannot disagree.

use alloc::{borrow::Cow, string::String, vec::Vec};

pub(crate) const KEY: &str = "key";
pub(crate) const VALUE: &str = "value";
/// Name of the only member of an object that wraps a list of pairs. Without the object, the list could be mistaken for
/// the array of another branch.
pub(crate) const PAIRS: &str = "pairs";
/// Name of the property for undeclared members.
const ADDITIONAL_PROPERTIES: &str = "additional_properties";

use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::grammar::{Grammar, PropertiesRule},
    json::{Member, Node, Object, Text},
    schema::keyword::Keyword,
};

/// Maximum number of references to follow in a chain.
const MAX_REFERENCES: usize = 64;

#[derive(Debug)]
pub(crate) enum Shape<'n, 'a> {
    Anything,
    Reference,
    Union(&'n [Node<'a>]),
    /// Values of `enum` or `const`. At least one value is an object or an array.
    Values(&'n [Node<'a>]),
    Typed(Typed<'n, 'a>),
}

#[derive(Debug)]
pub(crate) struct Typed<'n, 'a> {
    /// `None` if objects are not accepted.
    pub(crate) object: Option<Members<'n, 'a>>,
    pub(crate) accepts_arrays: bool,
    /// Schema of items; `None` accepts anything.
    pub(crate) items: Option<&'n Node<'a>>,
}

#[derive(Debug)]
pub(crate) enum Members<'n, 'a> {
    /// Declared properties, and possibly additional properties.
    Record { others: AdditionalProperties<'n, 'a> },
    /// Members of any name, each with a value of this schema (`None` accepts anything).
    Map(Option<&'n Node<'a>>),
    /// No members, although the grammar requires some.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum AdditionalProperties<'n, 'a> {
    Closed,
    /// Not constrained, because `additionalProperties` is absent.
    Undeclared,
    /// Accepted, each with a value of this schema (`None` accepts anything).
    Open(Option<&'n Node<'a>>),
}

fn reference<'n>(node: &'n Node<'_>) -> Option<Cow<'n, str>> {
    node.text_at(Keyword::Ref).and_then(Text::value)
}

/// Returns the shape of a plain schema. An object at the root is always treated as having properties.
pub(crate) fn of<'n, 'a>(node: &'n Node<'a>, is_root: bool, grammar: &Grammar) -> Shape<'n, 'a> {
    let Some(object) = node.as_object() else { return Shape::Anything };
    let summary = Summary::of(object);
    if summary.is_reference {
        return Shape::Reference;
    }
    if let Some(branches) = summary.union {
        return Shape::Union(branches);
    }
    if let Some(values) = summary.values {
        let is_container = |value: &Node<'_>| value.as_object().is_some() || value.as_array().is_some();
        return match values.iter().any(is_container) {
            true => Shape::Values(values),
            false => Shape::Typed(Typed { object: None, accepts_arrays: false, items: None }),
        };
    }
    let Some(types) = summary.types else { return Shape::Anything };
    // Most schemas have one type, which is a scalar, so this case is tested first.
    let (has_object, has_array) = match types.as_text().and_then(Text::as_plain) {
        Some(name) => (name == "object", name == "array"),
        None => (contains_type(types, "object"), contains_type(types, "array")),
    };
    Shape::Typed(Typed {
        object: has_object.then(|| members(object, is_root, grammar)),
        accepts_arrays: has_array,
        items: object.get(Keyword::Items).filter(|items| has_array && items.as_array().is_none()),
    })
}

/// The keywords that decide the shape, collected in one scan, because shapes are computed repeatedly.
#[derive(Default)]
struct Summary<'n, 'a> {
    is_reference: bool,
    union: Option<&'n [Node<'a>]>,
    values: Option<&'n [Node<'a>]>,
    types: Option<&'n Node<'a>>,
}

impl<'n, 'a> Summary<'n, 'a> {
    fn of(object: &'n Object<'a>) -> Self {
        let mut summary = Summary::default();
        let mut constant = None;
        for Member { key, value } in object {
            match Keyword::named(key) {
                Some(Keyword::Ref) => summary.is_reference = value.as_text().and_then(Text::value).is_some(),
                Some(Keyword::AnyOf) => summary.union = value.as_array(),
                Some(Keyword::Const) => constant = Some(core::slice::from_ref(value)),
                Some(Keyword::Enum) => summary.values = value.as_array(),
                Some(Keyword::Type) => summary.types = Some(value),
                _ => {}
            }
        }
        summary.values = constant.or(summary.values);
        summary
    }
}

pub(crate) fn declares(object: &Object<'_>, name: &str) -> bool {
    object.get(Keyword::Type).is_some_and(|types| contains_type(types, name))
}

fn contains_type(types: &Node<'_>, name: &str) -> bool {
    match types.as_array() {
        Some(names) => names.iter().any(|known| known.is_text(name)),
        None => types.is_text(name),
    }
}

fn members<'n, 'a>(object: &'n Object<'a>, is_root: bool, grammar: &Grammar) -> Members<'n, 'a> {
    let has_properties = is_root || object.object_at(Keyword::Properties).is_some_and(|table| !table.is_empty());
    let others = match object.get(Keyword::AdditionalProperties) {
        None => AdditionalProperties::Undeclared,
        Some(schema) if schema.as_bool() == Some(false) => AdditionalProperties::Closed,
        Some(schema) => AdditionalProperties::Open(schema.as_object().map(|_| schema)),
    };
    match (has_properties, others) {
        (true, others) => Members::Record { others },
        (false, AdditionalProperties::Closed) if grammar.objects.properties == PropertiesRule::NotEmptyBelowRoot => {
            Members::Nothing
        }
        (false, AdditionalProperties::Closed) => Members::Record { others },
        (false, AdditionalProperties::Undeclared) => Members::Map(None),
        (false, AdditionalProperties::Open(schema)) => Members::Map(schema),
    }
}

pub(crate) fn additional_name(object: &Object<'_>) -> String {
    let mut name = String::from(ADDITIONAL_PROPERTIES);
    while object.object_at(Keyword::Properties).is_some_and(|table| table.has(&name)) {
        name.push('_');
    }
    name
}

pub(crate) fn required<'n, 'a>(object: &'n Object<'a>) -> Set<&'n Text<'a>> {
    object.items_at(Keyword::Required).iter().filter_map(Node::as_text).collect()
}

pub(crate) struct Definitions<'n, 'a> {
    budget: &'n Budget,
    root: &'n Node<'a>,
    by_reference: Map<String, &'n Node<'a>>,
}

impl<'n, 'a> Definitions<'n, 'a> {
    pub(crate) fn of(root: &'n Node<'a>, budget: &'n Budget) -> Self {
        let mut by_reference = Map::new();
        for table in ["$defs", "definitions"] {
            for member in root.object_at(table).into_iter().flatten() {
                if let Some(name) = member.key.value() {
                    by_reference.insert(alloc::format!("#/{table}/{name}"), &member.value);
                }
            }
        }
        by_reference.insert(String::from("#"), root);
        Definitions { budget, root, by_reference }
    }

    pub(crate) fn follow<'s>(&'s self, schema: &'s Node<'a>) -> Option<&'s Node<'a>> {
        let mut target = schema;
        for _ in 0..MAX_REFERENCES {
            match reference(target) {
                None => return Some(target),
                Some(reference) => target = self.by_reference.get(&*reference)?,
            }
        }
        None
    }

    pub(crate) fn is_root(&self, schema: &Node<'a>) -> bool {
        core::ptr::eq(self.root, schema)
    }

    pub(crate) fn admits_null(&self, schema: &Node<'a>, grammar: &Grammar) -> bool {
        let (mut pending, mut seen) = (Vec::from([schema]), Set::new());
        while let Some(schema) = pending.pop().filter(|_| self.budget.pay(1)) {
            if let Some(reference) = reference(schema) {
                if seen.insert(reference.clone().into_owned()) {
                    pending.extend(self.by_reference.get(&*reference));
                }
                continue;
            }
            let admits = match of(schema, self.is_root(schema), grammar) {
                Shape::Anything => true,
                Shape::Reference => false,
                Shape::Union(branches) => {
                    pending.extend(branches);
                    false
                }
                Shape::Values(values) => values.iter().any(Node::is_null),
                Shape::Typed(_) => schema.as_object().is_some_and(|object| {
                    let summary = Summary::of(object);
                    let accepts_null_type = summary.types.is_none_or(|types| contains_type(types, "null"));
                    accepts_null_type && summary.values.is_none_or(|values| values.iter().any(Node::is_null))
                }),
            };
            if admits {
                return true;
            }
        }
        false
    }

    /// Returns true if null can represent an absent property, because no value of the property is encoded as null.
    pub(crate) fn may_use_null_for_absence(&self, schema: &Node<'a>, grammar: &Grammar) -> bool {
        let is_encoded_as_text = |schema: &Node<'a>| match of(schema, self.is_root(schema), grammar) {
            Shape::Anything => !grammar.defines_any(),
            Shape::Values(_) => true,
            _ => false,
        };
        self.follow(schema).is_some_and(is_encoded_as_text) || !self.admits_null(schema, grammar)
    }

    /// Returns true if an encoded instance may be an array.
    pub(crate) fn may_be_array(&self, schema: &Node<'a>, grammar: &Grammar) -> bool {
        let Some(schema) = self.follow(schema) else { return true };
        match of(schema, self.is_root(schema), grammar) {
            Shape::Anything | Shape::Values(_) => false,
            Shape::Reference => true,
            Shape::Union(branches) => {
                branches.iter().any(|branch| branch.as_object().is_some_and(|object| declares(object, "array")))
            }
            Shape::Typed(typed) => typed.accepts_arrays || matches!(typed.object, Some(Members::Map(_))),
        }
    }

    /// Returns for each branch the name of the property that wraps it. Returns `None` for a branch if its pairs cannot
    /// be mistaken for the items of another branch.
    pub(crate) fn wrapper_names(&self, branches: &[Node<'a>], grammar: &Grammar) -> Vec<Option<String>> {
        self.budget.pay(branches.len());
        let arrays = branches.iter().filter(|branch| self.may_be_array(branch, grammar)).count();
        let is_map = |branch: &Node<'a>| {
            matches!(of(branch, false, grammar), Shape::Typed(Typed { object: Some(Members::Map(_)), .. }))
        };
        let mut count = 0;
        let name = |branch: &Node<'a>| {
            (arrays > 1 && is_map(branch)).then(|| {
                count += 1;
                match count {
                    1 => String::from(PAIRS),
                    count => alloc::format!("{PAIRS}_{count}"),
                }
            })
        };
        branches.iter().map(name).collect()
    }
}
