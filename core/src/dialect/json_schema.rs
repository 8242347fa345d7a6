//! Facts of JSON Schema, for changes that no API requires. Such a change keeps the meaning of a schema, or repairs a
//! schema without a meaning.

use super::{
    well_formed::{VALID, WELL_FORMED},
    Fact,
};
use crate::{report::Grade, rules::Rule};

const VALIDATION: &str = "JSON Schema 2020-12, Core and Validation";
const DRAFTS: &str = "JSON Schema, release notes of the drafts";

const fn meaning(statement: &'static str, explains: &'static [Rule]) -> Fact {
    Fact { statement, confidence: Grade::A, source: VALIDATION, explains, ..Fact::REFUSED }
}

const fn of_drafts(statement: &'static str, explains: &'static [Rule]) -> Fact {
    Fact { source: DRAFTS, ..meaning(statement, explains) }
}

pub(crate) const ENVELOPE: Fact = Fact {
    statement: "tool parameters are an object with `properties` on every API",
    confidence: Grade::A,
    source: "openai/codex#22166; prevents `Invalid schema for function: schema must be a JSON Schema of 'type: \
        \"object\"'`",
    explains: &[Rule::ReplaceRoot, Rule::AddType, Rule::AddProperties, Rule::DeclareObject],
    ..Fact::REFUSED
};

const FACTS: &[Fact] = &[
    ENVELOPE,
    of_drafts("`$schema` names the draft in which a schema is written", &[Rule::UpdateSchemaUri]),
    of_drafts(
        "since draft 2019-09, `dependentRequired` and `dependentSchemas` replace `dependencies`",
        &[Rule::SplitDependencies],
    ),
    of_drafts("since draft 6, `exclusiveMinimum` and `exclusiveMaximum` are numbers", &[Rule::UpgradeExclusiveBound]),
    of_drafts("since draft 2020-12, `prefixItems` replaces a list in `items`", &[Rule::TupleToPrefixItems]),
    of_drafts("drafts before 2019-09 ignore keywords next to `$ref`", &[Rule::DropRefSibling]),
    of_drafts(
        "since draft 2019-09, definitions are in `$defs`, and a pointer refers to them in every draft",
        &[Rule::RewriteRef],
    ),
    Fact {
        source: "OpenAPI 3.0 and 3.1, Schema Object",
        ..meaning("`nullable` is a keyword of OpenAPI 3.0; JSON Schema has the type `null`", &[Rule::NullableToNull])
    },
    meaning("an identifier has no effect if no reference needs it", &[Rule::DropIdentifier]),
    meaning("a definition has no effect if no reference needs it", &[Rule::PruneDefinition]),
    meaning(
        "a reference accepts what its target accepts, so a small target replaces it if references are limited",
        &[Rule::InlineRef],
    ),
    meaning("a dynamic reference with one possible target is a reference to it", &[Rule::DynamicRefToRef]),
    meaning("a schema that applies to itself without end has no meaning", &[Rule::CutRecursion]),
    meaning("a branch that accepts nothing adds nothing to its union", &[Rule::DropImpossibleBranch]),
    meaning("a union of one branch accepts what the branch accepts", &[Rule::UnwrapSingleBranch, Rule::FlattenUnion]),
    meaning(
        "keywords next to `anyOf` apply to each of its branches",
        &[Rule::DistributeIntoAnyOf, Rule::DistributeAnnotations],
    ),
    meaning("every part of `allOf` applies, as if one schema had all keywords", &[Rule::MergeAllOf]),
    meaning("`oneOf` accepts no more than `anyOf`", &[Rule::OneOfToAnyOf]),
    meaning(
        "one schema cannot have the same keyword twice, nor keywords that depend on other siblings",
        &[Rule::MergeConflict, Rule::MergeInexact, Rule::MergeAnnotations],
    ),
    meaning("a list of types accepts what a union of these types accepts", &[Rule::SplitTypeList, Rule::SplitEnum]),
    meaning("an `enum` of one value accepts what `const` accepts", &[Rule::ConstToEnum]),
    meaning("the values and keywords of a schema imply its type", &[Rule::InferType]),
    meaning("all types together accept any value", &[Rule::ExpandAny]),
    meaning(
        "`true` accepts what `{}` accepts, and `false` what `{\"not\": {}}` accepts",
        &[Rule::BooleanToAny, Rule::BooleanToNot, Rule::OpenMap],
    ),
    meaning("an optional property that accepts no value is never sent", &[Rule::DropNeverProperty]),
    meaning(
        "a keyword has no effect on values of other types, nor without the part of the schema that it refers to",
        &[Rule::DropKeyword],
    ),
    meaning("equal values can be encoded as different texts", &[Rule::LoosenUniqueItems]),
];

/// Returns the fact that explains a change of the rule. A rule that is not listed repairs a malformed schema.
pub(super) fn fact(rule: Rule) -> &'static Fact {
    FACTS.iter().find(|fact| fact.explains.contains(&rule)).unwrap_or(&WELL_FORMED)
}

pub(super) fn explains(rule: Rule) -> bool {
    FACTS.iter().any(|fact| fact.explains.contains(&rule))
}

/// Returns true for a fact that dialects share because their APIs document no more than JSON Schema.
pub(super) fn is_general(fact: &Fact) -> bool {
    [WELL_FORMED.statement, VALID.statement].contains(&fact.statement)
}
