//! The advice about a constraint, in the syntax of the libraries that generate most tools' schemas.
//!
//! Statements about the output of zod and pydantic come from runs of zod 4.6 (`z.toJSONSchema`) and pydantic 2.14
//! (`model_json_schema`) on 2026-11-27. Statements about Go were derived from the source of google/jsonschema-go
//! (`infer.go`), which MCP's official Go SDK uses.

use toolwire::rules::Constraint;

pub(crate) struct InCode {
    constraints: &'static [Constraint],
    pub(crate) zod: &'static str,
    pub(crate) pydantic: &'static str,
    pub(crate) go: &'static str,
}

const IN_CODE: &[InCode] = &[
    InCode {
        constraints: &[Constraint::ArrayItems],
        zod: "`z.toJSONSchema(schema, { target: \"draft-2020-12\" })` writes tuples as `prefixItems`; for one kind \
            of item, use `z.array(item).length(2)`",
        pydantic: "`tuple[int, str]` is written as `prefixItems`; for one kind of item, use `Annotated[list[int], \
            Field(min_length=2, max_length=2)]`",
        go: "`[2]float64` is written as one schema in `items`",
    },
    InCode {
        constraints: &[Constraint::ArrayWithoutItems, Constraint::OpenItems, Constraint::Untyped],
        zod: "`z.array(z.string())` instead of `z.array(z.any())`; a type instead of `z.any()` and `z.unknown()`",
        pydantic: "`list[str]` instead of `list` and `list[Any]`; a type instead of `Any` and `JsonValue`",
        go: "`[]string` instead of `[]any`; a type instead of `any`",
    },
    InCode {
        constraints: &[
            Constraint::EnumWithoutType,
            Constraint::EnumKind,
            Constraint::EnumTypeList,
            Constraint::EnumContradicts,
        ],
        zod: "`z.enum([\"a\", \"b\"])`, or `.nullable()` on it, instead of `z.literal([\"a\", 1, null])`",
        pydantic: "`Literal[\"a\", \"b\"]`, or `| None` next to it, instead of values of several types; `class \
            Mode(str, Enum)` instead of `class Mode(Enum)` with other values",
        go: "`jsonschema.ForOptions{TypeSchemas: …}` with `Type: \"string\"` next to `Enum`",
    },
    InCode {
        constraints: &[
            Constraint::RefForm,
            Constraint::RefPlace,
            Constraint::BesideRef,
            Constraint::RefShared,
            Constraint::RefAnyOf,
        ],
        zod: "`z.toJSONSchema(schema, { reused: \"inline\" })`, the default, writes references only for recursion \
            and for schemas with an `id`",
        pydantic: "every model and `Enum` is a reference to `#/$defs/`; write the `description` in the model (its \
            docstring), not in `Field` of the member that refers to it",
        go: "`jsonschema.For` writes no references",
    },
    InCode {
        constraints: &[Constraint::Recursion, Constraint::EndlessRecursion],
        zod: "no getters that refer to the schema itself, and no `z.json()`; write out the levels",
        pydantic: "no model with a member of its own type; write out the levels",
        go: "`jsonschema.For` fails for recursive types; write out the levels",
    },
    InCode {
        constraints: &[Constraint::Map],
        zod: "`z.array(z.object({ key: z.string(), value: z.number() }))` instead of `z.record(z.string(), \
            z.number())`",
        pydantic: "`list[Entry]` with a model `Entry` of `key` and `value`, instead of `dict[str, int]`",
        go: "a slice of structs with `Key` and `Value` instead of `map[string]int`",
    },
    InCode {
        constraints: &[Constraint::ObjectNotClosed, Constraint::ObjectOpenness],
        zod: "`z.strictObject({…})`; `z.looseObject({…})` declares the opposite",
        pydantic: "`model_config = ConfigDict(extra=\"forbid\")`; `extra=\"allow\"` declares the opposite",
        go: "structs are closed by default",
    },
    InCode {
        constraints: &[Constraint::NotRequired],
        zod: "`.nullable()` instead of `.optional()`; the handler receives null",
        pydantic: "`int | None` without a default instead of `int | None = None`",
        go: "a pointer without `omitempty` and `omitzero`: `Limit *int` with the tag `json:\"limit\"`",
    },
    InCode {
        constraints: &[Constraint::TypeList, Constraint::BesideTypeList, Constraint::EnumNullFirst],
        zod: "`.optional()` instead of `.nullable()` and `.nullish()`, if the handler treats both alike",
        pydantic: "unions are written as `anyOf`; for one type, give the member a default instead of `| None`",
        go: "a value with `omitempty` instead of a pointer, which also accepts null",
    },
    InCode {
        constraints: &[Constraint::RootObject, Constraint::RootKeyword, Constraint::RootNotSchema],
        zod: "`z.object({ request: z.union([…]) })` instead of a union at the root",
        pydantic: "a model with one member that is the union, instead of `RootModel[A | B]`",
        go: "a struct with one member for each case",
    },
    InCode {
        constraints: &[Constraint::ObjectWithoutProperties],
        zod: "`z.object({…})` with the members instead of `z.record(…)`",
        pydantic: "a model instead of `dict`",
        go: "a struct instead of `map[string]any`",
    },
    InCode {
        constraints: &[Constraint::Pattern, Constraint::PatternAnchors, Constraint::PatternNotEnforced],
        zod: "`.regex(…)` with plain syntax; `z.email()` and `z.iso.datetime()` write long patterns, which `override: \
            ({ jsonSchema }) => { delete jsonSchema.pattern; }` removes",
        pydantic: "`Field(pattern=…)` with plain syntax; check the rest in a `field_validator`, which is not part of \
            the schema",
        go: "set the schema's `Pattern` with plain syntax; check the rest in the handler",
    },
    InCode {
        constraints: &[Constraint::Format],
        zod: "`z.string().describe(\"…\")` instead of `z.email()`, and the check in the handler",
        pydantic: "`Annotated[datetime, WithJsonSchema({\"type\": \"string\", \"description\": \"…\"})]`",
        go: "`time.Time` is written without `format`",
    },
    InCode {
        constraints: &[Constraint::RefusedKeyword, Constraint::UnknownKeyword, Constraint::BesideAnyOf],
        zod: "`z.union` instead of `z.discriminatedUnion`, which is written as `oneOf`; `z.enum([\"a\"])` instead of \
            `z.literal(\"a\")`, which is written as `const`; otherwise `z.toJSONSchema(schema, { override })`",
        pydantic: "`A | B` without `Field(discriminator=…)`, which is written as `oneOf`; otherwise \
            `Field(json_schema_extra=…)`, or a subclass of `GenerateJsonSchema`",
        go: "change the schema that `jsonschema.For` returns, or pass it in `TypeSchemas`",
    },
    InCode {
        constraints: &[Constraint::UnknownDraft],
        zod: "`z.toJSONSchema(schema, { target: \"draft-7\" })`, or remove `$schema`",
        pydantic: "`model_json_schema()` writes no `$schema`",
        go: "`jsonschema.For` writes no `$schema`",
    },
    InCode {
        constraints: &[Constraint::PropertyName, Constraint::ReservedName, Constraint::BracesInName],
        zod: "rename the key of `z.object`",
        pydantic: "`Field(alias=\"user_id\")`, which is the name in the schema",
        go: "the name in the tag: `json:\"user_id\"`",
    },
];

/// Returns the advice about a constraint; `None` if no library causes its findings.
pub(crate) fn in_code(constraint: Constraint) -> Option<&'static InCode> {
    IN_CODE.iter().find(|row| row.constraints.contains(&constraint))
}
