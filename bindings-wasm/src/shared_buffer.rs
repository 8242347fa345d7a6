//! The shared buffer: the memory through which both sides exchange data. It consists of four vectors, and a header with
//! their addresses.
//!
//! The header keeps its address for the life of the instance; JavaScript asks for that address once and reads the rest
//! from the header. This module does not interpret the contents of the buffers.

use std::{
    cell::{Cell, RefCell},
    mem,
};

use wasm_bindgen::prelude::wasm_bindgen;

/// Capacity in bytes above which a buffer is freed after use, so that the memory of one huge request is released.
const KEEP: usize = 1 << 20;

/// Flag: unchanged values are returned as the caller's own objects.
pub(crate) const SHARE: u32 = 1;
/// Flag: the text is unchanged, and the caller already has it.
pub(crate) const UNCHANGED: u32 = 2;
/// Flag: the call failed, so there is an error and no output.
pub(crate) const FAILED: u32 = 4;
/// Flag: the exchange or stream is in its initial state, so the instance can be discarded without loss.
pub(crate) const RESTS: u32 = 8;

/// The header, which JavaScript reads: `npm/src/engine/shared-buffer.ts` lists its fields in the same order. Addresses
/// and lengths are in units of their buffer: words of 32 bits, or bytes.
#[derive(Default)]
#[repr(C)]
struct Header {
    words: u32,
    words_room: u32,
    chars: u32,
    chars_room: u32,
    output_words: u32,
    output_words_length: u32,
    output_chars: u32,
    output_chars_length: u32,
    flags: u32,
}

/// Records, and their characters.
#[derive(Default)]
pub(crate) struct InputBuffer {
    pub(crate) words: Vec<u32>,
    pub(crate) chars: Vec<u8>,
}

#[derive(Default)]
pub(crate) struct OutputBuffer {
    pub(crate) words: Vec<u32>,
    pub(crate) chars: String,
}

struct SharedBuffer {
    header: &'static mut Header,
    input: InputBuffer,
    output: OutputBuffer,
}

thread_local! {
    static SHARED_BUFFER: RefCell<SharedBuffer> = RefCell::new(SharedBuffer {
        header: Box::leak(Box::default()),
        input: InputBuffer::default(),
        output: OutputBuffer::default(),
    });
}

thread_local! {
    static FAILS: Cell<bool> = const { Cell::new(false) };
}

/// Makes the next call panic, to test recovery from panics.
#[doc(hidden)]
#[wasm_bindgen(js_name = failNext)]
pub fn fail_next() {
    FAILS.set(true);
}

/// Returns the header's address.
#[wasm_bindgen(js_name = sharedBuffer)]
pub fn shared_buffer() -> *const u32 {
    SHARED_BUFFER.with_borrow(|buffer| std::ptr::from_ref::<Header>(buffer.header).cast())
}

/// Ensures capacity for `words` words and `chars` bytes of text. The previous contents may be lost.
#[wasm_bindgen(js_name = makeRoom)]
pub fn make_room(words: usize, chars: usize) {
    SHARED_BUFFER.with_borrow_mut(|buffer| {
        grow(&mut buffer.input.words, words);
        grow(&mut buffer.input.chars, chars);
        buffer.update_header();
    });
}

/// Replaces a buffer that is too small. The old contents need not be copied.
fn grow<T: Copy + Default>(buffer: &mut Vec<T>, length: usize) {
    if buffer.len() < length {
        drop(mem::take(buffer));
        *buffer = vec![T::default(); length];
    }
}

/// Returns the vectors of the input, and the empty vectors of the previous output for reuse.
#[allow(clippy::panic, reason = "a test checks how panics are reported")]
pub(crate) fn take() -> (InputBuffer, OutputBuffer) {
    if FAILS.take() {
        panic!("a test asked for it");
    }
    SHARED_BUFFER.with_borrow_mut(|buffer| {
        let mut output = mem::take(&mut buffer.output);
        output.words.clear();
        output.chars.clear();
        (mem::take(&mut buffer.input), output)
    })
}

/// Returns the vectors to the shared buffer, and stores the output where JavaScript reads it.
pub(crate) fn put(mut input: InputBuffer, output: OutputBuffer, flags: u32) {
    if input.words.capacity().saturating_mul(4) > KEEP {
        input.words = Vec::new();
    }
    if input.chars.capacity() > KEEP {
        input.chars = Vec::new();
    }
    SHARED_BUFFER.with_borrow_mut(|buffer| {
        buffer.input = input;
        buffer.output = output;
        buffer.update_header();
        buffer.header.output_words = address(buffer.output.words.as_ptr()) / 4;
        buffer.header.output_words_length = count(buffer.output.words.len());
        buffer.header.output_chars = address(buffer.output.chars.as_ptr());
        buffer.header.output_chars_length = count(buffer.output.chars.len());
        buffer.header.flags = flags;
    });
}

impl SharedBuffer {
    fn update_header(&mut self) {
        self.header.words = address(self.input.words.as_ptr()) / 4;
        self.header.words_room = count(self.input.words.len());
        self.header.chars = address(self.input.chars.as_ptr());
        self.header.chars_room = count(self.input.chars.len());
    }
}

fn address<T>(pointer: *const T) -> u32 {
    count(pointer.addr())
}

/// Converts a size. WebAssembly memory ends at 2^32, so the conversion never saturates.
fn count(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
