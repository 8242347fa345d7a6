//! State shared by all passes: grammar, options, budget, facts of the survey, and the report.

use alloc::rc::Rc;

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
    sanitize::{diagnostics::Diagnostics, legalize::stand_ins::StandIns, pass_set::PassSet},
    schema::{
        keyword::{Draft, Keywords},
        references::{self, Form, References},
    },
};

/// Default for the schemas that inlining may add, if references are accepted and neither `refs` nor `maxNodes` is
/// set.
const MAX_ADDED: usize = 64;

/// Grammar, options of the caller, budget, facts of the survey, and the report.
pub(in crate::sanitize) struct PassContext {
    /// Remaining budget of the call.
    pub(in crate::sanitize) budget: Rc<Budget>,
    pub(in crate::sanitize) dialect: &'static Dialect,
    pub(in crate::sanitize) grammar: &'static Grammar,
    pub(in crate::sanitize) draft: Draft,
    pub(in crate::sanitize) refs: Refs,
    /// Maximum number of schemas that inlining may add. Beyond it, schemas used more than once stay definitions.
    pub(in crate::sanitize) max_added: usize,
    pub(in crate::sanitize) untyped: Untyped,
    pub(in crate::sanitize) hints: Hints,
    pub(in crate::sanitize) used_as: Use,
    pub(in crate::sanitize) max_nodes: usize,
    /// Size limit in bytes: the caller's, else the dialect's.
    pub(in crate::sanitize) max_bytes: Option<usize>,
    /// Targets of references; `None` if there are no references.
    pub(in crate::sanitize) references: Option<Rc<References>>,
    /// True if siblings of references may be merged into copies of their definitions.
    pub(in crate::sanitize) may_specialize: bool,
    /// Form of the references: as in the input, or as rewritten.
    pub(in crate::sanitize) form: Form,
    /// True if a keyword was respelled that has a different meaning in older drafts.
    pub(in crate::sanitize) respelled: bool,
    /// True if any object has a key `$ref`.
    pub(in crate::sanitize) mentions_references: bool,
    /// True if no definition is referenced, so all are removed.
    pub(in crate::sanitize) no_references: bool,
    /// True if a remaining definition has a key with `/`, which no reference could address.
    pub(in crate::sanitize) no_slash: bool,
    /// Replacements for property names that the grammar refuses.
    pub(in crate::sanitize) stand_ins: Rc<StandIns>,
    /// True if the input was wrapped, so its references are shifted.
    pub(in crate::sanitize) is_wrapped: bool,
    /// True if references and definitions are kept as written.
    pub(in crate::sanitize) leaves_definitions: bool,
    /// True if every untyped schema gets a type.
    pub(in crate::sanitize) types_everything: bool,
    /// Depth of the deepest schema.
    pub(in crate::sanitize) deepest: usize,
    /// Keywords that occur anywhere; passes that need none of them are skipped.
    pub(in crate::sanitize) keywords: Keywords,
    /// Keywords that occurred before references were inlined.
    pub(in crate::sanitize) original_keywords: Keywords,
    /// Keywords of the enclosing schemas, which matter to `unevaluated*`.
    pub(in crate::sanitize) counts_evaluated: Keywords,
    /// True if a keyword constrains properties by name.
    pub(in crate::sanitize) judges_names: bool,
    /// True if the root declared an object before types were inferred in its branches; `None` before the walk.
    pub(in crate::sanitize) declared_object: Option<bool>,
    /// True if objects are listed in `enum` or `const`, under their original property names.
    pub(in crate::sanitize) lists_objects: bool,
    /// Keywords that the `unsupported_keywords` pass may change.
    pub(in crate::sanitize) refused: Keywords,
    /// True if `upgrade-draft` changed more than the spelling of constants.
    pub(in crate::sanitize) upgraded: bool,
    /// True if `unsupported-keywords` removed something that may have an effect on references.
    pub(in crate::sanitize) removed_nested: bool,
    /// True if the schema is within the limits of strict modes, and was not changed since it was measured.
    pub(in crate::sanitize) is_fitted: bool,
    /// Passes that changed something in this round.
    pub(in crate::sanitize) changed: PassSet,
    /// Value of `changed` when unused definitions were removed.
    pub(in crate::sanitize) pruned: Option<PassSet>,
    pub(in crate::sanitize) diagnostics: Diagnostics,
}

impl PassContext {
    pub(in crate::sanitize) fn new(
        node: &Node<'_>,
        (dialect, grammar): (&'static Dialect, &'static Grammar),
        options: &SanitizeOptions,
        draft: Draft,
        form: Form,
        diagnostics: Diagnostics,
        (stand_ins, budget): (&Rc<StandIns>, &Rc<Budget>),
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
            untyped: options.untyped.unwrap_or(if grammar.anything == AnyEncoding::Unsaid {
                Untyped::Keep
            } else {
                Untyped::Any
            }),
            hints: options.hints.unwrap_or(Hints::Describe),
            used_as: options.used_as,
            max_nodes: options.max_nodes.unwrap_or(MAX_NODES),
            max_bytes: options.max_bytes.unwrap_or_else(|| dialect.limit("maxBytes")),
            references: None,
            may_specialize: true,
            form,
            respelled: false,
            mentions_references,
            no_references: !has_references,
            no_slash: false,
            stand_ins: stand_ins.clone(),
            is_wrapped: false,
            leaves_definitions: false,
            types_everything: grammar.typed != TypeRequirement::No
                || grammar.anything != AnyEncoding::Unsaid
                || options.untyped.is_some(),
            deepest: 0,
            keywords: Keywords::NONE,
            original_keywords: Keywords::NONE,
            counts_evaluated: Keywords::NONE,
            judges_names: false,
            declared_object: None,
            lists_objects: false,
            refused: grammar.restricted(),
            upgraded: false,
            removed_nested: false,
            is_fitted: false,
            changed: PassSet::NONE,
            pruned: None,
            diagnostics,
        })
    }
}
