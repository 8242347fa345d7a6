//! What a large request costs in memory: beyond the text that comes and the text that goes, a quarter of it at most.

#![allow(unsafe_code, reason = "an allocator cannot be written without; this one only counts what it passes on")]
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../examples/requests/content.rs"]
mod content;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use toolwire::{apply_deferred_loading_json, apply_deferred_loading_json_with_report, DeferredOptions};

thread_local! {
    /// Every byte that this thread was ever given, whatever it gave back. (Other threads run other tests.)
    static GIVEN: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promises are passed on with the call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(size: usize) {
    // While a thread ends, there is nothing left to count with.
    let _ = GIVEN.try_with(|given| given.set(given.get() + size));
}

fn given<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = GIVEN.get();
    let result = run();
    (result, GIVEN.get() - before)
}

#[test]
fn a_large_request_costs_a_quarter_of_itself_at_most() {
    let options = DeferredOptions::default();
    for (name, messages) in content::CONTENTS {
        let text = content::request(messages);
        let (answer, plain) = given(|| apply_deferred_loading_json(&text, &options).expect("a request"));
        let (reported, with_report) = given(|| apply_deferred_loading_json_with_report(&text, &options).expect("a request"));
        assert_eq!(answer, reported.request, "{name}");
        assert!(answer.len() < text.len(), "{name}: tools are hidden, so this is a new text");
        for (form, bytes) in [("plain", plain), ("with report", with_report)] {
            let beyond = bytes - answer.len();
            println!("{name}, {form}: {} bytes in, {} out, {beyond} more", text.len(), answer.len());
            assert!(beyond <= text.len() / 4, "{name}, {form}: {beyond} bytes beyond a text of {}", text.len());
        }
    }
}

/// Where nothing changes there is no second text either.
#[test]
fn an_unchanged_request_costs_next_to_nothing() {
    for (name, messages) in content::CONTENTS {
        let text = content::request(messages);
        let sent = apply_deferred_loading_json(&text, &DeferredOptions::default()).expect("a request").into_owned();
        let (again, bytes) = given(|| apply_deferred_loading_json(&sent, &DeferredOptions::default()).expect("a request"));
        assert_eq!(again.as_ptr(), sent.as_ptr(), "{name}: the very same text");
        println!("{name}, unchanged: {} bytes in, {bytes} more", sent.len());
        assert!(bytes <= sent.len() / 4, "{name}: {bytes} bytes for a text of {}", sent.len());
    }
}
