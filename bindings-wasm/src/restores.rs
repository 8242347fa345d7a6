//! A cache of `Restore`s by the numbers that JavaScript assigns. A conversation restores many calls with the same one,
//! and its schemas are parsed only once.
//!
//! JavaScript has each of them as JSON, and sends it along if the cache no longer has it, possibly because the instance
//! was replaced after a trap.

use std::{cell::RefCell, rc::Rc};

use toolwire::{internal::bindings, Restore};
use wasm_bindgen::{prelude::wasm_bindgen, JsValue};

use crate::{
    call::{hand_over, named, Failure, Order},
    desk,
};

/// Maximum number of cached restores.
const MAX_RESTORES: usize = 16;
/// Maximum size of the JSON of all cached restores, in bytes in the shared buffer; in memory, they are a few times as
/// large. The newest is cached regardless of its size.
const MAX_BYTES: usize = 4 * 1024 * 1024;

struct Kept {
    number: u32,
    bytes: usize,
    restore: Rc<Restore>,
}

thread_local! {
    /// The most recently used is last.
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// Returns true if the restore with this number is cached.
#[wasm_bindgen(js_name = keepsRestore)]
pub fn keeps_restore(number: u32) -> bool {
    KEPT.with_borrow(|all| all.iter().any(|one| one.number == number))
}

/// Calls a function of a `Restore` on values: the shared buffer contains its inputs, followed by the JSON of the
/// `Restore` if it is not cached. Returns what [`crate::call::call`] does.
#[wasm_bindgen(js_name = callRestore)]
pub fn call_restore(number: u32, function: usize, inputs: usize, words: usize, chars: usize, spelled: bool) -> JsValue {
    let (mut given, handed) = desk::take();
    let bytes = words * size_of::<u32>() + chars;
    let outcome = Order { inputs, words, chars, spelled }.on_values(&mut given, handed, |mut inputs, _| {
        let restore = match used(number) {
            Some(kept) => kept,
            None => keep(number, bytes, bindings::restore(&inputs.pop().ok_or_else(nothing)?)?),
        };
        Ok(bindings::call_restore(&restore, named(function)?, inputs)?)
    });
    hand_over(given, outcome)
}

/// Restores a reply that is JSON text: the shared buffer contains the reply, followed by the JSON of the `Restore` if
/// it is not cached. Returns what [`crate::call::call`] does.
#[wasm_bindgen(js_name = callRestoreText)]
pub fn call_restore_text(
    number: u32,
    inputs: usize,
    words: usize,
    chars: usize,
    spelled: bool,
    broken: bool,
) -> JsValue {
    let (mut given, handed) = desk::take();
    let outcome = Order { inputs, words, chars, spelled }.on_texts(broken, &mut given, handed, |texts, _| {
        let reply = texts.first().copied().ok_or_else(nothing)?;
        let restore = match used(number) {
            Some(kept) => kept,
            None => {
                let text = texts.get(1).copied().ok_or_else(nothing)?;
                keep(number, text.len(), Restore::from_json(text)?)
            }
        };
        Ok(bindings::call_restore_text(&restore, reply)?)
    });
    hand_over(given, outcome)
}

/// Returns the restore with this number, and marks it as the most recently used.
fn used(number: u32) -> Option<Rc<Restore>> {
    KEPT.with_borrow_mut(|all| {
        let place = all.iter().position(|one| one.number == number)?;
        let one = all.remove(place);
        let restore = Rc::clone(&one.restore);
        all.push(one);
        Some(restore)
    })
}

fn keep(number: u32, bytes: usize, restore: Restore) -> Rc<Restore> {
    let restore = Rc::new(restore);
    KEPT.with_borrow_mut(|all| {
        all.push(Kept { number, bytes, restore: Rc::clone(&restore) });
        let mut total: usize = all.iter().map(|one| one.bytes).sum();
        while all.len() > MAX_RESTORES || (total > MAX_BYTES && all.len() > 1) {
            total -= all.remove(0).bytes;
        }
    });
    restore
}

fn nothing() -> Failure {
    Failure::Defect("nothing lies on the desk")
}
