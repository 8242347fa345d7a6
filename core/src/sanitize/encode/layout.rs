//! What a plain schema is, as far as encoding goes: asked by the writer of schemas and of the plan for their answers
//! alike.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    dialect::grammar::{Grammar, PropertiesRule},
    json::{Member, Node, Object, Text},
    sanitize::encode::{OTHERS, PAIRS},
    schema::keyword::Keyword,
};

/// How many references are followed from one to the next.
const MOST: usize = 64;

/// What a schema is.
#[derive(Debug)]
pub(in crate::sanitize) enum Shape<'n, 'a> {
    /// It says nothing of the instance.
    Anything,
    /// A kept reference, by the name of its definition.
    Reference,
    /// `anyOf`.
    Union(&'n [Node<'a>]),
    /// Values of which one at least is an object or an array.
    Values(&'n [Node<'a>]),
    /// Types, and what instances of them hold.
    Typed(Typed<'n, 'a>),
}

/// Types, and what instances of them hold.
#[derive(Debug)]
pub(in crate::sanitize) struct Typed<'n, 'a> {
    /// What objects hold, if they are accepted.
    pub(in crate::sanitize) object: Option<Members<'n, 'a>>,
    /// Arrays are accepted.
    pub(in crate::sanitize) array: bool,
    /// What arrays hold; `None`: anything, if they are accepted.
    pub(in crate::sanitize) items: Option<&'n Node<'a>>,
}

/// What the members of an object are.
#[derive(Debug)]
pub(in crate::sanitize) enum Members<'n, 'a> {
    /// Properties, and whatever else there may be.
    Record { others: AdditionalProperties<'n, 'a> },
    /// Any names, each with a value of one kind (`None`: anything).
    Map(Option<&'n Node<'a>>),
    /// None at all, where an object must have some.
    Nothing,
}

/// Members that no property names.
#[derive(Clone, Copy, Debug)]
pub(in crate::sanitize) enum AdditionalProperties<'n, 'a> {
    /// There are none.
    Closed,
    /// Nothing is said of them.
    Unsaid,
    /// There may be some, each with a value of one kind (`None`: anything).
    Open(Option<&'n Node<'a>>),
}

/// The reference that a schema is.
fn reference<'n>(node: &'n Node<'_>) -> Option<Cow<'n, str>> {
    node.get(Keyword::Ref).and_then(Node::as_text).and_then(Text::value)
}

/// What a schema is. At the root an object has properties, whatever it says.
pub(in crate::sanitize) fn of<'n, 'a>(node: &'n Node<'a>, is_root: bool, grammar: &Grammar) -> Shape<'n, 'a> {
    let Some(object) = node.as_object() else { return Shape::Anything };
    let says = Summary::of(object);
    if says.reference {
        return Shape::Reference;
    }
    if let Some(branches) = says.union {
        return Shape::Union(branches);
    }
    if let Some(values) = says.values {
        let composite = |value: &Node<'_>| value.as_object().is_some() || value.as_array().is_some();
        return match values.iter().any(composite) {
            true => Shape::Values(values),
            false => Shape::Typed(Typed { object: None, array: false, items: None }),
        };
    }
    let Some(types) = says.types else { return Shape::Anything };
    let array = names(types, "array");
    Shape::Typed(Typed {
        object: names(types, "object").then(|| members(object, is_root, grammar)),
        array,
        items: object.get(Keyword::Items).filter(|items| array && items.as_array().is_none()),
    })
}

/// What decides on the shape of a schema, gathered in one look at its members: this is asked of every schema, more than
/// once.
#[derive(Default)]
struct Summary<'n, 'a> {
    reference: bool,
    union: Option<&'n [Node<'a>]>,
    values: Option<&'n [Node<'a>]>,
    types: Option<&'n Node<'a>>,
}

impl<'n, 'a> Summary<'n, 'a> {
    fn of(object: &'n Object<'a>) -> Self {
        let mut says = Summary::default();
        let mut constant = None;
        for Member { key, value } in object {
            // What matters here has four letters or five, and most keywords have more.
            if key.as_plain().is_some_and(|plain| !matches!(plain.len(), 4 | 5)) {
                continue;
            }
            match Keyword::named(key) {
                Some(Keyword::Ref) => says.reference = value.as_text().and_then(Text::value).is_some(),
                Some(Keyword::AnyOf) => says.union = value.as_array(),
                Some(Keyword::Const) => constant = Some(core::slice::from_ref(value)),
                Some(Keyword::Enum) => says.values = value.as_array(),
                Some(Keyword::Type) => says.types = Some(value),
                _ => {}
            }
        }
        says.values = constant.or(says.values);
        says
    }
}

/// Does `type` name this one?
pub(in crate::sanitize) fn declares(object: &Object<'_>, name: &str) -> bool {
    object.get(Keyword::Type).is_some_and(|types| names(types, name))
}

fn names(types: &Node<'_>, name: &str) -> bool {
    match types.as_array() {
        Some(names) => names.iter().any(|known| known.is_text(name)),
        None => types.is_text(name),
    }
}

fn members<'n, 'a>(object: &'n Object<'a>, is_root: bool, grammar: &Grammar) -> Members<'n, 'a> {
    let has_properties =
        is_root || object.get(Keyword::Properties).and_then(Node::as_object).is_some_and(|table| !table.is_empty());
    let others = match object.get(Keyword::AdditionalProperties) {
        None => AdditionalProperties::Unsaid,
        Some(schema) if schema.as_bool() == Some(false) => AdditionalProperties::Closed,
        Some(schema) => AdditionalProperties::Open(schema.as_object().map(|_| schema)),
    };
    match (has_properties, others) {
        (true, others) => Members::Record { others },
        (false, AdditionalProperties::Closed) if grammar.objects.properties == PropertiesRule::NotEmptyBelowRoot => {
            Members::Nothing
        }
        (false, AdditionalProperties::Closed) => Members::Record { others },
        (false, AdditionalProperties::Unsaid) => Members::Map(None),
        (false, AdditionalProperties::Open(schema)) => Members::Map(schema),
    }
}

/// The name of the property that holds what no other property names.
pub(in crate::sanitize) fn others_name(object: &Object<'_>) -> String {
    let mut name = String::from(OTHERS);
    while object.get(Keyword::Properties).and_then(Node::as_object).is_some_and(|table| table.has(&name)) {
        name.push('_');
    }
    name
}

/// The names that `required` lists.
pub(in crate::sanitize) fn required<'n, 'a>(object: &'n Object<'a>) -> Set<&'n Text<'a>> {
    object.get(Keyword::Required).and_then(Node::as_array).into_iter().flatten().filter_map(Node::as_text).collect()
}

/// What references refer to, by how they are written.
pub(in crate::sanitize) struct Definitions<'n, 'a> {
    budget: &'n Budget,
    root: &'n Node<'a>,
    by_reference: Map<String, &'n Node<'a>>,
}

impl<'n, 'a> Definitions<'n, 'a> {
    pub(in crate::sanitize) fn of(root: &'n Node<'a>, budget: &'n Budget) -> Self {
        let mut by_reference = Map::new();
        for table in ["$defs", "definitions"] {
            for member in root.get(table).and_then(Node::as_object).into_iter().flatten() {
                if let Some(name) = member.key.value() {
                    by_reference.insert(alloc::format!("#/{table}/{name}"), &member.value);
                }
            }
        }
        by_reference.insert(String::from("#"), root);
        Definitions { budget, root, by_reference }
    }

    /// What a chain of references leads to.
    pub(in crate::sanitize) fn follow<'s>(&'s self, schema: &'s Node<'a>) -> Option<&'s Node<'a>> {
        let mut at = schema;
        for _ in 0..MOST {
            match reference(at) {
                None => return Some(at),
                Some(reference) => at = self.by_reference.get(&*reference)?,
            }
        }
        None
    }

    /// Is it the root itself?
    pub(in crate::sanitize) fn is_root(&self, schema: &Node<'a>) -> bool {
        core::ptr::eq(self.root, schema)
    }

    /// Does a schema accept null? A union does if one of its branches does, wherever references lead on the way.
    pub(in crate::sanitize) fn admits_null(&self, schema: &Node<'a>, grammar: &Grammar) -> bool {
        let (mut open, mut seen) = (Vec::from([schema]), Set::new());
        while let Some(schema) = open.pop().filter(|_| self.budget.pay(1)) {
            if let Some(reference) = reference(schema) {
                if seen.insert(reference.clone().into_owned()) {
                    open.extend(self.by_reference.get(&*reference));
                }
                continue;
            }
            let admits = match of(schema, self.is_root(schema), grammar) {
                Shape::Anything => true,
                Shape::Reference => false,
                Shape::Union(branches) => {
                    open.extend(branches);
                    false
                }
                Shape::Values(values) => values.iter().any(Node::is_null),
                Shape::Typed(_) => schema.as_object().is_some_and(|object| {
                    let says = Summary::of(object);
                    let typed = says.types.is_none_or(|types| names(types, "null"));
                    typed && says.values.is_none_or(|values| values.iter().any(Node::is_null))
                }),
            };
            if admits {
                return true;
            }
        }
        false
    }

    /// Does an optional property with this schema say by `null` that it is absent? Not where null is a value that the
    /// property has.
    ///
    /// Values that are written as JSON text have a null of their own.
    pub(in crate::sanitize) fn null_is_absence(&self, schema: &Node<'a>, grammar: &Grammar) -> bool {
        let is_text = |schema: &Node<'a>| match of(schema, self.is_root(schema), grammar) {
            Shape::Anything => !grammar.defines_any(),
            Shape::Values(_) => true,
            _ => false,
        };
        self.follow(schema).is_some_and(is_text) || !self.admits_null(schema, grammar)
    }

    /// May an instance be an array?
    pub(in crate::sanitize) fn may_be_array(&self, schema: &Node<'a>, grammar: &Grammar) -> bool {
        let Some(schema) = self.follow(schema) else { return true };
        match of(schema, self.is_root(schema), grammar) {
            Shape::Anything | Shape::Values(_) => false,
            Shape::Reference => true,
            Shape::Union(branches) => {
                branches.iter().any(|branch| branch.as_object().is_some_and(|object| declares(object, "array")))
            }
            Shape::Typed(typed) => typed.array || matches!(typed.object, Some(Members::Map(_))),
        }
    }

    /// The name under which each branch stands in an object of its own, so that its pairs are not taken for the items
    /// of another.
    pub(in crate::sanitize) fn wrappers(&self, branches: &[Node<'a>], grammar: &Grammar) -> Vec<Option<String>> {
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
