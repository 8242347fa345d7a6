//! Reports properties that are lost when an object is closed, although other parts of the schema mention them.

use super::Diagnostics;
use crate::{
    budget::Budget,
    error::Error,
    json::{Node, Object, Origin},
    sanitize::analysis::naming::Naming,
    schema::join::Parts,
};

impl Diagnostics {
    /// Collects properties mentioned in the input, for a grammar that closes all objects.
    pub(crate) fn collect_names(&mut self, root: &Node<'_>, budget: &Budget) -> Result<(), Error> {
        if self.is_on() {
            self.naming = Naming::of(root, budget)?;
        }
        Ok(())
    }

    /// Records that a part was removed that named properties of an object that is kept.
    pub(crate) fn remove_names(&mut self, part: &Node<'_>, budget: &Budget) -> Result<(), Error> {
        match self.entries {
            Some(_) => self.naming.removed(part, budget),
            None => Ok(()),
        }
    }

    /// Records that objects were merged into one.
    pub(crate) fn join_names(&mut self, objects: &[Object<'_>], parts: Option<Parts<'_, '_, '_>>, into: Origin) {
        if self.is_on() {
            self.naming.joined(objects, parts, into.number().unwrap_or(self.root));
        }
    }

    /// True if closing this object loses properties that the schema mentions elsewhere.
    pub(crate) fn mentions_others(&self, object: &Node<'_>) -> bool {
        self.naming.mentions_others(object, object.origin().number().unwrap_or(self.root))
    }
}
