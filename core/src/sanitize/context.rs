//! State shared by all passes: grammar, options, budget, facts of the survey, sets of passes, and the report.

use alloc::rc::Rc;

use super::{diagnostics::Diagnostics, legalize::replacement_names::ReplacementNames};
use crate::{
    budget::Budget,
    dialect::{
        grammar::{AnyEncoding, Grammar, Inlining, TypeRequirement},
        Dialect,
    },
    error::Error,
    json::Node,
    limits::MAX_NODES,
    options::{Hints, Refs, SanitizeOptions, Untyped, Use},
    schema::{
        keyword::{Draft, Keywords},
        references::{self, Form, References},
    },
};

/// Number of schemas that inlining may add by default: if the grammar accepts references, and neither `refs` nor
/// `maxNodes` is set.
const MAX_ADDED: usize = 64;

pub(crate) struct PassContext {
    pub(crate) budget: Rc<Budget>,
    pub(crate) dialect: &'static Dialect,
    pub(crate) grammar: &'static Grammar,
    pub(crate) draft: Draft,
    pub(crate) refs: Refs,
    /// Maximum number of schemas that inlining may add. Beyond it, schemas used more than once stay definitions.
    pub(crate) max_added: usize,
    pub(crate) untyped: Untyped,
    pub(crate) hints: Hints,
    pub(crate) used_as: Use,
    pub(crate) max_nodes: usize,
    /// Size limit in bytes: the caller's limit, else the dialect's limit.
    pub(crate) max_bytes: Option<usize>,
    /// `None` if there are no references.
    pub(crate) references: Option<Rc<References>>,
    /// True if siblings of references may be merged into copies of their definitions.
    pub(crate) may_specialize: bool,
    pub(crate) form: Form,
    pub(crate) replacement_names: Rc<ReplacementNames>,
    /// True if the input was wrapped, so its references are shifted.
    pub(crate) is_wrapped: bool,
    /// True if references and definitions are kept as written.
    pub(crate) keeps_definitions: bool,
    pub(crate) requires_types: bool,
    /// Keywords of the enclosing schemas. If they include `unevaluated*`, an added keyword may change its effect.
    pub(crate) enclosing_keywords: Keywords,
    /// True if the root declared an object before types were inferred in its branches; `None` before the walk.
    pub(crate) declared_object: Option<bool>,
    /// Keywords that the `unsupported_keywords` pass may change.
    pub(crate) refused: Keywords,
    pub(crate) survey: Survey,
    pub(crate) effects: Effects,
    pub(crate) diagnostics: Diagnostics,
}

/// Facts about the schema. They show which passes have nothing to do and can be skipped.
#[derive(Default)]
pub(crate) struct Survey {
    /// True if any object has a key `$ref`.
    pub(crate) mentions_references: bool,
    /// True if no definition is referenced, so all are removed.
    pub(crate) no_references: bool,
    /// True if a remaining definition has a key with `/`. No reference could point to the value of such a key.
    pub(crate) no_slash: bool,
    pub(crate) deepest: usize,
    pub(crate) keywords: Keywords,
    /// Keywords that occurred before references were inlined.
    pub(crate) original_keywords: Keywords,
    /// True if a keyword constrains properties by name.
    pub(crate) constrains_names: bool,
    /// True if objects are listed in `enum` or `const`, under their original property names.
    pub(crate) lists_objects: bool,
}

/// Effects of the passes in this round. They show which later passes can be skipped, and if another round is needed.
#[derive(Default)]
pub(crate) struct Effects {
    /// True if a keyword was respelled that has a different meaning in older drafts.
    pub(crate) respelled: bool,
    /// True if `upgrade-draft` changed more than the spelling of constants.
    pub(crate) upgraded: bool,
    /// True if `unsupported-keywords` removed a schema, or a keyword that may affect references.
    pub(crate) removed_schemas: bool,
    /// True if `inline` did more than replace references by copies of canonical schemas.
    pub(crate) inlined_more: bool,
    /// True if `unroll` did more than replace references by copies of definitions.
    pub(crate) unrolled_more: bool,
    /// True if `fit` or `fit-strict` changed more than properties and items, or removed a reference.
    pub(crate) cut_more: bool,
    pub(crate) changed: PassSet,
    /// Value of `changed` at the last removal of unused definitions.
    pub(crate) pruned: Option<PassSet>,
    /// True if the schema is within the limits of strict modes and has not changed since it was measured.
    pub(crate) is_fitted: bool,
}

impl PassContext {
    pub(crate) fn new(
        node: &Node<'_>,
        (dialect, grammar): (&'static Dialect, &'static Grammar),
        options: &SanitizeOptions,
        draft: Draft,
        form: Form,
        diagnostics: Diagnostics,
        (replacement_names, budget): (&Rc<ReplacementNames>, &Rc<Budget>),
    ) -> Result<Self, Error> {
        let mentions_references = references::mentions_references(node);
        let has_references = mentions_references && references::has_references(node, budget)?;
        Ok(PassContext {
            budget: budget.clone(),
            dialect,
            grammar,
            draft,
            max_added: match (options.refs, options.max_nodes, grammar.refs.inlining) {
                (None, None, Inlining::Small) => MAX_ADDED,
                _ => usize::MAX,
            },
            refs: options.refs.unwrap_or(if grammar.refs.inlining == Inlining::None {
                Refs::Keep
            } else {
                Refs::Inline
            }),
            untyped: options.untyped.unwrap_or(if grammar.anything == AnyEncoding::Empty {
                Untyped::Keep
            } else {
                Untyped::Any
            }),
            hints: options.hints.unwrap_or(Hints::Describe),
            used_as: options.used_as,
            max_nodes: options.max_nodes.unwrap_or(MAX_NODES),
            max_bytes: options.max_bytes.or(dialect.limit("maxBytes")),
            references: None,
            may_specialize: true,
            form,
            replacement_names: replacement_names.clone(),
            is_wrapped: false,
            keeps_definitions: false,
            requires_types: grammar.typed != TypeRequirement::No
                || grammar.anything != AnyEncoding::Empty
                || options.untyped.is_some(),
            enclosing_keywords: Keywords::NONE,
            declared_object: None,
            refused: grammar.restricted(),
            survey: Survey { mentions_references, no_references: !has_references, ..Survey::default() },
            effects: Effects::default(),
            diagnostics,
        })
    }
}

/// A set of passes, by their positions in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PassSet(u64);

impl PassSet {
    pub(crate) const fn insert(self, position: usize) -> Self {
        PassSet(self.0 | 1 << position)
    }

    pub(crate) const fn contains(self, position: usize) -> bool {
        self.0 & 1 << position != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
