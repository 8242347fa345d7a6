//! Three values: what holds, what does not, and what cannot be determined.

/// What is known of a value and a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The schema takes the value.
    Valid,
    /// It refuses it.
    Invalid,
    /// It cannot be determined.
    Unknown,
}

impl Verdict {
    /// Both: what one refuses is refused, whatever cannot be determined of the other.
    pub(crate) const fn and(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Invalid, _) | (_, Verdict::Invalid) => Verdict::Invalid,
            (Verdict::Valid, Verdict::Valid) => Verdict::Valid,
            _ => Verdict::Unknown,
        }
    }

    /// Whether it is valid, as callers see it.
    pub(crate) const fn known(self) -> Option<bool> {
        match self {
            Verdict::Valid => Some(true),
            Verdict::Invalid => Some(false),
            Verdict::Unknown => None,
        }
    }
}
