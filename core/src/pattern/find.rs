//! Runs a program: all states in parallel, one character at a time.

use alloc::{vec, vec::Vec};

use super::{
    class::Kind,
    program::{Look, Step},
    Pattern, Spelling,
};
use crate::budget::Budget;

/// Number of states per step of the budget.
const STATES: usize = 16;

/// Steps that wait for a character, without duplicates.
struct States {
    waiting: Vec<u32>,
    /// For each step, the last round in which it was reached.
    reached: Vec<u32>,
    round: u32,
    /// Number of steps visited in this round.
    visited: usize,
}

/// A position between two characters.
#[derive(Clone, Copy)]
struct Between<'t> {
    before: Option<char>,
    rest: &'t str,
}

impl Pattern {
    /// Returns true if the pattern matches somewhere in a string; `None` if the budget is spent.
    pub(crate) fn find(&self, text: &str, budget: &Budget) -> Option<bool> {
        let length = self.steps.len();
        if !budget.pay(1 + length / STATES) {
            return None;
        }
        let (mut now, mut next) = (States::new(length), States::new(length));
        let mut place = Between { before: None, rest: text };
        let mut stack = Vec::new();
        let is_anchored = matches!(self.steps.first(), Some(Step::Look(Look::Start)));
        loop {
            // A match may begin at any position.
            if !(is_anchored && place.before.is_some()) && self.reach(&mut now, 0, place, &mut stack) {
                return Some(true);
            }
            let mut characters = place.rest.chars();
            let Some(character) = characters.next().filter(|_| !(is_anchored && now.waiting.is_empty())) else {
                return Some(false);
            };
            // Steps visited so far, and states to try on this character.
            let work = now.visited.saturating_add(now.waiting.len().saturating_mul(self.cost));
            if !budget.pay(1 + work / STATES) {
                return None;
            }
            place = Between { before: Some(character), rest: characters.as_str() };
            next.clear();
            for state in &now.waiting {
                let takes = match self.steps.get(*state as usize) {
                    Some(Step::Char(expected)) => *expected == character,
                    Some(Step::Set(set)) => {
                        self.sets.get(*set as usize).is_some_and(|set| set.takes(character, self.spelling))
                    }
                    _ => false,
                };
                if takes && self.reach(&mut next, *state as usize + 1, place, &mut stack) {
                    return Some(true);
                }
            }
            core::mem::swap(&mut now, &mut next);
        }
    }

    /// Follows steps that consume no character. Returns true if the end of the program is reached.
    fn reach(&self, states: &mut States, from: usize, place: Between<'_>, stack: &mut Vec<usize>) -> bool {
        stack.push(from);
        while let Some(at) = stack.pop() {
            states.visited += 1;
            let Some(step) = self.steps.get(at) else {
                // Past the last step: the pattern matches.
                stack.clear();
                return true;
            };
            if !states.enter(at) {
                continue;
            }
            match step {
                Step::Char(_) | Step::Set(_) => states.waiting.push(at as u32),
                Step::Split(to) => stack.extend([away(at, *to), at + 1]),
                Step::Jump(to) => stack.push(away(at, *to)),
                Step::Look(look) => {
                    if place.holds(*look, self.spelling) {
                        stack.push(at + 1);
                    }
                }
            }
        }
        false
    }
}

fn away(from: usize, steps: i32) -> usize {
    from.saturating_add_signed(steps as isize)
}

impl States {
    fn new(length: usize) -> Self {
        States { waiting: Vec::new(), reached: vec![0; length], round: 1, visited: 0 }
    }

    fn clear(&mut self) {
        self.waiting.clear();
        self.visited = 0;
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.reached.fill(0);
            self.round = 1;
        }
    }

    /// Returns true on the first visit in this round.
    fn enter(&mut self, at: usize) -> bool {
        let round = self.round;
        self.reached.get_mut(at).is_some_and(|reached| core::mem::replace(reached, round) != round)
    }
}

impl Between<'_> {
    fn holds(self, look: Look, spelling: Spelling) -> bool {
        match look {
            Look::Start => self.before.is_none(),
            Look::End => self.rest.is_empty(),
            Look::LastLine => matches!(self.rest, "" | "\n"),
            Look::LineStart => self.before.is_none_or(|before| before == '\n'),
            Look::LineEnd => self.rest.is_empty() || self.rest.starts_with('\n'),
            Look::WordEdge => self.is_word_edge(spelling),
            Look::NoWordEdge => !self.is_word_edge(spelling),
        }
    }

    fn is_word_edge(self, spelling: Spelling) -> bool {
        let is_word = |character: Option<char>| character.is_some_and(|one| Kind::Word.has(one, spelling));
        is_word(self.before) != is_word(self.rest.chars().next())
    }
}
