//! Strings that a pattern matches.

use alloc::{collections::VecDeque, string::String, vec, vec::Vec};

use super::{
    program::{away, Set, Step},
    Pattern,
};
use crate::budget::Budget;

/// Characters that are tried for a set, the most readable first.
const TRIED: &str = "aA0_- .@/:+xzZ9\n\té";
/// Maximum number of characters of a sample.
const MAX_LENGTH: usize = 256;

impl Pattern {
    /// Returns a shortest string for which no assertion is evaluated, so the pattern may not match it. `None` if the
    /// budget is spent, or if no string is short enough.
    pub(crate) fn sample(&self, budget: &Budget) -> Option<String> {
        // The step before each reached step, and the character between them.
        let mut reached: Vec<Option<(usize, Option<char>)>> = vec![None; self.steps.len() + 1];
        let mut open = VecDeque::from([0]);
        while let Some(at) = open.pop_front() {
            let Some(step) = self.steps.get(at) else { return path(&reached, at) };
            if !budget.pay(1 + self.cost) {
                return None;
            }
            let mut reach = |next: usize, character: Option<char>, is_free: bool| {
                let Some(known) = reached.get_mut(next).filter(|known| known.is_none() && next != 0) else { return };
                *known = Some((at, character));
                if is_free {
                    open.push_front(next);
                } else {
                    open.push_back(next);
                }
            };
            match step {
                Step::Char(character) => reach(at + 1, Some(*character), false),
                Step::Set(set) => {
                    if let Some(character) = self.sets.get(*set as usize).and_then(|set| self.member(set, budget)) {
                        reach(at + 1, Some(character), false);
                    }
                }
                Step::Split(to) => {
                    reach(away(at, *to), None, true);
                    reach(at + 1, None, true);
                }
                Step::Jump(to) => reach(away(at, *to), None, true),
                Step::Assertion(_) => reach(at + 1, None, true),
            }
        }
        None
    }

    /// Returns a character of a set, if it has one that is tried.
    fn member(&self, set: &Set, budget: &Budget) -> Option<char> {
        let mut tried = TRIED.chars().chain(set.bounds()).take_while(|_| budget.pay(1 + set.len()));
        tried.find(|character| set.takes(*character, self.spelling))
    }
}

/// Returns the characters on the way to a step.
fn path(reached: &[Option<(usize, Option<char>)>], mut at: usize) -> Option<String> {
    let mut characters = Vec::new();
    while let Some(Some((before, character))) = reached.get(at) {
        characters.extend(*character);
        at = *before;
    }
    (characters.len() <= MAX_LENGTH).then(|| characters.iter().rev().collect())
}

#[cfg(test)]
mod tests {
    use super::super::{Pattern, Spelling};
    use crate::budget::Budget;

    #[test]
    fn samples_match() {
        let budget = Budget::new(0, Some(1_000_000));
        for pattern in [
            "",
            "a",
            "^a+b*$",
            "^[A-Z]{2}-\\d{4}$",
            "^(?:x|yy)$",
            "^[^@]+@[^@]+$",
            "(a|)(b|c){3}",
            "^\\S+$",
            "^.{1,9}$",
        ] {
            let read = Pattern::new(pattern, Spelling::Ecma, &budget).unwrap();
            let sample = read.sample(&budget).unwrap();
            assert_eq!(read.find(&sample, &budget), Some(true), "{pattern}: {sample:?}");
        }
        assert_eq!(Pattern::new("^[]$", Spelling::Ecma, &budget).unwrap().sample(&budget), None);
    }
}
