//! The JSON tree, which preserves order, borrows from its input, and keeps numbers as text.
//!
//! All inputs have one concrete type: text, `serde_json::Value`, JavaScript and Python values become a [`Node`], are
//! rewritten, and are written back. This module contains nothing about schemas.
//!
//! Users of the crate work with `&str` and `serde_json::Value`. This module is public for bindings to other languages.

mod block;
mod copy;
mod cut;
pub(crate) mod lazy;
mod lookup;
mod node;
mod number;
mod object;
mod plain;
pub(crate) mod pointer;
mod read;
mod same;
mod scan;
#[cfg(feature = "serde")]
mod serde;
mod text;
pub(crate) mod tolerant;
mod utf8;
mod value;
mod write;

pub(crate) use copy::{copies, height, size, weight};
pub(crate) use cut::close_cut;
pub(crate) use lookup::{LookUp, Order};
pub(crate) use node::Shell;
pub use node::{Child, Data, Node, Origin};
pub use number::{compare, is_integral};
pub(crate) use number::{is_multiple, plain as plain_number};
pub use object::{Member, Object};
pub(crate) use plain::{
    compact_length, compact_text_length, plain_length, plain_length_at_most, plain_text_length_at_most, write_compact,
    write_plain,
};
pub(crate) use pointer::{push_token, unescaped_token};
pub use pointer::{Pointer, Step};
pub use read::read;
pub(crate) use read::{read_noting_repeats, read_outline};
pub use same::{canonical, same};
pub(crate) use same::{identical, same_within};
pub use text::{Name, Text};
pub(crate) use utf8::Utf8Pieces;
pub use utf8::{half_a_pair, utf8};
pub(crate) use write::text_of;
pub use write::{length, write, write_into};
