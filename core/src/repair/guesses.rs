//! Confirms guesses by the schema. A guess is a reading of malformed text that no rule makes certain: a name, or a
//! value without quotation marks. A guessed name must be declared at its object. A bare word is accepted where the
//! schema accepts strings, or numbers if the word is a number.

use super::{view::View, Repairer};
use crate::{
    json::tolerant::{Guess, Guessed, Step},
    schema::instance_types::InstanceTypes,
};

impl<'s, 'a> Repairer<'_, 's, 'a> {
    pub(super) fn are_confirmed(&mut self, guesses: &[Guess]) -> bool {
        guesses.iter().all(|guess| self.is_confirmed(guess).unwrap_or(false))
    }

    fn is_confirmed(&mut self, guess: &Guess) -> Option<bool> {
        let (last, before) = guess.path.split_last()?;
        let root = self.judge.root();
        let mut view = self.view(&[root])?;
        for step in before {
            view = self.child_view(&view, step)?;
        }
        if guess.guessed == Guessed::Name {
            return Some(matches!(last, Step::Member(name) if view.declares(name)));
        }
        let types = self.child_view(&view, last)?.types;
        let is_only = |kind: InstanceTypes| types.intersects(kind) && types.is_subset_of(kind.or(InstanceTypes::NULL));
        Some(is_only(InstanceTypes::STRING) || (guess.guessed == Guessed::Number && is_only(InstanceTypes::NUMBER)))
    }

    fn child_view(&mut self, view: &View<'s, 'a>, step: &Step) -> Option<View<'s, 'a>> {
        let schemas = match step {
            Step::Member(name) => self.member_schemas(view, name),
            Step::Item(index) => self.item_schemas(view, *index),
        };
        if schemas.is_empty() {
            return None;
        }
        self.view(&schemas)
    }
}
