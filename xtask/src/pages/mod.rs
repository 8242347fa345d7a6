//! The generated pages of the documentation, and their paths.

mod backends;
mod constraints;
pub(crate) mod cookbook;
mod dialect;
mod hosts;
mod in_code;
mod markdown;
mod messages;
mod names;
mod overview;
mod probes;
mod rules;
mod templates;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, error::Error};

use toolwire::dialects;

use crate::root;

pub(crate) fn pages() -> BTreeMap<String, String> {
    let mut pages: BTreeMap<String, String> = dialects()
        .iter()
        .map(|dialect| (format!("docs/dialects/{}.md", dialect.name), dialect::page(dialect)))
        .collect();
    pages.insert("docs/dialects/README.md".to_owned(), overview::page());
    pages.insert("docs/rules.md".to_owned(), rules::page(&root()));
    pages.insert("npm/src/dialect-names.ts".to_owned(), names::typescript_dialects());
    pages.insert("npm/src/rules.ts".to_owned(), names::typescript_rules());
    pages.insert("python/src/toolwire/_names.py".to_owned(), names::python());
    pages.insert("docs/backends.md".to_owned(), backends::page());
    pages.insert("docs/messages.md".to_owned(), messages::page(&root()));
    pages.insert("docs/templates.md".to_owned(), templates::page());
    pages.insert("docs/cookbook.md".to_owned(), cookbook::page(&cookbook::Entry::all(&root())));
    pages
}

/// An entry of the cookbook that is not true is an error.
pub(crate) fn generate() -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    match cookbook::faults(&cookbook::Entry::all(&root())).first() {
        None => Ok(pages()),
        Some(fault) => Err(format!("cookbook: {fault}").into()),
    }
}
