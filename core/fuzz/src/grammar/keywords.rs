//! Keywords and their values, mostly valid.

use std::fmt::Write as _;

use arbitrary::Result;

use super::{
    words::{
        COUNTS, EXPRESSIONS, FORMATS, KEYWORDS, NAMES, NESTING_KEYWORDS, NUMBERS, OLD_KEYWORDS, PATTERNS, REFERENCES,
        TEXTS, TIDY_KEYWORDS, TIDY_NUMBERS,
    },
    Style, Writer,
};

impl Writer<'_, '_> {
    /// Writes a keyword with a value that is mostly valid. The schema may already have the keyword; then the last one
    /// applies.
    pub(super) fn keyword(&mut self, members: &mut Vec<&'static str>, depth: usize) -> Result<()> {
        let name = match self.style {
            Style::Any => self.pick(&KEYWORDS)?,
            Style::Tidy => self.pick(&TIDY_KEYWORDS)?,
            Style::Draft7 => self.pick(&OLD_KEYWORDS)?,
            Style::References => self.pick(&NESTING_KEYWORDS)?,
        };
        if self.is_tidy() && members.contains(&name) {
            return Ok(());
        }
        self.member(members, name);
        if !self.is_tidy() && self.one_in(16)? {
            return self.value(2);
        }
        self.fitting(name, depth.saturating_sub(1))
    }

    fn fitting(&mut self, name: &str, below: usize) -> Result<()> {
        match name {
            "properties" | "$defs" | "definitions" | "dependentSchemas" => self.table(below),
            "required" => self.names(),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => self.list(below),
            "items" if self.style != Style::Tidy && self.one_in(5)? => self.list(below),
            "items"
            | "additionalProperties"
            | "not"
            | "if"
            | "then"
            | "else"
            | "propertyNames"
            | "contains"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "additionalItems"
            | "contentSchema" => self.schema(below),
            "enum" => self.values(),
            "const" | "default" | "example" | "x-unknown" => self.value(2),
            "patternProperties" => self.pattern_properties(below),
            "dependentRequired" => {
                let name = self.pick(&NAMES[..4])?;
                let _ = write!(self.out, "{{\"{name}\":");
                self.names()?;
                self.put("}");
                Ok(())
            }
            "dependencies" => self.dependencies(below),
            "nullable" | "uniqueItems" | "deprecated" | "$recursiveAnchor" => {
                let word = self.pick(&["true", "false"])?;
                self.put(word);
                Ok(())
            }
            "examples" => self.values(),
            "description" | "title" | "$comment" => self.quoted(&TEXTS),
            "$ref" => {
                let references = self.references();
                self.quoted(references)
            }
            "pattern" if self.is_tidy() => self.quoted(&PATTERNS[..EXPRESSIONS]),
            "pattern" => self.quoted(&PATTERNS),
            "format" => self.quoted(&FORMATS),
            "$anchor" | "$dynamicAnchor" => self.quoted(&["here"]),
            "$id" | "id" => self.quoted(&["item.json", "#here", "https://example.com/item.json"]),
            _ => self.bound(name),
        }
    }

    fn bound(&mut self, name: &str) -> Result<()> {
        let number = match name {
            _ if !self.is_tidy() => self.pick(&NUMBERS)?,
            "multipleOf" => self.pick(&TIDY_NUMBERS[1..COUNTS])?,
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => self.pick(&TIDY_NUMBERS)?,
            _ => self.pick(&TIDY_NUMBERS[..COUNTS])?,
        };
        self.put(number);
        Ok(())
    }

    fn pattern_properties(&mut self, below: usize) -> Result<()> {
        let pattern = if self.is_tidy() { self.pick(&PATTERNS[..EXPRESSIONS])? } else { self.pick(&PATTERNS)? };
        let _ = write!(self.out, "{{\"{pattern}\":");
        self.schema(below)?;
        self.put("}");
        Ok(())
    }

    fn dependencies(&mut self, below: usize) -> Result<()> {
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

    fn values(&mut self) -> Result<()> {
        // Validators refuse an empty `enum`, which accepts no value.
        let count = self.data.int_in_range(u8::from(self.is_tidy())..=4)?;
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

    /// Writes any value with at most this depth.
    pub(super) fn value(&mut self, depth: usize) -> Result<()> {
        match self.data.int_in_range(0..=if depth == 0 { 5 } else { 9 })? {
            0 => self.put("null"),
            1 => {
                let word = self.pick(&["true", "false"])?;
                self.put(word);
            }
            2 | 3 => {
                let number = if self.is_tidy() { self.pick(&TIDY_NUMBERS)? } else { self.pick(&NUMBERS)? };
                self.put(number);
            }
            4 => self.quoted(&NAMES)?,
            5 => self.quoted(&TEXTS)?,
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
                self.put("{\"$ref\":");
                self.quoted(&REFERENCES)?;
                self.put("}");
            }
            _ => {
                let count = self.data.int_in_range(0..=2)?;
                let mut members = Vec::new();
                self.put("{");
                for _ in 0..count {
                    let name = self.pick(&NAMES)?;
                    if self.is_tidy() && members.contains(&name) {
                        continue;
                    }
                    self.member(&mut members, name);
                    self.value(depth - 1)?;
                }
                self.put("}");
            }
        }
        Ok(())
    }
}
