//! Tool search: what a provider's hosted search does, so that an agent can offer it on any API.
//!
//! A tool list is read (`documents`), its words are counted (`tokenizer`, `index`), queries rank it (`index`, or `pattern` for
//! regular expressions), and a model's call of the search is answered (`call`, `answer`) with references that
//! `deferred` turns into text.

#[cfg(feature = "search")]
mod answer;
#[cfg(feature = "search")]
mod call;
#[cfg(feature = "search")]
mod documents;
#[cfg(feature = "search")]
mod index;
#[cfg(feature = "regex")]
mod pattern;
#[cfg(feature = "search")]
mod tokenizer;

#[cfg(feature = "search")]
pub(crate) use answer::answer;
#[cfg(feature = "search")]
pub(crate) use call::Call;
#[cfg(feature = "search")]
pub(crate) use index::{Among, Index};
