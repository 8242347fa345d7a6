//! Indexes of the members of large objects, built once, because many parts of a schema may inspect the same value.

use alloc::rc::Rc;

use super::Run;
use crate::{
    budget::Budget,
    collections::Map,
    json::{Object, Order},
};

impl<'s, 'a> Run<'_, 's, 'a> {
    /// Clears the indexes of values, because the next value may be another one.
    pub(super) fn forget_orders(&mut self) {
        if !self.keeps_orders && !self.orders.is_empty() {
            self.orders = Map::new();
        }
    }

    /// Returns the index of a value's members; `None` if the budget is spent.
    pub(super) fn order_of(&mut self, members: &Object<'_>) -> Option<Rc<Order>> {
        ordered(&mut self.orders, members, &self.budget)
    }

    /// Returns the index of the members of an object in the schema.
    pub(super) fn order_of_declared(&mut self, declared: &'s Object<'a>) -> Option<Rc<Order>> {
        ordered(&mut self.declared, declared, &self.budget)
    }
}

/// Returns the index of an object's members, built once.
fn ordered(known: &mut Map<usize, Rc<Order>>, object: &Object<'_>, budget: &Budget) -> Option<Rc<Order>> {
    let at = core::ptr::from_ref(object) as usize;
    if let Some(order) = known.get(&at) {
        return Some(order.clone());
    }
    budget.pay(1 + object.len() / 8).then_some(())?;
    let order = Rc::new(Order::of(object));
    known.insert(at, order.clone());
    Some(order)
}
