//! Programs, into which patterns are compiled, and the operations that combine parts of programs. A program runs with
//! all states in parallel, one character at a time.
//!
//! Steps refer to other steps by distance, so a part can be copied or moved unchanged. A counted repetition is a series
//! of copies.

use alloc::{vec, vec::Vec};

use super::{Flaw, Pattern, Spelling};
use crate::budget::Budget;

/// Maximum number of steps of a program: `^.{1,10000}$` has 20,001.
const MAX_STEPS: usize = 1 << 15;
/// Number of steps that are copied or moved per step of the budget.
const COPIES_PER_STEP: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Char(char),
    /// Index of the set.
    Set(u32),
    /// Continues with the next step, and also this many steps away.
    Split(i32),
    Jump(i32),
    Assertion(Assertion),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    Start,
    End,
    /// End of the text, or before a final line feed (Python's `$`).
    LastLine,
    /// Start of a line (Python's `(?m)^`).
    LineStart,
    /// End of a line (Python's `(?m)$`).
    LineEnd,
    WordEdge,
    NoWordEdge,
}

/// A program under construction. A quantifier repeats its last part.
pub(super) struct Program<'b> {
    steps: Vec<Step>,
    budget: &'b Budget,
}

#[derive(Clone, Debug)]
pub(super) struct Branches {
    start: usize,
    /// Start of the current branch.
    branch: usize,
    /// Ends of the previous branches.
    ends: Vec<usize>,
}

impl<'b> Program<'b> {
    pub(super) fn new(budget: &'b Budget) -> Self {
        Program { steps: Vec::new(), budget }
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    pub(super) fn end(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn push(&mut self, step: Step) -> Result<(), Flaw> {
        self.pay(1)?;
        self.steps.push(step);
        Ok(())
    }

    fn insert(&mut self, index: usize, step: Step) -> Result<(), Flaw> {
        self.pay(1 + self.end().saturating_sub(index) / COPIES_PER_STEP)?;
        if index <= self.end() {
            self.steps.insert(index, step);
        }
        Ok(())
    }

    fn pay(&self, steps: usize) -> Result<(), Flaw> {
        if self.end() >= MAX_STEPS || !self.budget.pay(steps) {
            return Err("it is too large");
        }
        Ok(())
    }

    pub(super) fn start_branches(&self) -> Branches {
        Branches { start: self.end(), branch: self.end(), ends: Vec::new() }
    }

    pub(super) fn alternate(&mut self, group: &mut Branches) -> Result<(), Flaw> {
        // Distance to the next branch: the length of this branch and its jump.
        let length = self.end().saturating_sub(group.branch);
        self.insert(group.branch, Step::Split(distance(length + 2)))?;
        group.ends.push(self.end());
        self.push(Step::Jump(0))?;
        group.branch = self.end();
        Ok(())
    }

    /// Returns the start of the group.
    pub(super) fn end_branches(&mut self, group: &Branches) -> usize {
        for end in &group.ends {
            let length = self.end().saturating_sub(*end);
            if let Some(step) = self.steps.get_mut(*end) {
                *step = Step::Jump(distance(length));
            }
        }
        group.start
    }

    pub(super) fn repeat(&mut self, start: usize, min: usize, max: Option<usize>) -> Result<(), Flaw> {
        if max == Some(0) {
            self.steps.truncate(start);
            return Ok(());
        }
        let length = self.end().saturating_sub(start);
        if length == 0 {
            return Ok(());
        }
        // The existing part is the first repetition.
        for _ in 1..min {
            self.copy(start, length)?;
        }
        match max {
            None if min > 0 => self.push(Step::Split(-distance(length))),
            None => {
                self.insert(start, Step::Split(distance(length + 2)))?;
                self.push(Step::Jump(-distance(length + 1)))
            }
            Some(max) => {
                let optional_count = max.saturating_sub(min);
                // A skipped optional repetition also skips all following repetitions.
                let skip_following = |remaining: usize| Step::Split(distance(remaining.saturating_mul(length + 1)));
                if min == 0 {
                    self.insert(start, skip_following(optional_count))?;
                }
                let (body, copied) = if min == 0 { (start + 1, 1) } else { (start, 0) };
                for remaining in (1..=optional_count.saturating_sub(copied)).rev() {
                    self.push(skip_following(remaining))?;
                    self.copy(body, length)?;
                }
                Ok(())
            }
        }
    }

    fn copy(&mut self, start: usize, length: usize) -> Result<(), Flaw> {
        if self.end().saturating_add(length) > MAX_STEPS {
            return Err("it is too large");
        }
        self.pay(1 + length / COPIES_PER_STEP)?;
        self.steps.extend_from_within(start..start + length);
        Ok(())
    }
}

/// Returns a distance in steps. The size of programs is limited far below `i32::MAX`.
fn distance(steps: usize) -> i32 {
    i32::try_from(steps).unwrap_or(i32::MAX)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClassEscape {
    Digit,
    Word,
    Space,
}

impl ClassEscape {
    /// Returns the class of an escape letter, and true if it is negated.
    pub(super) fn of(letter: char) -> Option<(ClassEscape, bool)> {
        let kind = match letter.to_ascii_lowercase() {
            'd' => ClassEscape::Digit,
            'w' => ClassEscape::Word,
            's' => ClassEscape::Space,
            _ => return None,
        };
        Some((kind, letter.is_ascii_uppercase()))
    }

    /// Python's classes are the classes of Unicode. Beyond ASCII, `core` only recognizes letters and numbers. Every
    /// number is treated as a digit, even if Python excludes it (`²`).
    pub(super) fn has(self, character: char, spelling: Spelling) -> bool {
        match (self, spelling) {
            (ClassEscape::Digit, Spelling::Ecma) => character.is_ascii_digit(),
            (ClassEscape::Digit, Spelling::Python) => character.is_numeric(),
            (ClassEscape::Word, Spelling::Ecma) => character.is_ascii_alphanumeric() || character == '_',
            (ClassEscape::Word, Spelling::Python) => character.is_alphanumeric() || character == '_',
            (ClassEscape::Space, Spelling::Ecma) => {
                (character.is_whitespace() && character != '\u{85}') || character == '\u{feff}'
            }
            (ClassEscape::Space, Spelling::Python) => {
                character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Both ends are inclusive.
    Range(char, char),
    /// True for the complement of the class.
    ClassEscape(ClassEscape, bool),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) parts: Vec<Part>,
    pub(super) is_negated: bool,
    /// True if the case of letters is ignored.
    pub(super) ignores_case: bool,
}

impl Set {
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Returns the first and the last character of each range.
    pub(super) fn bounds(&self) -> impl Iterator<Item = char> + '_ {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Range(from, to) => [Some(*from), Some(*to)],
                Part::ClassEscape(..) => [None, None],
            })
            .flatten()
    }

    pub(super) fn takes(&self, character: char, spelling: Spelling) -> bool {
        let is_listed =
            self.has(character, spelling) || (self.ignores_case && self.has_other_case(character, spelling));
        is_listed != self.is_negated
    }

    fn has(&self, character: char, spelling: Spelling) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Range(from, to) => (*from..=*to).contains(&character),
            Part::ClassEscape(kind, is_negated) => kind.has(character, spelling) != *is_negated,
        })
    }

    fn has_other_case(&self, character: char, spelling: Spelling) -> bool {
        let upper = single(character.to_uppercase()).unwrap_or(character);
        let lower = single(character.to_lowercase()).unwrap_or(character);
        // `ſ` matches `s` only because both have the capital `S`.
        let lower_of_upper = single(upper.to_lowercase()).unwrap_or(upper);
        [upper, lower, lower_of_upper].iter().any(|other| *other != character && self.has(*other, spelling))
    }
}

fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
    characters.next().filter(|_| characters.next().is_none())
}

/// Number of states per step of the budget.
const STATES_PER_STEP: usize = 16;

/// Steps that wait for a character, without duplicates.
struct States {
    waiting: Vec<u32>,
    /// For each step, the last round that reached it.
    reached: Vec<u32>,
    round: u32,
    /// Number of steps visited in this round.
    visited: usize,
}

#[derive(Clone, Copy)]
struct TextPosition<'t> {
    before: Option<char>,
    rest: &'t str,
}

impl Pattern {
    /// Returns `None` if the budget is spent.
    pub(crate) fn find(&self, text: &str, budget: &Budget) -> Option<bool> {
        let length = self.steps.len();
        if !budget.pay(1 + length / STATES_PER_STEP) {
            return None;
        }
        let (mut current, mut next) = (States::new(length), States::new(length));
        let mut position = TextPosition { before: None, rest: text };
        let mut stack = Vec::new();
        let is_anchored = matches!(self.steps.first(), Some(Step::Assertion(Assertion::Start)));
        loop {
            // A match may begin at any position.
            if !(is_anchored && position.before.is_some()) && self.reach(&mut current, 0, position, &mut stack) {
                return Some(true);
            }
            let mut characters = position.rest.chars();
            let Some(character) = characters.next().filter(|_| !(is_anchored && current.waiting.is_empty())) else {
                return Some(false);
            };
            // Steps visited so far, and states to try on this character.
            let visits = current.visited.saturating_add(current.waiting.len().saturating_mul(self.cost));
            if !budget.pay(1 + visits / STATES_PER_STEP) {
                return None;
            }
            position = TextPosition { before: Some(character), rest: characters.as_str() };
            next.clear();
            for state in &current.waiting {
                let is_match = match self.steps.get(*state as usize) {
                    Some(Step::Char(expected)) => *expected == character,
                    Some(Step::Set(set)) => {
                        self.sets.get(*set as usize).is_some_and(|set| set.takes(character, self.spelling))
                    }
                    _ => false,
                };
                if is_match && self.reach(&mut next, *state as usize + 1, position, &mut stack) {
                    return Some(true);
                }
            }
            core::mem::swap(&mut current, &mut next);
        }
    }

    /// Follows steps that consume no character. Returns true if the end of the program is reached.
    fn reach(&self, states: &mut States, from: usize, position: TextPosition<'_>, stack: &mut Vec<usize>) -> bool {
        stack.push(from);
        while let Some(index) = stack.pop() {
            states.visited += 1;
            let Some(step) = self.steps.get(index) else {
                // Past the last step: the pattern matches.
                stack.clear();
                return true;
            };
            if !states.enter(index) {
                continue;
            }
            match step {
                Step::Char(_) | Step::Set(_) => states.waiting.push(index as u32),
                Step::Split(to) => stack.extend([target_of(index, *to), index + 1]),
                Step::Jump(to) => stack.push(target_of(index, *to)),
                Step::Assertion(assertion) => {
                    if position.is_true(*assertion, self.spelling) {
                        stack.push(index + 1);
                    }
                }
            }
        }
        false
    }
}

pub(super) fn target_of(from: usize, steps: i32) -> usize {
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

impl TextPosition<'_> {
    fn is_true(self, assertion: Assertion, spelling: Spelling) -> bool {
        match assertion {
            Assertion::Start => self.before.is_none(),
            Assertion::End => self.rest.is_empty(),
            Assertion::LastLine => matches!(self.rest, "" | "\n"),
            Assertion::LineStart => self.before.is_none_or(|before| before == '\n'),
            Assertion::LineEnd => self.rest.is_empty() || self.rest.starts_with('\n'),
            Assertion::WordEdge => self.is_word_edge(spelling),
            Assertion::NoWordEdge => !self.is_word_edge(spelling),
        }
    }

    fn is_word_edge(self, spelling: Spelling) -> bool {
        let is_word =
            |character: Option<char>| character.is_some_and(|character| ClassEscape::Word.has(character, spelling));
        is_word(self.before) != is_word(self.rest.chars().next())
    }
}
