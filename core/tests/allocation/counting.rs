//! An allocator that counts: what was given out to this thread, whatever it gave back.

#![allow(unsafe_code, reason = "an allocator cannot be written without; this one only counts what it passes on")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    /// Every byte that this thread was ever given, whatever it gave back. (Other threads run other tests.)
    static GIVEN: Cell<usize> = const { Cell::new(0) };
    /// What it gave back.
    static BACK: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promises are passed on with the call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(given: usize, back: usize) {
    // While a thread ends, there is nothing left to count with.
    let _ = GIVEN.try_with(|all| all.set(all.get() + given));
    let _ = BACK.try_with(|all| all.set(all.get() + back));
}

/// The bytes that this thread was given and has not given back.
#[allow(dead_code, reason = "an example counts with this file, too, and has no use for it")]
pub(crate) fn live() -> usize {
    GIVEN.get().saturating_sub(BACK.get())
}

/// What a piece of work gives, and how many bytes it was given for it.
pub(crate) fn given<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = GIVEN.get();
    let result = run();
    (result, GIVEN.get() - before)
}
