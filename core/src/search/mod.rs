//! Tool search: implements a provider's hosted search, so that an agent can offer it on any API.
//!
//! `index` reads a tool list, `tokenizer` splits its text into words, and `index` counts the words, ranks the tools for
//! a query, and matches regular expressions. `answer` answers a model's call to the search with references, which
//! `deferred` converts to text.

mod answer;
mod index;
mod tokenizer;

pub(crate) use answer::{answer, Call};
pub(crate) use index::{Among, Index, SentNames};
