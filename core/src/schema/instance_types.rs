//! Set of instance types, in which `integer` is a subset of `number`. Also the numbers of types in Google's protocol.

use alloc::vec::Vec;

use crate::{
    json::{self, Data, Node, Text},
    schema::keyword::{InstanceType, Keyword},
};

/// `number` is two members: integers (including `1.0`) and all other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InstanceTypes(u8);

pub(crate) const TYPE_NAMES: [&str; 7] = ["null", "boolean", "object", "array", "number", "integer", "string"];

const NAMES: [(&str, InstanceTypes); 7] = [
    ("null", InstanceTypes::NULL),
    ("boolean", InstanceTypes::BOOLEAN),
    ("object", InstanceTypes::OBJECT),
    ("array", InstanceTypes::ARRAY),
    ("string", InstanceTypes::STRING),
    ("integer", InstanceTypes::INTEGER),
    ("number", InstanceTypes::NUMBER),
];

impl InstanceType {
    pub(crate) fn named(name: &Text<'_>) -> Option<InstanceType> {
        const NAMES: [(&str, InstanceType); 5] = [
            ("object", InstanceType::Object),
            ("array", InstanceType::Array),
            ("string", InstanceType::String),
            ("number", InstanceType::Number),
            ("integer", InstanceType::Number),
        ];
        NAMES.into_iter().find(|(known, _)| name.is(*known)).map(|(_, kind)| kind)
    }
}

impl InstanceTypes {
    pub(crate) const NONE: InstanceTypes = InstanceTypes(0);
    pub(crate) const NULL: InstanceTypes = InstanceTypes(1);
    pub(crate) const BOOLEAN: InstanceTypes = InstanceTypes(1 << 1);
    pub(crate) const OBJECT: InstanceTypes = InstanceTypes(1 << 2);
    pub(crate) const ARRAY: InstanceTypes = InstanceTypes(1 << 3);
    pub(crate) const STRING: InstanceTypes = InstanceTypes(1 << 4);
    pub(crate) const INTEGER: InstanceTypes = InstanceTypes(1 << 5);
    /// Numbers that are not integers; no type name exists for these alone.
    const FRACTION: InstanceTypes = InstanceTypes(1 << 6);
    pub(crate) const NUMBER: InstanceTypes = InstanceTypes::INTEGER.or(InstanceTypes::FRACTION);
    pub(crate) const ALL: InstanceTypes = InstanceTypes(0x7F);

    fn named(name: &Node<'_>) -> Option<(&'static str, InstanceTypes)> {
        let Some(text) = name.as_text() else { return InstanceTypes::of_protocol(name) };
        let known = match text.as_plain() {
            // Most names have no escapes, so lengths and first letters are compared first.
            Some(plain) => {
                let may_be = |known: &str| known.len() == plain.len() && known.bytes().next() == plain.bytes().next();
                NAMES.iter().find(|known| may_be(known.0) && known.0 == plain).copied()
            }
            None => NAMES.iter().find(|known| text.is(known.0)).copied(),
        };
        known.or_else(|| InstanceTypes::of_protocol(name))
    }

    /// Not inlined, because callers recurse over schemas and the stack is small.
    #[inline(never)]
    fn of_protocol(name: &Node<'_>) -> Option<(&'static str, InstanceTypes)> {
        let name = protocol_type_name(name)?;
        NAMES.iter().find(|known| known.0 == name).copied()
    }

    #[inline(never)]
    pub(crate) fn of_keyword(value: &Node<'_>) -> Option<InstanceTypes> {
        match value.as_array() {
            Some(names) => {
                names.iter().try_fold(InstanceTypes::NONE, |types, name| Some(types.or(InstanceTypes::named(name)?.1)))
            }
            None => InstanceTypes::named(value).map(|known| known.1),
        }
    }

    pub(crate) fn declared(schema: &Node<'_>) -> Option<InstanceTypes> {
        let value = schema.get(Keyword::Type)?;
        let names = value.as_array().unwrap_or(core::slice::from_ref(value));
        Some(names.iter().filter_map(InstanceTypes::named).fold(InstanceTypes::NONE, |types, known| types.or(known.1)))
    }

    pub(crate) fn of_name(name: &str) -> InstanceTypes {
        NAMES.into_iter().find(|known| known.0 == name).map_or(InstanceTypes::NONE, |known| known.1)
    }

    pub(crate) fn of_instance(value: &Node<'_>) -> InstanceTypes {
        match value.data() {
            Data::Null => InstanceTypes::NULL,
            Data::Bool(_) => InstanceTypes::BOOLEAN,
            Data::Object(_) => InstanceTypes::OBJECT,
            Data::Array(_) => InstanceTypes::ARRAY,
            Data::String(_) => InstanceTypes::STRING,
            Data::Number(text) if json::is_integral(text) => InstanceTypes::INTEGER,
            Data::Number(_) => InstanceTypes::FRACTION,
            // The value was not parsed, so it may be anything.
            Data::Verbatim(_) => InstanceTypes::ALL,
        }
    }

    pub(crate) const fn and(self, other: InstanceTypes) -> InstanceTypes {
        InstanceTypes(self.0 & other.0)
    }

    pub(crate) const fn or(self, other: InstanceTypes) -> InstanceTypes {
        InstanceTypes(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: InstanceTypes) -> InstanceTypes {
        InstanceTypes(self.0 & !other.0)
    }

    pub(crate) const fn intersects(self, other: InstanceTypes) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn is_subset_of(self, other: InstanceTypes) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns the shortest list of names for these types, in the order of [`TYPE_NAMES`].
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        let is_contained = move |name: &&'static str| match *name {
            "integer" => self.intersects(InstanceTypes::INTEGER) && !self.intersects(InstanceTypes::FRACTION),
            name => InstanceTypes::of_name(name).is_subset_of(self),
        };
        TYPE_NAMES.into_iter().filter(is_contained)
    }

    /// Returns the set as a value of `type`, in the order of `like`, which must include these types.
    pub(crate) fn spelled_like<'a>(self, like: &Node<'_>) -> Data<'a> {
        let names = like.as_array().unwrap_or(core::slice::from_ref(like));
        let mut spelled: Vec<&'static str> = Vec::new();
        for (name, types) in names.iter().filter_map(InstanceTypes::named) {
            let name = match types.and(self) {
                InstanceTypes::NONE => continue,
                // If other numbers remain, `like` has `number` too, which includes integers.
                InstanceTypes::INTEGER if self.intersects(InstanceTypes::FRACTION) => continue,
                InstanceTypes::INTEGER => "integer",
                _ => name,
            };
            if !spelled.contains(&name) {
                spelled.push(name);
            }
        }
        match spelled.as_slice() {
            [only] => Node::literal(only).into_data(),
            several => Data::Array(several.iter().copied().map(Node::literal).collect()),
        }
    }
}

/// Names of the types 1 to 7; 0 is not a type.
///
/// Source: googleapis, google/ai/generativelanguage/v1beta/content.proto, `enum Type`; the API's answers to `"type": 6`
/// and `"type": 1`, 200 (tmc/langchaingo, open-telemetry/opentelemetry-python-contrib, recorded).
const PROTOCOL_NAMES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// Returns true if only the protocol writes a type this way: in upper case, or as a number.
pub(crate) fn is_in_protocol(value: &Node<'_>) -> bool {
    protocol_type_name(value).is_some()
}

fn protocol_type_name(value: &Node<'_>) -> Option<&'static str> {
    let Some(text) = value.as_text() else { return type_of_number(value) };
    let text = text.as_plain()?;
    let is_upper_case_name =
        |name: &&&str| text.len() == name.len() && text.bytes().eq(name.bytes().map(|byte| byte.to_ascii_uppercase()));
    TYPE_NAMES.iter().find(is_upper_case_name).copied()
}

pub(crate) fn type_of_number(value: &Node<'_>) -> Option<&'static str> {
    let number = usize::try_from(value.as_u64()?).ok()?;
    PROTOCOL_NAMES.get(number.checked_sub(1)?).copied()
}
