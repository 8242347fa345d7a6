//! The JSON tree, which preserves order, borrows from its input, and keeps numbers as text.
//!
//! All inputs become one type: text, `serde_json::Value`, JavaScript and Python values become a [`Node`], which is
//! rewritten and written back. This module contains nothing about schemas.
//!
//! Users of the crate work with `&str` and `serde_json::Value`. This module is public for bindings to other languages.

mod cut;
mod flags;
pub(crate) mod lazy;
mod node;
mod number;
mod object;
pub(crate) mod pointer;
mod read;
mod same;
mod scan;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "exchange")]
mod skim;
mod text;
pub(crate) mod tolerant;
mod value;
mod write;

pub(crate) use cut::close_cut;
pub(crate) use flags::Flags;
pub(crate) use node::Shell;
pub(crate) use node::{copies, height, size, weight};
pub use node::{Child, Data, Node, Origin};
pub use number::{compare, is_integral};
pub(crate) use number::{is_multiple, plain as plain_number, sum};
pub(crate) use object::{LookUp, Order};
pub use object::{Member, Object};
pub(crate) use pointer::{push_token, unescaped_token};
pub use pointer::{Pointer, Step};
pub use read::read;
pub(crate) use read::Utf8Pieces;
pub use read::{half_a_pair, utf8};
pub(crate) use read::{read_and_find_duplicates, read_outline};
pub(crate) use same::same_within;
pub use same::{canonical, same};
#[cfg(feature = "exchange")]
pub(crate) use skim::{skim, Skimmed};
pub use text::{Name, Text};
pub(crate) use write::text_of;
pub(crate) use write::{
    compact_length, compact_text_length, plain_length, plain_length_at_most, plain_text_length_at_most, write_compact,
    write_plain,
};
pub use write::{length, write, write_into};
