//! The rules: the kinds of changes in reports.

use core::fmt;

use super::constraint::Constraint;
use crate::effect::{
    Accepts::{Closed, Mixed, Narrower, Wider},
    Effect,
    Guidance::{Lost, Moved},
};

/// The phase of `sanitize` in which a rule applies, or the other function that applies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// `normalizeEnvelope`, which changes only the root.
    Envelope,
    /// Normalizing different spellings of the same meaning.
    Canonicalize,
    /// Resolving references.
    Resolve,
    /// Expressing in another way what the API's grammar does not accept.
    Legalize,
    /// Encoding what strict modes cannot express, so that arguments can be restored.
    Encode,
    /// Fitting the schema into limits of size.
    Fit,
    /// The changes that Codex makes to every schema.
    Codex,
    /// `sanitizeTools` and `adaptRequest`: changes outside of the schema.
    List,
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.id())
    }
}

macro_rules! rules {
    (
        $($(#[doc = $summary:literal])+ $variant:ident = $id:literal, $phase:ident, $effect:expr,
          [$($serves:ident),* $(,)?];)*
    ) => {
        /// A kind of change.
        ///
        /// ```
        /// use toolwire::rules::{Phase, Rule};
        /// let rule = Rule::ALL.iter().find(|rule| rule.id() == "const-to-enum").unwrap();
        /// assert_eq!(rule.phase(), Phase::Legalize);
        /// assert_eq!(rule.summary(), "Replaces `const` with an `enum` of one value.");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule { $($(#[doc = $summary])+ $variant,)* }

        impl Rule {
            /// All rules, by phase.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)*];

            /// Returns the name used in reports.
            pub const fn id(self) -> &'static str {
                match self { $(Rule::$variant => $id,)* }
            }

            /// Returns the phase in which the rule applies.
            pub const fn phase(self) -> Phase {
                match self { $(Rule::$variant => Phase::$phase,)* }
            }

            /// The default: a change may have a different effect.
            pub(crate) const fn effect(self) -> Effect {
                match self { $(Rule::$variant => $effect,)* }
            }

            /// Returns the constraints that the rule serves.
            pub const fn serves(self) -> &'static [Constraint] {
                match self { $(Rule::$variant => &[$(Constraint::$serves,)*],)* }
            }

            /// Returns a human-readable description in one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Rule::$variant => concat!($($summary),+).trim_start(),)* }
            }
        }
    };
}

const SAME: Effect = Effect::SAME;

rules! {
    // Envelope
    /// Replaces a value that is not a schema with an object schema.
    ReplaceRoot = "replace-root", Envelope, SAME.accepts(Wider).guidance(Lost), [];
    /// Adds `type: "object"` at the root: arguments are always an object.
    AddType = "add-type", Envelope, SAME, [];
    /// Adds `properties: {}` to an object that must have `properties`.
    AddProperties = "add-properties", Envelope, SAME, [ObjectWithoutProperties];

    // Canonicalize
    /// Replaces a value where a schema is expected with a schema that accepts anything.
    ReplaceNonSchema = "replace-non-schema", Canonicalize, SAME.accepts(Wider).guidance(Lost),
        [NotASchema, ItemsNotSchema, AdditionalPropertiesNotSchema];
    /// Replaces a bare type name where a schema is expected with a schema of that type.
    TypeNameToSchema = "type-name-to-schema", Canonicalize, SAME,
        [NotASchema, ItemsNotSchema, AdditionalPropertiesNotSchema];
    /// Unwraps a schema from an object such as `{"jsonSchema": …}`, or moves a map of properties under `properties`.
    UnwrapSchema = "unwrap-schema", Canonicalize, SAME.accepts(Narrower), [RootObject];
    /// Moves property schemas out of a `properties` that contains keywords of the object.
    UnnestProperties = "unnest-properties", Canonicalize, SAME.accepts(Mixed), [NotASchema];
    /// Repairs a `type` that is not a known name (aliases, wrong case) or that contradicts the values.
    RepairType = "repair-type", Canonicalize, SAME.accepts(Wider), [UnknownType, EnumContradicts, EnumValue];
    /// Repairs a keyword's value or spelling if the intention is clear.
    RepairKeyword = "repair-keyword", Canonicalize, SAME,
        [EnumNotList, RequiredNotStrings, PropertiesNotObject, KeywordValue];
    /// Removes a keyword whose value is null.
    RemoveNullKeyword = "remove-null-keyword", Canonicalize, SAME, [KeywordValue, ItemsNotSchema];
    /// Removes a keyword whose value has no meaning.
    RemoveMalformedKeyword = "remove-malformed-keyword", Canonicalize, SAME.accepts(Wider).guidance(Lost),
        [EnumNotList, EnumEmpty, RequiredNotStrings, PropertiesNotObject, CombinatorNotList, KeywordValue];
    /// Sets `$schema` to the draft of the output.
    UpdateSchemaUri = "update-schema-uri", Canonicalize, SAME, [];
    /// Splits `dependencies` into `dependentRequired` and `dependentSchemas`.
    SplitDependencies = "split-dependencies", Canonicalize, SAME, [];
    /// Replaces a boolean `exclusiveMinimum` or `exclusiveMaximum` of draft 4 with the number of later drafts.
    UpgradeExclusiveBound = "upgrade-exclusive-bound", Canonicalize, SAME, [KeywordValue];
    /// Replaces OpenAPI's `nullable: true` with the type `null`.
    NullableToNull = "nullable-to-null", Canonicalize, SAME, [RefusedKeyword];
    /// Moves a list in `items` to `prefixItems`.
    TupleToPrefixItems = "tuple-to-prefix-items", Canonicalize, SAME, [ArrayItems];
    /// Removes an identifier that no reference needs.
    DropIdentifier = "drop-identifier", Canonicalize, SAME, [];

    // Resolve
    /// Replaces a reference with its target.
    InlineRef = "inline-ref", Resolve, SAME, [RefusedKeyword, RefPlace, RefForm, BesideRef, Recursion];
    /// Points a reference at an entry of the root's `$defs`.
    RewriteRef = "rewrite-ref", Resolve, SAME, [RefForm, BesideRef, RefPlace];
    /// Replaces `$dynamicRef` and `$recursiveRef` with `$ref`.
    DynamicRefToRef = "dynamic-ref-to-ref", Resolve, SAME, [RefForm, RefusedKeyword];
    /// Removes a reference that does not resolve.
    UnresolvedRef = "unresolved-ref", Resolve, SAME.accepts(Wider), [RefTarget];
    /// Removes a reference that makes a schema apply to itself endlessly, or recursion that the API does not accept.
    CutRecursion = "cut-recursion", Resolve, SAME.accepts(Wider), [Recursion, EndlessRecursion, LeftRecursion];
    /// Expands a recursive definition a few levels deep if the API accepts no recursion.
    UnrollRecursion = "unroll-recursion", Resolve, SAME.accepts(Wider), [Recursion, RefusedKeyword];
    /// Removes keywords next to a reference, which have no effect in older drafts.
    DropRefSibling = "drop-ref-sibling", Resolve, SAME.guidance(Lost), [BesideRef, RefShared, TypeBesideRef];
    /// Removes an annotation that occurs both next to `anyOf` or `$ref` and inside it.
    DropSharedAnnotation = "drop-shared-annotation", Resolve, SAME.guidance(Lost), [AnyOfShared, RefShared];
    /// Replaces a definition that is too large to be inlined everywhere with a schema that accepts anything.
    TruncateDefinition = "truncate-definition", Resolve, SAME.accepts(Wider).guidance(Lost),
        [RefusedKeyword, RefForm];
    /// Removes a definition that nothing refers to.
    PruneDefinition = "prune-definition", Resolve, SAME, [];

    // Legalize
    /// Adds `type: "object"` at the root: arguments are always an object.
    DeclareObject = "declare-object", Legalize, SAME, [RootObject, RootNotSchema];
    /// Merges the branches of the root's union into one object.
    FlattenRootUnion = "flatten-root-union", Legalize, SAME, [RootKeyword, RootObject];
    /// Replaces `patternProperties` with `additionalProperties` and lists the patterns in the description.
    PatternsToAdditional = "patterns-to-additional", Legalize, SAME, [RefusedKeyword];
    /// Replaces the schema `true` with an object schema.
    BooleanToAny = "boolean-to-any", Legalize, SAME, [NotASchema];
    /// Replaces the schema `false` with `{"not": {}}`.
    BooleanToNot = "boolean-to-not", Legalize, SAME, [NotASchema];
    /// Removes a keyword that the API refuses, and states it in the description if that helps.
    DropKeyword = "drop-keyword", Legalize, SAME,
        [RefusedKeyword, UnknownKeyword, RootKeyword, BesideOtherType, UnknownDraft, ObjectNotClosed, NotRequired,
            PropertyName, MaximumBelowMinimum];
    /// Removes a regular expression that the API's engine cannot compile.
    DropPattern = "drop-pattern", Legalize, SAME.accepts(Wider), [Pattern, PatternAnchors];
    /// Rewrites a regular expression with escapes that the API's engine knows.
    RespellPattern = "respell-pattern", Legalize, SAME, [Pattern, PatternAnchors];
    /// Removes a `format` that the API refuses.
    DropFormat = "drop-format", Legalize, SAME, [Format];
    /// Replaces an exclusive bound with an inclusive one.
    ExclusiveToInclusive = "exclusive-to-inclusive", Legalize, SAME, [RefusedKeyword];
    /// Lowers or removes a bound that is larger than the API accepts.
    ClampBound = "clamp-bound", Legalize, SAME.accepts(Wider), [KeywordTooLarge];
    /// Reports that `uniqueItems` is weaker for encoded items: equal items may be encoded in different ways.
    LoosenUniqueItems = "loosen-unique-items", Legalize, SAME.accepts(Wider), [];
    /// Rewrites a key of `patternProperties` that the API misreads.
    RewritePattern = "rewrite-pattern", Legalize, SAME, [SlashInDefinition];
    /// Renames a property whose name the API misreads or refuses.
    RenameProperty = "rename-property", Legalize, SAME.encoded(), [PropertyName, ReservedName, BracesInName];
    /// Removes a value with a `/` in a key, which the API mistakes for the path of a reference.
    DropSlashKey = "drop-slash-key", Legalize, SAME.guidance(Lost), [SlashInDefinition];
    /// Removes a value with a key called `$ref`, which the API mistakes for a reference.
    DropRefLikeKey = "drop-ref-like-key", Legalize, SAME.guidance(Lost), [RefPlace];
    /// Replaces `const` with an `enum` of one value.
    ConstToEnum = "const-to-enum", Legalize, SAME, [RefusedKeyword, EnumWithoutType, Untyped];
    /// Splits an `enum` of several types into one branch for each type.
    SplitEnum = "split-enum", Legalize, SAME, [EnumWithoutType, EnumKind, TypeList, Untyped];
    /// Removes an `enum`, or its values, of a type that the API does not accept in `enum`.
    DropEnumOfType = "drop-enum-of-type", Legalize, SAME, [EnumKind];
    /// Removes a value of an `enum` that `type` excludes.
    DropEnumValue = "drop-enum-value", Legalize, SAME, [EnumKind, EnumValue];
    /// Removes an `enum` with more values than the API accepts.
    DropLongEnum = "drop-long-enum", Legalize, SAME.accepts(Wider).guidance(Lost),
        [EnumTooLong, TooManyEnumValues, TooManyCharacters];
    /// Moves null to the front of a list of types if the API requires it there.
    MoveNullFirst = "move-null-first", Legalize, SAME, [EnumNullFirst];
    /// Lists integers, numbers and booleans as strings if the API accepts only strings.
    ScalarsToStrings = "scalars-to-strings", Legalize, SAME.encoded(), [EnumKind];
    /// Adds the type that values or keywords imply.
    InferType = "infer-type", Legalize, SAME, [Untyped, EnumWithoutType, EnumContradicts];
    /// Adds `type: "string"` if nothing implies a type and an option requests it.
    AssumeString = "assume-string", Legalize, SAME.accepts(Narrower), [Untyped];
    /// Replaces `additionalProperties: {}` with `true`.
    OpenMap = "open-map", Legalize, SAME, [Untyped];
    /// Replaces a schema that accepts anything with a union of all types.
    ExpandAny = "expand-any", Legalize, SAME, [Untyped, OpenItems];
    /// Encodes an object without properties as a string that contains JSON.
    ObjectToJson = "object-to-json", Legalize, SAME.accepts(Wider).encoded(), [ObjectWithoutProperties];
    /// Replaces null with `nullable: true`.
    NullToNullable = "null-to-nullable", Legalize, SAME, [TypeList, EnumKind];
    /// Adds `items` to an array that must have them.
    AddItems = "add-items", Legalize, SAME, [ArrayWithoutItems, OpenItems, ArrayOpenness];
    /// Replaces positional items with one schema for all of them.
    PrefixItemsToItems = "prefix-items-to-items", Legalize, SAME, [RefusedKeyword, ArrayItems];
    /// Adds `additionalProperties: true` if the API closes objects that do not declare it.
    DeclareOpen = "declare-open", Legalize, SAME, [ObjectOpenness, NotRequired];
    /// Replaces `oneOf` with `anyOf`.
    OneOfToAnyOf = "one-of-to-any-of", Legalize, SAME, [RefusedKeyword, RootKeyword];
    /// Merges the parts of `allOf` into the schema around them.
    MergeAllOf = "merge-all-of", Legalize, SAME, [RefusedKeyword, RootKeyword];
    /// Removes one of two keywords that the merged schema cannot express together.
    MergeConflict = "merge-conflict", Legalize, SAME.accepts(Wider).guidance(Lost), [];
    /// Merges schemas, one of which depends on its sibling keywords, so the result may accept something else.
    MergeInexact = "merge-inexact", Legalize, SAME.accepts(Mixed), [];
    /// Keeps one of two different annotations when schemas are merged.
    MergeAnnotations = "merge-annotations", Legalize, SAME.guidance(Lost), [];
    /// Distributes the keywords next to `anyOf` into its branches.
    DistributeIntoAnyOf = "distribute-into-any-of", Legalize, SAME, [BesideAnyOf, TypeBesideAnyOf, AnyOfShared];
    /// Replaces a union of one branch with the branch.
    UnwrapSingleBranch = "unwrap-single-branch", Legalize, SAME, [BesideAnyOf, TypeList];
    /// Moves annotations from next to `anyOf` into its branches.
    DistributeAnnotations = "distribute-annotations", Legalize, SAME.guidance(Moved), [BesideAnyOf, UntypedBranch];
    /// Removes a union with more branches than the API accepts.
    DropLongUnion = "drop-long-union", Legalize, SAME.accepts(Wider).guidance(Lost), [AnyOfSize];
    /// Removes an optional property that accepts no value.
    DropNeverProperty = "drop-never-property", Legalize, SAME, [RefusedKeyword, Untyped, NotASchema];
    /// Removes a branch that accepts nothing.
    DropImpossibleBranch = "drop-impossible-branch", Legalize, SAME, [];
    /// Splits a list of types into one branch for each type.
    SplitTypeList = "split-type-list", Legalize, SAME, [TypeList, BesideTypeList];
    /// Removes names from `required` that are not properties of the same schema.
    DropUnknownRequired = "drop-unknown-required", Legalize, SAME.accepts(Wider),
        [RequiredUnknown, RequiredWithoutProperties];

    // Encode
    /// Wraps the schema of a response format that is not an object in an object with one property.
    WrapRoot = "wrap-root", Encode, SAME.encoded(), [RootObject, RootKeyword];
    /// Declares a property that only `required` names if all names must be declared.
    DeclareRequiredProperty = "declare-required-property", Encode, SAME,
        [RequiredUnknown, RequiredWithoutProperties, NotRequired, ObjectNotClosed];
    /// Moves a property to the front, so that branches begin with different properties.
    ReorderProperties = "reorder-properties", Encode, SAME, [AnyOfFirstKeys];
    /// Merges branches that begin with the same property.
    MergeBranches = "merge-branches", Encode, SAME, [AnyOfFirstKeys];
    /// Makes an optional property required, and allows null for it.
    RequireOptional = "require-optional", Encode, SAME, [NotRequired];
    /// Adds an empty `required` to an object without properties.
    AddRequired = "add-required", Encode, SAME, [NotRequired];
    /// Closes an object that does not declare `additionalProperties`.
    CloseObject = "close-object", Encode, SAME.accepts(Closed), [ObjectNotClosed];
    /// Encodes an object with arbitrary property names as a list of key-value pairs.
    MapToPairs = "map-to-pairs", Encode, SAME.encoded(), [Map, ObjectNotClosed];
    /// Encodes a value of any type as a string that contains JSON.
    AnyToJson = "any-to-json", Encode, SAME.encoded(), [Untyped, OpenItems];
    /// Describes "any JSON" with a recursive definition.
    DefineAny = "define-any", Encode, SAME.encoded(), [Untyped, OpenItems];
    /// Replaces a branch that is a union with the branches of that union.
    FlattenUnion = "flatten-union", Encode, SAME, [UntypedBranch];
    /// Replaces a union that has a branch that accepts anything with that branch.
    CollapseAny = "collapse-any", Encode, SAME.guidance(Lost), [Untyped, OpenItems];
    /// Encodes values as strings that contain JSON if the API does not accept them in `enum`.
    ValuesToJson = "values-to-json", Encode, SAME.encoded(),
        [EnumKind, EnumValue, ObjectNotClosed, ObjectWithoutProperties, Untyped];

    // Fit
    /// Shortens descriptions until the schema fits.
    FitShortenDescription = "fit-shorten-description", Fit, SAME.guidance(Lost), [TooManyBytes];
    /// Removes annotations until the schema fits.
    FitDropKeyword = "fit-drop-keyword", Fit, SAME.guidance(Lost), [TooManyBytes];
    /// Removes constraints until the schema fits.
    FitDropConstraint = "fit-drop-constraint", Fit, SAME.accepts(Wider), [TooManyBytes];
    /// Replaces the deepest parts with a schema that accepts anything, until the schema fits.
    FitCutSchema = "fit-cut-schema", Fit, SAME.accepts(Wider).guidance(Lost),
        [TooDeep, TooManyProperties, TooManyBytes, TooManyCharacters];
    /// Removes references until no path through them nests too deeply.
    FitCutReference = "fit-cut-reference", Fit, SAME.accepts(Wider).guidance(Lost), [TooManyBytes, TooDeep];

    // Codex
    /// Codex replaces a boolean schema with one for strings.
    BooleanToString = "boolean-to-string", Codex, SAME.accepts(Narrower), [];
    /// Codex replaces a schema without a type with one that accepts anything.
    ClearUntyped = "clear-untyped", Codex, SAME.accepts(Wider).guidance(Lost), [];
    /// Codex drops a definitions table that is not an object.
    DropDefinitionsTable = "drop-definitions-table", Codex, SAME, [];
    /// Codex drops descriptions of a schema that is too large.
    CompactDescriptions = "compact-descriptions", Codex, SAME.guidance(Lost), [];
    /// Codex drops references of a schema that is too large.
    CompactReferences = "compact-references", Codex, SAME.guidance(Lost), [];
    /// Codex drops everything below two levels in a schema that is too large.
    CompactDepth = "compact-depth", Codex, SAME.accepts(Wider).guidance(Lost), [];
    /// Codex drops unions of a schema that is too large.
    CompactCombinators = "compact-combinators", Codex, SAME.accepts(Wider).guidance(Lost), [];

    // List
    /// Renames a tool whose name the API refuses.
    RenameTool = "rename-tool", List, SAME, [];
    /// Renames a definition of a tool, because another tool has a different definition with the same name.
    RenameDefinition = "rename-definition", List, SAME, [];
    /// Replaces a schema that cannot be represented with one that accepts any object.
    Fallback = "fallback", List, SAME.accepts(Wider).guidance(Lost), [];
    /// Removes the `outputSchema` of an MCP tool, because a client would refuse it, and with it the tool or the server.
    DropOutputSchema = "drop-output-schema", List, SAME.guidance(Lost), [];
    /// Removes an `x-mcp-header` for which a client would drop the tool.
    DropMcpHeader = "drop-mcp-header", List, SAME.guidance(Lost), [];
    /// Gives a response format a name that the API accepts.
    RenameFormat = "rename-format", List, SAME, [];
    /// Sends a response format as the arguments of a function that the model has to call.
    FormatAsTool = "format-as-tool", List, SAME, [];
    /// Moves the schema of a response format to the instructions.
    FormatInPrompt = "format-in-prompt", List, SAME.accepts(Wider).guidance(Moved), [];
    /// Sets or removes the flag `strict`, as the dialect requires.
    StrictFlag = "strict-flag", List, SAME, [];
    /// Sends a tool or a response format without strict mode, so that the API does not enforce its schema.
    NotStrict = "not-strict", List, SAME, [];
    /// Adds a schema to a tool without one: the tool has no arguments.
    AddSchema = "add-schema", List, SAME, [];
    /// Omits the schema of a tool without arguments.
    OmitArguments = "omit-arguments", List, SAME, [];
    /// Accepts text for numbers and booleans, and null for optional properties, as the option `lenientTypes` demands.
    AdmitText = "admit-text", List, SAME.accepts(Wider), [];
    /// Rewrites the examples of a tool as its arguments are rewritten, or removes one that the new schema refuses.
    RewriteExamples = "rewrite-examples", List, SAME, [];
    /// Removes a description that is not a string.
    DropDescription = "drop-description", List, SAME, [];
    /// Shortens a tool's description to the length that the API accepts.
    CutDescription = "cut-description", List, SAME.guidance(Lost), [];
}
