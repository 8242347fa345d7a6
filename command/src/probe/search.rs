//! Which request comes next, so that few of them tell which tools an API refuses. It sends nothing and knows no API: it
//! is told of each request whether it was accepted.
//!
//! All tools come first. What is refused is asked again in parts, what the table expects to be refused apart from the
//! rest; a tool that the error names is taken out. That a refusal is about tools is known once a request of the same
//! form was accepted, if only one with a plain tool. In the end the tools that were accepted are asked together, unless
//! they were: what is refused only then is about the request as a whole.

use std::collections::BTreeSet;

/// What an API said when it refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) text: String,
}

/// What is known of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted(u16),
    Refused(Refusal),
}

/// What a request has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// These tools, by their numbers.
    Tools(Vec<usize>),
    /// A tool that everybody takes.
    Plain,
}

/// As few are asked one by one.
const FEW: usize = 4;

/// What was asked, and what comes next.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) verdicts: Vec<Option<Verdict>>,
    /// Refused together, and accepted apart.
    pub(crate) together: Option<Refusal>,
    /// Which tools the table says are refused.
    expected: Vec<bool>,
    /// What is still to be asked, the next one last.
    groups: Vec<Vec<usize>>,
    /// A refusal of which nobody knows whether it is about tools.
    doubtful: Option<(Vec<usize>, Refusal)>,
    /// A request of this form was accepted.
    is_proven: bool,
    accepted: BTreeSet<Vec<usize>>,
    refused: Vec<(Vec<usize>, Refusal)>,
    /// The last request is there, in which nothing is sought any more.
    is_last: bool,
}

impl Search {
    pub(crate) fn new(expected: Vec<bool>) -> Search {
        Search {
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

    /// What to ask next. `None`: everything is known.
    pub(crate) fn next(&self) -> Option<Asked> {
        match &self.doubtful {
            Some(_) => Some(Asked::Plain),
            None => self.groups.last().cloned().map(Asked::Tools),
        }
    }

    /// The request that was next is accepted.
    pub(crate) fn accept(&mut self, status: u16) {
        self.is_proven = true;
        if let Some((group, refusal)) = self.doubtful.take() {
            return self.part(group, refusal);
        }
        let Some(group) = self.groups.pop() else { return };
        for at in &group {
            self.tell(*at, Verdict::Accepted(status));
        }
        self.accepted.insert(group);
        self.conclude();
    }

    /// The request that was next is refused; `named`: the tool that the error names, by its number in the request.
    ///
    /// # Errors
    /// The refusal, if it is not about tools.
    pub(crate) fn refuse(&mut self, refusal: Refusal, named: Option<usize>) -> Result<(), Refusal> {
        if let Some((_, first)) = self.doubtful.take() {
            return Err(first);
        }
        let Some(mut group) = self.groups.pop() else { return Err(refusal) };
        self.refused.push((group.clone(), refusal.clone()));
        if self.is_last {
            self.together = Some(refusal);
            return Ok(());
        }
        if let Some(at) = named.filter(|at| *at < group.len()) {
            let tool = group.remove(at);
            self.tell(tool, Verdict::Refused(refusal));
            self.groups.extend(Some(group).filter(|group| !group.is_empty()));
            self.conclude();
        } else if self.is_proven {
            self.part(group, refusal);
        } else {
            self.doubtful = Some((group, refusal));
        }
        Ok(())
    }

    fn tell(&mut self, at: usize, verdict: Verdict) {
        if let Some(known) = self.verdicts.get_mut(at) {
            // What is accepted once more together was accepted before.
            known.get_or_insert(verdict);
        }
    }

    /// Asks again in parts.
    fn part(&mut self, group: Vec<usize>, refusal: Refusal) {
        if let [tool] = group.as_slice() {
            self.tell(*tool, Verdict::Refused(refusal));
            return self.conclude();
        }
        let is_expected = |at: &usize| self.expected.get(*at) == Some(&true);
        let (worse, better): (Vec<usize>, Vec<usize>) = group.iter().copied().partition(is_expected);
        let parts: Vec<Vec<usize>> = if !worse.is_empty() && !better.is_empty() {
            Vec::from([worse, better])
        } else if group.len() <= FEW {
            group.iter().rev().map(|at| Vec::from([*at])).collect()
        } else {
            let (first, second) = group.split_at(group.len() / 2);
            Vec::from([second.to_vec(), first.to_vec()])
        };
        self.groups.extend(parts);
    }

    /// Once every tool is known: are those that are accepted accepted together?
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
    use super::{Asked, Refusal, Search, Verdict};

    /// Asks an API that refuses these tools, and more than so many; gives the search and the number of requests.
    fn asked(count: usize, bad: &[usize], most: usize, expected: &[usize], names: bool) -> (Search, usize) {
        let mut search = Search::new((0..count).map(|at| expected.contains(&at)).collect());
        let mut requests = 0;
        while let Some(next) = search.next() {
            requests += 1;
            assert!(requests <= 2 * count + 2, "it ends");
            let Asked::Tools(group) = next else {
                search.accept(200);
                continue;
            };
            let first = group.iter().position(|at| bad.contains(at));
            if first.is_none() && group.len() <= most {
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
    fn every_tool_is_found_by_few_requests() {
        for count in 1..20 {
            for first in 0..count {
                for second in 0..count {
                    for names in [false, true] {
                        let (search, _) = asked(count, &[first, second], usize::MAX, &[], names);
                        assert_eq!(search.together, None);
                        asked(count, &[first], usize::MAX, &[second], names);
                    }
                }
            }
        }
        assert_eq!(asked(100, &[], usize::MAX, &[], false).1, 1);
        assert_eq!(asked(100, &[7], usize::MAX, &[], true).1, 2);
        // All, a plain one, the 98 that should be fine, and the two each alone.
        assert_eq!(asked(100, &[7, 8], usize::MAX, &[7, 8], false).1, 6);
        assert!(asked(100, &[7], usize::MAX, &[], false).1 <= 18);
    }

    #[test]
    fn what_is_refused_only_together_is_told() {
        let (search, requests) = asked(8, &[], 4, &[], false);
        assert_eq!(
            (search.together.map(|refusal| refusal.text), requests),
            (Some("[0, 1, 2, 3, 4, 5, 6, 7]".into()), 4)
        );
        let (search, _) = asked(8, &[0], 4, &[0], false);
        assert_eq!(search.together.map(|refusal| refusal.text), Some("[1, 2, 3, 4, 5, 6, 7]".into()));
    }

    #[test]
    fn a_refusal_that_is_not_about_tools_ends_it() {
        let mut search = Search::new(Vec::from([false, false]));
        let refusal = |text: &str| Refusal { status: 400, text: text.into() };
        assert_eq!(search.refuse(refusal("credit"), None), Ok(()));
        assert_eq!(search.next(), Some(Asked::Plain));
        assert_eq!(search.refuse(refusal("credit again"), None), Err(refusal("credit")));
        assert_eq!(search.verdicts, [None, None]);
    }
}
