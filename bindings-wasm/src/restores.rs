//! What brings calls back, kept by the numbers that JavaScript gives: a conversation restores many calls by one of
//! them, and what it has of schemas is read and prepared once.
//!
//! It is a memory and no owner: JavaScript has each of them as JSON, and gives that along where it is not kept (any
//! more), be it in an instance that has taken the place of a broken one.

use std::{cell::RefCell, rc::Rc};

use toolwire::{internal::bindings, Restore};
use wasm_bindgen::{prelude::wasm_bindgen, JsValue};

use crate::{
    call::{hand_over, named, Failure, Order},
    desk,
};

/// How many are kept.
const MOST: usize = 16;
/// How much of the desk all of them took, in bytes; what was made of it is a few times as large. The newest is kept
/// whatever its size.
const MOST_BYTES: usize = 4 * 1024 * 1024;

struct Kept {
    number: u32,
    bytes: usize,
    restore: Rc<Restore>,
}

thread_local! {
    /// The one that was used last comes last.
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// Is what has this number kept?
#[wasm_bindgen(js_name = keepsRestore)]
pub fn keeps_restore(number: u32) -> bool {
    KEPT.with_borrow(|all| all.iter().any(|one| one.number == number))
}

/// Calls a function of a `Restore` on values: its inputs lie on the desk, and behind them what the `Restore` is as
/// JSON, if that is not kept. Returns what [`crate::call::call`] does.
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

/// Restores a reply that lies on the desk as JSON text, and behind it what the `Restore` is, if that is not kept.
/// Returns what [`crate::call::call`] does.
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

/// What has this number, which is the one used last from now on.
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
        while all.len() > MOST || (total > MOST_BYTES && all.len() > 1) {
            total -= all.remove(0).bytes;
        }
    });
    restore
}

fn nothing() -> Failure {
    Failure::Defect("nothing lies on the desk")
}
