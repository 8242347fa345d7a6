//! A grammar of schemas, biased towards error-prone constructs: references of every kind in every position, `allOf`
//! around references, nested unions, `not`, `if`, tuples, definitions that are only references, malformed keywords,
//! names equal to keywords, anchors, identifiers.

use std::fmt::Write as _;

use arbitrary::{Result, Unstructured};

mod keywords;
mod words;

use words::{
    DEFINITIONS, DRAFTS, NAMES, NESTED_DEFINITIONS, NESTED_REFERENCES, ODD_TYPES, OLD_REFERENCES, ORDINARY, REFERENCES,
    TIDY_DEFINITIONS, TIDY_REFERENCES, TYPES,
};

/// The style of generated schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Any keywords of any draft, sometimes invalid.
    Any,
    /// Valid in 2020-12: every keyword well-formed and unique, and every reference with a target, for comparison with
    /// validators.
    Tidy,
    /// Valid in draft 7, which `$schema` declares.
    Draft7,
    /// Few keywords and many references: under `not` and `if`, to the root, into definitions that nothing uses or that
    /// are inside other schemas.
    References,
}

struct Writer<'u, 'd> {
    style: Style,
    data: &'u mut Unstructured<'d>,
    out: String,
    /// Number of schemas that may still be written.
    left: usize,
}

/// Generates the text of a schema.
///
/// # Errors
/// None in practice: if the data ends, every choice is the first one.
pub(crate) fn schema(data: &mut Unstructured<'_>, style: Style) -> Result<String> {
    let mut writer = Writer { style, data, out: String::new(), left: 28 };
    writer.root()?;
    Ok(writer.out)
}

/// Generates the text of a JSON value of any kind.
///
/// # Errors
/// Those of [`schema`].
pub(crate) fn value(data: &mut Unstructured<'_>, style: Style) -> Result<String> {
    let mut writer = Writer { style, data, out: String::new(), left: 12 };
    writer.value(4)?;
    Ok(writer.out)
}

impl Writer<'_, '_> {
    fn one_in(&mut self, sides: u8) -> Result<bool> {
        self.data.ratio(1_u8, sides)
    }

    fn pick(&mut self, of: &[&'static str]) -> Result<&'static str> {
        self.data.choose(of).copied()
    }

    fn is_tidy(&self) -> bool {
        self.style != Style::Any
    }

    fn references(&self) -> &'static [&'static str] {
        match self.style {
            Style::Any => &REFERENCES,
            Style::Tidy => &TIDY_REFERENCES,
            Style::Draft7 => &OLD_REFERENCES,
            Style::References => &NESTED_REFERENCES,
        }
    }

    fn quoted(&mut self, of: &[&'static str]) -> Result<()> {
        let word = self.pick(of)?;
        let _ = write!(self.out, "\"{word}\"");
        Ok(())
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes a root, mostly an object with properties and definitions.
    fn root(&mut self) -> Result<()> {
        if !self.is_tidy() && self.one_in(12)? {
            return self.schema(5);
        }
        let mut members = Vec::new();
        self.put("{");
        if self.style == Style::Draft7 {
            self.member(&mut members, "$schema");
            let _ = write!(self.out, "\"{}\"", DRAFTS[0]);
        } else if !self.is_tidy() && self.one_in(8)? {
            self.member(&mut members, "$schema");
            self.quoted(&DRAFTS)?;
        }
        if !self.is_tidy() && self.one_in(10)? {
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
        for (table, chance, tidy) in [("$defs", 2, Style::Tidy), ("definitions", 3, Style::Draft7)] {
            let is_tidy_table = self.style == tidy || self.style == Style::References && tidy == Style::Tidy;
            if if self.is_tidy() { is_tidy_table } else { self.one_in(chance)? } {
                self.member(&mut members, table);
                self.definitions()?;
            }
        }
        if !self.is_tidy() && self.one_in(12)? {
            self.member(&mut members, "components");
            self.put("{\"schemas\":");
            self.definitions()?;
            self.put("}");
        }
        self.put("}");
        Ok(())
    }

    /// Begins a member of an object.
    fn member(&mut self, members: &mut Vec<&'static str>, name: &'static str) {
        if !members.is_empty() {
            self.put(",");
        }
        members.push(name);
        let _ = write!(self.out, "\"{name}\":");
    }

    fn definitions(&mut self) -> Result<()> {
        let count = self.data.int_in_range(1..=3)?;
        let mut members = Vec::new();
        self.put("{");
        let named: Vec<&'static str> = match self.style {
            Style::Any => self.some(&DEFINITIONS, count)?,
            Style::Tidy | Style::Draft7 => TIDY_DEFINITIONS.to_vec(),
            Style::References => NESTED_DEFINITIONS.to_vec(),
        };
        for name in named {
            self.member(&mut members, name);
            // A definition may consist of a single reference.
            if self.one_in(4)? {
                self.reference()?;
            } else {
                self.schema(4)?;
            }
        }
        self.put("}");
        Ok(())
    }

    fn some(&mut self, of: &[&'static str], count: usize) -> Result<Vec<&'static str>> {
        (0..count).map(|_| self.pick(of)).collect()
    }

    fn reference(&mut self) -> Result<()> {
        let target = self.pick(self.references())?;
        let keyword =
            if !self.is_tidy() && self.one_in(12)? { self.pick(&["$dynamicRef", "$recursiveRef"])? } else { "$ref" };
        let _ = write!(self.out, "{{\"{keyword}\":\"{target}\"");
        if keyword == "$ref" && !self.is_tidy() && self.one_in(12)? {
            let other = self.pick(self.references())?;
            let _ = write!(self.out, ",\"$dynamicRef\":\"{other}\"");
        }
        if self.one_in(4)? {
            self.put(",\"description\":\"what it is\"");
        }
        if self.one_in(8)? {
            self.put(",\"minLength\":1");
        }
        self.put("}");
        Ok(())
    }

    fn table(&mut self, depth: usize) -> Result<()> {
        let count = self.data.int_in_range(0..=3)?;
        let mut members = Vec::new();
        self.put("{");
        for _ in 0..count {
            let name = self.name()?;
            if self.is_tidy() && members.contains(&name) {
                continue;
            }
            self.member(&mut members, name);
            self.schema(depth)?;
        }
        self.put("}");
        Ok(())
    }

    fn names(&mut self) -> Result<()> {
        let count = self.data.int_in_range(0..=3)?;
        let mut names: Vec<&'static str> = Vec::new();
        for _ in 0..count {
            let name = self.name()?;
            if !self.is_tidy() || !names.contains(&name) {
                names.push(name);
            }
        }
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let _ = write!(self.out, "[{}]", quoted.join(","));
        Ok(())
    }

    fn name(&mut self) -> Result<&'static str> {
        if self.one_in(3)? {
            self.pick(&NAMES)
        } else {
            self.pick(&NAMES[..ORDINARY])
        }
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
        if self.style == Style::References && self.one_in(2)? {
            return self.schema_of_references(depth);
        }
        match self.data.int_in_range(0..=15)? {
            0 => self.put("{}"),
            1 => {
                let word = self.pick(&["true", "false"])?;
                self.put(word);
            }
            2..=4 => self.reference()?,
            5 if !self.is_tidy() && self.one_in(4)? => self.value(2)?,
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

    /// Writes a schema that is little more than a reference, whose meaning depends on its target.
    fn schema_of_references(&mut self, depth: usize) -> Result<()> {
        match self.data.int_in_range(0..=9)? {
            0 => self.put("{}"),
            1 if self.one_in(4)? => self.put("{\"format\":\"email\"}"),
            1 | 2 => {
                self.put("{\"not\":");
                self.reference()?;
                self.put("}");
            }
            3 => {
                self.put("{\"type\":");
                self.types()?;
                self.put(",\"$defs\":");
                self.definitions()?;
                self.put("}");
            }
            4 => {
                self.put("{\"type\":\"array\",\"items\":");
                self.reference()?;
                self.put("}");
            }
            5 => {
                self.put("{\"anyOf\":");
                self.list(depth - 1)?;
                self.put("}");
            }
            _ => self.reference()?,
        }
        Ok(())
    }

    fn types(&mut self) -> Result<()> {
        match self.data.int_in_range(0..=9)? {
            0 => self.put("[\"string\",\"null\"]"),
            1 => self.put("[\"object\",\"array\",\"null\"]"),
            2 => self.put("[\"integer\",\"number\",\"string\"]"),
            3 if !self.is_tidy() => {
                let word = self.pick(&ODD_TYPES)?;
                self.put(word);
            }
            _ => self.quoted(&TYPES)?,
        }
        Ok(())
    }
}
