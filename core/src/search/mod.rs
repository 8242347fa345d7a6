//! Tool search: implements a provider's hosted search, so that an agent can offer it on any API.
//!
//! `documents` reads a tool list, `tokenizer` splits its text into words, and `index` counts the words. `index` ranks
//! the tools for a query, and `pattern` matches regular expressions. `call` and `answer` answer a model's call to the
//! search with references, which `deferred` converts to text.

mod answer;
mod call;
mod documents;
mod index;
mod pattern;
mod tokenizer;

pub(crate) use answer::answer;
pub(crate) use call::Call;
pub(crate) use index::{Among, Index, SentNames};
