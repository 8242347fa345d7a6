//! Outcomes of rewriting a tool for a dialect: the columns of the matrix, and the values of `--fail-on`.

use toolwire::{
    internal::json::Node,
    reports::{Accepts, Change, Guidance},
    rules::Rule,
};

/// Outcomes, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Unchanged,
    Lossless,
    Encoded,
    Closed,
    /// The tool is sent without strict mode, so that the API does not enforce its schema.
    NotStrict,
    Lost,
    Wider,
    Narrower,
    Refused,
}

impl Outcome {
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
    /// Values of `--fail-on`, the least severe last. `rejected` and `never` are not outcomes.
    pub(crate) const LEVELS: [&'static str; 10] =
        ["never", "refused", "narrower", "wider", "lost", "not-strict", "closed", "encoded", "changed", "rejected"];

    /// Values of `check --rewritten`, the least severe last.
    pub(crate) const LOSSES: [&'static str; 6] = ["refused", "narrower", "wider", "lost", "not-strict", "closed"];

    pub(crate) fn of_word(word: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }

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

    pub(crate) fn of(change: &Change) -> Outcome {
        Outcome::of_effects(change.rule.id(), change.accepts, change.guidance, change.encoded)
    }

    pub(crate) fn of_report(change: &Node<'_>) -> Option<Outcome> {
        let word = |name: &str| change.text_at(name).map(|word| word.display().into_owned());
        let (rule, accepts, guidance) = (word("rule")?, word("accepts")?, word("guidance")?);
        let accepts = *Accepts::ALL.iter().find(|known| known.as_str() == accepts)?;
        let guidance = *Guidance::ALL.iter().find(|known| known.as_str() == guidance)?;
        Some(Outcome::of_effects(&rule, accepts, guidance, change.bool_at("encoded")?))
    }

    fn of_effects(rule: &str, accepts: Accepts, guidance: Guidance, is_encoded: bool) -> Outcome {
        match accepts {
            // The flag belongs to the format in which a tool is sent, as its wrapper does.
            _ if rule == Rule::StrictFlag.id() => Outcome::Unchanged,
            _ if rule == Rule::NotStrict.id() => Outcome::NotStrict,
            Accepts::Wider => Outcome::Wider,
            Accepts::Narrower | Accepts::Mixed => Outcome::Narrower,
            Accepts::Same | Accepts::Closed if guidance == Guidance::Lost => Outcome::Lost,
            Accepts::Closed => Outcome::Closed,
            Accepts::Same if is_encoded => Outcome::Encoded,
            Accepts::Same => Outcome::Lossless,
        }
    }
}
