//! The constraints whose violations `check` and `checkTools` report, with advice on how to fix a violation, for the
//! author of the tool.

use core::fmt;

impl From<Constraint> for &'static str {
    fn from(constraint: Constraint) -> Self {
        constraint.id()
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.id())
    }
}

macro_rules! constraints {
    ($($(#[doc = $summary:literal])+ $variant:ident = $name:literal,)*) => {
        /// A requirement of an API on a schema or a tool.
        ///
        /// ```
        /// use toolwire::{dialects, rules::Constraint};
        /// let moonshot = dialects().iter().find(|dialect| dialect.name == "moonshot").unwrap();
        /// assert!(moonshot.facts.iter().any(|fact| fact.rules.contains(&Constraint::RootObject)));
        /// assert_eq!(Constraint::RootObject.id(), "root-object");
        /// assert_eq!(Constraint::EnumEmpty.summary(), "`enum` has no values.");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Constraint { $($(#[doc = $summary])+ $variant,)* }

        impl Constraint {
            /// All constraints.
            pub const ALL: &'static [Constraint] = &[$(Constraint::$variant,)*];

            /// Returns the name used in violations.
            pub const fn id(self) -> &'static str {
                match self { $(Constraint::$variant => $name,)* }
            }

            /// Returns a human-readable description of the violation.
            pub const fn summary(self) -> &'static str {
                // Each line of the documentation begins with a space.
                match self { $(Constraint::$variant => concat!($($summary),+).trim_ascii(),)* }
            }
        }
    };
}

constraints! {
    /// A keyword that has no effect.
    IgnoredKeyword = "ignored-keyword",
    /// The root is not a schema.
    RootNotSchema = "root-not-schema",
    /// The root must have `type: "object"`.
    RootObject = "root-object",
    /// `type` is neither a known name nor a list of them.
    UnknownType = "unknown-type",
    /// A keyword that is not allowed next to a list of several types.
    BesideTypeList = "beside-type-list",
    /// A keyword next to a type that it does not apply to.
    BesideOtherType = "beside-other-type",
    /// `type` next to `anyOf`: it belongs in the branches.
    TypeBesideAnyOf = "type-beside-any-of",
    /// `type` next to `$ref`: it belongs in the definition.
    TypeBesideRef = "type-beside-ref",
    /// `enum` is not a list.
    EnumNotList = "enum-not-list",
    /// `enum` has no values.
    EnumEmpty = "enum-empty",
    /// `enum` has too many values.
    EnumTooLong = "enum-too-long",
    /// `enum` without a `type`.
    EnumWithoutType = "enum-without-type",
    /// A list of types next to `enum` that is not `null` and one scalar type.
    EnumTypeList = "enum-type-list",
    /// A value of `enum` that does not match the type.
    EnumValue = "enum-value",
    /// `null` after a numeric type, next to an `enum` that contains null.
    EnumNullFirst = "enum-null-first",
    /// `properties` is not an object.
    PropertiesNotObject = "properties-not-object",
    /// A value that is not a schema where one is expected: a property, a definition, a branch.
    NotASchema = "not-a-schema",
    /// `items` is a list of schemas, one for each position.
    ArrayItems = "array-items",
    /// `items` is not a schema.
    ItemsNotSchema = "items-not-schema",
    /// `additionalProperties` is neither a boolean nor a schema.
    AdditionalPropertiesNotSchema = "additional-properties-not-schema",
    /// `required` is not a list of strings.
    RequiredNotStrings = "required-not-strings",
    /// `required` names a property that the same schema does not have.
    RequiredUnknown = "required-unknown",
    /// `required` without `properties`.
    RequiredWithoutProperties = "required-without-properties",
    /// A property's name is mistaken for a keyword.
    ReservedName = "reserved-name",
    /// A keyword below a name whose `{` and `}` the API reads as an index.
    BracesInName = "braces-in-name",
    /// `anyOf` is not a list.
    CombinatorNotList = "combinator-not-list",
    /// `anyOf` has no branch, or too many.
    AnyOfSize = "any-of-size",
    /// A branch of `anyOf` without its own `type`, because it is itself a union.
    UntypedBranch = "untyped-branch",
    /// A keyword both next to `anyOf` and in a branch.
    AnyOfShared = "any-of-shared",
    /// A keyword's value must be a string.
    NotAString = "not-a-string",
    /// `$defs` is not an object.
    DefsNotObject = "defs-not-object",
    /// A definition's name is empty or contains `/`.
    DefinitionName = "definition-name",
    /// A key inside a definition contains `/`.
    SlashInDefinition = "slash-in-definition",
    /// `$ref` is not a string.
    RefNotString = "ref-not-string",
    /// `$ref` is written in a form that is not understood.
    RefForm = "ref-form",
    /// `$ref` points at nothing, or at something that is not a schema.
    RefTarget = "ref-target",
    /// A reference where none is allowed.
    RefPlace = "ref-place",
    /// A keyword both next to `$ref` and in its target.
    RefShared = "ref-shared",
    /// `anyOf` next to a `$ref` whose target has a type, or vice versa.
    RefAnyOf = "ref-any-of",
    /// Recursion that cannot end.
    EndlessRecursion = "endless-recursion",
    /// A schema that applies to itself at the same value, through references and unions.
    LeftRecursion = "left-recursion",
    /// A keyword that is not allowed at the root.
    RootKeyword = "root-keyword",
    /// `$schema` names a draft that is not accepted.
    UnknownDraft = "unknown-draft",
    /// A keyword that is not allowed anywhere.
    RefusedKeyword = "refused-keyword",
    /// A key that is not a keyword, where only keywords are allowed.
    UnknownKeyword = "unknown-keyword",
    /// A keyword's value does not match the meta-schema.
    KeywordValue = "keyword-value",
    /// A keyword's number is above what is accepted.
    KeywordTooLarge = "keyword-too-large",
    /// A maximum that is below its minimum.
    MaximumBelowMinimum = "maximum-below-minimum",
    /// A list of types where a single type is required, or with types that are not allowed in a list.
    TypeList = "type-list",
    /// A schema without a type, although one is required.
    Untyped = "untyped",
    /// A value of `enum` whose kind or content is not allowed.
    EnumKind = "enum-kind",
    /// `enum` next to a type that none of its values has.
    EnumContradicts = "enum-contradicts",
    /// An object without `properties`, although they are required.
    ObjectWithoutProperties = "object-without-properties",
    /// An object that must have `additionalProperties: false`.
    ObjectNotClosed = "object-not-closed",
    /// An object that must declare `additionalProperties`.
    ObjectOpenness = "object-openness",
    /// `additionalProperties` with a schema, although only a boolean is allowed.
    Map = "map",
    /// A property that is not in `required`, although all must be.
    NotRequired = "not-required",
    /// An array without `items`.
    ArrayWithoutItems = "array-without-items",
    /// An array with `prefixItems` that must declare whether more items are allowed.
    ArrayOpenness = "array-openness",
    /// `items` without a specific schema.
    OpenItems = "open-items",
    /// A regular expression that the API cannot compile.
    Pattern = "pattern",
    /// A `pattern` that is accepted but not enforced.
    PatternNotEnforced = "pattern-not-enforced",
    /// A regular expression whose anchors or lookaround mean something different in this API than in JSON Schema.
    PatternAnchors = "pattern-anchors",
    /// A `format` that is refused.
    Format = "format",
    /// A keyword that is not allowed next to `$ref`.
    BesideRef = "beside-ref",
    /// A keyword that is not allowed next to `anyOf`.
    BesideAnyOf = "beside-any-of",
    /// Two branches of `anyOf` are objects whose first property has the same name.
    AnyOfFirstKeys = "any-of-first-keys",
    /// A property's name has a form that is not allowed.
    PropertyName = "property-name",
    /// Recursion where it is not allowed.
    Recursion = "recursion",
    /// A number beyond the range of a 64-bit float.
    NumberRange = "number-range",
    /// The schema is too large.
    TooManyBytes = "too-many-bytes",
    /// `properties` are nested too deeply.
    TooDeep = "too-deep",
    /// Too many values in total in the `enum`s of the root or a definition.
    TooManyEnumValues = "too-many-enum-values",
    /// Too many characters of names, values and constants in the root or a definition.
    TooManyCharacters = "too-many-characters",
    /// Too many properties in total.
    TooManyProperties = "too-many-properties",

    // Further constraints of Codex.
    /// The root accepts nothing.
    RootNull = "root-null",
    /// `minItems` is not a non-negative integer.
    MinItemsNotCount = "min-items-not-count",
    /// `encrypted` is not a boolean.
    EncryptedNotBoolean = "encrypted-not-boolean",

    // Constraints on tools and requests, independent of their schemas.
    /// An entry of a list that is not a tool.
    NotATool = "not-a-tool",
    /// A tool without a name.
    NamelessTool = "nameless-tool",
    /// Two tools with the same name.
    DuplicateName = "duplicate-name",
    /// A name that the API refuses.
    ToolName = "tool-name",
    /// A name that is too long for a client of MCP, which puts the name of the server in front of it.
    QualifiedName = "qualified-name",
    /// `x-mcp-header` at a location or with a value that MCP does not allow.
    McpHeader = "mcp-header",
    /// `strict` is missing, or the API does not know it.
    StrictFlag = "strict-flag",
    /// A tool without arguments that has a schema, although the API requires that it has none.
    NoArguments = "no-arguments",
    /// A description that is not a string.
    DescriptionNotString = "description-not-string",
    /// A description that is too long.
    DescriptionLength = "description-length",
    /// An empty description, although the API accepts only a missing or non-empty one.
    EmptyDescription = "empty-description",
    /// More tools than a request may have.
    TooManyTools = "too-many-tools",
    /// Two tools of a request have different definitions with the same name.
    DefinitionConflict = "definition-conflict",
    /// Tools of a request that no single compiler supports together.
    MixedBackends = "mixed-backends",
    /// More strict tools than a request may have.
    TooManyStrictTools = "too-many-strict-tools",
    /// A strict tool that is too complex for the compiler.
    TooComplex = "too-complex",
    /// More optional properties than the strict tools of a request may have.
    TooManyOptionalProperties = "too-many-optional-properties",
    /// More properties than the strict tools of a request may have.
    TooManyStrictProperties = "too-many-strict-properties",
    /// More properties with several types than the strict tools of a request may have.
    TooManyUnions = "too-many-unions",
}

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
            Constraint::ArrayItems => "Write one schema in `items`, which accepts the values of all positions.",
            Constraint::ItemsNotSchema => "Write a schema in `items`.",
            Constraint::AdditionalPropertiesNotSchema => "Write `true`, `false` or a schema.",
            Constraint::RequiredNotStrings => {
                "Write the names of required properties as a list, in `required` of the object that declares them."
            }
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
            Constraint::LeftRecursion => {
                "Remove the reference that leads back; if several schemas of the cycle are used, copy the other \
                    branches into each of them."
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
            Constraint::ToolName => "Rename the tool: 3 to 64 letters, digits, `_` and `-`, starting with a letter.",
            Constraint::QualifiedName => "Shorten the name of the tool, or that of the server in the client's file.",
            Constraint::McpHeader => {
                "Name each header once, next to the type `string`, `integer` or `boolean` of a property, or remove it."
            }
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
