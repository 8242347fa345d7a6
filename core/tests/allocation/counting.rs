//! An allocator that counts the bytes allocated by each thread, including those that are freed later.

#![allow(unsafe_code, reason = "a global allocator needs it; this one only counts and forwards")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    thread::LocalKey,
};

thread_local! {
    /// Bytes allocated by this thread in total. (Other threads run other tests.)
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    static FREED: Cell<usize> = const { Cell::new(0) };
    /// Largest number of bytes in use.
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's guarantees are forwarded with the call.
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

fn count(allocated: usize, freed: usize) {
    // When a thread ends, its counters no longer exist.
    let _ = ALLOCATED.try_with(|all| all.set(all.get() + allocated));
    let _ = FREED.try_with(|all| all.set(all.get() + freed));
    let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live())));
}

#[allow(dead_code, reason = "an example also uses this file, but not this function")]
pub(crate) fn live() -> usize {
    let bytes = |counter: &'static LocalKey<Cell<usize>>| counter.try_with(Cell::get).unwrap_or_default();
    bytes(&ALLOCATED).saturating_sub(bytes(&FREED))
}

/// Returns the result of a function, and the largest number of bytes that were in use.
#[allow(dead_code, reason = "the growth test also uses this file, but not this function")]
pub(crate) fn peak_of<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = live();
    PEAK.set(before);
    let result = run();
    (result, PEAK.get() - before)
}

pub(crate) fn allocated_by<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATED.get();
    let result = run();
    (result, ALLOCATED.get() - before)
}
