//! The constraints whose violations `check` and `checkTools` report.

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

            /// Returns true if the constraint applies only to the root of a schema.
            pub(crate) const fn is_of_root(self) -> bool {
                matches!(self, Constraint::RootNotSchema | Constraint::RootObject | Constraint::RootKeyword)
            }

            /// Returns a description of the violation for people.
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
    /// `items` is a list: positions belong in `prefixItems`.
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
    /// A name with `{` and `}` above a keyword that the name breaks.
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
    /// `strict` is missing, or the API does not know it.
    StrictFlag = "strict-flag",
    /// A tool without arguments that has a schema, although the API requires none.
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
    /// More of something than the compiler can handle in one strict tool.
    TooComplex = "too-complex",
    /// More optional properties than the strict tools of a request may have.
    TooManyOptionalProperties = "too-many-optional-properties",
    /// More properties than the strict tools of a request may have.
    TooManyStrictProperties = "too-many-strict-properties",
    /// More properties with several types than the strict tools of a request may have.
    TooManyUnions = "too-many-unions",
}
