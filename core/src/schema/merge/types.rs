//! Kinds of instance as a set, in which `integer` is a part of `number`.

use alloc::vec::Vec;

use crate::json::{self, Data, Node};

/// A set of kinds of instance. `number` is two of them: the integers (`1.0` is one) and all other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

/// The type names of JSON Schema, and what each admits.
const NAMES: [(&str, Types); 7] = [
    ("null", Types::NULL),
    ("boolean", Types::BOOLEAN),
    ("object", Types::OBJECT),
    ("array", Types::ARRAY),
    ("string", Types::STRING),
    ("integer", Types::INTEGER),
    ("number", Types::NUMBER),
];

impl Types {
    pub(crate) const NONE: Types = Types(0);
    pub(crate) const NULL: Types = Types(1);
    pub(crate) const BOOLEAN: Types = Types(1 << 1);
    pub(crate) const OBJECT: Types = Types(1 << 2);
    pub(crate) const ARRAY: Types = Types(1 << 3);
    pub(crate) const STRING: Types = Types(1 << 4);
    pub(crate) const INTEGER: Types = Types(1 << 5);
    /// The numbers that are no integers; no type name admits them alone.
    const FRACTION: Types = Types(1 << 6);
    pub(crate) const NUMBER: Types = Types::INTEGER.or(Types::FRACTION);
    pub(crate) const ALL: Types = Types(0x7F);

    fn named(name: &Node<'_>) -> Option<(&'static str, Types)> {
        NAMES.into_iter().find(|known| name.is_text(known.0))
    }

    /// What a value of `type` admits; none if it is no type name and no list of them.
    pub(crate) fn of_keyword(value: &Node<'_>) -> Option<Types> {
        match value.as_array() {
            Some(names) => names.iter().try_fold(Types::NONE, |types, name| Some(types.or(Types::named(name)?.1))),
            None => Types::named(value).map(|known| known.1),
        }
    }

    /// What an instance is.
    pub(crate) fn of_instance(value: &Node<'_>) -> Types {
        match value.data() {
            Data::Null => Types::NULL,
            Data::Bool(_) => Types::BOOLEAN,
            Data::Object(_) => Types::OBJECT,
            Data::Array(_) => Types::ARRAY,
            Data::String(_) => Types::STRING,
            Data::Number(text) if json::is_integral(text) => Types::INTEGER,
            Data::Number(_) => Types::FRACTION,
            // Never looked into, so it may be anything.
            Data::Verbatim(_) => Types::ALL,
        }
    }

    pub(crate) const fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(crate) const fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    /// These less the others.
    pub(crate) const fn without(self, other: Types) -> Types {
        Types(self.0 & !other.0)
    }

    pub(crate) const fn meets(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn within(self, other: Types) -> bool {
        self.0 & !other.0 == 0
    }

    /// The set as a value of `type`, in the order in which `like` names what is left.
    pub(super) fn spelled_like<'a>(self, like: &Node<'_>) -> Data<'a> {
        let names = like.as_array().unwrap_or(core::slice::from_ref(like));
        let mut found: Vec<&'static str> = Vec::new();
        for (name, types) in names.iter().filter_map(Types::named) {
            let name = match types.and(self) {
                Types::NONE => continue,
                // `like` names `number` too if other numbers are left, and that says the integers.
                Types::INTEGER if self.meets(Types::FRACTION) => continue,
                Types::INTEGER => "integer",
                _ => name,
            };
            if !found.contains(&name) {
                found.push(name);
            }
        }
        match found.as_slice() {
            [only] => Node::literal(only).into_data(),
            several => Data::Array(several.iter().copied().map(Node::literal).collect()),
        }
    }
}
