//! The pages of `toolwire report`: text of servers stays text, and no page is too large.

#![allow(clippy::panic, clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use serde_json::{json, Value};
use toolwire_command::{Command, Need};

const MAX_PAGE: usize = 100_000;

/// Runs `report` on files, and returns the written files by name.
fn report(arguments: &[&str], files: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let arguments: Vec<&str> = ["report", "--out", "site", "-d", "gemini,moonshot,claude-desktop"]
        .into_iter()
        .chain(arguments.iter().copied())
        .chain(files.keys().map(String::as_str).filter(|name| !name.ends_with(".lock")))
        .collect();
    let mut command = Command::new(&json!({"arguments": arguments, "date": "2026-11-30"}).to_string());
    while let Some(need) = command.need() {
        match need {
            Need::File(path) | Need::RegularFile(path) => match files.get(&path) {
                Some(text) => command.give(text.as_bytes()),
                None => command.fail("ENOENT"),
            },
            _ => command.fail("ENOENT"),
        }
    }
    while command.step().is_some() {}
    let printed = command.finish();
    assert_eq!(printed.exit_code, 0, "{}", printed.stderr);
    for file in &printed.files {
        assert_eq!(Some(file.confined.as_str()), file.path.strip_prefix("site/"));
        assert!(
            file.confined.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte)),
            "{}",
            file.path
        );
        assert!(file.content.len() <= MAX_PAGE, "{}: {} bytes", file.path, file.content.len());
    }
    printed.files.into_iter().map(|file| (file.confined, file.content)).collect()
}

/// Returns the tags of a page, without the values of their attributes.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    for part in page.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert!(!text.contains(['"', '\'']), "an unescaped quote: {text}");
        let names = tag.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
        tags.push(names);
    }
    tags
}

fn lists(text: &str) -> BTreeMap<String, String> {
    let schema =
        json!({"type": "object", "properties": {text: {"enum": [text, 1], "description": text}}, "required": [text]});
    let tools = json!([
        {"name": text, "description": text, "inputSchema": schema},
        {"name": format!("{text} {text}"), "title": text, "description": text, "inputSchema": {"$ref": text, text: text}},
        {"name": "c", "inputSchema": {"type": text, "pattern": text, "items": [{"format": text}]}},
    ]);
    BTreeMap::from([("a.json".into(), tools.to_string()), ("b.json".into(), json!([tools[0]]).to_string())])
}

const ATTACKS: [&str; 12] = [
    "<script>alert(1)</script>",
    "</title></h1><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "' onfocus='alert(1)' autofocus='",
    "javascript:alert(1)",
    "<!-- --><svg onload=alert(1)>",
    "]]><x/>&lt;b&gt;&#60;b>",
    "a\u{202e}b\u{2066}c\u{200b}d\u{feff}",
    "\u{1b}[2J\u{7}\u{0}",
    "`code` `<b>` `",
    "</code></pre></main></body></html>",
    "\u{fffe}\u{ffff}{{ 7 * 7 }}${7 * 7}",
];

#[test]
fn text_of_servers_is_never_markup() {
    for attack in ATTACKS {
        // The same length and form, without characters that mean anything.
        let harmless: String = attack.chars().map(|one| if one == '`' || one == ' ' { one } else { 'x' }).collect();
        let (found, expected) = (report(&[], &lists(attack)), report(&[], &lists(&harmless)));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, page) in found.iter().filter(|(name, _)| name.ends_with(".html") || name.ends_with(".svg")) {
            let known = [
                "a", "body", "caption", "code", "dd", "dl", "dt", "footer", "form", "g", "h1", "h2", "h3", "head",
                "html", "img", "input", "label", "li", "link", "main", "meta", "nav", "option", "output", "p", "pre",
                "rect", "select", "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "ul",
                "!doctype", "script",
            ];
            for tag in tags(page) {
                let word = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap_or_default().to_string();
                assert!(known.contains(&word.as_str()), "{name}: <{tag}>");
                assert!(!tag.contains(" on") && !tag.contains("style="), "{name}: <{tag}>");
            }
            assert_eq!(page.matches("<script").count(), usize::from(name.starts_with("index")), "{name}");
            let acts = |one: &char| {
                matches!(*one, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
                    || one.is_control() && *one != '\n'
            };
            assert_eq!(page.chars().find(acts), None, "{name}");
        }
        let index = |pages: &BTreeMap<String, String>| tags(&pages["index.html"]);
        assert_eq!(index(&found), index(&expected), "{attack}");
        let endpoint: Value = serde_json::from_str(&found["a.badge.json"]).expect("JSON");
        assert_eq!(endpoint["schemaVersion"], 1);
    }
}

/// Names of servers and members of the lock file are text, too, and names of files are safe.
#[test]
fn names_of_servers_are_text() {
    let long = ["A".repeat(500), "<".repeat(120_000)];
    let names = ["../../etc/passwd", "con", "index", "<b>\"", "\u{202e}", "", "a b.json"];
    for name in names.into_iter().chain(long.iter().map(String::as_str)) {
        let files = BTreeMap::from([("a.json".to_string(), lists("x")["a.json"].clone())]);
        let written = report(&["--name", name], &files);
        assert!(written.contains_key("index.html") && written.len() == 6, "{name:?}: {:?}", written.keys());
        tags(&written["index.html"]);
    }
}

/// A section that does not fit is cut and counted. None disappears.
#[test]
fn long_sections_are_cut() {
    let odd = "\u{202e}".repeat(100);
    let tools: Vec<Value> = (0..60)
        .map(|at| {
            let property = json!({
                "type": ["string", "null", "integer"],
                "format": odd,
                "oneOf": [{"pattern": "(?=x)"}],
                "const": odd,
                "minimum": 1.5
            });
            let names = (0..3).map(|name| (format!("{odd}{name}"), property.clone()));
            json!({"name": format!("t{at}{odd}"), "description": odd.repeat(4), "inputSchema": {
                "type": "object", "properties": names.collect::<serde_json::Map<_, _>>()}})
        })
        .collect();
    let files = BTreeMap::from([("a.json".to_string(), json!(tools).to_string())]);
    let written = report(&["-d", "all"], &files);
    let page = &written["a.html"];
    for section in ["<caption>APIs", "<caption>Tools", "Findings, and how to fix them", "Fixes that lose nothing"] {
        assert!(page.contains(section), "{section}");
    }
    assert!(page.ends_with("</main>\n</body>\n</html>\n"));
    let diff = page.split("<pre><code>").nth(1).and_then(|rest| rest.split("</code>").next());
    assert!(diff.is_some_and(|diff| !diff.is_empty()), "{diff:?}");
    let part = page.split("how to fix them</h2>").nth(1).expect("the findings");
    assert!(part.contains("<li>") && part.contains(" more; <code>"), "{}", &part[..400]);
}

/// Every page is at most 100 KB, whatever a server lists, and loads nothing from elsewhere.
#[test]
fn pages_are_small_and_need_no_network() {
    let many: Vec<Value> = (0..400)
        .map(|at| {
            json!({"name": format!("tool {at} {}", "&".repeat(200)), "description": "\"".repeat(5_000),
            "inputSchema": {"type": "object", "properties": {format!("<{at}>"): {"enum": [1, "a"]}}}})
        })
        .collect();
    let mut files = BTreeMap::from([("many.json".to_string(), json!(many).to_string())]);
    for at in 0..200 {
        files.insert(
            format!("server-{at}-{}.json", "&".repeat(90)),
            json!([{"name": "a", "inputSchema": {}}]).to_string(),
        );
    }
    let written = report(&[], &files);
    assert!(written.contains_key("index-2.html"), "{} files", written.len());
    let listed: usize = written
        .iter()
        .filter(|(name, _)| name.starts_with("index"))
        .map(|(_, page)| page.matches("<tr data-state").count())
        .sum();
    assert_eq!(listed, files.len());
    for (name, page) in &written {
        for place in page.match_indices("http").map(|(at, _)| &page[at..]) {
            let is_link = place.starts_with("https://github.com/toolwire/toolwire/blob/main/docs/");
            assert!(
                is_link || place.starts_with("http-equiv") || place.starts_with("http://www.w3.org/2000/svg"),
                "{name}: {}",
                &place[..60.min(place.len())]
            );
        }
        for mark in ["src=\"//", "href=\"//", "@import", "url(", "fetch(", "import("] {
            assert!(!page.contains(mark), "{name}: {mark}");
        }
    }
    let largest = written.iter().max_by_key(|(_, page)| page.len()).expect("a page");
    println!("{} pages, the largest is {} with {} bytes", written.len(), largest.0, largest.1.len());
}
