//! The census of real tools: the figures, and the files that show them.

pub(crate) mod advice;
pub(crate) mod broken;
pub(crate) mod count;
pub(crate) mod figures;
mod page;
pub(crate) mod plot;
pub(crate) mod tools;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, error::Error};

use self::{count::Census, figures::Figures, tools::Tools};
use crate::root;

/// Relative to the root of the project.
pub(crate) const TOOLS: &str = "../shared/data/mcp_tools.jsonl";

/// Returns `None` if the tools do not exist next to the checkout.
pub(crate) fn read_all() -> Option<Figures> {
    Some(Figures::of(Census::take(Tools::of_file(&root().join(TOOLS))?)))
}

pub(crate) fn files(figures: &Figures) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let mut files = BTreeMap::from([("docs/census.md".to_owned(), page::page(figures))]);
    files.extend(figures.plots()?.map(|(name, svg)| (format!("docs/census/{name}"), svg)));
    Ok(files)
}

pub(crate) fn generate() -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    files(&read_all().ok_or_else(|| format!("expected {TOOLS} beside the checkout, found none"))?)
}
