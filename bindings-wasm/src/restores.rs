//! A cache of `Restore`s by the numbers that JavaScript assigns. A conversation restores many calls with the same
//! `Restore`, whose schemas are parsed only once.
//!
//! JavaScript keeps the JSON of each `Restore`. It sends the JSON along if the cache no longer contains the `Restore`,
//! for example because the instance was replaced after a trap.

use std::{cell::RefCell, rc::Rc};

use toolwire::{internal::bindings, Restore};
use wasm_bindgen::{prelude::wasm_bindgen, JsValue};

use crate::{
    call::{function_at, return_outcome, Failure, InputLayout},
    shared_buffer,
};

/// Maximum number of cached restores.
const MAX_RESTORES: usize = 16;
/// Maximum size of the JSON of all cached restores, in bytes in the shared buffer; in memory, they are a few times as
/// large. The newest is cached regardless of its size.
const MAX_BYTES: usize = 4 * 1024 * 1024;

struct CachedRestore {
    number: u32,
    bytes: usize,
    restore: Rc<Restore>,
}

thread_local! {
    /// The cached restores, the most recently used last.
    static CACHE: RefCell<Vec<CachedRestore>> = const { RefCell::new(Vec::new()) };
}

/// Returns true if the restore with this number is cached.
#[wasm_bindgen(js_name = hasRestore)]
pub fn has_restore(number: u32) -> bool {
    CACHE.with_borrow(|all| all.iter().any(|entry| entry.number == number))
}

/// Calls a function of a `Restore` on values: the shared buffer contains its inputs, followed by the JSON of the
/// `Restore` if it is not cached. Returns what [`crate::call::call`] does.
#[wasm_bindgen(js_name = callRestore)]
pub fn call_restore(number: u32, function: usize, inputs: usize, words: usize, chars: usize, spelled: bool) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let bytes = words * size_of::<u32>() + chars;
    let outcome = InputLayout { inputs, words, chars, spelled }.on_values(&mut input, output, |mut inputs, _| {
        let restore = match mark_used(number) {
            Some(cached) => cached,
            None => cache(number, bytes, bindings::restore(&inputs.pop().ok_or_else(missing_input)?)?),
        };
        Ok(bindings::call_restore(&restore, function_at(function)?, inputs)?)
    });
    return_outcome(input, outcome)
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
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs, words, chars, spelled }.on_texts(broken, &mut input, output, |texts, _| {
        let reply = texts.first().copied().ok_or_else(missing_input)?;
        let restore = match mark_used(number) {
            Some(cached) => cached,
            None => {
                let text = texts.get(1).copied().ok_or_else(missing_input)?;
                cache(number, text.len(), Restore::from_json(text)?)
            }
        };
        Ok(bindings::call_restore_text(&restore, reply)?)
    });
    return_outcome(input, outcome)
}

/// Returns a cached restore, and marks it as the most recently used.
fn mark_used(number: u32) -> Option<Rc<Restore>> {
    CACHE.with_borrow_mut(|all| {
        let index = all.iter().position(|entry| entry.number == number)?;
        let entry = all.remove(index);
        let restore = Rc::clone(&entry.restore);
        all.push(entry);
        Some(restore)
    })
}

fn cache(number: u32, bytes: usize, restore: Restore) -> Rc<Restore> {
    let restore = Rc::new(restore);
    CACHE.with_borrow_mut(|all| {
        all.push(CachedRestore { number, bytes, restore: Rc::clone(&restore) });
        let mut total: usize = all.iter().map(|entry| entry.bytes).sum();
        while all.len() > MAX_RESTORES || (total > MAX_BYTES && all.len() > 1) {
            total -= all.remove(0).bytes;
        }
    });
    restore
}

fn missing_input() -> Failure {
    Failure::Defect("the shared buffer is empty")
}
