//! What APIs expect of every schema: that it is one.

use super::Fact;
use crate::rules::Constraint;

/// For grammars that do not hold every keyword to the meta-schema.
///
/// Confidence C although it is refused: what is not JSON Schema has no meaning that leaving it alone could keep.
pub(super) const WELL_FORMED: Fact = Fact {
    statement: "the schema describes an object, keywords that take schemas, names or lists hold them, and its \
        references resolve",
    confidence: 'C',
    source: "JSON Schema 2020-12, and MCP: arguments are objects",
    rules: WELL_FORMED_RULES,
    ..Fact::REFUSED
};

/// For grammars with `metaschema`, whose APIs document JSON Schema and say no more of it.
pub(super) const VALID: Fact = Fact {
    statement: "the schema is valid by the 2020-12 meta-schema, describes an object, and its references resolve",
    rules: METASCHEMA_AND_ROOT,
    ..WELL_FORMED
};

/// The rules of [`VALID`] without the first, which holds the values of all other keywords.
const WELL_FORMED_RULES: &[Constraint] = match METASCHEMA_AND_ROOT.split_first() {
    Some((_, rules)) => rules,
    None => &[],
};

/// The rules of [`VALID`].
const METASCHEMA_AND_ROOT: &[Constraint] = &[
    Constraint::KeywordValue,
    Constraint::RootObject,
    Constraint::RootNotSchema,
    Constraint::UnknownType,
    Constraint::NotASchema,
    Constraint::ArrayItems,
    Constraint::ItemsNotSchema,
    Constraint::PropertiesNotObject,
    Constraint::AdditionalPropertiesNotSchema,
    Constraint::RequiredNotStrings,
    Constraint::CombinatorNotList,
    Constraint::AnyOfSize,
    Constraint::EnumNotList,
    Constraint::EnumEmpty,
    Constraint::DefsNotObject,
    Constraint::DefinitionName,
    Constraint::RefNotString,
    Constraint::RefForm,
    Constraint::RefTarget,
];

/// The meta-schema only advises against an empty `enum`, but such a schema accepts nothing.
pub(super) const ENUM_EMPTY: Fact = Fact {
    statement: "`enum` is not empty",
    confidence: 'C',
    source: "JSON Schema 2020-12, which says that it should",
    rules: &[Constraint::EnumEmpty],
    ..Fact::REFUSED
};

/// The constraints that hold a schema to the 2020-12 meta-schema, for APIs that validate against it.
pub(super) const METASCHEMA: &[Constraint] = &[
    Constraint::KeywordValue,
    Constraint::UnknownType,
    Constraint::NotASchema,
    Constraint::ArrayItems,
    Constraint::ItemsNotSchema,
    Constraint::PropertiesNotObject,
    Constraint::AdditionalPropertiesNotSchema,
    Constraint::RequiredNotStrings,
    Constraint::CombinatorNotList,
    Constraint::AnyOfSize,
    Constraint::EnumNotList,
    Constraint::DefsNotObject,
    Constraint::RefNotString,
    Constraint::RefTarget,
];
