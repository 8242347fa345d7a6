//! Members by their names, for whoever looks up many: one after the other would cost the square of their number.

use super::{Node, Object, Text};
use crate::collections::Map;

/// So few are found as soon one by one.
const FEW: usize = 16;

/// The members of an object by their names.
pub(crate) struct LookUp<'o, 'a> {
    object: &'o Object<'a>,
    places: Option<Map<&'o Text<'a>, usize>>,
}

impl<'o, 'a> LookUp<'o, 'a> {
    pub(crate) fn of(object: &'o Object<'a>) -> Self {
        LookUp { object, places: (object.len() > FEW).then(|| object.index()) }
    }

    /// The value of a member.
    pub(crate) fn get(&self, name: &Text<'_>) -> Option<&'o Node<'a>> {
        match &self.places {
            Some(places) => {
                places.get(&name).and_then(|place| self.object.members().get(*place)).map(|member| &member.value)
            }
            None => self.object.get_text(name),
        }
    }

    /// Whether a member of that name exists.
    pub(crate) fn has(&self, name: &Text<'_>) -> bool {
        self.get(name).is_some()
    }
}
