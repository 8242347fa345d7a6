//! Three-valued results: valid, invalid, unknown.

/// Result of validating a value against a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The schema accepts the value.
    Valid,
    /// The schema refuses the value.
    Invalid,
    /// The result cannot be determined.
    Unknown,
}

impl Verdict {
    /// Combines two results: invalid if either is, regardless of the other.
    pub(crate) const fn and(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Invalid, _) | (_, Verdict::Invalid) => Verdict::Invalid,
            (Verdict::Valid, Verdict::Valid) => Verdict::Valid,
            _ => Verdict::Unknown,
        }
    }

    /// Returns the public form of the result.
    pub(crate) const fn known(self) -> Option<bool> {
        match self {
            Verdict::Valid => Some(true),
            Verdict::Invalid => Some(false),
            Verdict::Unknown => None,
        }
    }
}
