//! The fact that explains a change: a fact of the dialect, or, if the API requires nothing, a fact of JSON Schema.

use core::iter;

use super::{
    features::CONSTRAINS_MEMBERS,
    grammar::{Grammar, Null, RequiredRule},
    json_schema, Dialect, Fact, Method,
};
use crate::{
    report::Reason,
    rules::{Constraint, Rule},
    schema::keyword::{Keyword, Keywords, Subschemas},
};

/// What is known about a change before its fact is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cause<'p> {
    /// Location in the input.
    pub(crate) pointer: &'p str,
    /// The changed keyword, if an earlier rule wrote it: the pointer does not end in it.
    pub(crate) written: Option<&'p str>,
    /// The violated constraint, if the pass knows which one of several it is.
    pub(crate) constraint: Option<Constraint>,
}

impl Dialect {
    /// Chooses, in this order: a fact that names the rule, a fact about a served constraint, the general fact of a
    /// combination of dialects, JSON Schema. Combined dialects contribute their facts.
    pub(crate) fn reason(&self, rule: Rule, cause: Cause<'_>) -> Reason {
        let location = Location::of(rule, cause);
        self.fact_behind(rule, cause, &location).unwrap_or_else(|| json_schema::fact(rule)).reason()
    }

    fn fact_behind(&self, rule: Rule, cause: Cause<'_>, location: &Location) -> Option<&'static Fact> {
        let own = self.facts.first();
        let parts = own.map_or(&[][..], |fact| fact.restates);
        let tables = || iter::once(self).chain(parts.iter().copied());
        // A fact about every valid schema explains only the repair of an invalid one.
        let is_silent = |fact: &Fact| json_schema::is_general(fact) && json_schema::explains(rule);
        let is_about_location = |fact: &Fact, names_keyword: bool| match names_keyword {
            true => location.keyword.is_some_and(|keyword| fact.keywords.contains(keyword)),
            false => fact.keywords == Keywords::NONE,
        };
        let may_be_violated = |table: &Dialect, constraint| {
            cause.constraint == Some(constraint) || location.may_violate(table.grammar(), rule, constraint)
        };
        let about = |constraint: Constraint, names_keyword: bool| {
            tables().filter(|table| may_be_violated(table, constraint)).flat_map(|table| table.facts).find(|fact| {
                fact.rules.contains(&constraint) && is_about_location(fact, names_keyword) && !is_silent(fact)
            })
        };
        let constraints = || cause.constraint.into_iter().chain(rule.serves().iter().copied());
        let explains = |fact: &&Fact| fact.explains.contains(&rule);
        self.facts
            .iter()
            .find(explains)
            .or_else(|| constraints().find_map(|constraint| about(constraint, true)))
            .or_else(|| constraints().find_map(|constraint| about(constraint, false)))
            .or_else(|| parts.iter().flat_map(|part| part.facts).find(explains))
            .or_else(|| own.filter(|fact| fact.rules.is_empty() && constraints().any(|one| may_be_violated(self, one))))
    }

    const fn grammar(&self) -> &'static Grammar {
        match self.method {
            Method::Rules(grammar) => grammar,
            Method::Codex { .. } => &Grammar::OPEN,
        }
    }
}

/// Location of a change, relative to schemas and keywords.
#[derive(Debug)]
struct Location {
    /// The changed keyword. `None` if the whole schema changes, or a member that is not a keyword.
    keyword: Option<Keyword>,
    /// The keyword that contains the schema; `None` for the root.
    parent: Option<Keyword>,
}

impl Location {
    fn of(rule: Rule, cause: Cause<'_>) -> Location {
        let location = Location::at(cause.pointer);
        let written = cause.written.and_then(Keyword::spelled);
        Location { keyword: changed_keyword(rule).or(written).or(location.keyword), ..location }
    }

    /// Separates keywords from names of properties that are spelled like keywords.
    fn at(pointer: &str) -> Location {
        let mut steps = pointer.split('/').skip(1).peekable();
        let mut parent = None;
        while let Some(step) = steps.next() {
            let Some(keyword) = Keyword::spelled(step) else { break };
            let is_at_schema = match keyword.subschemas() {
                Subschemas::Value => false,
                Subschemas::Schema => steps.peek().is_some(),
                Subschemas::SchemaOrSchemas => match steps.peek() {
                    Some(next) if next.parse::<usize>().is_ok() => steps.next().is_some(),
                    next => next.is_some(),
                },
                Subschemas::Schemas | Subschemas::Named | Subschemas::NamedOrNames => steps.next().is_some(),
            };
            if !is_at_schema {
                return Location { keyword: Some(keyword), parent };
            }
            parent = Some(keyword);
        }
        Location { keyword: None, parent }
    }

    /// Returns false if the constraint cannot explain a change of the rule here, unless the pass names it.
    fn may_violate(&self, grammar: &Grammar, rule: Rule, constraint: Constraint) -> bool {
        let is = |keywords: Keywords| self.keyword.is_some_and(|keyword| keywords.contains(keyword));
        let is_root = self.parent.is_none();
        match (rule, constraint) {
            (_, Constraint::RootNotSchema | Constraint::RootObject) => is_root,
            (_, Constraint::RootKeyword) => is_root && (self.keyword.is_none() || is(grammar.root_refuses)),
            (_, Constraint::RefusedKeyword) => {
                is(grammar.refuses)
                    || grammar.conflicts.iter().any(|conflict| is(conflict.refused))
                    || grammar.alternatives.iter().any(|alternative| is(alternative.refuses))
            }
            (_, Constraint::UnknownKeyword) => self.keyword.is_none() && grammar.unknown.is_some(),
            (_, Constraint::BesideOtherType) => is(grammar.beside_their_type),
            (_, Constraint::UnknownDraft) => is(Keywords::of(&[Keyword::Schema])),
            (_, Constraint::ArrayItems) => !grammar.array_items,
            (Rule::DropKeyword, Constraint::ObjectNotClosed) => {
                grammar.encodes() && is(CONSTRAINS_MEMBERS.insert(Keyword::Enum).insert(Keyword::Const))
            }
            (Rule::DropKeyword, Constraint::NotRequired) => {
                grammar.objects.required == RequiredRule::One
                    && is(CONSTRAINS_MEMBERS.insert(Keyword::PatternProperties))
            }
            (Rule::DropKeyword, Constraint::PropertyName) => {
                grammar.names.no_brackets_beside_others && is(Keywords::of(&[Keyword::AdditionalProperties]))
            }
            (Rule::DropKeyword, Constraint::MaximumBelowMinimum) => {
                grammar.ordered_counts && is(Keywords::of(&[Keyword::MaxLength, Keyword::MaxItems]))
            }
            (Rule::InlineRef, Constraint::Recursion) | (Rule::DropRefSibling, _) => false,
            (Rule::InlineRef | Rule::RewriteRef, Constraint::RefPlace) => {
                let refs = &grammar.refs;
                let is_in = |keywords: Keywords| self.parent.is_some_and(|parent| keywords.contains(parent));
                is_in(refs.not_directly_under) || refs.only_under.is_some_and(|keywords| !is_in(keywords))
            }
            (Rule::UnwrapSingleBranch, Constraint::TypeList) => grammar.null == Null::Nullable,
            (Rule::UnwrapSingleBranch, _) => false,
            (Rule::BooleanToAny | Rule::BooleanToNot | Rule::DropNeverProperty, Constraint::NotASchema) => {
                !(grammar.boolean_schemas && grammar.false_schemas && grammar.boolean_root && grammar.root_booleans)
            }
            (_, Constraint::KeywordValue) => true,
            (Rule::RemoveNullKeyword, Constraint::ItemsNotSchema) => is(Keywords::of(&[Keyword::Items])),
            (Rule::RepairKeyword | Rule::RemoveMalformedKeyword, _) => is(holders(constraint)),
            _ => true,
        }
    }
}

/// The keyword that a rule is about, wherever it reports the change.
const fn changed_keyword(rule: Rule) -> Option<Keyword> {
    match rule {
        Rule::InlineRef | Rule::UnrollRecursion | Rule::TruncateDefinition => Some(Keyword::Ref),
        Rule::OneOfToAnyOf => Some(Keyword::OneOf),
        Rule::MergeAllOf => Some(Keyword::AllOf),
        Rule::ConstToEnum => Some(Keyword::Const),
        Rule::NullableToNull => Some(Keyword::Nullable),
        Rule::PatternsToAdditional => Some(Keyword::PatternProperties),
        Rule::PrefixItemsToItems => Some(Keyword::PrefixItems),
        Rule::DropNeverProperty => Some(Keyword::Not),
        _ => None,
    }
}

/// The keywords whose values a constraint is about.
const fn holders(constraint: Constraint) -> Keywords {
    match constraint {
        Constraint::EnumNotList | Constraint::EnumEmpty => Keywords::of(&[Keyword::Enum]),
        Constraint::RequiredNotStrings => Keywords::of(&[Keyword::Required]),
        Constraint::PropertiesNotObject => Keywords::of(&[Keyword::Properties]),
        Constraint::CombinatorNotList => Keywords::of(&[Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf]),
        _ => Keywords::ALL,
    }
}

#[cfg(test)]
mod tests {
    use super::{Keyword, Location};

    #[test]
    fn names_of_properties_are_no_keywords() {
        let found = |pointer: &str| {
            let location = Location::at(pointer);
            (location.parent, location.keyword)
        };
        assert_eq!(found(""), (None, None));
        assert_eq!(found("/anyOf"), (None, Some(Keyword::AnyOf)));
        assert_eq!(found("/properties/format"), (Some(Keyword::Properties), None));
        assert_eq!(found("/properties/properties/format"), (Some(Keyword::Properties), Some(Keyword::Format)));
        assert_eq!(found("/items/2/items/enum/0"), (Some(Keyword::Items), Some(Keyword::Enum)));
        assert_eq!(found("/not/anyOf/0/$ref"), (Some(Keyword::AnyOf), Some(Keyword::Ref)));
        assert_eq!(found("/properties/a/x-note/b"), (Some(Keyword::Properties), None));
    }
}
