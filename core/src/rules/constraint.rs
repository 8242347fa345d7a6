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

            /// Returns whether the constraint applies only to the root of a schema.
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
    /// The root is no schema.
    RootNotSchema = "root-not-schema",
    /// The root must say `type: "object"`.
    RootObject = "root-object",
    /// `type` is neither a known name nor a list of them.
    UnknownType = "unknown-type",
    /// A keyword that is not allowed beside a list of several types.
    BesideTypeList = "beside-type-list",
    /// A keyword beside a type that it does not apply to.
    BesideOtherType = "beside-other-type",
    /// `type` beside `anyOf`: it belongs in the branches.
    TypeBesideAnyOf = "type-beside-any-of",
    /// `type` beside `$ref`: it belongs in the definition.
    TypeBesideRef = "type-beside-ref",
    /// `enum` is not a list.
    EnumNotList = "enum-not-list",
    /// `enum` has no values.
    EnumEmpty = "enum-empty",
    /// `enum` has too many values.
    EnumTooLong = "enum-too-long",
    /// `enum` without a `type`.
    EnumWithoutType = "enum-without-type",
    /// A list of types beside `enum` that is not `null` and one scalar type.
    EnumTypeList = "enum-type-list",
    /// A value of `enum` that does not match the type.
    EnumValue = "enum-value",
    /// `null` after a numeric type, beside an `enum` with a null.
    EnumNullFirst = "enum-null-first",
    /// `properties` is not an object.
    PropertiesNotObject = "properties-not-object",
    /// A value that is not a schema in the place of one: a property, a definition, a branch.
    NotASchema = "not-a-schema",
    /// `items` is a list: positions belong into `prefixItems`.
    ArrayItems = "array-items",
    /// `items` is not a schema.
    ItemsNotSchema = "items-not-schema",
    /// `additionalProperties` is neither a boolean nor a schema.
    AdditionalPropertiesNotSchema = "additional-properties-not-schema",
    /// `required` is not a list of strings.
    RequiredNotStrings = "required-not-strings",
    /// `required` names a property that the same schema does not have.
    RequiredUnknown = "required-unknown",
    /// `required` beside no `properties`.
    RequiredWithoutProperties = "required-without-properties",
    /// A property's name is taken for a keyword.
    ReservedName = "reserved-name",
    /// A name with `{` and `}` above a keyword that it breaks.
    BracesInName = "braces-in-name",
    /// `anyOf` is not a list.
    CombinatorNotList = "combinator-not-list",
    /// `anyOf` has no branch, or too many.
    AnyOfSize = "any-of-size",
    /// A branch of `anyOf` without a `type` of its own, because it is a union again.
    UntypedBranch = "untyped-branch",
    /// A keyword both beside `anyOf` and in a branch.
    AnyOfShared = "any-of-shared",
    /// A keyword's value must be a string.
    NotAString = "not-a-string",
    /// `$defs` is not an object.
    DefsNotObject = "defs-not-object",
    /// A definition's name is empty or holds `/`.
    DefinitionName = "definition-name",
    /// A key inside a definition holds `/`.
    SlashInDefinition = "slash-in-definition",
    /// `$ref` is not a string.
    RefNotString = "ref-not-string",
    /// `$ref` is written in a form that is not understood.
    RefForm = "ref-form",
    /// `$ref` points at nothing, or at something that is not a schema.
    RefTarget = "ref-target",
    /// A reference where none is allowed.
    RefPlace = "ref-place",
    /// A keyword both beside `$ref` and in its target.
    RefShared = "ref-shared",
    /// `anyOf` beside a `$ref` whose target has a type, or the other way round.
    RefAnyOf = "ref-any-of",
    /// Recursion without a way out.
    EndlessRecursion = "endless-recursion",
    /// A keyword that is not allowed at the root.
    RootKeyword = "root-keyword",
    /// `$schema` names a draft that is not accepted.
    UnknownDraft = "unknown-draft",
    /// A keyword that may not stand anywhere.
    RefusedKeyword = "refused-keyword",
    /// A key that is not a keyword, where only keywords are allowed.
    UnknownKeyword = "unknown-keyword",
    /// A keyword's value is not what the meta-schema says.
    KeywordValue = "keyword-value",
    /// A keyword's number is above what is accepted.
    KeywordTooLarge = "keyword-too-large",
    /// A maximum that is below its minimum.
    MaximumBelowMinimum = "maximum-below-minimum",
    /// A list of types where one name is required, or with types that are not allowed in a list.
    TypeList = "type-list",
    /// A schema without a type, where one is needed.
    Untyped = "untyped",
    /// A value of `enum` whose kind or content is not allowed.
    EnumKind = "enum-kind",
    /// `enum` beside a type that none of its values has.
    EnumContradicts = "enum-contradicts",
    /// An object without `properties`, where they are required.
    ObjectWithoutProperties = "object-without-properties",
    /// An object that must say `additionalProperties: false`.
    ObjectNotClosed = "object-not-closed",
    /// An object that must say whether it is open.
    ObjectOpenness = "object-openness",
    /// `additionalProperties` with a schema, where only a boolean is allowed.
    Map = "map",
    /// A property that is not in `required`, where all must be.
    NotRequired = "not-required",
    /// An array without `items`.
    ArrayWithoutItems = "array-without-items",
    /// An array with `prefixItems` that must say whether it has more items.
    ArrayOpenness = "array-openness",
    /// `items` that say nothing.
    OpenItems = "open-items",
    /// A regular expression that the API cannot compile.
    Pattern = "pattern",
    /// A `pattern` that is accepted and not enforced.
    PatternNotEnforced = "pattern-not-enforced",
    /// A regular expression whose anchors or lookaround mean something else there than in JSON Schema.
    PatternAnchors = "pattern-anchors",
    /// A `format` that is refused.
    Format = "format",
    /// A keyword that is not allowed beside `$ref`.
    BesideRef = "beside-ref",
    /// A keyword that is not allowed beside `anyOf`.
    BesideAnyOf = "beside-any-of",
    /// Two branches of `anyOf` are objects whose first property has the same name.
    AnyOfFirstKeys = "any-of-first-keys",
    /// A property's name has a form that is not allowed.
    PropertyName = "property-name",
    /// Recursion where it is not allowed.
    Recursion = "recursion",
    /// A number beyond the range of a 64-bit float.
    NumberRange = "number-range",
    /// The whole is too large.
    TooManyBytes = "too-many-bytes",
    /// `properties` are nested too deeply.
    TooDeep = "too-deep",
    /// Too many values in all the `enum`s of one part.
    TooManyEnumValues = "too-many-enum-values",
    /// Too many characters of names, values and constants in one part.
    TooManyCharacters = "too-many-characters",
    /// Too many properties in all.
    TooManyProperties = "too-many-properties",

    // Additional constraints of Codex.
    /// The root admits nothing.
    RootNull = "root-null",
    /// `minItems` is not a count.
    MinItemsNotCount = "min-items-not-count",
    /// `encrypted` is not a boolean.
    EncryptedNotBoolean = "encrypted-not-boolean",

    // Constraints on tools and requests, independent of their schemas.
    /// An entry of a list that is not a tool.
    NotATool = "not-a-tool",
    /// A tool without a name.
    NamelessTool = "nameless-tool",
    /// Two tools of one name.
    DuplicateName = "duplicate-name",
    /// A name that the API refuses.
    ToolName = "tool-name",
    /// `strict` is missing, or the API does not know it.
    StrictFlag = "strict-flag",
    /// A tool without arguments that has a schema, where the API wants none.
    NoArguments = "no-arguments",
    /// A description that is not a string.
    DescriptionNotString = "description-not-string",
    /// A description that is too long.
    DescriptionLength = "description-length",
    /// An empty description, where the API wants none at all.
    EmptyDescription = "empty-description",
    /// More tools than a request may have.
    TooManyTools = "too-many-tools",
    /// Two tools of a request have different definitions with the same name.
    DefinitionConflict = "definition-conflict",
    /// Tools of a request that no single compiler supports.
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
