//! What schemas became: kept, so that a list which says the same again costs no more than looking it up.

use alloc::{boxed::Box, vec::Vec};

use crate::{
    collections::Map,
    error::Error,
    json::{self, Node},
    options::SanitizeOptions,
    report::{Change, Detail},
    sanitize::{self, decode::Plan},
};

/// The schemas of a list, and what each became in the dialects that were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    made: Vec<(SanitizeOptions, Made)>,
    /// Nothing is kept: the list is sanitized once.
    forgets: bool,
}

/// What schemas became in one dialect, each by its text.
#[derive(Clone, Debug, Default)]
struct Made {
    now: Map<Box<str>, Outcome>,
    /// Of the list before: what is still in use moves over, the rest goes with the next one.
    before: Map<Box<str>, Outcome>,
}

/// A schema as it is sent, as JSON text: most lists are made once, and writing a schema costs less than a second tree.
type Outcome = Result<(Box<str>, Vec<Change>, Plan), Error>;

impl Memory {
    /// A memory for a single list: it keeps nothing.
    pub(crate) fn forgetful() -> Self {
        Memory { made: Vec::new(), forgets: true }
    }

    /// [`sanitize::sanitize_with_plan`], looked up if it was asked before. Of changes it tells the effects alone:
    /// whoever keeps a list seldom asks for more.
    pub(super) fn sanitize(
        &mut self,
        schema: &mut Node<'_>,
        options: &SanitizeOptions,
    ) -> Result<(Vec<Change>, Plan), Error> {
        if self.forgets {
            return sanitize::sanitize_with_plan(schema, options, Detail::Effects);
        }
        let made = self.of(options);
        let text = json::write(schema);
        if let Some(outcome) = made.before.remove(&*text) {
            made.now.insert(text.as_str().into(), outcome);
        }
        if let Some(outcome) = made.now.get(&*text) {
            let (sent, changes, plan) = outcome.as_ref().map_err(Error::clone)?;
            *schema = json::read(sent)?.detached();
            return Ok((changes.clone(), plan.clone()));
        }
        let outcome = sanitize::sanitize_with_plan(schema, options, Detail::Effects);
        let kept = outcome.clone().map(|(changes, plan)| (json::write(schema).into(), changes, plan));
        made.now.insert(text.into(), kept);
        outcome
    }

    fn of(&mut self, options: &SanitizeOptions) -> &mut Made {
        let place = self.made.iter().position(|(known, _)| known == options).unwrap_or_else(|| {
            self.made.push((options.clone(), Made::default()));
            self.made.len() - 1
        });
        // The place is there: it was found or made.
        #[allow(clippy::indexing_slicing, reason = "the place was found or made in the lines above")]
        &mut self.made[place].1
    }

    /// Another list comes: what it does not use is forgotten with the one after it.
    pub(crate) fn turn(&mut self) {
        for (_, made) in &mut self.made {
            made.before = core::mem::take(&mut made.now);
        }
        self.made.retain(|(_, made)| !made.before.is_empty());
    }
}
