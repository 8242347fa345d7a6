//! What becomes of a tool in a dialect: the columns of the matrix, and the words of `--fail-on`.

use toolwire::{
    reports::{Accepts, Change, Guidance},
    rules::Rule,
};

/// What becomes of a tool, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Unchanged,
    Lossless,
    Encoded,
    Closed,
    /// It is sent not strict, so that nothing enforces its schema.
    NotStrict,
    Lost,
    Wider,
    Narrower,
    Refused,
}

impl Outcome {
    /// All of them.
    pub(crate) const ALL: [Outcome; 9] = [
        Outcome::Unchanged,
        Outcome::Lossless,
        Outcome::Encoded,
        Outcome::Closed,
        Outcome::NotStrict,
        Outcome::Lost,
        Outcome::Wider,
        Outcome::Narrower,
        Outcome::Refused,
    ];
    /// What `--fail-on` takes, the least severe last. `rejected` and `never` are no outcomes.
    pub(crate) const LEVELS: [&'static str; 10] =
        ["never", "refused", "narrower", "wider", "lost", "not-strict", "closed", "encoded", "changed", "rejected"];

    /// The word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Outcome::Unchanged => "unchanged",
            Outcome::Lossless => "lossless",
            Outcome::Encoded => "encoded",
            Outcome::Closed => "closed",
            Outcome::NotStrict => "not-strict",
            Outcome::Lost => "lost",
            Outcome::Wider => "wider",
            Outcome::Narrower => "narrower",
            Outcome::Refused => "refused",
        }
    }

    /// What one change alone would make of a tool.
    pub(crate) fn of(change: &Change) -> Outcome {
        match change.accepts {
            _ if change.rule == Rule::StrictFlag.id() => Outcome::NotStrict,
            Accepts::Wider => Outcome::Wider,
            Accepts::Narrower | Accepts::Mixed => Outcome::Narrower,
            Accepts::Same | Accepts::Closed if change.guidance == Guidance::Lost => Outcome::Lost,
            Accepts::Closed => Outcome::Closed,
            Accepts::Same if change.encoded => Outcome::Encoded,
            Accepts::Same => Outcome::Lossless,
        }
    }
}
