//! TOML files; errors have line numbers.

use std::ops::Range;

use toml::{
    de::{DeTable, DeValue},
    Spanned,
};
use toolwire::{dialects, internal};

use super::{error::CommandError, terminal::shown};

pub(crate) struct TomlFile<'t> {
    pub(crate) text: &'t str,
}

impl<'t> TomlFile<'t> {
    pub(crate) fn read<T>(
        text: &'t str,
        source: &str,
        read: impl FnOnce(&TomlFile<'t>, &DeTable<'t>) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let file = TomlFile { text };
        let table = DeTable::parse(text)
            .map_err(|error| file.error(error.span(), &format!("expected TOML: {}", error.message())));
        table.and_then(|table| read(&file, table.get_ref())).map_err(|error| error.in_source(source))
    }
}

impl TomlFile<'_> {
    pub(crate) fn line(&self, span: &Range<usize>) -> usize {
        self.text.get(..span.start).unwrap_or_default().matches('\n').count() + 1
    }

    pub(crate) fn error(&self, span: Option<Range<usize>>, message: &str) -> CommandError {
        let error = CommandError::new("", message);
        match span {
            Some(span) => error.in_line(self.line(&span)),
            None => error,
        }
    }

    pub(crate) fn string(&self, value: &Spanned<DeValue<'_>>) -> Result<String, CommandError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.unexpected(value, "a string")),
        }
    }

    pub(crate) fn strings(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, CommandError> {
        match value.get_ref() {
            DeValue::Array(list) => list.iter().map(|entry| self.string(entry)).collect(),
            DeValue::String(text) => Ok(Vec::from([text.to_string()])),
            _ => Err(self.unexpected(value, "a string or a list of strings")),
        }
    }

    /// Refuses an empty list, because it could mean everything or nothing.
    pub(crate) fn nonempty_strings(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, CommandError> {
        let words = self.strings(value)?;
        if words.is_empty() {
            return Err(self.error(Some(value.span()), "expected at least one word, found an empty list"));
        }
        Ok(words)
    }

    pub(crate) fn one_of(&self, value: &Spanned<DeValue<'_>>, known: &[&'static str]) -> Result<String, CommandError> {
        let word = self.string(value)?;
        if known.contains(&word.as_str()) {
            return Ok(word);
        }
        let expected = format!("one of {}", listed(known));
        Err(self.unknown_word(value, &expected, &word, &mut known.iter().copied()))
    }

    pub(crate) fn dialect(&self, value: &Spanned<DeValue<'_>>) -> Result<String, CommandError> {
        self.string(value)?;
        Ok(self.dialects(value)?.pop().unwrap_or_default())
    }

    pub(crate) fn dialects(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, CommandError> {
        let words = self.strings(value)?;
        let mut names = dialects().iter().map(|dialect| dialect.name);
        match words.iter().find(|word| !dialects().iter().any(|dialect| dialect.name == word.as_str())) {
            Some(word) => Err(self.unknown_word(value, "a dialect", word, &mut names)),
            None => Ok(words),
        }
    }

    pub(crate) fn unexpected(&self, value: &Spanned<DeValue<'_>>, expected: &str) -> CommandError {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.error(Some(value.span()), &format!("expected {expected}, found {found}"))
    }

    pub(crate) fn unknown(&self, span: Range<usize>, key: &str, known: &[&str]) -> CommandError {
        let meant = internal::did_you_mean(key, known);
        let message = format!("expected one of {}, found `{}`{meant}", listed(known), shown(key));
        self.error(Some(span), &message)
    }

    pub(crate) fn unknown_word(
        &self,
        value: &Spanned<DeValue<'_>>,
        expected: &str,
        word: &str,
        known: &mut dyn Iterator<Item = &'static str>,
    ) -> CommandError {
        let meant = internal::did_you_mean(word, &known.collect::<Vec<_>>());
        let message = format!("expected {expected}, found `{}`{meant}", shown(word));
        self.error(Some(value.span()), &message)
    }
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
