//! The page with the figures, in words and tables.

use std::{fmt::Write as _, fs};

use toolwire::{check, dialects, reports::Severity, rules::Constraint, sanitize, Dialect, DialectId, SanitizeOptions};

use super::{
    advice::advice,
    broken::{api_columns, ViolationCount},
    count::{Outcome, OutcomeCounts, Tally, Verdict},
    figures::{number, share, Figures, RULES},
    root,
};

/// Relative to the page.
const PLOTS: &str = "census";

pub(crate) fn page(figures: &Figures) -> String {
    let mut page = String::from("<!-- Generated: `cargo xtask census`. Edit xtask/src/census/, not this page. -->\n\n");
    page += "# A census of real tools\n\n";
    page += &summary(figures);
    page += &scope(figures);
    page += &by_dialect(figures);
    page += &by_server(figures);
    page += &by_template(figures);
    page += &by_corpus(figures);
    page += &by_rule(figures);
    page += LIMITS;
    page
}

fn summary(figures: &Figures) -> String {
    let census = &figures.census;
    let columns: Vec<&(&str, Tally)> = api_columns(census)
        .filter_map(|column| figures.tallies.iter().find(|(name, _)| *name == column.dialect.name))
        .collect();
    let sum = |outcome: Outcome| columns.iter().map(|(_, tally)| tally.tools.of(outcome)).sum::<usize>();
    let all = figures.cases;
    let of_all = |outcome: Outcome| share(sum(outcome), all);
    let [first, ..] = figures.rules.as_slice() else { return String::new() };
    let tools = census.tools.tools.len();
    let (open, others): (Vec<_>, Vec<_>) =
        columns.iter().copied().partition(|(_, tally)| tally.tools.of(Outcome::AsItIs) * 10 >= tools * 9);
    let others: Vec<String> = others.iter().map(|(name, _)| format!("`{name}`")).collect();
    format!(
        "How well do the tools of real MCP servers fit the model APIs? We ran {tools} tools of {servers} servers\n\
         through `check` and `sanitize` for {dialects} API surfaces. A *case* is one tool on one surface.\n\n\
         - **{as_is}** of all cases are accepted unchanged. {open} surfaces accept at least nine tools in ten; the exceptions are {others}.\n\
         \x20 {everywhere} accepted unchanged everywhere.\n\
         - The other cases need rewriting, at the cost of: nothing ({lossless}), encoded arguments, which `restoreArguments` decodes ({encoded}), closed objects\n\
         \x20 ({closed}), lost text ({text_lost}), a wider schema ({wider}), a narrower or mixed one ({narrower}). Impossible: {not_at_all}.\n\
         - **`{rule}`** is violated most often: {rule_cases} cases. {fixed} of the {refused} refused cases violate only \
         the {count} rules below.\n\n",
        tools = number(tools),
        servers = census.tools.servers,
        dialects = columns.len(),
        as_is = of_all(Outcome::AsItIs),
        open = open.len(),
        others = others.join(", "),
        everywhere = match figures.everywhere {
            0 => "No tool is".to_owned(),
            1 => "One tool is".to_owned(),
            count => format!("Of the tools, {} are each", number(count)),
        },
        lossless = of_all(Outcome::Lossless),
        encoded = of_all(Outcome::Encoded),
        closed = of_all(Outcome::Closed),
        text_lost = of_all(Outcome::TextLost),
        wider = of_all(Outcome::Wider),
        narrower = of_all(Outcome::Narrower),
        not_at_all = of_all(Outcome::NotAtAll),
        rule = first.name,
        rule_cases = number(first.cases),
        count = figures.rules.len(),
        fixed = number(figures.rules.last().map_or(0, |last| last.with_those_before)),
        refused = number(all - sum(Outcome::AsItIs)),
    )
}

fn scope(figures: &Figures) -> String {
    let tools = &figures.census.tools;
    let newest = dialects().iter().map(|dialect| dialect.as_of).max().unwrap_or_default();
    let mut text = String::from("## What was counted\n\n");
    let _ = write!(
        text,
        "- {} tools of {} MCP servers, published in 2026 under free licences, taken from their packages or repositories. {} of their schemas\n\
         \x20 are distinct.\n\
         \x20 A server counts once, even if its tools are in several files. The three largest have {} of all tools.\n\
         - toolwire {}, with tables last checked on {newest}; the first table has their revisions.\n\
         - `portable` is what several APIs all accept: it has a row, but is not included in the sums above or the rules below.\n\
         - `cargo xtask census` writes this page and its plots. The tools are not part of this repository: they are in\n\
         \x20 `../shared/data`, next to the checkout. This page shows only figures, no names, schemas or descriptions \
         of the servers.\n\n",
        number(tools.tools.len()),
        tools.servers,
        number(tools.schemas.len()),
        share(tools.tools_of_largest_servers(3), tools.tools.len()),
        env!("CARGO_PKG_VERSION"),
    );
    text
}

/// An additional column of a table: its title and its number.
type Column<'a> = (&'a str, fn(&Tally) -> usize);

fn table(figures: &Figures, of: fn(&Tally) -> &OutcomeCounts, more: &[Column<'_>]) -> String {
    let words = Outcome::ALL.map(Outcome::word).join(" | ");
    let titles: String = more.iter().map(|(title, _)| format!(" {title} |")).collect();
    let mut text = format!("| dialect | share as it is | share with no loss | {words} |{titles}\n");
    let _ = writeln!(text, "|---|{}", "--:|".repeat(2 + Outcome::ALL.len() + more.len()));
    for (name, tally) in &figures.tallies {
        let counts = of(tally);
        let all = counts.all();
        let cells: String = counts.0.iter().map(|count| format!(" {} |", blank(*count))).collect();
        let others: String = more.iter().map(|(_, count)| format!(" {} |", blank(count(tally)))).collect();
        let (as_it_is, lossless) = (counts.of(Outcome::AsItIs), counts.of(Outcome::Lossless));
        let (taken, fitting) = (share(as_it_is, all), share(as_it_is + lossless, all));
        let _ = writeln!(text, "| [`{name}`](dialects/{name}.md) | {taken} | {fitting} |{cells}{others}");
    }
    text + "\n"
}

fn by_dialect(figures: &Figures) -> String {
    let mut text = String::from("## Tools by API\n\n");
    text +=
        "*As it is*: `check` finds nothing that the API refuses. All other tools are rewritten, and count under the \
    worst effect of any change:\n\n";
    text += "- *without loss*: the same arguments are accepted, and the model reads the same text;\n";
    text += "- *encoded*: arguments look different, and `restoreArguments` restores them;\n";
    text +=
        "- *closed*: an object refuses properties that it neither declares nor explicitly allows, and did not refuse \
    before;\n";
    text += "- *text lost*: the model reads less text;\n";
    text += "- *wider*: more arguments are accepted; the tool's own server refuses them;\n";
    text += "- *narrower or mixed*: some valid arguments are refused;\n";
    text += "- *not at all*: `sanitize` fails.\n\n";
    text += "The second share counts tools accepted unchanged and tools accepted without loss. The last columns \
    count tools that are accepted\n";
    text += "unchanged, but the API enforces another schema than the written one (*reinterpreted*), or part of the schema has no effect (*ignored*).\n\n";
    let _ = write!(text, "![{}]({PLOTS}/tools.svg)\n\n", figures.alt_of_tools());
    text += &table(
        figures,
        |tally| &tally.tools,
        &[
            ("reinterpreted", |tally| tally.reinterpreted),
            ("ignored", |tally| tally.ignored),
            ("revision", |tally| tally.revision as usize),
        ],
    );
    text
}

fn by_server(figures: &Figures) -> String {
    let mut text = String::from("## Servers\n\n");
    text += "A server counts under its worst tool: *as it is* if an API accepts all tools unchanged, *without loss* \
    if it accepts all of them, some\n";
    text +=
        "after rewriting without loss. One refused tool can fail the whole request, so this is what the users of a \
    server experience.\n\n";
    let _ = write!(text, "![{}]({PLOTS}/servers.svg)\n\n", figures.alt_of_servers());
    text += &table(figures, |tally| &tally.servers, &[]);
    text
}

fn by_rule(figures: &Figures) -> String {
    let mut text = format!("## The {RULES} rules violated most often\n\n");
    text += "*Alone* counts the cases in which nothing else is refused: once this rule is fixed, they are accepted \
            unchanged.\n";
    text += "*With those before* counts the cases that are accepted once this rule and all above it are fixed.\n\n";
    let _ = write!(text, "![{}]({PLOTS}/rules.svg)\n\n", figures.alt_of_rules());
    text +=
        "| rule | violation | tools | dialects | cases | alone | with those before |\n|---|---|--:|--:|--:|--:|--:|\n";
    for broken in &figures.rules {
        let _ = writeln!(text, "| `{}` | {} | {}", broken.name, summary_of(&broken.name), counts(broken));
    }
    text += "\n### How to fix them\n\n";
    for broken in &figures.rules {
        let gain = match broken.alone {
            0 => "gains nothing alone: other rules are violated, too".to_owned(),
            1 => "gains 1 case alone".to_owned(),
            alone => format!("gains {} cases alone", number(alone)),
        };
        let _ = writeln!(text, "- `{}` ({gain}): {}", broken.name, advice(&broken.name).unwrap_or_default());
    }
    text += "\n### Refused keywords\n\n";
    let _ = writeln!(
        text,
        "`{}` covers many keywords; these are refused most often. *Alone*: no other keyword, and nothing else, is \
            refused.\n",
        Constraint::RefusedKeyword.id()
    );
    text += "| keyword | tools | dialects | cases | alone | with those before |\n|---|--:|--:|--:|--:|--:|\n";
    for broken in &figures.keywords {
        let _ = writeln!(text, "| `{}` | {}", broken.name, counts(broken));
    }
    text + "\n"
}

fn counts(broken: &ViolationCount) -> String {
    let ViolationCount { tools, dialects, cases, alone, with_those_before, .. } = broken;
    let numbers = [tools, dialects, cases, alone, with_those_before].map(|count| blank(*count));
    format!("{} |", numbers.join(" | "))
}

fn summary_of(rule: &str) -> &'static str {
    Constraint::ALL.iter().find(|constraint| constraint.id() == rule).map_or("", |constraint| constraint.summary())
}

fn blank(count: usize) -> String {
    if count == 0 {
        String::new()
    } else {
        number(count)
    }
}

const LIMITS: &str = "## How to read the figures\n\n\
- These are single schemas of real tools, not requests: nothing was sent to an API. The tables of the\n\
\x20 [dialects](dialects/README.md) describe what an API accepts, with sources and unverified points.\n\
- Names, descriptions and the number of tools in a request have limits, too. `checkTools` and `toolwire matrix` check these\n\
\x20 limits; this page does not count them.\n\
- Only *refused* schemas count as violations. Reinterpreted and ignored ones have separate columns, and count as accepted.\n\
- Gains are counted rule by rule, as if a fix violated no other rule. Some do: another API may refuse what a strict mode requires (`additionalProperties`,\n\
\x20 `null` next to a type). No schema suits all APIs, so fix what costs nothing elsewhere, and leave the rest to `sanitize`.\n\
- Strict modes are a choice: a tool that a strict dialect refuses can go to the same API without `strict`.\n\
- A tool with several changes counts once, under the worst. A *wider* tool may be wider in only one of forty properties.\n\
- A few servers have most of the tools. The table of servers gives each server the same weight.\n\
- The servers are a collection of those published under free licences, not a random sample.\n";

/// The server whose template engine ran all templates.
const SERVER: DialectId = Dialect::LLAMA_CPP;

fn by_template(figures: &Figures) -> String {
    let tools = &figures.census.tools;
    let mut section = format!(
        "## Local models\n\nllama.cpp's server writes the tools into the prompt with the model's chat template, and some \
         templates\nfail for schemas that the server accepts ([chat templates](templates.md)). Of the {} tools, these \
         templates refuse:\n\n| template | as they are | after `sanitize` with `template` |\n|---|--:|--:|\n",
        number(tools.tools.len())
    );
    let Some(dialect) = dialects().iter().find(|dialect| dialect.id() == SERVER) else { return section };
    let (mut silent, plain) = (0, SanitizeOptions::new(SERVER));
    let refuses = |schema: &str, options: &SanitizeOptions| {
        let found = check(schema, options).unwrap_or_default();
        found.iter().any(|violation| violation.severity == Severity::Refused)
    };
    for (file, refused) in dialect.templates() {
        if refused.is_none() {
            silent += 1;
            continue;
        }
        let options = SanitizeOptions::new(SERVER).template(file);
        let broken: Vec<bool> =
            tools.schemas.iter().map(|schema| refuses(schema, &options) && !refuses(schema, &plain)).collect();
        let unfixed: Vec<bool> = tools
            .schemas
            .iter()
            .zip(&broken)
            .map(|(schema, broken)| *broken && sanitize(schema.as_str(), &options).is_err())
            .collect();
        let count = |of: &[bool]| tools.tools.iter().filter(|(_, at)| of.get(*at) == Some(&true)).count();
        let _ = writeln!(section, "| `{file}` | {} | {} |", number(count(&broken)), number(count(&unfixed)));
    }
    let _ = writeln!(section, "\nThe other {silent} templates accept all of them.\n");
    section
}

/// The corpus contains constructs that the tools lack: unions at the root, tuples and outputs.
fn by_corpus(figures: &Figures) -> String {
    let path = root().join("tests/corpus/schemas.jsonl");
    let text = fs::read_to_string(path).unwrap_or_default();
    let schema = |line: &str| Some(serde_json::from_str::<serde_json::Value>(line).ok()?.get("schema")?.to_string());
    let schemas: Vec<String> = text.lines().filter_map(schema).collect();
    let mut section = format!(
        "## Unions at the root, tuples, outputs\n\nThe tools above have none, so {} schemas that pydantic generates from \
         types of published packages represent them (`tests/corpus`).\n*Not at all* are schemas that accept no object: \
         arrays and strings, which cannot be the arguments of a tool.\n\n| dialect | {} |\n|---{}|\n",
        schemas.len(),
        Outcome::ALL.map(Outcome::word).join(" | "),
        "|--:".repeat(Outcome::ALL.len())
    );
    for column in &figures.census.columns {
        let name = column.dialect.name;
        let outcomes: Vec<Outcome> = schemas.iter().map(|schema| Verdict::of(name, schema).outcome).collect();
        let counts = Outcome::ALL.map(|outcome| outcomes.iter().filter(|one| **one == outcome).count().to_string());
        let _ = writeln!(section, "| [`{name}`](dialects/{name}.md) | {} |", counts.join(" | "));
    }
    section.push('\n');
    section
}
