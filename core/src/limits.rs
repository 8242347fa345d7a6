//! The limits that hold on every path, each with its reason.
//!
//! Limits that belong to one API (name lengths, request budgets) stand in that dialect's table.

/// JSON nesting, in levels of arrays and objects, on every path in and out.
///
/// Everything that walks a tree is recursive and counts depth: a stack overflow would poison a WebAssembly instance for
/// the rest of its life. 512 levels fit its 1 MiB stack many times over, and no real tool schema passes 40.
pub const MAX_DEPTH: usize = 512;

/// JSON nesting of a schema while it is rewritten: passes wrap schemas in unions and lists, so a result on its way may
/// be deeper than the input. What is deeper ends the call with `too-deep`.
pub(crate) const MAX_WALK_DEPTH: usize = 2 * MAX_DEPTH;

/// From this depth on a rewritten part is measured, so that no pass can multiply the depth unseen.
pub(crate) const DEEP: usize = MAX_DEPTH / 2;

/// Steps that every call may take, whatever its input: writing references out multiplies small schemas.
pub const STEPS: u64 = 3_000_000;

/// Steps a call may take for each value of its input (`maxSteps` sets another number for the whole call): real tools
/// take at most 77.
pub const STEPS_PER_NODE: u64 = 100;

/// Maximum number of steps of a call, however large its input: about a second on one slow core.
pub const MOST_STEPS: u64 = 4_000_000;

/// How many times the steps of a call the report of its result may take: recording takes up to twice as many.
pub const REPORT_FACTOR: u64 = 4;

/// Values a binding reads from one caller's object before it gives up with `limit-exceeded`.
///
/// A few objects that share members can spell an exponentially large tree; text cannot, its size is its cost.
pub const MAX_VALUES: usize = 10_000_000;

/// Nodes that rewriting may add by default (`maxNodes`): the full size of inlining is counted before anything is
/// inlined.
pub const MAX_NODES: usize = 10_000;

/// Tools of one list that are rewritten by default (`maxTools`); what comes after them is set aside.
///
/// No API takes more than 512, and no model looks at a thousand. A list costs time in proportion to its size, whatever
/// is in it, so the limit only bounds what a server can make a client send.
pub const MAX_TOOLS: usize = 10_000;

/// One in this many of the tools that an API takes at most is kept free for tools that the history loads, if the tools
/// past the maximum are deferred.
///
/// The maximum is 128 at most APIs: that leaves room for 32 loaded tools, more than conversations load.
pub(crate) const LOADS_SHARE: usize = 4;

/// Bytes of the name of a server in a list of several servers; a longer one is refused.
///
/// Every tool of the server has the name, in reports and in what `restore` keeps.
pub const MAX_SERVER_NAME: usize = 256;

/// Bytes of notices that may repeat earlier ones in one request, where the first ones take less (`maxRepeatedBytes`).
///
/// Enough for every conversation that was recorded; with more, a tool is announced again by its first sentence alone.
pub const REPEATED_NOTICE_BYTES: usize = 64 << 10;

/// Bytes of a streamed reply that are held back at once: the arguments of open calls, texts of the answer, and an event
/// that is not whole yet.
///
/// A stream that never ends a call, a text or a line must end somewhere. No model writes 64 MiB of arguments.
pub const MAX_HELD_BYTES: usize = 64 << 20;
