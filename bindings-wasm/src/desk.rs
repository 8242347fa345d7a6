//! The shared buffer: the memory through which both sides exchange data. It consists of four vectors, and a header with
//! their addresses.
//!
//! The header keeps its address for the life of the instance; JavaScript asks for that address once and reads the rest
//! from the header. This module does not know the contents of the buffers.

use std::{
    cell::{Cell, RefCell},
    mem,
};

use wasm_bindgen::prelude::wasm_bindgen;

/// Capacity in bytes above which a buffer is freed after use, so that one huge request does not keep its memory.
const KEEP: usize = 1 << 20;

/// Flag: unchanged values are returned as the caller's own objects.
pub(crate) const SHARE: u32 = 1;
/// Flag: the text is unchanged, and the caller already has it.
pub(crate) const UNCHANGED: u32 = 2;
/// Flag: the call failed, so there is an error and no answer.
pub(crate) const FAILED: u32 = 4;
/// Flag: the session is back in its initial state, so nothing is lost with the instance.
pub(crate) const RESTS: u32 = 8;

/// The header, which JavaScript reads: `npm/src/engine/desk.ts` lists its fields in the same order. Addresses and
/// lengths are in units of their buffer: words of 32 bits, or bytes.
#[derive(Default)]
#[repr(C)]
struct Header {
    words: u32,
    words_room: u32,
    chars: u32,
    chars_room: u32,
    answer_words: u32,
    answer_words_length: u32,
    answer_chars: u32,
    answer_chars_length: u32,
    flags: u32,
}

/// The input that JavaScript wrote: records, and their characters.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) words: Vec<u32>,
    pub(crate) chars: Vec<u8>,
}

/// The answer, in the same form.
#[derive(Default)]
pub(crate) struct Handed {
    pub(crate) words: Vec<u32>,
    pub(crate) chars: String,
}

struct Desk {
    header: &'static mut Header,
    given: Given,
    handed: Handed,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::new(Desk {
        header: Box::leak(Box::default()),
        given: Given::default(),
        handed: Handed::default(),
    });
}

thread_local! {
    static FAILS: Cell<bool> = const { Cell::new(false) };
}

/// Makes the next call panic, for tests of the recovery from a defect.
#[doc(hidden)]
#[wasm_bindgen(js_name = failNext)]
pub fn fail_next() {
    FAILS.set(true);
}

/// Returns the header's address.
#[wasm_bindgen]
pub fn desk() -> *const u32 {
    DESK.with_borrow(|desk| std::ptr::from_ref::<Header>(desk.header).cast())
}

/// Makes room for a number of words and of bytes of characters. The previous contents may be lost.
#[wasm_bindgen(js_name = makeRoom)]
pub fn make_room(words: usize, chars: usize) {
    DESK.with_borrow_mut(|desk| {
        grow(&mut desk.given.words, words);
        grow(&mut desk.given.chars, chars);
        desk.announce_room();
    });
}

/// Grows a buffer to at least `length`, as a new buffer, because the old contents need not be copied.
fn grow<T: Copy + Default>(buffer: &mut Vec<T>, length: usize) {
    if buffer.len() < length {
        drop(mem::take(buffer));
        *buffer = vec![T::default(); length];
    }
}

/// Takes the input out of the shared buffer, and the vectors of the last answer for reuse.
#[allow(clippy::panic, reason = "a test checks how panics are reported")]
pub(crate) fn take() -> (Given, Handed) {
    if FAILS.take() {
        panic!("a test asked for it");
    }
    DESK.with_borrow_mut(|desk| {
        let mut handed = mem::take(&mut desk.handed);
        handed.words.clear();
        handed.chars.clear();
        (mem::take(&mut desk.given), handed)
    })
}

/// Returns the vectors to the shared buffer, with the answer in the place where JavaScript reads it.
pub(crate) fn put(mut given: Given, handed: Handed, flags: u32) {
    if given.words.capacity().saturating_mul(4) > KEEP {
        given.words = Vec::new();
    }
    if given.chars.capacity() > KEEP {
        given.chars = Vec::new();
    }
    DESK.with_borrow_mut(|desk| {
        desk.given = given;
        desk.handed = handed;
        desk.announce_room();
        desk.header.answer_words = address(desk.handed.words.as_ptr()) / 4;
        desk.header.answer_words_length = count(desk.handed.words.len());
        desk.header.answer_chars = address(desk.handed.chars.as_ptr());
        desk.header.answer_chars_length = count(desk.handed.chars.len());
        desk.header.flags = flags;
    });
}

impl Desk {
    fn announce_room(&mut self) {
        self.header.words = address(self.given.words.as_ptr()) / 4;
        self.header.words_room = count(self.given.words.len());
        self.header.chars = address(self.given.chars.as_ptr());
        self.header.chars_room = count(self.given.chars.len());
    }
}

fn address<T>(pointer: *const T) -> u32 {
    count(pointer.addr())
}

/// Converts a size for the header. WebAssembly memory ends at 2^32, so the conversion never saturates.
fn count(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
