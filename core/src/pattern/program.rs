//! Programs: what a pattern becomes, and how its parts are put together.
//!
//! Steps name others by how far away they are, so a part can be copied and moved as it is: that is all that counted
//! repetition needs.

use alloc::vec::Vec;

use super::Flaw;
use crate::budget::Budget;

/// Maximum number of steps of a program: `^.{1,10000}$` has 20,001.
const MOST: usize = 1 << 15;
/// How many steps are copied or moved for one step of the budget.
const COPIED: usize = 16;

/// What a program does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Takes this character.
    Char(char),
    /// Takes a character of the set of this number.
    Set(u32),
    /// Goes on, and also so many steps away.
    Split(i32),
    /// Goes so many steps away.
    Jump(i32),
    /// Goes on if this holds here.
    Look(Look),
}

/// What can hold between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing is before.
    Start,
    /// Nothing comes after.
    End,
    /// Nothing comes after but one line feed (Python's `$`).
    LastLine,
    /// A line begins (Python's `(?m)^`).
    LineStart,
    /// A line ends (Python's `(?m)$`).
    LineEnd,
    /// A word begins or ends.
    WordEdge,
    /// None does.
    NoWordEdge,
}

/// A program in the making: the last of its parts is what a quantifier repeats.
pub(super) struct Program<'b> {
    steps: Vec<Step>,
    budget: &'b Budget,
}

/// The branches of a group so far.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    /// Where the group begins.
    start: usize,
    /// Where the branch at hand begins.
    branch: usize,
    /// The ends of the branches before.
    ends: Vec<usize>,
}

impl<'b> Program<'b> {
    pub(super) fn new(budget: &'b Budget) -> Self {
        Program { steps: Vec::new(), budget }
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    /// Where the next step comes.
    pub(super) fn end(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn push(&mut self, step: Step) -> Result<(), Flaw> {
        self.pays(1)?;
        self.steps.push(step);
        Ok(())
    }

    /// Puts a step before the part that begins there.
    fn insert(&mut self, at: usize, step: Step) -> Result<(), Flaw> {
        self.pays(1 + self.end().saturating_sub(at) / COPIED)?;
        if at <= self.end() {
            self.steps.insert(at, step);
        }
        Ok(())
    }

    fn pays(&self, steps: usize) -> Result<(), Flaw> {
        if self.end() >= MOST || !self.budget.pay(steps) {
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
        // To the next branch: past this one and its jump.
        let length = self.end().saturating_sub(group.branch);
        self.insert(group.branch, Step::Split(far(length + 2)))?;
        group.ends.push(self.end());
        self.push(Step::Jump(0))?;
        group.branch = self.end();
        Ok(())
    }

    /// Ends a group; returns where it began.
    pub(super) fn close(&mut self, group: &Branches) -> usize {
        for end in &group.ends {
            let length = self.end().saturating_sub(*end);
            if let Some(step) = self.steps.get_mut(*end) {
                *step = Step::Jump(far(length));
            }
        }
        group.start
    }

    /// Repeats the part that begins there: so often at least, and at most.
    pub(super) fn repeat(&mut self, start: usize, least: usize, most: Option<usize>) -> Result<(), Flaw> {
        if most == Some(0) {
            self.steps.truncate(start);
            return Ok(());
        }
        let length = self.end().saturating_sub(start);
        if length == 0 {
            return Ok(());
        }
        // Of these the part at hand is the first.
        for _ in 1..least {
            self.copy(start, length)?;
        }
        match most {
            None if least > 0 => self.push(Step::Split(-far(length))),
            None => {
                self.insert(start, Step::Split(far(length + 2)))?;
                self.push(Step::Jump(-far(length + 1)))
            }
            Some(most) => {
                let optional = most.saturating_sub(least);
                // Whoever leaves one out leaves out the rest.
                let past = |left: usize| Step::Split(far(left.saturating_mul(length + 1)));
                if least == 0 {
                    self.insert(start, past(optional))?;
                }
                let (body, done) = if least == 0 { (start + 1, 1) } else { (start, 0) };
                for left in (1..=optional.saturating_sub(done)).rev() {
                    self.push(past(left))?;
                    self.copy(body, length)?;
                }
                Ok(())
            }
        }
    }

    /// Writes a part once more.
    fn copy(&mut self, start: usize, length: usize) -> Result<(), Flaw> {
        if self.end().saturating_add(length) > MOST {
            return Err("it is too large");
        }
        self.pays(1 + length / COPIED)?;
        self.steps.extend_from_within(start..start + length);
        Ok(())
    }
}

/// A distance; a program is much shorter than what does not fit.
fn far(steps: usize) -> i32 {
    i32::try_from(steps).unwrap_or(i32::MAX)
}
