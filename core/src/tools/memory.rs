//! Cache of rewritten schemas, so that a list with known schemas costs only look-ups.

use alloc::{boxed::Box, vec::Vec};

use crate::{
    collections::Map,
    error::Error,
    json::{self, Node},
    options::SanitizeOptions,
    report::{Change, Detail},
    sanitize::{self, decode::Plan},
};

/// The schemas of a list, with their rewritten forms in each requested dialect.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    made: Vec<(SanitizeOptions, Made)>,
    /// True if nothing is kept, because only one list is sanitized.
    forgets: bool,
}

/// The rewritten schemas of one dialect, by the JSON text of the original schemas.
#[derive(Clone, Debug, Default)]
struct Made {
    now: Map<Box<str>, Outcome>,
    /// Schemas of the previous list. Those that the current list uses move to `now`, and the others are removed with
    /// the next list.
    before: Map<Box<str>, Outcome>,
}

/// A schema as it is sent, as JSON text. Most lists are rewritten only once, and writing the text costs less than a
/// second tree.
type Outcome = Result<(Box<str>, Vec<Change>, Plan), Error>;

impl Memory {
    /// Returns a memory for a single list, which keeps nothing.
    pub(crate) fn forgetful() -> Self {
        Memory { made: Vec::new(), forgets: true }
    }

    /// Calls [`sanitize::sanitize_with_plan`], or returns the kept result. Reports only the effects of changes, because
    /// callers that keep a list seldom need more.
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
        // The place exists: it was found or created above.
        #[allow(clippy::indexing_slicing, reason = "the place was found or made in the lines above")]
        &mut self.made[place].1
    }

    /// Starts another list. Schemas that this list does not use are removed when the next list starts.
    pub(crate) fn turn(&mut self) {
        for (_, made) in &mut self.made {
            made.before = core::mem::take(&mut made.now);
        }
        self.made.retain(|(_, made)| !made.before.is_empty());
    }
}
