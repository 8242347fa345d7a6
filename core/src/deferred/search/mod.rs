//! Tool search: what a provider's hosted search does, so that an agent can offer it on any API.
//!
//! A tool list is read (`listing`), its words are counted (`words`, `index`), queries rank it (`index`, or `pattern` for
//! regular expressions), and a model's call of the search is answered (`call`, `answer`) with references that
//! [`apply`](super::apply) turns into text. `function` writes the function that models are offered in the first place.

mod answer;
mod call;
mod function;
mod index;
mod listing;
#[cfg(feature = "regex")]
mod pattern;
mod words;

pub(crate) use answer::answer;
pub(crate) use call::Call;
pub(super) use function::function;
pub(crate) use index::{Among, Index};
