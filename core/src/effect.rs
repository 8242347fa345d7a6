//! Effects of changes: which arguments a rewritten schema accepts, and what the model reads.

/// An enum whose values have names in reports.
macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$vdoc])* $variant,)* }

        impl $type {
            /// All values, in the order of their definition.
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];

            /// Returns the name used in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $text,)* }
            }
        }
    };
}

pub(crate) use names;

names! {
    /// Effect of a change on the set of accepted arguments, which is a subset of all JSON objects. The list is closed:
    /// every effect is one of these.
    Accepts {
        /// Exactly the same arguments are accepted.
        Same = "same",
        /// No additional argument is accepted. Each argument that is no longer accepted has a property which its object
        /// schema does not declare and never explicitly allowed.
        Closed = "closed",
        /// All previously accepted arguments are still accepted, and some more.
        Wider = "wider",
        /// No additional argument is accepted, and some arguments are no longer accepted.
        Narrower = "narrower",
        /// Some arguments are gained and some lost, or the effect cannot be proved.
        Mixed = "mixed",
    }
}

names! {
    /// Effect of a change on what the model reads: descriptions, defaults, examples, constraints. The list is closed.
    Guidance {
        /// The model reads the same.
        Same = "same",
        /// The information is in another place, for example in a description.
        Moved = "moved",
        /// The information is removed.
        Lost = "lost",
    }
}

impl Accepts {
    /// Combines two consecutive effects.
    ///
    /// `Closed` is a special case of `Narrower`, so both together are `Narrower`. `Closed` together with `Wider` is
    /// `Mixed`, because some arguments are gained and others lost.
    pub fn and(self, other: Accepts) -> Accepts {
        match (self, other) {
            (Accepts::Same, effect) | (effect, Accepts::Same) => effect,
            (first, second) if first == second => first,
            (Accepts::Closed, Accepts::Narrower) | (Accepts::Narrower, Accepts::Closed) => Accepts::Narrower,
            _ => Accepts::Mixed,
        }
    }

    /// Combines the effects of one change at two locations.
    pub(crate) fn or_elsewhere(self, other: Accepts) -> Accepts {
        match (self, other) {
            (Accepts::Same, _) | (_, Accepts::Same) if self != other => Accepts::Mixed,
            _ => self.and(other),
        }
    }

    /// Returns the effect outside of a `not` whose operand has this effect. Closing an object in the operand makes the
    /// `not` accept arguments that it refused before, so `Closed` becomes `Wider`, like `Narrower`.
    pub(crate) fn inverted(self) -> Accepts {
        match self {
            Accepts::Wider => Accepts::Narrower,
            Accepts::Closed => Accepts::Wider,
            Accepts::Narrower => Accepts::Wider,
            effect => effect,
        }
    }
}

impl Guidance {
    pub(crate) fn and(self, other: Guidance) -> Guidance {
        match (self, other) {
            (Guidance::Lost, _) | (_, Guidance::Lost) => Guidance::Lost,
            (Guidance::Moved, _) | (_, Guidance::Moved) => Guidance::Moved,
            (Guidance::Same, Guidance::Same) => Guidance::Same,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) accepts: Accepts,
    pub(crate) guidance: Guidance,
    /// True if arguments are encoded and can be restored.
    pub(crate) encoded: bool,
}

impl Effect {
    /// No effect: the same arguments are accepted, and the model reads the same text.
    pub(crate) const SAME: Effect = Effect { accepts: Accepts::Same, guidance: Guidance::Same, encoded: false };

    pub(crate) const fn accepts(self, accepts: Accepts) -> Self {
        Effect { accepts, ..self }
    }

    pub(crate) const fn guidance(self, guidance: Guidance) -> Self {
        Effect { guidance, ..self }
    }

    pub(crate) const fn encoded(self) -> Self {
        Effect { encoded: true, ..self }
    }
}
