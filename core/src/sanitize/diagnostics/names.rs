//! What reports know of properties that are named elsewhere: closing an object may lose those.

use super::Diagnostics;
use crate::{
    budget::Budget,
    error::Error,
    json::{Node, Object, Origin},
    sanitize::analysis::naming::Naming,
    schema::join::Parts,
};

impl Diagnostics {
    /// Listens to what the input says of properties, for a grammar in which all objects are closed.
    pub(in crate::sanitize) fn listen(&mut self, root: &Node<'_>, budget: &Budget) -> Result<(), Error> {
        if self.is_on() {
            self.naming = Naming::of(root, budget)?;
        }
        Ok(())
    }

    /// Notes that a part is removed that named properties of an object that stays.
    pub(in crate::sanitize) fn remove_names(&mut self, part: &Node<'_>, budget: &Budget) -> Result<(), Error> {
        match self.entries {
            Some(_) => self.naming.removed(part, budget),
            None => Ok(()),
        }
    }

    /// Notes that objects become one.
    pub(in crate::sanitize) fn join_names(
        &mut self,
        objects: &[Object<'_>],
        parts: Option<Parts<'_, '_, '_>>,
        into: Origin,
    ) {
        if self.is_on() {
            self.naming.joined(objects, parts, into.number().unwrap_or(self.root));
        }
    }

    /// Whether the schema spoke of properties that are lost with the closing of this object.
    pub(in crate::sanitize) fn speaks_of_others(&self, object: &Node<'_>) -> bool {
        self.naming.speaks_of_others(object, object.origin().number().unwrap_or(self.root))
    }
}
