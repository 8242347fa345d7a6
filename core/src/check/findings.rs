//! A list of findings of limited size. A constraint has a limited number of findings at one location, and all findings
//! together have a limited number of bytes. Findings beyond a limit are only counted, in the last listed finding of the
//! constraint and location. Without limits, a list would be many times larger than the input: each schema may violate
//! several constraints, and each finding repeats the names of all enclosing properties.
//!
//! The location is the last keyword of a pointer, so `/properties/a/format` and `/properties/b/format` are one
//! location.

use alloc::vec::Vec;

use crate::{
    collections::{sorted_by, Map},
    json::Text,
    report::Severity,
    schema::keyword::Keyword,
};

/// Maximum size of a list of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingLimit {
    /// Maximum number of findings of a constraint at a location.
    each: usize,
    /// Size of all listed findings in bytes, beyond which only the first finding of a constraint and location is
    /// listed.
    bytes: usize,
}

impl FindingLimit {
    /// For results of the public functions.
    pub const LISTED: FindingLimit = FindingLimit { each: 100, bytes: 4 << 20 };
    /// For programs that need the findings of every tool, and shorten the list themselves.
    pub const EVERY_TOOL: FindingLimit = FindingLimit { each: usize::MAX, bytes: 64 << 20 };

    /// Maximum number of findings of a constraint at a location.
    pub const fn each(self) -> usize {
        self.each
    }
}

/// A finding with the number of findings that are not listed.
pub(crate) trait Finding {
    fn constraint(&self) -> &'static str;
    fn severity(&self) -> Severity;
    fn pointer(&self) -> &str;
    /// Number of further findings of the constraint at the location.
    fn more(&mut self) -> &mut usize;
    /// Returns the size of the finding in bytes.
    fn size(&self) -> usize;
}

/// Implements [`Finding`] for a type of violation, with the members that contain names.
macro_rules! finding {
    ($violation:ty $(, $name:ident)*) => {
        impl $crate::check::findings::Finding for $violation {
            fn constraint(&self) -> &'static str {
                self.constraint.into()
            }

            fn severity(&self) -> $crate::report::Severity {
                self.severity
            }

            fn pointer(&self) -> &str {
                &self.pointer
            }

            fn more(&mut self) -> &mut usize {
                &mut self.more
            }

            fn size(&self) -> usize {
                let names = 0 $(+ self.$name.as_ref().map_or(0, String::len))*;
                size_of::<$violation>() + self.pointer.len() + self.message.len() + names
            }
        }
    };
}
pub(crate) use finding;

/// Constraint, severity and location.
type GroupKey = (&'static str, u8, &'static str);

/// Findings with one key, each with the number of its node in document order, and its index among all findings.
struct Group<T> {
    listed: Vec<(u32, usize, T)>,
    more: usize,
}

pub(crate) struct Findings<T> {
    limit: FindingLimit,
    groups: Map<GroupKey, Group<T>>,
    count: usize,
    bytes: usize,
}

impl<T: Finding> Findings<T> {
    pub(crate) const fn new(limit: FindingLimit) -> Self {
        Findings { limit, groups: Map::new(), count: 0, bytes: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// `number` is the number of the finding's node in document order.
    pub(crate) fn add(&mut self, number: u32, mut finding: T) {
        let key = (finding.constraint(), finding.severity() as u8, location(finding.pointer()));
        let group = self.groups.entry(key).or_insert_with(|| Group { listed: Vec::new(), more: 0 });
        group.more += core::mem::take(finding.more());
        if !group.listed.is_empty() && self.bytes > self.limit.bytes {
            group.more += 1;
            return;
        }
        self.bytes += finding.size();
        group.listed.push((number, self.count, finding));
        self.count += 1;
        // Rules traverse a document in different orders, so up to twice as many findings are kept until they are
        // sorted.
        if group.listed.len() >= self.limit.each.saturating_mul(2) {
            self.bytes -= group.shorten(self.limit.each);
        }
    }

    pub(crate) fn finish(self) -> Vec<T> {
        let mut all = Vec::new();
        for (_, mut group) in self.groups {
            group.shorten(self.limit.each);
            if let Some((_, _, last)) = group.listed.last_mut() {
                *last.more() = group.more;
            }
            all.append(&mut group.listed);
        }
        sort_by_document_order(all).into_iter().map(|(_, _, finding)| finding).collect()
    }
}

impl<T: Finding> Group<T> {
    /// Sorts the findings, and keeps the first `count`. Returns the size of the removed findings in bytes.
    fn shorten(&mut self, count: usize) -> usize {
        self.listed = sort_by_document_order(core::mem::take(&mut self.listed));
        let removed = self.listed.split_off(count.min(self.listed.len()));
        self.more += removed.len();
        removed.iter().map(|(_, _, finding)| finding.size()).sum()
    }
}

fn sort_by_document_order<T>(list: Vec<(u32, usize, T)>) -> Vec<(u32, usize, T)> {
    sorted_by(list, |left, right| (left.0, left.1).cmp(&(right.0, right.1)))
}

/// Maximum number of steps at the end of a pointer: its last keyword, a name in a table, and an index in a list.
const STEPS_FROM_KEYWORD: usize = 3;

/// Returns the last keyword of a pointer, or an empty string.
pub fn location(pointer: &str) -> &'static str {
    let steps = pointer.rsplit('/').take(STEPS_FROM_KEYWORD);
    let mut keywords = steps.filter_map(|step| Keyword::named(&Text::new(step)));
    keywords.next().map_or("", Keyword::name)
}
