//! A grammar of schemas, biased to what breaks things: references of every kind and place, `allOf` around references, unions within
//! unions, `not`, `if`, tuples, definitions that only refer, malformed keywords, names like keywords, anchors, identifiers.

use std::fmt::Write as _;

use arbitrary::{Result, Unstructured};

/// Names of properties and definitions, many of them awkward.
const NAMES: [&str; 26] = [
    "a", "b", "c", "D", "m", "type", "$ref", "enum", "properties", "required", "anyOf", "0", "1", "a/b", "x~y", "__proto__", "constructor",
    "{x}", "é", "key", "value", "additional_properties", "pairs", "", "A long name with blanks", "$defs",
];

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// Where references lead, or do not.
const REFERENCES: [&str; 22] = [
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/$defs/D",
    "#/$defs/m",
    "#/definitions/a",
    "#/definitions/D",
    "#/definitions/m",
    "#/properties/a",
    "#/properties/b/items",
    "#/properties/a/anyOf/0",
    "#/$defs/D/properties/a",
    "#/$defs/m/allOf/0",
    "#here",
    "#/components/schemas/a",
    "#/components/schemas/D",
    "item.json",
    "https://example.com/item.json#/$defs/a",
    "#/$defs/a~1b",
    "#/$defs/missing",
    "",
    "#/$defs/%7Bx%7D",
];

const TEXTS: [&str; 8] = ["x", "The unit.", "\\u00e9t\\u00e9", "é", "(enum: [1])", "line\\nbreak", "", "\\\"quoted\\\""];

const NUMBERS: [&str; 14] = ["0", "1", "2", "-1", "3", "1.0", "1e2", "0.5", "-0", "1e400", "18446744073709551616", "100000", "1.50", "7"];

const PATTERNS: [&str; 8] = ["^a", "^x-", ".*", "^[a-z]+$", "(?=a)", "\\\\p{L}", "a/b", "("];

const FORMATS: [&str; 6] = ["date-time", "email", "uri", "int64", "enum", "odd"];

/// What is said of one schema, by a weight each.
struct Writer<'u, 'd> {
    data: &'u mut Unstructured<'d>,
    out: String,
    /// How many schemas may still be written.
    left: usize,
}

/// The text of a schema.
///
/// # Errors
/// None in practice: where the data ends, everything is the first choice.
pub(crate) fn schema(data: &mut Unstructured<'_>) -> Result<String> {
    let mut writer = Writer { data, out: String::new(), left: 28 };
    writer.root()?;
    Ok(writer.out)
}

/// The text of a JSON value, of any kind.
///
/// # Errors
/// As [`schema`].
pub(crate) fn value(data: &mut Unstructured<'_>) -> Result<String> {
    let mut writer = Writer { data, out: String::new(), left: 12 };
    writer.value(4)?;
    Ok(writer.out)
}

/// A name, as it stands between quotes.
///
/// # Errors
/// As [`schema`].
pub(crate) fn name(data: &mut Unstructured<'_>) -> Result<&'static str> {
    data.choose(&NAMES).copied()
}

impl Writer<'_, '_> {
    fn one_in(&mut self, sides: u8) -> Result<bool> {
        self.data.ratio(1_u8, sides)
    }

    fn pick(&mut self, of: &[&'static str]) -> Result<&'static str> {
        self.data.choose(of).copied()
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// A root: mostly an object with properties and definitions.
    fn root(&mut self) -> Result<()> {
        if self.one_in(12)? {
            return self.schema(5);
        }
        let mut members: Vec<u8> = Vec::new();
        self.put("{");
        if self.one_in(8)? {
            let draft = self.pick(&[
                "http://json-schema.org/draft-07/schema#",
                "http://json-schema.org/draft-04/schema#",
                "https://json-schema.org/draft/2019-09/schema",
                "https://json-schema.org/draft/2020-12/schema",
            ])?;
            self.member(&mut members, "$schema");
            let _ = write!(self.out, "\"{draft}\"");
        }
        if self.one_in(10)? {
            self.member(&mut members, "$id");
            self.put("\"https://example.com/item.json\"");
        }
        if !self.one_in(4)? {
            self.member(&mut members, "type");
            self.put("\"object\"");
        }
        if !self.one_in(5)? {
            self.member(&mut members, "properties");
            self.table(4)?;
        }
        if self.one_in(3)? {
            self.member(&mut members, "required");
            self.names()?;
        }
        let more = self.data.int_in_range(0..=3)?;
        for _ in 0..more {
            self.keyword(&mut members, 4)?;
        }
        for (table, chance) in [("$defs", 2), ("definitions", 3)] {
            if self.one_in(chance)? {
                self.member(&mut members, table);
                self.definitions()?;
            }
        }
        if self.one_in(12)? {
            self.member(&mut members, "components");
            self.put("{\"schemas\":");
            self.definitions()?;
            self.put("}");
        }
        self.put("}");
        Ok(())
    }

    /// Begins a member; `members` only knows how many there are.
    fn member(&mut self, members: &mut Vec<u8>, name: &str) {
        if !members.is_empty() {
            self.put(",");
        }
        members.push(0);
        let _ = write!(self.out, "\"{name}\":");
    }

    fn definitions(&mut self) -> Result<()> {
        let count = self.data.int_in_range(1..=3)?;
        self.put("{");
        for at in 0..count {
            if at > 0 {
                self.put(",");
            }
            let name = self.pick(&["a", "D", "m", "b", "a/b", "1", "{x}", "properties", ""])?;
            let _ = write!(self.out, "\"{name}\":");
            // A definition may only refer to another.
            if self.one_in(4)? {
                self.reference()?;
            } else {
                self.schema(4)?;
            }
        }
        self.put("}");
        Ok(())
    }

    fn reference(&mut self) -> Result<()> {
        let target = self.pick(&REFERENCES)?;
        let keyword = if self.one_in(12)? { self.pick(&["$dynamicRef", "$recursiveRef"])? } else { "$ref" };
        let _ = write!(self.out, "{{\"{keyword}\":\"{target}\"");
        if self.one_in(4)? {
            self.put(",\"description\":\"what it is\"");
        }
        if self.one_in(8)? {
            self.put(",");
            self.out.push_str("\"minLength\":1");
        }
        self.put("}");
        Ok(())
    }

    fn table(&mut self, depth: usize) -> Result<()> {
        let count = self.data.int_in_range(0..=3)?;
        self.put("{");
        for at in 0..count {
            if at > 0 {
                self.put(",");
            }
            let name = if self.one_in(3)? { self.pick(&NAMES)? } else { self.pick(&NAMES[..4])? };
            let _ = write!(self.out, "\"{name}\":");
            self.schema(depth)?;
        }
        self.put("}");
        Ok(())
    }

    fn names(&mut self) -> Result<()> {
        let count = self.data.int_in_range(0..=3)?;
        self.put("[");
        for at in 0..count {
            if at > 0 {
                self.put(",");
            }
            let name = if self.one_in(3)? { self.pick(&NAMES)? } else { self.pick(&NAMES[..4])? };
            let _ = write!(self.out, "\"{name}\"");
        }
        self.put("]");
        Ok(())
    }

    fn list(&mut self, depth: usize) -> Result<()> {
        let count = self.data.int_in_range(1..=3)?;
        self.put("[");
        for at in 0..count {
            if at > 0 {
                self.put(",");
            }
            self.schema(depth)?;
        }
        self.put("]");
        Ok(())
    }

    fn schema(&mut self, depth: usize) -> Result<()> {
        let Some(left) = self.left.checked_sub(1).filter(|_| depth > 0) else {
            self.put("{\"type\":\"string\"}");
            return Ok(());
        };
        self.left = left;
        match self.data.int_in_range(0..=15)? {
            0 => self.put("{}"),
            1 => {
                let word = self.pick(&["true", "false"])?;
                self.put(word);
            }
            2..=4 => self.reference()?,
            5 if self.one_in(4)? => self.value(2)?,
            5 | 6 => {
                let name = self.pick(&TYPES)?;
                let _ = write!(self.out, "{{\"type\":\"{name}\"}}");
            }
            7 => {
                self.put("{\"allOf\":[");
                self.reference()?;
                self.put("]}");
            }
            _ => {
                let mut members = Vec::new();
                self.put("{");
                if !self.one_in(3)? {
                    self.member(&mut members, "type");
                    self.types()?;
                }
                let count = self.data.int_in_range(0..=3)?;
                for _ in 0..count {
                    self.keyword(&mut members, depth)?;
                }
                self.put("}");
            }
        }
        Ok(())
    }

    fn types(&mut self) -> Result<()> {
        match self.data.int_in_range(0..=9)? {
            0 => self.put("[\"string\",\"null\"]"),
            1 => self.put("[\"object\",\"array\",\"null\"]"),
            2 => self.put("[\"integer\",\"number\",\"string\"]"),
            3 => {
                let word = self.pick(&["\"any\"", "\"int\"", "[]", "null", "{}", "[\"string\",\"string\"]", "\"Object\"", "[\"null\"]"])?;
                self.put(word);
            }
            _ => {
                let name = self.pick(&TYPES)?;
                let _ = write!(self.out, "\"{name}\"");
            }
        }
        Ok(())
    }

    /// A keyword with a value that fits, and sometimes one that does not. It may stand there already: then the last one counts.
    fn keyword(&mut self, members: &mut Vec<u8>, depth: usize) -> Result<()> {
        let below = depth.saturating_sub(1);
        let malformed = self.one_in(16)?;
        let mut named = |writer: &mut Self, name: &str| writer.member(members, name);
        match self.data.int_in_range(0..=36)? {
            0 | 1 => named(self, "properties"),
            2 => named(self, "required"),
            3 => named(self, "items"),
            4 => named(self, "additionalProperties"),
            5 | 6 => named(self, "anyOf"),
            7 => named(self, "oneOf"),
            8 | 9 => named(self, "allOf"),
            10 => named(self, "not"),
            11 => named(self, "if"),
            12 => named(self, "then"),
            13 => named(self, "else"),
            14 | 15 => named(self, "enum"),
            16 => named(self, "const"),
            17 => named(self, "prefixItems"),
            18 => named(self, "patternProperties"),
            19 => named(self, "propertyNames"),
            20 => named(self, "contains"),
            21 => named(self, "unevaluatedProperties"),
            22 => named(self, "unevaluatedItems"),
            23 => named(self, "dependentSchemas"),
            24 => named(self, "dependentRequired"),
            25 => named(self, "nullable"),
            26 => named(self, "description"),
            27 => named(self, "default"),
            28 => named(self, "$ref"),
            29 => named(self, "pattern"),
            30 => named(self, "format"),
            31 | 32 => {
                let bounds = [
                    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems",
                    "minProperties", "maxProperties", "multipleOf", "minContains", "maxContains",
                ];
                let bound = self.pick(&bounds)?;
                named(self, bound);
            }
            33 => {
                let text = self.pick(&["title", "$comment", "x-unknown", "example", "deprecated", "examples", "uniqueItems"])?;
                named(self, text);
            }
            34 => {
                let identifier = self.pick(&["$anchor", "$dynamicAnchor", "$id", "id", "$recursiveAnchor"])?;
                named(self, identifier);
            }
            35 => named(self, "dependencies"),
            _ => {
                let table = self.pick(&["$defs", "definitions", "additionalItems", "contentSchema"])?;
                named(self, table);
            }
        }
        if malformed {
            return self.value(2);
        }
        // What was just begun decides what follows.
        let begun = self.out.trim_end_matches(':').trim_end_matches('"').rsplit('"').next().unwrap_or_default().to_string();
        match begun.as_str() {
            "properties" | "$defs" | "definitions" | "dependentSchemas" => self.table(below),
            "required" => self.names(),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => self.list(below),
            "items" if self.one_in(5)? => self.list(below),
            "items" | "additionalProperties" | "not" | "if" | "then" | "else" | "propertyNames" | "contains" | "unevaluatedProperties"
            | "unevaluatedItems" | "additionalItems" | "contentSchema" => self.schema(below),
            "enum" => self.values(),
            "const" | "default" | "example" | "x-unknown" => self.value(2),
            "patternProperties" => {
                let pattern = self.pick(&PATTERNS)?;
                let _ = write!(self.out, "{{\"{pattern}\":");
                self.schema(below)?;
                self.put("}");
                Ok(())
            }
            "dependentRequired" => {
                let name = self.pick(&NAMES[..4])?;
                let _ = write!(self.out, "{{\"{name}\":");
                self.names()?;
                self.put("}");
                Ok(())
            }
            "dependencies" => {
                let name = self.pick(&NAMES[..4])?;
                let _ = write!(self.out, "{{\"{name}\":");
                if self.one_in(2)? {
                    self.names()?;
                } else {
                    self.schema(below)?;
                }
                self.put("}");
                Ok(())
            }
            "nullable" | "uniqueItems" | "deprecated" | "$recursiveAnchor" => {
                let word = self.pick(&["true", "false"])?;
                self.put(word);
                Ok(())
            }
            "examples" => self.values(),
            "description" | "title" | "$comment" => {
                let text = self.pick(&TEXTS)?;
                let _ = write!(self.out, "\"{text}\"");
                Ok(())
            }
            "$ref" => {
                let target = self.pick(&REFERENCES)?;
                let _ = write!(self.out, "\"{target}\"");
                Ok(())
            }
            "pattern" => {
                let pattern = self.pick(&PATTERNS)?;
                let _ = write!(self.out, "\"{pattern}\"");
                Ok(())
            }
            "format" => {
                let format = self.pick(&FORMATS)?;
                let _ = write!(self.out, "\"{format}\"");
                Ok(())
            }
            "$anchor" | "$dynamicAnchor" => {
                self.put("\"here\"");
                Ok(())
            }
            "$id" | "id" => {
                let id = self.pick(&["item.json", "#here", "https://example.com/item.json"])?;
                let _ = write!(self.out, "\"{id}\"");
                Ok(())
            }
            _ => {
                let number = self.pick(&NUMBERS)?;
                self.put(number);
                Ok(())
            }
        }
    }

    fn values(&mut self) -> Result<()> {
        let count = self.data.int_in_range(0..=4)?;
        self.put("[");
        for at in 0..count {
            if at > 0 {
                self.put(",");
            }
            self.value(2)?;
        }
        self.put("]");
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<()> {
        match self.data.int_in_range(0..=if depth == 0 { 5 } else { 9 })? {
            0 => self.put("null"),
            1 => {
                let word = self.pick(&["true", "false"])?;
                self.put(word);
            }
            2 | 3 => {
                let number = self.pick(&NUMBERS)?;
                self.put(number);
            }
            4 => {
                let name = self.pick(&NAMES)?;
                let _ = write!(self.out, "\"{name}\"");
            }
            5 => {
                let text = self.pick(&TEXTS)?;
                let _ = write!(self.out, "\"{text}\"");
            }
            6 | 7 => {
                let count = self.data.int_in_range(0..=2)?;
                self.put("[");
                for at in 0..count {
                    if at > 0 {
                        self.put(",");
                    }
                    self.value(depth - 1)?;
                }
                self.put("]");
            }
            8 => {
                let target = self.pick(&REFERENCES)?;
                let _ = write!(self.out, "{{\"$ref\":\"{target}\"}}");
            }
            _ => {
                let count = self.data.int_in_range(0..=2)?;
                self.put("{");
                for at in 0..count {
                    if at > 0 {
                        self.put(",");
                    }
                    let name = self.pick(&NAMES)?;
                    let _ = write!(self.out, "\"{name}\":");
                    self.value(depth - 1)?;
                }
                self.put("}");
            }
        }
        Ok(())
    }
}
