//! What every surface takes for granted, said once.

use super::Fact;
use crate::rules::Constraint;

/// Confidence C although it is refused: what is no JSON Schema has no meaning that leaving it alone could keep.
pub(super) const WELL_FORMED: Fact = Fact {
    statement: "the schema is valid by the 2020-12 meta-schema, describes an object, and its references resolve",
    confidence: 'C',
    source: "JSON Schema 2020-12, and MCP: arguments are objects",
    rules: &[
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
    ],
    ..Fact::REFUSED
};

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
