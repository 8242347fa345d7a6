//! Advice for the author of a server about each rule, by the rule's name.

pub(crate) fn advice(rule: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(known, _)| *known == rule).map(|(_, advice)| *advice)
}

/// Advice for all constraints that real tools violate, and for related ones, in the order of `Constraint`.
const ADVICE: &[(&str, &str)] = &[
    ("root-not-schema", "Publish an object as `inputSchema`, with `type: \"object\"`."),
    ("root-object", "Write `type: \"object\"` at the root; move a union from the root into a property."),
    ("unknown-type", "Use the seven type names of JSON Schema."),
    ("beside-type-list", "Write one `anyOf` with a branch for each type, and each keyword in the branch that it \
    applies to."),
    ("beside-other-type", "Remove object keywords next to another `type`: they have no effect."),
    ("empty-schema", "Give `{}` a description, or a type."),
    ("untyped-branch", "Move the branches of a nested union into the outer one."),
    ("unknown-draft", "Omit `$schema`, or name draft 7."),
    ("type-beside-any-of", "Move `type` into the branches."),
    ("type-beside-ref", "Move `type` into the definition."),
    ("enum-empty", "Remove the `enum`, or the property: an empty list of values accepts nothing."),
    ("enum-too-long", "Use a string, and name the values in the description or offer a tool that lists them."),
    ("enum-without-type", "Write the `type` of the values next to `enum`."),
    ("enum-type-list", "Write `anyOf` with one branch for the values and one for `null`."),
    ("enum-value", "Keep only values that the sibling `type` accepts."),
    ("enum-null-first", "Write `null` as a separate branch."),
    ("not-a-schema", "Write a schema wherever one belongs: an object, not `true`, if an API requires objects."),
    ("array-items", "Describe positions with `prefixItems`, or all items with one schema."),
    ("items-not-schema", "Write one schema as `items`."),
    ("additional-properties-not-schema", "Write `true`, `false` or a schema."),
    ("required-unknown", "Name in `required` only properties of the same object."),
    ("any-of-shared", "Write each keyword either next to `anyOf` or in the branches."),
    ("any-of-size", "Keep at least one branch, and few in total; write a single branch without `anyOf`."),
    ("definition-name", "Name definitions with letters, digits and `_`."),
    ("ref-form", "Refer only to `#/$defs/name`."),
    ("ref-target", "Point every `$ref` to a definition in the same schema."),
    ("ref-place", "Inline the definition: schema generators have an option for that."),
    ("ref-shared", "Write each keyword either next to `$ref` or in the definition."),
    ("ref-any-of", "Put the `$ref` into a branch of the `anyOf`."),
    ("endless-recursion", "Let recursion end: make the recursive property optional, or accept `null`."),
    ("left-recursion", "Leave a union out of its own branches."),
    ("root-keyword", "Move unions and conditions from the root into a property, or split the tool."),
    (
        "refused-keyword",
        "Remove keywords that only constrain values (lengths, ranges, patterns): state them in the description, and check them \
            on the server. They are listed below.",
    ),
    ("unknown-keyword", "Remove custom keys, or move them to the tool's `_meta`."),
    ("keyword-value", "Validate the schema against the meta-schema of its draft."),
    ("keyword-too-large", "Lower the number, or omit it: the server checks it anyway."),
    ("type-list", "Omit an optional property from `required` rather than accept `null`; write other lists of types as `anyOf`."),
    ("untyped", "Write the `type` of every schema, including `items`; for arbitrary values, use JSON text in a \
    string."),
    ("enum-kind", "List only strings."),
    ("enum-contradicts", "Write the `type` that the values have."),
    (
        "object-without-properties",
        "List the properties of every object; for arbitrary names, use a list of names and values, or JSON text.",
    ),
    ("object-not-closed", "Strict modes require it: write `additionalProperties: false` into every object whose properties are all listed, unless the tool is for APIs that refuse the keyword."),
    ("object-openness", "Write `additionalProperties`, either `true` or `false`."),
    ("map", "Use a list of names and values instead of an object with arbitrary names."),
    (
        "not-required",
        "Strict modes require it: if a property need not be optional, give it a default and name it in \
            `required`. Leave truly optional properties to `sanitize`, which encodes them.",
    ),
    ("array-without-items", "Describe the items of an array with `items`."),
    ("open-items", "Give `items` a `type`."),
    ("pattern", "Write it without lookaround and backreferences, or describe it in the description."),
    ("format", "Name it in the description, with or without the keyword: no format is supported everywhere."),
    ("beside-ref", "Write a description into the definition, not next to the `$ref`."),
    (
        "beside-any-of",
        "Write an optional property without `anyOf` and `null`; if an `anyOf` is necessary, move descriptions and defaults into its branches.",
    ),
    ("any-of-first-keys", "Begin the branches with properties of different names."),
    ("property-name", "Name properties with at most 64 letters, digits and `_`, beginning with a letter."),
    ("recursion", "Nest only as deeply as needed, or use a flat list whose entries name their parents."),
    ("number-range", "Write numbers that a 64-bit float can represent."),
    ("too-many-bytes", "Split the tool, or remove repetitions, starting with descriptions."),
    ("too-deep", "Nest less: move inner objects up, or split the tool."),
    ("too-many-enum-values", "If the list is long, use strings and offer a tool that lists the values."),
    ("too-many-characters", "Shorten names and values, or use strings if the list is long."),
    ("too-many-properties", "Split the tool."),
];
