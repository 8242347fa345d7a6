//! Tool search: what a provider's hosted search does, so that an agent can offer it on any API.
//!
//! A tool list is read (`listing`), its words are counted (`words`, `index`), queries rank it (`index`, or `pattern` for
//! regular expressions), and a model's call of the search is answered (`call`, `answer`) with references that
//! [`apply`](super::apply) turns into text. `function` writes the function that models are offered in the first place.

#[cfg(feature = "search")]
mod answer;
#[cfg(feature = "search")]
mod call;
#[cfg(feature = "search")]
mod documents;
mod function;
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
pub(super) use function::function;
#[cfg(feature = "search")]
pub(crate) use index::{Among, Index};
