//! Hosts with rules of their own, for the documentation.

use alloc::{string::String, vec::Vec};

use crate::dialect::{backends, requests::RequestFact};

/// A host with rules of its own about requests.
#[derive(Debug)]
pub struct Backend {
    /// Human-readable.
    pub name: &'static str,
    /// The hosts, as a sentence.
    pub hosts: String,
    /// What the host refuses; with the beta that the fact is about, if it is about one.
    pub facts: Vec<(Option<&'static str>, &'static RequestFact)>,
}

/// Returns every host with rules of its own.
pub fn backends() -> Vec<Backend> {
    let of = |backend: &'static backends::Backend| Backend {
        name: backend.name,
        hosts: backend.hosts(),
        facts: backend.facts().map(|fact| (fact.beta(), fact)).collect(),
    };
    backends::BACKENDS.iter().map(of).collect()
}
