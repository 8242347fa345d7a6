//! The pages: one for each server, and the index.

use toolwire::internal::json::Node;

use super::{html::Html, Server};
use crate::{
    finding::{page, summary_and_advice, Group},
    in_code::in_code,
    terminal::{counted, cut},
};

/// Maximum length of a page in bytes, and of the parts of a server's page.
pub(super) const MAX_PAGE: usize = 100_000;
const MAX_TOOLS: usize = 30_000;
const MAX_FINDINGS: usize = 40_000;
const MAX_DIFF: usize = 10_000;
/// Length that every section leaves for the ends of the sections after it, and for the footer.
const RESERVE: usize = 8_000;
/// Length of an index, without its end.
const MAX_INDEX: usize = 96_000;
/// Maximum number of characters of names, messages and descriptions.
const NAME: usize = 100;
const MESSAGE: usize = 300;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self'; script-src 'self'; \
    img-src 'self'; base-uri 'none'; form-action 'none'\">\n\
    <meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"stylesheet\" href=\"report.css\">\n";
const BODY: &str = "</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n";
const END: &str = "</main>\n</body>\n</html>\n";

/// Facts that all pages have in common.
pub(super) struct Facts<'r> {
    pub(super) date: Option<&'r str>,
    pub(super) judges: &'r str,
}

fn begin_page(title: &str) -> Html {
    let mut html = Html::default();
    html.raw(HEAD).element("title", title).raw("\n");
    html
}

fn footer(facts: &Facts<'_>, html: &mut Html) {
    html.raw("<footer class=\"muted\"><p>Checked by toolwire ").text(env!("CARGO_PKG_VERSION"));
    if let Some(date) = facts.date {
        html.raw(" on ").text(date);
    }
    html.raw(" for ").text(facts.judges).raw(
        ". The verdicts are those of toolwire, derived from the documented and observed behavior of APIs and clients. \
         They do not judge the quality of a server.</p></footer>\n",
    );
}

/// Returns the page of a server.
pub(super) fn server_page(server: &Server, facts: &Facts<'_>) -> String {
    let mut html = begin_page(&format!("{}: MCP server", cut(&server.name, NAME)));
    html.raw(BODY).raw("<nav><a href=\"index.html\">All servers</a></nav>\n<main id=\"main\">\n");
    html.element("h1", &cut(&server.name, NAME)).raw("\n<p>");
    if let Some(locked) = &server.locked {
        html.element("code", &locked.package).raw(" ").text(&locked.version).raw(", license ").text(&locked.license);
        html.raw(". ");
    }
    html.text(&counted(server.tools.len(), "tool")).raw(". ").text(&server.verdict()).raw("</p>\n<p>");
    let image = format!("{}.svg", server.slug);
    html.tag("img", &[("src", &image), ("alt", &format!("Badge: {}", server.badge().message())), ("height", "20")]);
    html.raw("</p>\n");
    dialects(server, "api", "APIs", &mut html);
    dialects(server, "mcp-client", "MCP clients, which receive the tools before any API", &mut html);
    templates(server, &mut html);
    tools(server, &mut html);
    findings(server, &mut html);
    diff(server, &mut html);
    footer(facts, &mut html);
    html.raw(END);
    html.into_string()
}

fn remaining_length(html: &Html, most: usize) -> usize {
    most.min(MAX_PAGE.saturating_sub(RESERVE + html.len()))
}

fn dialects(server: &Server, kind: &str, caption: &'static str, html: &mut Html) {
    let rows = server.document.items_at("dialects").iter();
    let mut rows = rows.filter(|row| row.text_at("kind").is_some_and(|text| text.is(kind))).peekable();
    if rows.peek().is_none() {
        return;
    }
    html.raw("<table>\n<caption>").raw(caption);
    html.raw(
        "</caption>\n<thead><tr><th scope=\"col\">Dialect</th><th scope=\"col\" class=\"number\">Accepted</th>\
         <th scope=\"col\" class=\"number\">Reinterpreted</th><th scope=\"col\" class=\"number\">Partly ignored</th>\
         <th scope=\"col\">Rewritten</th></tr></thead>\n<tbody>\n",
    );
    for row in rows {
        let number = |name: &str| row.u64_at(name).unwrap_or_default().to_string();
        html.raw("<tr><th scope=\"row\">").text(&text_member(row, "name")).raw("</th>");
        for name in ["accepted", "reinterpreted", "ignored"] {
            html.raw("<td class=\"number\">").text(&number(name)).raw("</td>");
        }
        let outcomes = row.object_at("outcomes").into_iter().flatten();
        let outcomes = outcomes.filter_map(|member| {
            let count = member.value.as_u64().filter(|count| *count > 0)?;
            Some(format!("{count} {}", member.key.display()))
        });
        html.raw("<td>").text(&outcomes.collect::<Vec<_>>().join(", ")).raw("</td></tr>\n");
    }
    html.raw("</tbody>\n</table>\n");
}

fn templates(server: &Server, html: &mut Html) {
    let (mut rows, mut left, most) = (Html::default(), 0, remaining_length(html, MAX_PAGE / 5));
    for dialect in server.document.items_at("dialects") {
        for template in dialect.items_at("templates") {
            let number = |name: &str| template.u64_at(name).unwrap_or_default();
            let mut row = Html::default();
            row.raw("<li>")
                .element("code", &text_member(template, "name"))
                .raw(" (")
                .text(&text_member(dialect, "name"));
            row.raw("): ").text(&format!("{} refused, {} even after rewriting", number("refused"), number("left")));
            row.raw("</li>\n");
            if left > 0 || !rows.append(&row, most) {
                left += 1;
            }
        }
    }
    if rows.len() > 0 {
        html.raw("<h2>Chat templates that refuse tools which the server accepts</h2>\n<ul>\n");
        html.append(&rows, MAX_PAGE);
        html.raw("</ul>\n");
        write_omitted(left, "template", html);
    }
}

fn tools(server: &Server, html: &mut Html) {
    html.raw(
        "<table>\n<caption>Tools</caption>\n<thead><tr><th scope=\"col\">Tool</th><th scope=\"col\">Description</th>\
         <th scope=\"col\">Refused by</th><th scope=\"col\">Worst result of rewriting</th></tr></thead>\n<tbody>\n",
    );
    let (mut rows, mut left, most) = (Html::default(), 0, remaining_length(html, MAX_TOOLS));
    for (at, tool) in server.document.items_at("tools").iter().enumerate() {
        let verdicts = tool.items_at("dialects");
        let refusing = verdicts.iter().filter(|verdict| verdict.bool_at("accepted") == Some(false));
        let refusing: Vec<String> = refusing.map(|verdict| text_member(verdict, "dialect")).collect();
        let outcome = verdicts.iter().filter_map(|verdict| super::outcome_of(verdict)).max();
        let about = server.tools.get(at);
        let name = about.map_or("", |tool| tool.name.as_str());
        let description = about.map_or("", |tool| tool.description.as_str());
        let mut row = Html::default();
        row.raw("<tr><th scope=\"row\">").element("code", &cut(name, NAME)).raw("</th><td>");
        row.text(&cut(description, MESSAGE)).raw("</td><td>");
        row.text(if refusing.is_empty() { "none" } else { "" }).text(&refusing.join(", ")).raw("</td><td>");
        row.text(outcome.map_or("", |outcome| outcome.as_str())).raw("</td></tr>\n");
        if left > 0 || !rows.append(&row, most) {
            left += 1;
        }
    }
    html.append(&rows, MAX_PAGE);
    html.raw("</tbody>\n</table>\n");
    write_omitted(left, "tool", html);
}

fn findings(server: &Server, html: &mut Html) {
    html.raw("<h2>Findings, and how to fix them</h2>\n");
    if server.groups.is_empty() {
        html.raw("<p>None.</p>\n");
        return;
    }
    let (mut parts, mut left, mut before) = (Html::default(), 0, None);
    let most = remaining_length(html, MAX_FINDINGS);
    for group in &server.groups {
        let rule = (group.finding.rule, group.finding.word());
        let mut part = Html::default();
        if before != Some(rule) {
            heading(group, before.is_some(), &mut part);
        }
        part.raw("<li>");
        if let Some(tool) = &group.finding.tool {
            part.element("code", &cut(tool, NAME)).raw(": ");
        }
        part.prose(&cut(&group.finding.message, MESSAGE)).raw(" (at ");
        part.element("code", &cut(&group.location.pointer, NAME)).raw("; ");
        part.text(&group.finding.dialects().join(", ")).raw(")</li>\n");
        if left > 0 || !parts.append(&part, most) {
            left += 1;
        } else {
            before = Some(rule);
        }
    }
    if before.is_some() {
        parts.raw("</ul>\n");
    }
    html.append(&parts, MAX_PAGE);
    write_omitted(left, "finding", html);
}

/// Writes the beginning of a rule's list: what is wrong, and how to fix it in the schema and in code.
fn heading(group: &Group, ends_list: bool, html: &mut Html) {
    let rule = group.finding.rule;
    let (summary, fix) = summary_and_advice(rule);
    html.raw(if ends_list { "</ul>\n" } else { "" }).raw("<h3>").text(rule);
    html.raw(" (").text(group.finding.word()).raw(")</h3>\n<p>").prose(summary).raw(" ").prose(fix).raw(" ");
    html.tag("a", &[("href", &page(rule)), ("rel", "noreferrer")]).raw("More about ").text(rule).raw("</a></p>\n");
    let advice = toolwire::internal::constraint_of(rule).and_then(in_code);
    if let Some(advice) = advice {
        html.raw("<dl>\n");
        for (library, advice) in
            [("Zod", advice.zod), ("Pydantic and FastMCP", advice.pydantic), ("Go (jsonschema-go)", advice.go)]
        {
            html.element("dt", library).raw("<dd>").prose(advice).raw("</dd>\n");
        }
        html.raw("</dl>\n");
    }
    html.raw("<ul>\n");
}

fn diff(server: &Server, html: &mut Html) {
    if server.diff.is_empty() {
        return;
    }
    html.raw("<h2>Fixes that lose nothing</h2>\n<pre><code>");
    let (mut lines, mut left, most) = (Html::default(), 0, remaining_length(html, MAX_DIFF));
    for line in server.diff.lines() {
        let mut part = Html::default();
        part.text(&cut(line, MESSAGE)).raw("\n");
        if left > 0 || !lines.append(&part, most) {
            left += 1;
        }
    }
    html.append(&lines, MAX_PAGE);
    html.raw("</code></pre>\n");
    write_omitted(left, "line", html);
}

fn write_omitted(left: usize, what: &'static str, html: &mut Html) {
    if left > 0 {
        html.raw("<p>").text(&counted(left, what)).raw(" more; <code>toolwire check</code> shows all.</p>\n");
    }
}

/// Returns the pages of the index.
pub(super) fn indexes(servers: &[&Server], facts: &Facts<'_>) -> Vec<String> {
    let mut tables: Vec<Html> = Vec::from([Html::default()]);
    for server in servers {
        let mut row = Html::default();
        let state = if server.badge().accepted == server.badge().dialects { "accepted" } else { "refused" };
        row.tag("tr", &[("data-state", state)]).raw("<th scope=\"row\">");
        row.tag("a", &[("href", &format!("{}.html", server.slug))]).text(&cut(&server.name, NAME)).raw("</a></th><td>");
        if let Some(locked) = &server.locked {
            row.text(&locked.package).raw(" ").text(&locked.version).raw("</td><td>").text(&locked.license);
        } else {
            row.raw("</td><td>");
        }
        row.raw("</td><td class=\"number\">")
            .count(server.tools.len())
            .raw("</td><td>")
            .text(&server.badge().message());
        row.raw("</td><td class=\"number\">").count(server.groups.len()).raw("</td></tr>\n");
        let is_full = tables.last_mut().is_none_or(|table| !table.append(&row, MAX_INDEX - 6_000));
        if is_full {
            tables.push(row);
        }
    }
    let count = tables.len();
    let page = |(at, table): (usize, Html)| {
        let mut html = begin_page("MCP servers and models");
        html.raw("<script src=\"report.js\" defer></script>\n").raw(BODY).raw("<main id=\"main\">\n");
        html.raw(
            "<h1>MCP servers and models</h1>\n<p>Which APIs and clients accept the tools of a server as they are.",
        );
        html.raw(
            "</p>\n<form hidden role=\"search\"><label>Search <input type=\"search\" name=\"search\"></label>\
             <label>Show <select name=\"show\"><option value=\"all\">all servers</option>\
             <option value=\"accepted\">accepted everywhere</option>\
             <option value=\"refused\">refused somewhere</option>\
             </select></label><output id=\"count\" aria-live=\"polite\"></output></form>\n",
        );
        html.raw(
            "<table>\n<caption>Servers</caption>\n<thead><tr><th scope=\"col\">Server</th>\
             <th scope=\"col\">Package</th>\
             <th scope=\"col\">License</th><th scope=\"col\" class=\"number\">Tools</th><th scope=\"col\">As is</th>\
             <th scope=\"col\" class=\"number\">Findings</th></tr></thead>\n<tbody>\n",
        );
        html.append(&table, MAX_PAGE);
        html.raw("</tbody>\n</table>\n");
        if count > 1 {
            html.raw("<nav aria-label=\"Pages\"><p>Page ").count(at + 1).raw(" of ").count(count);
            for (step, name) in [(at.checked_sub(1), "previous"), (Some(at + 1).filter(|at| *at < count), "next")] {
                if let Some(to) = step {
                    html.raw(", ").tag("a", &[("href", &index_name(to))]).text(name).raw("</a>");
                }
            }
            html.raw("</p></nav>\n");
        }
        footer(facts, &mut html);
        html.raw(END);
        html.into_string()
    };
    tables.into_iter().enumerate().map(page).collect()
}

/// Returns the file of an index.
pub(super) fn index_name(at: usize) -> String {
    if at == 0 {
        "index.html".into()
    } else {
        format!("index-{}.html", at + 1)
    }
}

fn text_member(node: &Node<'_>, member: &str) -> String {
    node.text_at(member).map(|text| text.display().into_owned()).unwrap_or_default()
}
