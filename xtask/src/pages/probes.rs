//! One small schema per keyword, for which the pages of the dialects show the results of `check` and `sanitize`.

/// Keywords, each with a schema of a property that contains it. The schemas are JSON text, which fixes the order of
/// keys.
pub(crate) const IN_A_PROPERTY: &[(&str, &str)] = &[
    ("no `type`: `{}`", r#"{}"#),
    ("`true`", r#"true"#),
    ("`false`", r#"false"#),
    ("`type` as a list", r#"{"type":["string","integer"]}"#),
    ("`type` with null", r#"{"type":["string","null"]}"#),
    ("`nullable`", r#"{"type":"string","nullable":true}"#),
    ("`enum` of strings", r#"{"type":"string","enum":["a","b"]}"#),
    ("`enum` without `type`", r#"{"enum":["a","b"]}"#),
    ("`enum` of integers", r#"{"type":"integer","enum":[1,2]}"#),
    ("`enum` of several types", r#"{"enum":["a",1,null]}"#),
    ("`const`", r#"{"const":"a"}"#),
    ("`title`", r#"{"type":"string","title":"Name"}"#),
    ("`description`", r#"{"type":"string","description":"A name."}"#),
    ("`default`", r#"{"type":"string","default":"a"}"#),
    ("`examples`", r#"{"type":"string","examples":["a"]}"#),
    ("`format: \"date-time\"`", r#"{"type":"string","format":"date-time"}"#),
    ("`format: \"uri\"`", r#"{"type":"string","format":"uri"}"#),
    ("`pattern`", r#"{"type":"string","pattern":"^[a-z]+$"}"#),
    ("`pattern` with a lookahead", r#"{"type":"string","pattern":"^(?=.*[0-9]).+$"}"#),
    ("`minLength`, `maxLength`", r#"{"type":"string","minLength":1,"maxLength":9}"#),
    ("`minimum`, `maximum`", r#"{"type":"integer","minimum":1,"maximum":9}"#),
    ("`exclusiveMinimum`", r#"{"type":"integer","exclusiveMinimum":0}"#),
    ("`exclusiveMinimum: true` (draft 4)", r#"{"type":"integer","minimum":0,"exclusiveMinimum":true}"#),
    ("`multipleOf`", r#"{"type":"integer","multipleOf":5}"#),
    ("object without `properties`", r#"{"type":"object"}"#),
    (
        "optional properties",
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}"#,
    ),
    (
        "`additionalProperties: false`",
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#,
    ),
    ("`additionalProperties` with a schema", r#"{"type":"object","additionalProperties":{"type":"integer"}}"#),
    ("`patternProperties`", r#"{"type":"object","patternProperties":{"^x-":{"type":"string"}}}"#),
    (
        "`propertyNames`",
        r#"{"type":"object","additionalProperties":{"type":"string"},"propertyNames":{"pattern":"^x"}}"#,
    ),
    ("`minProperties`", r#"{"type":"object","properties":{"a":{"type":"string"}},"minProperties":1}"#),
    (
        "`dependentRequired`",
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"dependentRequired":{"a":["b"]}}"#,
    ),
    ("`required` of an unknown name", r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}"#),
    ("array without `items`", r#"{"type":"array"}"#),
    ("`items`", r#"{"type":"array","items":{"type":"string"}}"#),
    ("`minItems`, `maxItems`", r#"{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":9}"#),
    ("`uniqueItems`", r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#),
    ("`prefixItems`", r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}]}"#),
    ("`items` as a list (draft 7)", r#"{"type":"array","items":[{"type":"string"},{"type":"integer"}]}"#),
    ("`contains`", r#"{"type":"array","items":{"type":"string"},"contains":{"const":"a"}}"#),
    ("`anyOf`", r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#),
    ("`anyOf` next to `type`", r#"{"type":"string","anyOf":[{"minLength":3},{"pattern":"^x"}]}"#),
    ("`oneOf` of different types", r#"{"oneOf":[{"type":"string"},{"type":"integer"}]}"#),
    ("`oneOf` that may overlap", r#"{"oneOf":[{"type":"number"},{"type":"integer"}]}"#),
    ("`allOf`", r#"{"allOf":[{"type":"string"},{"minLength":3}]}"#),
    ("`not`", r#"{"type":"string","not":{"const":"a"}}"#),
    ("`if`, `then`", r#"{"type":"string","if":{"minLength":3},"then":{"pattern":"^x"}}"#),
    ("an unknown keyword", r#"{"type":"string","x-order":1}"#),
];

/// Keywords, each with the schema of a property and the definitions under the root's `$defs`.
pub(crate) const BY_REFERENCE: &[(&str, &str, &str)] = &[
    ("`$ref` to `$defs`", r##"{"$ref":"#/$defs/Name"}"##, r#"{"Name":{"type":"string"}}"#),
    (
        "`description` next to `$ref`",
        r##"{"$ref":"#/$defs/Name","description":"Whose."}"##,
        r#"{"Name":{"type":"string"}}"#,
    ),
    (
        "recursion",
        r##"{"$ref":"#/$defs/Node"}"##,
        r##"{"Node":{"type":"object","properties":{"value":{"type":"string"},"next":{"$ref":"#/$defs/Node"}},"required":["value"]}}"##,
    ),
    ("`$ref` without a target", r##"{"$ref":"#/$defs/Gone"}"##, r#"{}"#),
];

pub(crate) const AT_THE_ROOT: &[(&str, &str)] = &[
    ("`{}`", r#"{}"#),
    ("no `properties`", r#"{"type":"object"}"#),
    ("no `type`", r#"{"properties":{"a":{"type":"string"}},"required":["a"]}"#),
    (
        "`anyOf` of `required`",
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}"#,
    ),
    (
        "`oneOf` of objects",
        r#"{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"string"}},"required":["kind","x"]},{"type":"object","properties":{"kind":{"const":"b"},"y":{"type":"string"}},"required":["kind","y"]}]}"#,
    ),
    (
        "`allOf`",
        r#"{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}]}"#,
    ),
    (
        "`$ref`",
        r##"{"$ref":"#/$defs/In","$defs":{"In":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}"##,
    ),
    (
        "`$schema`",
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#,
    ),
    ("a property named `$ref`", r#"{"type":"object","properties":{"$ref":{"type":"string"}},"required":["$ref"]}"#),
    (
        "a property with a space",
        r#"{"type":"object","properties":{"my name":{"type":"string"}},"required":["my name"]}"#,
    ),
    ("a type other than object", r#"{"type":"string"}"#),
];

/// A typical published tool: one schema that contains most of the constructs that some dialect must rewrite.
pub(crate) const TOOL: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "title": {"type": "string", "minLength": 1, "description": "The title of the task."},
    "due": {"type": ["string", "null"], "format": "date-time"},
    "priority": {"type": "integer", "enum": [1, 2, 3], "default": 2},
    "state": {"const": "open"},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "parent": {"$ref": "#/$defs/Task", "description": "The parent task."}
  },
  "required": ["title"],
  "$defs": {
    "Task": {
      "type": "object",
      "properties": {"id": {"type": "string", "pattern": "^T-[0-9]+$"}, "parent": {"$ref": "#/$defs/Task"}},
      "required": ["id"]
    }
  }
}"##;
