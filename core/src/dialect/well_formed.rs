//! Facts that hold for every API: a schema must be a valid schema.

use super::Fact;
use crate::{report::Grade, rules::Constraint};

/// The fact for grammars that do not check every keyword against the meta-schema.
///
/// The confidence is only C, but a violation is refused: the schema is not JSON Schema, so a rewriting has no meaning
/// to keep.
pub(super) const WELL_FORMED: Fact = Fact {
    statement: "the schema describes an object, keywords that hold schemas, names or lists have \
        values of that kind, and references resolve",
    confidence: Grade::C,
    source: "JSON Schema 2020-12, and MCP: arguments are objects",
    rules: WELL_FORMED_RULES,
    ..Fact::REFUSED
};

/// The fact for grammars with `metaschema`, whose APIs document JSON Schema without further detail.
pub(super) const VALID: Fact = Fact {
    statement: "the schema is valid against the 2020-12 meta-schema, describes an object, and its references resolve",
    rules: METASCHEMA_AND_ROOT,
    ..WELL_FORMED
};

/// The rules of [`VALID`] without the first one, which checks the values of all other keywords.
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

/// The meta-schema only advises against an empty `enum`, but a schema with one accepts no value.
pub(super) const ENUM_EMPTY: Fact = Fact {
    statement: "`enum` is not empty",
    confidence: Grade::C,
    source: "JSON Schema 2020-12 (SHOULD)",
    rules: &[Constraint::EnumEmpty],
    ..Fact::REFUSED
};

/// The constraints that check a schema against the 2020-12 meta-schema, for APIs that validate with it.
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
