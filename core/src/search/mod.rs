//! Tool search: what a provider's hosted search does, so that an agent can offer it on any API.
//!
//! A tool list is read (`documents`), its words are counted (`tokenizer`, `index`), queries rank it (`index`, or
//! `pattern` for regular expressions), and a model's call of the search is answered (`call`, `answer`) with references
//! that `deferred` turns into text.

mod answer;
mod call;
mod documents;
mod index;
mod pattern;
mod tokenizer;

pub(crate) use answer::answer;
pub(crate) use call::Call;
pub(crate) use index::{Among, Index, SentNames};
