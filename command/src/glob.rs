//! Patterns of file names, for shells that leave them as they are. The host lists folders; what matches is decided
//! here.

use std::collections::VecDeque;

use toolwire::json::{self, Node};

/// What nobody means by `**`.
const SKIPPED: &str = "node_modules";
/// More folders than this, and the pattern means something else.
const FOLDERS: usize = 10_000;

/// A pattern at work: folders are listed one after the other.
#[derive(Debug)]
pub(crate) struct Glob {
    pattern: String,
    /// Folders to be listed; the empty one is where we are.
    folders: VecDeque<String>,
    listed: usize,
    found: Vec<String>,
}

/// Whether a name is a pattern. A name with brackets alone is one.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?']) && !name.starts_with(['{', '['])
}

impl Glob {
    pub(crate) fn new(pattern: &str) -> Glob {
        let pattern = pattern.replace('\\', "/");
        // What stands before the first part with a wildcard is where the search begins.
        let wildcard = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
        let end = pattern.get(..wildcard).and_then(|start| start.rfind('/')).map_or(0, |slash| slash + 1);
        let start = pattern.get(..end).unwrap_or_default().to_string();
        Glob { pattern, folders: VecDeque::from([start]), listed: 0, found: Vec::new() }
    }

    /// The folder to list next.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.folders.front().map(String::as_str)
    }

    /// Takes what is in that folder: a JSON list of names, those of folders with `/` at their end. `None`: it cannot be
    /// listed.
    pub(crate) fn give(&mut self, names: Option<&str>) {
        let Some(folder) = self.folders.pop_front() else { return };
        self.listed += 1;
        let list = json::read(names.unwrap_or("[]")).unwrap_or_default();
        let names = list.as_array().unwrap_or_default().iter().filter_map(Node::as_text);
        let mut names: Vec<String> = names.map(|name| name.display().into_owned()).collect();
        names.sort();
        let depth = self.pattern.split('/').count();
        for name in names {
            let path = format!("{folder}{name}");
            if let Some(inner) = name.strip_suffix('/') {
                let skipped = inner.starts_with('.') || inner == SKIPPED;
                let deep = self.pattern.contains("**") || path.split('/').count() <= depth;
                if !skipped && deep && self.listed + self.folders.len() < FOLDERS {
                    self.folders.push_back(path);
                }
            } else if fast_glob::glob_match(&self.pattern, &path) {
                self.found.push(path);
            }
        }
    }

    /// What matched, in the order of names.
    pub(crate) fn found(mut self) -> Vec<String> {
        self.found.sort();
        self.found
    }
}
