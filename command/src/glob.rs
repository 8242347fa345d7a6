//! Glob patterns for file names, for shells that do not expand them. The host lists directories, and this module
//! compares their entries with the pattern.

use std::collections::VecDeque;

use toolwire::internal::json::{self, Node};
use wildmatch::WildMatch;

/// Directory that `**` does not enter.
const SKIPPED: &str = "node_modules";
const ANY: &str = "**";
/// Maximum number of directories to list; a pattern that needs more is probably a mistake.
pub(crate) const FOLDERS: usize = 10_000;

#[derive(Debug)]
pub(crate) struct Glob {
    pattern: String,
    /// An empty path is the working directory.
    folders: VecDeque<String>,
    listed: usize,
    /// True if there are more directories than were listed.
    cut: bool,
    found: Vec<String>,
}

/// Returns true if a name is a pattern. Brackets are not wildcards, and a name that looks like JSON text is not a
/// pattern.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?']) && !name.starts_with(['{', '['])
}

impl Glob {
    pub(crate) fn new(pattern: String) -> Glob {
        // The search begins in the directory before the first part with a wildcard.
        let wildcard = pattern.find(['*', '?']).unwrap_or(pattern.len());
        let end = pattern.get(..wildcard).and_then(|start| start.rfind('/')).map_or(0, |slash| slash + 1);
        let start = pattern.get(..end).unwrap_or_default().to_string();
        Glob { pattern, folders: VecDeque::from([start]), listed: 0, cut: false, found: Vec::new() }
    }

    pub(crate) fn folder(&self) -> Option<&str> {
        self.folders.front().map(String::as_str)
    }

    /// `names` is a JSON list of names, with `/` after directories and `//` after links to directories. `None` means
    /// that the directory cannot be listed.
    pub(crate) fn add_listing(&mut self, names: Option<&str>) {
        let Some(folder) = self.folders.pop_front() else { return };
        self.listed += 1;
        let list = json::read(names.unwrap_or("[]")).unwrap_or_default();
        let names = list.as_array().unwrap_or_default().iter().filter_map(Node::as_text);
        let mut names: Vec<String> = names.map(|name| name.display().into_owned()).collect();
        names.sort();
        let pattern: Vec<&str> = self.pattern.split('/').collect();
        for name in names {
            let inner = name.trim_end_matches('/');
            let path = format!("{folder}{inner}");
            let parts: Vec<&str> = path.split('/').collect();
            if inner == name {
                if matches_pattern(&pattern, &parts, false) {
                    self.found.push(path);
                }
                continue;
            }
            // A link may point to a parent directory, so that `**` would not end.
            let endless = name.ends_with("//") && pattern.contains(&ANY);
            let skipped = inner == SKIPPED && pattern.contains(&ANY);
            if endless || skipped || !matches_pattern(&pattern, &parts, true) {
                continue;
            }
            if self.listed + self.folders.len() < FOLDERS {
                self.folders.push_back(format!("{path}/"));
            } else {
                self.cut = true;
            }
        }
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    pub(crate) fn into_paths(mut self) -> Vec<String> {
        self.found.sort();
        self.found
    }
}

/// Returns true if a path matches, or if it is a directory that could contain a matching path.
fn matches_pattern(pattern: &[&str], path: &[&str], is_folder: bool) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, _) => path.is_empty() && !is_folder,
        (Some((part, rest)), None) => is_folder || (*part == ANY && rest.is_empty()),
        (Some((&ANY, rest)), Some((first, inner))) => {
            matches_pattern(rest, path, is_folder)
                || (!first.starts_with('.') && matches_pattern(pattern, inner, is_folder))
        }
        (Some((part, rest)), Some((first, inner))) => {
            // Names that begin with a dot match only a pattern that begins with a dot.
            let seen = part.starts_with('.') || !first.starts_with('.');
            seen && (part == first || WildMatch::new(part).matches(first)) && matches_pattern(rest, inner, is_folder)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Glob, FOLDERS};

    fn found(pattern: &str, folders: &[(&str, &str)]) -> Vec<String> {
        let mut glob = Glob::new(pattern.into());
        while let Some(folder) = glob.folder() {
            let names = folders.iter().find(|(name, _)| *name == folder).map(|(_, names)| *names);
            glob.add_listing(names);
        }
        glob.into_paths()
    }

    #[test]
    fn wildcards_skip_dot_files_and_double_stars_skip_links() {
        let folders = [
            ("", r#"["a.json", ".mcp.json", ".hidden/", "in/", "link//"]"#),
            (".hidden/", r#"["b.json"]"#),
            ("in/", r#"["c.json", "[d].json", "node_modules/"]"#),
            ("in/node_modules/", r#"["e.json"]"#),
            ("link/", r#"["c.json"]"#),
        ];
        let cases: [(&str, &[&str]); 9] = [
            ("*.json", &["a.json"]),
            (".*.json", &[".mcp.json"]),
            ("*/*.json", &["in/[d].json", "in/c.json", "link/c.json"]),
            (".h*/*.json", &[".hidden/b.json"]),
            (".hidden/*.json", &[".hidden/b.json"]),
            ("**/*.json", &["a.json", "in/[d].json", "in/c.json"]),
            ("in/**", &["in/[d].json", "in/c.json"]),
            ("in/[d]*", &["in/[d].json"]),
            ("in/node_modules/*", &["in/node_modules/e.json"]),
        ];
        for (pattern, expected) in cases {
            assert_eq!(found(pattern, &folders), expected, "{pattern}");
        }
    }

    #[test]
    fn too_many_folders_are_reported() {
        let mut glob = Glob::new("*/*.json".into());
        let names: Vec<String> = (0..FOLDERS + 1).map(|at| format!("\"{at}/\"")).collect();
        glob.add_listing(Some(&format!("[{}]", names.join(","))));
        assert!(glob.is_cut());
        let mut glob = Glob::new("*/*.json".into());
        glob.add_listing(Some(&format!("[{}]", names.get(..100).unwrap_or_default().join(","))));
        assert!(!glob.is_cut());
    }
}
