//! Strings that a pattern matches.

use alloc::{collections::VecDeque, string::String, vec, vec::Vec};

use super::{
    program::{target_of, Set, Step},
    Pattern,
};
use crate::budget::Budget;

/// Characters that are tried for a set, beginning with the most readable.
const CANDIDATES: &str = "aA0_- .@/:+xzZ9\n\té";
/// Maximum number of characters of a sample.
const MAX_LENGTH: usize = 256;

impl Pattern {
    /// Returns one of the shortest strings that match if assertions are ignored, so the pattern may not match it.
    /// Returns `None` if the budget is spent, or if no string is short enough.
    pub(crate) fn sample(&self, budget: &Budget) -> Option<String> {
        // For each reached step, the previous step and the character between both.
        let mut previous_steps: Vec<Option<(usize, Option<char>)>> = vec![None; self.steps.len() + 1];
        let mut pending = VecDeque::from([0]);
        while let Some(index) = pending.pop_front() {
            let Some(step) = self.steps.get(index) else { return characters_to(&previous_steps, index) };
            if !budget.pay(1 + self.cost) {
                return None;
            }
            let mut reach = |next: usize, character: Option<char>, is_free: bool| {
                let Some(previous) = previous_steps.get_mut(next).filter(|previous| previous.is_none() && next != 0)
                else {
                    return;
                };
                *previous = Some((index, character));
                if is_free {
                    pending.push_front(next);
                } else {
                    pending.push_back(next);
                }
            };
            match step {
                Step::Char(character) => reach(index + 1, Some(*character), false),
                Step::Set(set) => {
                    if let Some(character) = self.sets.get(*set as usize).and_then(|set| self.member(set, budget)) {
                        reach(index + 1, Some(character), false);
                    }
                }
                Step::Split(to) => {
                    reach(target_of(index, *to), None, true);
                    reach(index + 1, None, true);
                }
                Step::Jump(to) => reach(target_of(index, *to), None, true),
                Step::Assertion(_) => reach(index + 1, None, true),
            }
        }
        None
    }

    /// Returns a character of a set, if the set contains one of the tried characters.
    fn member(&self, set: &Set, budget: &Budget) -> Option<char> {
        let mut candidates = CANDIDATES.chars().chain(set.bounds()).take_while(|_| budget.pay(1 + set.len()));
        candidates.find(|character| set.takes(*character, self.spelling))
    }
}

/// Returns the characters on the path to a step.
fn characters_to(previous_steps: &[Option<(usize, Option<char>)>], mut index: usize) -> Option<String> {
    let mut characters = Vec::new();
    while let Some(Some((previous, character))) = previous_steps.get(index) {
        characters.extend(*character);
        index = *previous;
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
