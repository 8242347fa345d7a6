//! Limits that apply to every path, each with its reason.
//!
//! Limits that are specific to one API (name lengths, request budgets) are in the table of its dialect.

/// Maximum nesting of arrays and objects in JSON, on every path in and out.
///
/// Functions on trees are recursive and count the depth, because a stack overflow would make a WebAssembly instance
/// unusable. 512 levels need a small part of its 1 MiB stack, and no real tool schema exceeds 40.
pub const MAX_DEPTH: usize = 512;

/// Passes wrap schemas in unions and lists, so an intermediate result may be deeper than the input. A schema beyond
/// this limit ends the call with `too-deep`.
pub(crate) const MAX_WALK_DEPTH: usize = 2 * MAX_DEPTH;

/// If a rewritten part is at this depth or deeper, its own nesting is measured, so that no pass can multiply the
/// nesting unnoticed.
pub(crate) const DEEP: usize = MAX_DEPTH / 2;

/// Number of steps that every call may take, even for a small input, because inlining references can make a small
/// schema large.
pub const STEPS: u64 = 3_000_000;

/// Number of additional steps of a call for each value of its input (`maxSteps` replaces the whole budget). Real tools
/// take at most 77.
pub const STEPS_PER_NODE: u64 = 100;

/// Maximum number of steps of a call, however large its input: about a second on one slow core.
pub const MAX_STEPS: u64 = 4_000_000;

/// The report of a result may take this many times the steps that the call may take. Recording the changes takes up to
/// twice the steps.
pub const REPORT_FACTOR: u64 = 4;

/// Maximum number of values that a binding reads from one object of the caller; beyond it, the call fails with
/// `limit-exceeded`.
///
/// A few objects that share members can represent an exponentially large tree. Text cannot, because its size limits the
/// work.
pub const MAX_VALUES: usize = 10_000_000;

/// Default maximum number of nodes that rewriting may add (`maxNodes`). The total size of inlining is computed before
/// anything is inlined.
pub const MAX_NODES: usize = 10_000;

/// Default maximum number of tools of a list that are rewritten (`maxTools`); further tools are set aside.
///
/// No API accepts more than 512, and no model uses a thousand. Rewriting takes time in proportion to the size of the
/// list, whatever it contains, so the limit only bounds the work that a server can cause.
pub const MAX_TOOLS: usize = 10_000;

/// If the tools beyond an API's maximum are deferred, the maximum divided by this number is reserved for tools that the
/// history loads.
///
/// Most APIs accept at most 128 tools, so room for 32 is reserved. Conversations load fewer.
pub(crate) const LOADS_SHARE: usize = 4;

/// Maximum length in bytes of a server's name in a list of several servers; a longer name is refused.
///
/// Every tool of the server repeats the name, in reports and in the serialized `restore`.
pub const MAX_SERVER_NAME: usize = 256;

/// Default maximum size in bytes of repeated notices in one request, if the first notices are smaller
/// (`maxRepeatedBytes`).
///
/// This size suffices for every recorded conversation; beyond it, only the first sentence of a notice is repeated.
pub const REPEATED_NOTICE_BYTES: usize = 64 << 10;

/// Maximum number of bytes of a streamed reply that are buffered at once: the arguments of open calls, text of the
/// answer, and an incomplete event.
///
/// The limit bounds a stream that never ends a call, a text or a line. No model writes 64 MiB of arguments.
pub const MAX_HELD_BYTES: usize = 64 << 20;
