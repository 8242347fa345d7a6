//! The overview: every keyword in every dialect, and the dialects of APIs.

use std::fmt::Write as _;

use toolwire::{dialects, reports::Grade, Dialect};

use super::{
    dialect::{in_a_property, Loss},
    hosts,
    markdown::{cell, GENERATED},
    probes::{BY_REFERENCE, IN_A_PROPERTY},
};

fn sign(loss: Loss) -> &'static str {
    match loss {
        Loss::Kept => "✓",
        Loss::Same => "=",
        Loss::Encoded => "⇄",
        Loss::Closed => "⊂",
        Loss::GuidanceLost => "∅",
        Loss::Wider => ">",
        Loss::Narrower => "<",
        Loss::Mixed => "≠",
        Loss::Refused => "✗",
    }
}

pub(crate) fn page() -> String {
    let mut page = format!("{GENERATED}# Dialects\n\nA dialect is the JSON Schema that one surface of one model API accepts. `dialectFor({{ api, model, host, strict, exact }})` finds it;\n");
    page += "`dialects()` returns everything on this page as data.\n\n";
    page += "| dialect | target | checked | facts: A, B, C | unverified |\n|---|---|---|---|--:|\n";
    for dialect in dialects() {
        let count = |confidence| dialect.facts.iter().filter(|fact| fact.confidence == confidence).count();
        let _ = writeln!(
            page,
            "| [`{0}`]({0}.md) | {1} | {2} | {3}, {4}, {5} | {6} |",
            dialect.name,
            cell(dialect.surface),
            dialect.as_of,
            count(Grade::A),
            count(Grade::B),
            count(Grade::C),
            dialect.unverified.len()
        );
    }
    page += &hosts::section();
    page += "\n## Every keyword, every dialect\n\n";
    page += "Each row is one required property with that schema. `✓` unchanged; `=` rewritten without loss; `⇄` rewritten, and `restoreArguments` restores the\n";
    page += "arguments; `⊂` closed: properties that the schema neither declares nor explicitly allows are refused; `∅` same accepted arguments, text lost; `>` wider; `<` narrower; `≠` wider and narrower; `✗` an error with the reason.\n\n";
    let all: &[Dialect] = dialects();
    let names: Vec<String> = all.iter().map(|dialect| format!("[{0}]({0}.md)", dialect.name)).collect();
    let _ = writeln!(page, "| property | {} |\n|---{}|", names.join(" | "), "|:-:".repeat(all.len()));
    let properties = IN_A_PROPERTY.iter().map(|(keyword, probe)| (keyword, probe, &"{}"));
    let references = BY_REFERENCE.iter().map(|(keyword, probe, definitions)| (keyword, probe, definitions));
    for (keyword, probe, definitions) in properties.chain(references) {
        let cells: Vec<&str> =
            all.iter().map(|dialect| sign(in_a_property(dialect.name, probe, definitions).loss())).collect();
        let _ = writeln!(page, "| {} | {} |", cell(keyword), cells.join(" | "));
    }
    page
}
