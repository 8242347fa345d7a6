//! Totals of the open requests of a relay: their number, and the bytes of their bodies.

use std::sync::{
    atomic::{AtomicU64, AtomicUsize, Ordering},
    Arc,
};

/// Maximum total size of the bodies in memory, in bytes.
const MAX_BODIES: u64 = 512 << 20;

#[derive(Debug, Default)]
pub(super) struct Usage {
    requests: AtomicUsize,
    bytes: AtomicU64,
}

impl Usage {
    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

/// An open request in the count of requests. Dropping it removes the request.
#[derive(Debug)]
struct Counted(Arc<Usage>);

/// The part of one request in the totals. Dropping it, even during a panic, returns the part.
#[derive(Debug)]
pub(super) struct Share {
    counted: Arc<Counted>,
    bytes: u64,
}

/// A part of a reply that the client has not read. Until it is dropped, the part and its request remain in the totals.
/// This limits clients that do not read.
#[derive(Debug)]
pub struct Unsent {
    usage: Arc<Usage>,
    _counted: Option<Arc<Counted>>,
    bytes: u64,
}

impl Share {
    pub(super) fn of(usage: &Arc<Usage>, most: usize) -> Option<Share> {
        let more = |count: usize| (count < most).then_some(count + 1);
        usage.requests.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Share { counted: Arc::new(Counted(usage.clone())), bytes: 0 })
    }

    /// Returns false if the bodies of all requests are too large together.
    pub(super) fn count_bytes(&mut self, bytes: u64) -> bool {
        let before = std::mem::replace(&mut self.bytes, bytes);
        let Counted(usage) = &*self.counted;
        let total = if bytes >= before {
            let more = bytes - before;
            usage.bytes.fetch_add(more, Ordering::Relaxed).saturating_add(more)
        } else {
            let less = before - bytes;
            usage.bytes.fetch_sub(less, Ordering::Relaxed).saturating_sub(less)
        };
        total <= MAX_BODIES
    }
}

impl Unsent {
    pub(super) fn new(usage: &Arc<Usage>, share: Option<&Share>, bytes: usize) -> Unsent {
        usage.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        let counted = share.map(|share| share.counted.clone());
        Unsent { usage: usage.clone(), _counted: counted, bytes: bytes as u64 }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.counted.0.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.usage.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_limited_and_returned() {
        let usage = Arc::new(Usage::default());
        let mut one = Share::of(&usage, 2);
        let mut other = Share::of(&usage, 2);
        assert!(Share::of(&usage, 2).is_none() && usage.requests() == 2);
        let set = |share: &mut Option<Share>, bytes| share.as_mut().map(|share| share.count_bytes(bytes));
        assert_eq!(set(&mut one, MAX_BODIES), Some(true));
        assert_eq!(set(&mut other, 1), Some(false));
        assert_eq!(set(&mut one, MAX_BODIES - 1), Some(true));
        let unsent = Unsent::new(&usage, one.as_ref(), 7);
        drop((one, other));
        assert_eq!((usage.requests(), usage.bytes.load(Ordering::Relaxed)), (1, 7));
        drop(unsent);
        assert_eq!((usage.requests(), usage.bytes.load(Ordering::Relaxed)), (0, 0));
    }
}
