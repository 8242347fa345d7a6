//! Owners of resources, templates, prompts and tasks, if there are several servers.
//!
//! An entry that could belong to an earlier server in the configuration is left out of a list. A server that does not
//! answer keeps its listed entries, so that no other server can take them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use toolwire::internal::json::{self, Node};

use super::{message, Server};

/// Separator between a server's name and the name of a prompt that could belong to several servers.
const BETWEEN: &str = "__";
/// Beginning of the URI of a page of MCP Apps, and the paths of the member of a tool that names its page.
pub(super) const PAGE: &str = "ui://";
const PAGE_PATHS: [&[&str]; 2] = [&["_meta", "ui", "resourceUri"], &["_meta", "ui/resourceUri"]];
const MAX_PAGES: usize = 100_000;
/// Maximum length of a URI in a result, and of a task's id, in bytes. Longer texts are not remembered.
const MAX_NAME: usize = 8 << 10;
/// Maximum total size, in bytes, of the URIs in a server's results, and of its tasks' ids. Twice as much may be in
/// memory.
const RECENT_BYTES: usize = 8 << 20;
/// Estimated size of an entry of a set, in bytes, in addition to its text.
const ENTRY: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    One(usize),
    /// Several servers have sent the name to the client.
    Several,
    Unknown,
}

#[derive(Debug, Default)]
pub(super) struct Owners {
    resources: BTreeMap<String, usize>,
    templates: BTreeMap<String, usize>,
    /// Prefixes of templates, by server. No URI begins with prefixes of two servers.
    prefixes: BTreeMap<usize, Prefixes>,
    /// The server of each prompt, and the name on that server, by the name for the client.
    prompts: BTreeMap<String, (usize, String)>,
    /// URIs in tool results, by server. They are used only for URIs that no server lists.
    links: BTreeMap<usize, Recent>,
    tasks: BTreeMap<usize, Recent>,
    /// The server of each page of MCP Apps, and the URI on that server, by the URI for the client.
    pages: BTreeMap<String, (usize, String)>,
}

impl Owners {
    /// Records the owner of each entry. Returns the entries for the client, and the number of entries that are left out
    /// because they could belong to another server.
    pub(super) fn list(
        &mut self,
        method: &str,
        key: &'static str,
        lists: &[(usize, &[String])],
        servers: &[Server],
    ) -> (Vec<String>, usize) {
        let has_answered = |server: &usize| lists.iter().any(|(answered, _)| answered == server);
        match key {
            "resources" => self.resources.retain(|_, server| !has_answered(server)),
            "resourceTemplates" => {
                self.templates.retain(|_, server| !has_answered(server));
                self.prefixes.retain(|server, _| !has_answered(server));
            }
            "prompts" => self.prompts.retain(|_, (server, _)| !has_answered(server)),
            _ => {}
        }
        if method == "prompts/list" {
            return self.list_prompts(lists, servers);
        }
        let (mut out, mut left_out) = (Vec::new(), 0);
        for (server, entries) in lists {
            for entry in *entries {
                let renamed = match key {
                    "resources" => self.with_page(*server, servers, entry, &[&["uri"]]),
                    _ => None,
                };
                let entry = renamed.as_ref().unwrap_or(entry);
                let is_own = match key {
                    "resources" => self.add_resource(*server, text_member(entry, "uri")),
                    "resourceTemplates" => self.add_template(*server, text_member(entry, "uriTemplate")),
                    "tasks" => self.add_listed_task(*server, text_member(entry, "taskId")),
                    _ => true,
                };
                if is_own {
                    out.push(entry.clone());
                } else {
                    left_out += 1;
                }
            }
        }
        (out, left_out)
    }

    pub(super) fn tool_with_page(&mut self, server: usize, servers: &[Server], tool: &str) -> Option<String> {
        self.with_page(server, servers, tool, &PAGE_PATHS)
    }

    /// `paths` point to the page. The page gets a URI that no other server's page has. Returns the entry if it has
    /// changed.
    fn with_page(
        &mut self,
        server: usize,
        servers: &[Server],
        entry: &str,
        paths: &[&[&'static str]],
    ) -> Option<String> {
        if !entry.contains("ui:") {
            return None;
        }
        let mut node = json::read(entry).ok()?;
        let mut has_changed = false;
        for path in paths {
            let uri = message::text_at(&node, path).filter(|uri| uri.starts_with(PAGE));
            let (Some(uri), [above @ .., last]) = (uri, *path) else { continue };
            let shown = self.shown_page_uri(server, servers, &uri);
            if shown != uri {
                message::set_at(&mut node, above, last, &shown);
                has_changed = true;
            }
        }
        has_changed.then(|| json::write(&node))
    }

    fn shown_page_uri(&mut self, server: usize, servers: &[Server], uri: &str) -> String {
        if let Some(shown) = self.shown_uri(server, uri) {
            return shown;
        }
        let mut shown = uri.to_string();
        let is_free = |shown: &String| {
            !self.pages.contains_key(shown) && self.resources.get(shown).is_none_or(|owner| *owner == server)
        };
        if !is_free(&shown) {
            let name = servers.get(server).map(|server| server.name.as_str()).unwrap_or_default();
            shown = format!("{PAGE}{name}/{}", uri.strip_prefix(PAGE).unwrap_or_default());
            while !is_free(&shown) {
                shown.push('_');
            }
        }
        if self.pages.len() < MAX_PAGES {
            self.pages.insert(shown.clone(), (server, uri.into()));
        }
        shown
    }

    pub(super) fn shown_uri(&self, server: usize, uri: &str) -> Option<String> {
        let is_shown_as_is =
            self.pages.get(uri).is_some_and(|(owner, server_uri)| *owner == server && server_uri == uri);
        if is_shown_as_is || !uri.starts_with(PAGE) {
            return is_shown_as_is.then(|| uri.into());
        }
        let mut pages = self.pages.iter().filter(|(_, (owner, server_uri))| *owner == server && server_uri == uri);
        pages.next().map(|(shown, _)| shown.clone())
    }

    /// Returns the URI on the server, if the page has another URI for the client.
    pub(super) fn own_uri(&self, shown: &str) -> Option<&str> {
        self.pages.get(shown).map(|(_, server_uri)| server_uri.as_str()).filter(|server_uri| *server_uri != shown)
    }

    pub(super) fn is_listed(&self, uri: &str) -> bool {
        self.pages.contains_key(uri)
            || self.resources.contains_key(uri)
            || self.templates.contains_key(uri)
            || self.owner_by_prefix(uri).is_some()
    }

    /// Returns false if the resource could belong to an earlier server.
    fn add_resource(&mut self, server: usize, uri: Option<String>) -> bool {
        let Some(uri) = uri else { return true };
        let of_template = self.owner_by_prefix(&uri);
        of_template.is_none_or(|of| of >= server) && *self.resources.entry(uri).or_insert(server) == server
    }

    /// Returns false if another server's template could produce the same URIs.
    fn add_template(&mut self, server: usize, template: Option<String>) -> bool {
        let Some(template) = template else { return true };
        let prefix = prefix(&template);
        let mut others = self.prefixes.iter().filter(|(other, _)| **other != server);
        if prefix.is_some_and(|prefix| others.any(|(_, prefixes)| prefixes.overlaps(prefix))) {
            return false;
        }
        if let Some(prefix) = prefix {
            self.prefixes.entry(server).or_default().add(prefix);
        }
        *self.templates.entry(template).or_insert(server) == server
    }

    /// Returns false if another server has a task with this id.
    fn add_listed_task(&mut self, server: usize, task: Option<String>) -> bool {
        let Some(task) = task else { return true };
        if self.tasks.iter().any(|(other, tasks)| *other != server && tasks.contains(&task)) {
            return false;
        }
        self.tasks.entry(server).or_default().add(task);
        true
    }

    /// Gives each prompt a unique name. If the prompt's own name could belong to another server, the name contains the
    /// server.
    fn list_prompts(&mut self, lists: &[(usize, &[String])], servers: &[Server]) -> (Vec<String>, usize) {
        let mut of_name: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        let kept = self.prompts.values().map(|(server, name)| (*server, name.clone()));
        let listed = lists.iter().flat_map(|(server, entries)| {
            entries.iter().filter_map(|entry| Some((*server, text_member(entry, "name")?)))
        });
        for (server, name) in kept.chain(listed) {
            of_name.entry(name).or_default().insert(server);
        }
        let begins_with_server = |name: &str, server_name: &str| {
            let mut others = servers.iter().filter(|server| server.name != server_name);
            others.any(|other| name.strip_prefix(&other.name).is_some_and(|rest| rest.starts_with(BETWEEN)))
        };
        let (mut out, mut left_out) = (Vec::new(), 0);
        for (server, entries) in lists {
            let whose = servers.get(*server).map(|server| server.name.as_str()).unwrap_or_default();
            let mut seen = BTreeSet::new();
            for entry in *entries {
                let Some(name) = text_member(entry, "name") else { continue };
                if !seen.insert(name.clone()) {
                    left_out += 1;
                    continue;
                }
                let is_unique = of_name.get(&name).is_none_or(|of| of.len() == 1) && !begins_with_server(&name, whose);
                let mut shown = if is_unique { name.clone() } else { format!("{whose}{BETWEEN}{name}") };
                while self.prompts.contains_key(&shown) {
                    shown.push('_');
                }
                out.push(if shown == name { entry.clone() } else { with_name(entry, &shown) });
                self.prompts.insert(shown, (*server, name));
            }
        }
        (out, left_out)
    }

    pub(super) fn add_links(&mut self, server: usize, result: &Node<'_>) {
        for block in result.items_at("content") {
            let uri = message::text_at(block, &["uri"]).or_else(|| message::text_at(block, &["resource", "uri"]));
            uri.into_iter().for_each(|uri| self.links.entry(server).or_default().add(uri));
        }
    }

    pub(super) fn add_task(&mut self, server: usize, message: &Node<'_>) {
        let task = message.get("result").and_then(super::results::started_task);
        task.into_iter().for_each(|task| self.tasks.entry(server).or_default().add(task));
    }

    pub(super) fn forget(&mut self, server: usize) {
        self.links.remove(&server);
        self.tasks.remove(&server);
    }

    pub(super) fn of_uri(&self, uri: &str) -> Owner {
        if let Some((server, _)) = self.pages.get(uri) {
            return Owner::One(*server);
        }
        let template = self.templates.get(uri).copied().or_else(|| self.owner_by_prefix(uri));
        match (self.resources.get(uri).copied(), template) {
            // The resource was listed before an earlier server listed the template.
            (Some(resource), Some(template)) if template < resource => Owner::Several,
            (Some(server), _) | (None, Some(server)) => Owner::One(server),
            (None, None) => owner_among(&self.links, uri),
        }
    }

    pub(super) fn of_task(&self, task: &str) -> Owner {
        owner_among(&self.tasks, task)
    }

    pub(super) fn of_prompt(&self, shown: &str) -> Option<(usize, String)> {
        self.prompts.get(shown).cloned()
    }

    fn owner_by_prefix(&self, uri: &str) -> Option<usize> {
        self.prefixes.iter().find(|(_, prefixes)| prefixes.begin(uri)).map(|(server, _)| *server)
    }
}

fn owner_among(names: &BTreeMap<usize, Recent>, name: &str) -> Owner {
    let mut servers = names.iter().filter(|(_, names)| names.contains(name)).map(|(server, _)| *server);
    match (servers.next(), servers.next()) {
        (Some(server), None) => Owner::One(server),
        (Some(_), Some(_)) => Owner::Several,
        (None, _) => Owner::Unknown,
    }
}

/// Prefixes; no prefix begins with another. Only the greatest prefix up to a text can be the prefix of the text.
#[derive(Debug, Default)]
struct Prefixes(BTreeSet<String>);

impl Prefixes {
    fn add(&mut self, prefix: &str) {
        if self.begin(prefix) {
            return;
        }
        while let Some(longer) = self.prefix_beginning_with(prefix).cloned() {
            self.0.remove(&longer);
        }
        self.0.insert(prefix.into());
    }

    fn begin(&self, text: &str) -> bool {
        self.0
            .range::<str, _>((Bound::Unbounded, Bound::Included(text)))
            .next_back()
            .is_some_and(|prefix| text.starts_with(prefix.as_str()))
    }

    fn overlaps(&self, prefix: &str) -> bool {
        self.begin(prefix) || self.prefix_beginning_with(prefix).is_some()
    }

    fn prefix_beginning_with(&self, text: &str) -> Option<&String> {
        self.0
            .range::<str, _>((Bound::Included(text), Bound::Unbounded))
            .next()
            .filter(|prefix| prefix.starts_with(text))
    }
}

/// The latest names of a server. If there are too many, the older half is forgotten. A server can displace only its own
/// names.
#[derive(Debug, Default)]
struct Recent {
    newer: BTreeSet<String>,
    older: BTreeSet<String>,
    /// Size of `newer`, in bytes.
    bytes: usize,
}

impl Recent {
    fn add(&mut self, name: String) {
        if name.len() > MAX_NAME || self.newer.contains(&name) {
            return;
        }
        let size = name.len() + ENTRY;
        if self.bytes + size > RECENT_BYTES {
            self.older = std::mem::take(&mut self.newer);
            self.bytes = 0;
        }
        self.bytes += size;
        self.newer.insert(name);
    }

    fn contains(&self, name: &str) -> bool {
        self.newer.contains(name) || self.older.contains(name)
    }
}

/// Returns the text before the first variable; `None` if it is empty, because such a template names no server.
fn prefix(template: &str) -> Option<&str> {
    template.split('{').next().filter(|prefix| !prefix.is_empty())
}

fn text_member(entry: &str, key: &str) -> Option<String> {
    message::text_at(&json::read(entry).ok()?, &[key])
}

fn with_name(entry: &str, name: &str) -> String {
    let Ok(mut entry) = json::read(entry) else { return entry.to_string() };
    entry.set("name", Node::string(name));
    json::write(&entry)
}

#[cfg(test)]
mod tests {
    use super::{Owner, Owners, Recent, ENTRY, MAX_NAME, RECENT_BYTES};

    fn templates(owners: &mut Owners, server: usize, templates: &[String]) -> usize {
        let entries: Vec<String> =
            templates.iter().map(|template| format!("{{\"uriTemplate\":\"{template}\"}}")).collect();
        owners.list("resources/templates/list", "resourceTemplates", &[(server, &entries)], &[]).1
    }

    /// The time must be linear in the length of a URI, and in the size of a list.
    #[test]
    fn long_uris_and_nested_prefixes_are_looked_up_at_once() {
        let mut owners = Owners::default();
        let nested: Vec<String> = (1..4_000).map(|length| format!("a:{}{{x}}", "/".repeat(length))).collect();
        assert_eq!(templates(&mut owners, 0, &nested), 0);
        let reversed: Vec<String> = nested.iter().rev().map(|template| template.replace("a:", "b:")).collect();
        assert_eq!(templates(&mut owners, 1, &reversed), 0);
        let long = "/".repeat(8 << 20);
        assert_eq!(owners.of_uri(&format!("a:{long}")), Owner::One(0));
        assert_eq!(owners.of_uri(&format!("b:{long}")), Owner::One(1));
        assert_eq!(owners.of_uri(&format!("c:{long}")), Owner::Unknown);
    }

    /// The prefix may overlap the prefixes of several servers.
    #[test]
    fn a_short_prefix_takes_no_uris_of_another_server() {
        let mut owners = Owners::default();
        assert_eq!(templates(&mut owners, 0, &["g:a/{x}".into(), "g:c/{x}".into()]), 0);
        assert_eq!(templates(&mut owners, 1, &["g:b/{x}".into(), "g:{x}".into(), "g:c/d{x}".into()]), 2);
        let entries = ["g:a/{x}", "g:{x}"].map(|template| format!("{{\"uriTemplate\":\"{template}\"}}"));
        assert_eq!(owners.list("resources/templates/list", "resourceTemplates", &[(0, &entries)], &[]).1, 1);
        assert_eq!(owners.of_uri("g:b/1"), Owner::One(1));
    }

    #[test]
    fn the_names_of_results_are_bounded() {
        let mut names = Recent::default();
        names.add("x".repeat(MAX_NAME + 1));
        assert_eq!(names.bytes, 0);
        let most = RECENT_BYTES / (MAX_NAME + ENTRY);
        for number in 0..5 * most {
            names.add(format!("{number:0>width$}", width = MAX_NAME));
            assert!(names.bytes <= RECENT_BYTES && names.newer.len() + names.older.len() <= 2 * most);
        }
        assert!(names.contains(&format!("{:0>width$}", 5 * most - 1, width = MAX_NAME)));
        assert!(!names.contains(&format!("{:0>width$}", 0, width = MAX_NAME)));
    }
}
