//! The members of large objects by their names, found once: many parts of a schema may ask about the same value.

use alloc::rc::Rc;

use super::Run;
use crate::{
    budget::Budget,
    collections::Map,
    json::{Object, Order},
};

impl<'s, 'a> Run<'_, 's, 'a> {
    /// Forgets what is known of the members of values: the value may be another one.
    pub(super) fn forget_orders(&mut self) {
        if !self.keeps_orders && !self.orders.is_empty() {
            self.orders = Map::new();
        }
    }

    /// The order of a value's members; `None` if there is nothing left to pay with.
    pub(super) fn order_of(&mut self, members: &Object<'_>) -> Option<Rc<Order>> {
        ordered(&mut self.orders, members, &self.budget)
    }

    /// The order of the members of a part of the schema.
    pub(super) fn order_of_declared(&mut self, declared: &'s Object<'a>) -> Option<Rc<Order>> {
        ordered(&mut self.declared, declared, &self.budget)
    }
}

/// The order of an object's members, found once.
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
