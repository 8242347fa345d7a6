//! Programs: what patterns are compiled to, and how parts are combined.
//!
//! Steps refer to others by distance, so a part can be copied or moved unchanged, which is all that counted repetition
//! needs.

use alloc::vec::Vec;

use super::Flaw;
use crate::budget::Budget;

/// Maximum number of steps of a program: `^.{1,10000}$` has 20,001.
const MAX_STEPS: usize = 1 << 15;
/// Number of steps that are copied or moved per step of the budget.
const COPIED: usize = 16;

/// Instruction of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Matches this character.
    Char(char),
    /// Matches a character in the set with this index.
    Set(u32),
    /// Continues with the next step, and also this many steps away.
    Split(i32),
    /// Continues this many steps away.
    Jump(i32),
    /// Continues if the assertion holds here.
    Look(Look),
}

/// Assertion about a position between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Start of the text.
    Start,
    /// End of the text.
    End,
    /// End of the text, or before a final line feed (Python's `$`).
    LastLine,
    /// Start of a line (Python's `(?m)^`).
    LineStart,
    /// End of a line (Python's `(?m)$`).
    LineEnd,
    /// Word boundary.
    WordEdge,
    /// Not a word boundary.
    NoWordEdge,
}

/// A program under construction. A quantifier repeats its last part.
pub(super) struct Program<'b> {
    steps: Vec<Step>,
    budget: &'b Budget,
}

/// Branches of a group so far.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    /// Start of the group.
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

    /// Returns the index of the next step.
    pub(super) fn end(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn push(&mut self, step: Step) -> Result<(), Flaw> {
        self.pays(1)?;
        self.steps.push(step);
        Ok(())
    }

    /// Inserts a step before the part that starts at this index.
    fn insert(&mut self, at: usize, step: Step) -> Result<(), Flaw> {
        self.pays(1 + self.end().saturating_sub(at) / COPIED)?;
        if at <= self.end() {
            self.steps.insert(at, step);
        }
        Ok(())
    }

    fn pays(&self, steps: usize) -> Result<(), Flaw> {
        if self.end() >= MAX_STEPS || !self.budget.pay(steps) {
            return Err("it is too large");
        }
        Ok(())
    }

    /// Begins a group.
    pub(super) fn open(&self) -> Branches {
        Branches { start: self.end(), branch: self.end(), ends: Vec::new() }
    }

    /// Ends a branch of a group, and begins the next.
    pub(super) fn alternate(&mut self, group: &mut Branches) -> Result<(), Flaw> {
        // Distance to the next branch: past this one and its jump.
        let length = self.end().saturating_sub(group.branch);
        self.insert(group.branch, Step::Split(far(length + 2)))?;
        group.ends.push(self.end());
        self.push(Step::Jump(0))?;
        group.branch = self.end();
        Ok(())
    }

    /// Ends a group; returns its start.
    pub(super) fn close(&mut self, group: &Branches) -> usize {
        for end in &group.ends {
            let length = self.end().saturating_sub(*end);
            if let Some(step) = self.steps.get_mut(*end) {
                *step = Step::Jump(far(length));
            }
        }
        group.start
    }

    /// Repeats the part that starts at this index at least `min` and at most `max` times.
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
            None if min > 0 => self.push(Step::Split(-far(length))),
            None => {
                self.insert(start, Step::Split(far(length + 2)))?;
                self.push(Step::Jump(-far(length + 1)))
            }
            Some(max) => {
                let optional = max.saturating_sub(min);
                // If one optional repetition is skipped, so are the following ones.
                let past = |left: usize| Step::Split(far(left.saturating_mul(length + 1)));
                if min == 0 {
                    self.insert(start, past(optional))?;
                }
                let (body, done) = if min == 0 { (start + 1, 1) } else { (start, 0) };
                for left in (1..=optional.saturating_sub(done)).rev() {
                    self.push(past(left))?;
                    self.copy(body, length)?;
                }
                Ok(())
            }
        }
    }

    /// Appends a copy of a part.
    fn copy(&mut self, start: usize, length: usize) -> Result<(), Flaw> {
        if self.end().saturating_add(length) > MAX_STEPS {
            return Err("it is too large");
        }
        self.pays(1 + length / COPIED)?;
        self.steps.extend_from_within(start..start + length);
        Ok(())
    }
}

/// Converts a distance; the size of programs is limited far below `i32::MAX`.
fn far(steps: usize) -> i32 {
    i32::try_from(steps).unwrap_or(i32::MAX)
}
