//! Chooses the requests: few requests have to determine which tools an API refuses. It does no input or output, and
//! only receives the result of each request.
//!
//! The first request contains all tools. A refused group is split into smaller groups, which are sent separately. Tools
//! form a group if the table (the constraints of the dialect) expects them to be refused. A tool that the error names
//! is sent alone. A refusal is attributed to tools only after some request of the same form was accepted, if necessary
//! one with a plain tool. Finally, all accepted tools are sent together, unless they already were: a refusal of this
//! request concerns the request as a whole.

use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted(u16),
    Refused(Refusal),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestTools {
    /// Tools of the user, by their indices.
    Tools(Vec<usize>),
    /// A tool that every API accepts.
    Plain,
}

/// Maximum size of a group whose tools are sent one by one.
const MAX_SEPARATE: usize = 4;

#[derive(Debug)]
pub(crate) struct GroupSearch {
    pub(crate) verdicts: Vec<Option<Verdict>>,
    /// A refusal of tools that are accepted separately.
    pub(crate) together: Option<Refusal>,
    /// The tools that the table expects to be refused.
    expected: Vec<bool>,
    /// Groups that have to be sent, the next group last.
    groups: Vec<Vec<usize>>,
    /// A refusal that may not concern the tools.
    doubtful: Option<(Vec<usize>, Refusal)>,
    /// True if a request of this form was accepted.
    is_proven: bool,
    accepted: BTreeSet<Vec<usize>>,
    refused: Vec<(Vec<usize>, Refusal)>,
    /// True if only the last request remains, with all accepted tools.
    is_last: bool,
}

impl GroupSearch {
    pub(crate) fn new(expected: Vec<bool>) -> GroupSearch {
        GroupSearch {
            verdicts: expected.iter().map(|_| None).collect(),
            together: None,
            groups: Vec::from([(0..expected.len()).collect()]),
            expected,
            doubtful: None,
            is_proven: false,
            accepted: BTreeSet::new(),
            refused: Vec::new(),
            is_last: false,
        }
    }

    pub(crate) fn next(&self) -> Option<RequestTools> {
        match &self.doubtful {
            Some(_) => Some(RequestTools::Plain),
            None => self.groups.last().cloned().map(RequestTools::Tools),
        }
    }

    pub(crate) fn accept(&mut self, status: u16) {
        self.is_proven = true;
        if let Some((group, refusal)) = self.doubtful.take() {
            return self.split_group(group, refusal);
        }
        let Some(group) = self.groups.pop() else { return };
        for at in &group {
            self.record(*at, Verdict::Accepted(status));
        }
        self.accepted.insert(group);
        self.conclude();
    }

    /// Handles a refusal. `named` is the index, in the request, of the tool that the error names. Returns the refusal
    /// if it does not concern the tools.
    pub(crate) fn refuse(&mut self, refusal: Refusal, named_index: Option<usize>) -> Result<(), Refusal> {
        if let Some((_, first)) = self.doubtful.take() {
            return Err(first);
        }
        let Some(mut group) = self.groups.pop() else { return Err(refusal) };
        self.refused.push((group.clone(), refusal.clone()));
        if self.is_last {
            self.together = Some(refusal);
            return Ok(());
        }
        if let Some(at) = named_index.filter(|at| *at < group.len()) {
            let tool = group.remove(at);
            self.record(tool, Verdict::Refused(refusal));
            self.groups.extend(Some(group).filter(|group| !group.is_empty()));
            self.conclude();
        } else if self.is_proven {
            self.split_group(group, refusal);
        } else {
            self.doubtful = Some((group, refusal));
        }
        Ok(())
    }

    fn record(&mut self, at: usize, verdict: Verdict) {
        if let Some(known) = self.verdicts.get_mut(at) {
            // A tool of the last request was already accepted.
            known.get_or_insert(verdict);
        }
    }

    fn split_group(&mut self, group: Vec<usize>, refusal: Refusal) {
        if let [tool] = group.as_slice() {
            self.record(*tool, Verdict::Refused(refusal));
            return self.conclude();
        }
        let is_expected = |at: &usize| self.expected.get(*at) == Some(&true);
        let (worse, better): (Vec<usize>, Vec<usize>) = group.iter().copied().partition(is_expected);
        let parts: Vec<Vec<usize>> = if !worse.is_empty() && !better.is_empty() {
            Vec::from([worse, better])
        } else if group.len() <= MAX_SEPARATE {
            group.iter().rev().map(|at| Vec::from([*at])).collect()
        } else {
            let (first, second) = group.split_at(group.len() / 2);
            Vec::from([second.to_vec(), first.to_vec()])
        };
        self.groups.extend(parts);
    }

    fn conclude(&mut self) {
        if !self.groups.is_empty() || self.is_last {
            return;
        }
        let is_accepted = |at: &usize| matches!(self.verdicts.get(*at), Some(Some(Verdict::Accepted(_))));
        let rest: Vec<usize> = (0..self.verdicts.len()).filter(is_accepted).collect();
        if rest.len() < 2 || self.accepted.contains(&rest) {
            return;
        }
        self.is_last = true;
        match self.refused.iter().find(|(group, _)| *group == rest) {
            Some((_, refusal)) => self.together = Some(refusal.clone()),
            None => self.groups.push(rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GroupSearch, Refusal, RequestTools, Verdict};

    /// Simulates an API that refuses the tools in `bad`, and more than `limit` tools. Returns the search and the number
    /// of requests.
    fn run_search(count: usize, bad: &[usize], limit: usize, expected: &[usize], names: bool) -> (GroupSearch, usize) {
        let mut search = GroupSearch::new((0..count).map(|at| expected.contains(&at)).collect());
        let mut requests = 0;
        while let Some(next) = search.next() {
            requests += 1;
            assert!(requests <= 2 * count + 2, "it ends");
            let RequestTools::Tools(group) = next else {
                search.accept(200);
                continue;
            };
            let first = group.iter().position(|at| bad.contains(at));
            if first.is_none() && group.len() <= limit {
                search.accept(200);
            } else {
                let refusal = Refusal { status: 400, text: format!("{group:?}") };
                assert!(search.refuse(refusal, first.filter(|_| names)).is_ok());
            }
        }
        for (at, verdict) in search.verdicts.iter().enumerate() {
            let is_refused = matches!(verdict, Some(Verdict::Refused(_)));
            assert!(verdict.is_some() && is_refused == bad.contains(&at), "{count} {bad:?} {at} {verdict:?}");
        }
        (search, requests)
    }

    #[test]
    fn every_refused_tool_is_found_with_few_requests() {
        for count in 1..20 {
            for first in 0..count {
                for second in 0..count {
                    for names in [false, true] {
                        let (search, _) = run_search(count, &[first, second], usize::MAX, &[], names);
                        assert_eq!(search.together, None);
                        run_search(count, &[first], usize::MAX, &[second], names);
                    }
                }
            }
        }
        assert_eq!(run_search(100, &[], usize::MAX, &[], false).1, 1);
        assert_eq!(run_search(100, &[7], usize::MAX, &[], true).1, 2);
        // The requests: all tools, a plain tool, the 98 tools that are expected to be accepted, the other two together,
        // and each of these alone.
        assert_eq!(run_search(100, &[7, 8], usize::MAX, &[7, 8], false).1, 6);
        assert!(run_search(100, &[7], usize::MAX, &[], false).1 <= 18);
    }

    #[test]
    fn tools_that_are_refused_only_together_are_reported() {
        let (search, requests) = run_search(8, &[], 4, &[], false);
        assert_eq!(
            (search.together.map(|refusal| refusal.text), requests),
            (Some("[0, 1, 2, 3, 4, 5, 6, 7]".into()), 4)
        );
        let (search, _) = run_search(8, &[0], 4, &[0], false);
        assert_eq!(search.together.map(|refusal| refusal.text), Some("[1, 2, 3, 4, 5, 6, 7]".into()));
    }

    #[test]
    fn refusals_unrelated_to_tools_end_the_search() {
        let mut search = GroupSearch::new(Vec::from([false, false]));
        let refusal = |text: &str| Refusal { status: 400, text: text.into() };
        assert_eq!(search.refuse(refusal("credit"), None), Ok(()));
        assert_eq!(search.next(), Some(RequestTools::Plain));
        assert_eq!(search.refuse(refusal("credit again"), None), Err(refusal("credit")));
        assert_eq!(search.verdicts, [None, None]);
    }
}
