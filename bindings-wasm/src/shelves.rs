//! The allocator: small pieces that are given back wait on a shelf for the next one of their size, and everything else is talc's.
//!
//! A tree is made and dropped with every call, piece by piece and always in the same sizes, so nearly every piece comes from a
//! shelf and goes back there in a dozen instructions. What lies on a shelf serves its own size only, until the instance ends;
//! no shelf ever holds more than was in use at one time.
#![allow(unsafe_code, reason = "an allocator cannot be written without; nothing else in this crate has any")]

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
    ptr,
};

use talc::wasm::{new_wasm_dynamic_allocator, WasmDynamicTalc};

/// Sizes are rounded up to multiples of this, which is also the most that anything there is aligned to.
const STEP: usize = 16;
const ALIGN: usize = 8;

/// Shelves up to one kilobyte: an object of sixteen members.
const SHELVES: usize = 64;

pub(crate) struct Shelves {
    rest: WasmDynamicTalc,
    /// The piece on top of each shelf, which holds the address of the one below it.
    tops: [Cell<*mut u8>; SHELVES],
}

/// SAFETY: this is for WebAssembly without threads (so says the `cfg` at its only use): there is nobody else.
unsafe impl Sync for Shelves {}

impl Shelves {
    pub(crate) const fn new() -> Self {
        Shelves { rest: new_wasm_dynamic_allocator(), tops: [const { Cell::new(ptr::null_mut()) }; SHELVES] }
    }

    /// The shelf for pieces of that layout, and how large they are there.
    fn shelf(&self, layout: Layout) -> Option<(&Cell<*mut u8>, Layout)> {
        let number = layout.size().wrapping_sub(1) / STEP;
        let top = self.tops.get(number)?;
        // Both are small, and the alignment is a power of two.
        (layout.align() <= ALIGN).then_some(())?;
        Some((top, Layout::from_size_align((number + 1) * STEP, ALIGN).ok()?))
    }
}

/// SAFETY: a piece belongs to a shelf by its layout, with which it also comes back: it is always at least as large as, and
/// aligned as, the shelf says. On a shelf it is nobody's, so its first bytes are free to hold an address.
unsafe impl GlobalAlloc for Shelves {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((top, rounded)) = self.shelf(layout) else { return self.rest.alloc(layout) };
        let piece = top.get();
        if piece.is_null() {
            return self.rest.alloc(rounded);
        }
        top.set(piece.cast::<*mut u8>().read());
        piece
    }

    #[inline(never)]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        let Some((top, _)) = self.shelf(layout) else { return self.rest.dealloc(piece, layout) };
        piece.cast::<*mut u8>().write(top.get());
        top.set(piece);
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let wanted = Layout::from_size_align_unchecked(size, layout.align());
        match (self.shelf(layout), self.shelf(wanted)) {
            (None, None) => self.rest.realloc(piece, layout, size),
            (Some((one, _)), Some((two, _))) if ptr::eq(one, two) => piece,
            _ => {
                let moved = self.alloc(wanted);
                if !moved.is_null() {
                    ptr::copy_nonoverlapping(piece, moved, layout.size().min(size));
                    self.dealloc(piece, layout);
                }
                moved
            }
        }
    }
}
