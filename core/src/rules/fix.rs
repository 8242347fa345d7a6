//! Advice on how to fix a violation of a constraint, for the author of the tool.

use super::Constraint;

impl Constraint {
    /// Returns advice on how to fix a violation.
    ///
    /// ```
    /// use toolwire::rules::Constraint;
    /// assert_eq!(Constraint::EnumEmpty.fix(), "List at least one value, or omit `enum`.");
    /// ```
    #[allow(clippy::too_many_lines, reason = "one line for each constraint")]
    pub const fn fix(self) -> &'static str {
        match self {
            Constraint::IgnoredKeyword => "State it in the description, too: the API does not enforce the keyword.",
            Constraint::RootNotSchema => {
                "Write an object schema at the root: `{\"type\": \"object\", \"properties\": {}}`."
            }
            Constraint::RootObject => "Write `\"type\": \"object\"` at the root, and put other values into a property.",
            Constraint::UnknownType => {
                "Use a type of JSON Schema: object, array, string, number, integer, boolean or null."
            }
            Constraint::BesideTypeList => "Write a branch of `anyOf` for each type, with its own keywords.",
            Constraint::BesideOtherType => "Move the keyword to the type that it applies to, or remove it.",
            Constraint::TypeBesideAnyOf => "Move `type` into the branches of `anyOf`.",
            Constraint::TypeBesideRef => "Move `type` into the definition.",
            Constraint::EnumNotList => "Write the values of `enum` as a list.",
            Constraint::EnumEmpty => "List at least one value, or omit `enum`.",
            Constraint::EnumTooLong => "Shorten the list, or describe the values and use a plain string.",
            Constraint::EnumWithoutType => "Write the `type` of the values next to `enum`.",
            Constraint::EnumTypeList => "Use one type for the values, or one branch of `anyOf` for each type.",
            Constraint::EnumValue => "Remove the value, or change `type` so that it fits.",
            Constraint::EnumNullFirst => "Write `null` first in the list of types.",
            Constraint::PropertiesNotObject => "Write `properties` as an object that has a schema for each name.",
            Constraint::PatternNotEnforced => {
                "Write the pattern from `^` to `$`, with groups, classes and quantifiers only."
            }
            Constraint::MaximumBelowMinimum => "Write a maximum that is not below the minimum.",
            Constraint::NotASchema => "Write an object or a boolean as the schema.",
            Constraint::ArrayItems => "Write one schema in `items`, or the positions in `prefixItems`.",
            Constraint::ItemsNotSchema => "Write a schema in `items`.",
            Constraint::AdditionalPropertiesNotSchema => "Write `true`, `false` or a schema.",
            Constraint::RequiredNotStrings => "Write `required` as a list of property names.",
            Constraint::RequiredWithoutProperties => {
                "List the names of `required` in `properties`, or omit `required`."
            }
            Constraint::RequiredUnknown => "Add the property to `properties`, or remove its name from `required`.",
            Constraint::ReservedName => "Rename the property.",
            Constraint::BracesInName => "Rename the property without `{` and `}`.",
            Constraint::CombinatorNotList => "Write the branches as a list.",
            Constraint::AnyOfSize => "Write at least one branch, and no more than the API accepts.",
            Constraint::UntypedBranch => "Move the inner branches to the outer `anyOf`.",
            Constraint::AnyOfShared => "Write the keyword only in the branches.",
            Constraint::NotAString => "Write a string.",
            Constraint::DefsNotObject => "Write `$defs` as an object that has a schema for each name.",
            Constraint::DefinitionName => "Rename the definition with letters, digits and `_`.",
            Constraint::SlashInDefinition => "Rename the key without `/`.",
            Constraint::RefNotString => "Write `$ref` as a string such as `#/$defs/Name`.",
            Constraint::RefForm => "Refer to a definition: `#/$defs/Name`.",
            Constraint::RefTarget => "Add the definition, or correct the reference.",
            Constraint::RefPlace => "Write the schema here instead of the reference.",
            Constraint::RefShared => "Write the keyword only in the definition.",
            Constraint::RefAnyOf => "Write the schema here instead of the reference.",
            Constraint::EndlessRecursion => {
                "Make a property on the path optional, or end the recursion in a branch of `anyOf`."
            }
            Constraint::RootKeyword => "Move the keyword into a property: the root is one plain object.",
            Constraint::UnknownDraft => "Remove `$schema`, or name the draft that the message expects.",
            Constraint::RefusedKeyword => {
                "Write the replacement that the message names. Without one, remove the keyword, and state its meaning \
                    in the description."
            }
            Constraint::UnknownKeyword => "Remove the key, or state it in the description.",
            Constraint::KeywordValue => "Write a value that JSON Schema allows for this keyword.",
            Constraint::KeywordTooLarge => "Use a smaller number, or state the limit in the description.",
            Constraint::TypeList => "Use one type, or a branch of `anyOf` for each.",
            Constraint::Untyped => "Write a `type`.",
            Constraint::EnumKind => "List strings, or plain values of one type.",
            Constraint::EnumContradicts => "Change `type` so that it fits the values.",
            Constraint::ObjectWithoutProperties => "Write `properties`, even if there are none: `{}`.",
            Constraint::ObjectNotClosed => "Write `\"additionalProperties\": false`.",
            Constraint::ObjectOpenness => "Set `additionalProperties` to `true` or `false`.",
            Constraint::Map => "Name the properties, or use a list of objects with a key and a value.",
            Constraint::NotRequired => {
                "List every property in `required`, and let optional ones be null. If there is no property, add one."
            }
            Constraint::ArrayWithoutItems => "Describe the array's items in `items`.",
            Constraint::ArrayOpenness => "Write `items` next to `prefixItems`: `false`, or a schema for further items.",
            Constraint::OpenItems => "Describe the array's items in `items`.",
            Constraint::Pattern => "Use plain parts of regular expressions: classes, groups, repetition, `^` and `$`.",
            Constraint::PatternAnchors => {
                "Write the anchors `^` and `$`, or leave them out, as the message says, and write no lookaround."
            }
            Constraint::Format => "Remove `format`, or describe the format in words.",
            Constraint::BesideRef => "Move the keyword into the definition.",
            Constraint::BesideAnyOf => "Move the keyword into the branches.",
            Constraint::AnyOfFirstKeys => "Give the first properties of the branches different names.",
            Constraint::PropertyName => "Rename the property with letters, digits and `_`.",
            Constraint::Recursion => "Write out a few levels, or use a string that contains JSON.",
            Constraint::NumberRange => "Use a number that a 64-bit float can hold.",
            Constraint::TooManyBytes => "Shorten descriptions, or split the tool in two.",
            Constraint::TooDeep => "Make the schema flatter.",
            Constraint::TooManyEnumValues => "Shorten the lists, or describe the values and use a plain string.",
            Constraint::TooManyCharacters => "Shorten names and values.",
            Constraint::TooManyProperties => "Remove properties, or split the tool in two.",
            Constraint::RootNull => "Write an object schema at the root.",
            Constraint::MinItemsNotCount => "Write a non-negative integer.",
            Constraint::EncryptedNotBoolean => "Write `true` or `false`.",
            Constraint::NotATool => "Write an object with a name and a schema.",
            Constraint::NamelessTool => "Give the tool a name.",
            Constraint::DuplicateName => {
                "Rename one of the two tools, or let `sanitizeTools` do it (`duplicateNames`)."
            }
            Constraint::ToolName => "Rename the tool: letters, digits, `_` and `-`, a letter first, 3 to 64 in all.",
            Constraint::StrictFlag => "Set `strict` as the API requires.",
            Constraint::NoArguments => "Omit the schema.",
            Constraint::DescriptionNotString => "Write the description as a string.",
            Constraint::DescriptionLength => "Shorten the description.",
            Constraint::EmptyDescription => "Describe the tool, or omit the description.",
            Constraint::TooManyTools => "Send fewer tools at once: defer those that are rarely used.",
            Constraint::DefinitionConflict => "Rename one of the definitions.",
            Constraint::MixedBackends => "Remove keywords that only one of the compilers supports.",
            Constraint::TooManyStrictTools => "Send fewer tools with `strict: true`.",
            Constraint::TooComplex => "Make properties required, or split the tool in two.",
            Constraint::TooManyOptionalProperties => "Make properties required, or send fewer strict tools at once.",
            Constraint::TooManyStrictProperties => "Remove properties, or send fewer strict tools at once.",
            Constraint::TooManyUnions => "Use one type instead of several, or send fewer strict tools at once.",
        }
    }
}
