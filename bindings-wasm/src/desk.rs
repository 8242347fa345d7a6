//! Where both sides put what they hand over: four buffers, and a header that says where they are.
//!
//! The header stays in one place for the life of the instance; JavaScript asks for that place once and reads the rest
//! from it. Nothing here knows what the buffers hold.

use std::{
    cell::{Cell, RefCell},
    mem,
};

use wasm_bindgen::prelude::wasm_bindgen;

/// Capacity in bytes above which a buffer is given back after use: one huge request must not cost its size forever.
const KEEP: usize = 1 << 20;

/// Intact values go back as the caller's own objects.
pub(crate) const SHARE: u32 = 1;
/// The text came back unchanged, and is with the caller already.
pub(crate) const UNCHANGED: u32 = 2;
/// There is no answer, only an error.
pub(crate) const FAILED: u32 = 4;
/// What is kept for later calls is nothing but what it began with.
pub(crate) const RESTS: u32 = 8;

/// What JavaScript reads, in this order: `npm/src/engine/desk.ts` has the same list. Addresses and lengths count units
/// of their buffer: words of 32 bits, or bytes.
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

/// What JavaScript put on the desk: records, and the characters of everything in them.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) words: Vec<u32>,
    pub(crate) chars: Vec<u8>,
}

/// What goes back, in the same form.
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

/// Makes the next call fail inside: for the tests of what becomes of a defect.
#[doc(hidden)]
#[wasm_bindgen(js_name = failNext)]
pub fn fail_next() {
    FAILS.set(true);
}

/// The header's address.
#[wasm_bindgen]
pub fn desk() -> *const u32 {
    DESK.with_borrow(|desk| std::ptr::from_ref::<Header>(desk.header).cast())
}

/// Makes room for so many words and so many bytes of characters. What lay there before may be gone.
#[wasm_bindgen(js_name = makeRoom)]
pub fn make_room(words: usize, chars: usize) {
    DESK.with_borrow_mut(|desk| {
        grow(&mut desk.given.words, words);
        grow(&mut desk.given.chars, chars);
        desk.announce_room();
    });
}

/// Sets the length to `length` at least. Through a new buffer, because there is nothing worth copying in the old one.
fn grow<T: Copy + Default>(buffer: &mut Vec<T>, length: usize) {
    if buffer.len() < length {
        drop(mem::take(buffer));
        *buffer = vec![T::default(); length];
    }
}

/// Takes what JavaScript put on the desk, and the last answer's buffers to use them again.
#[allow(clippy::panic, reason = "a test wants to see what becomes of one")]
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

/// Puts everything back, the answer in the place where JavaScript looks for it.
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

/// A size as the header holds it. WebAssembly memory ends at 2^32, so nothing is ever cut off.
fn count(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
