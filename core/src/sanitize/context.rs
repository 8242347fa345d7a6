//! What all passes share.

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
    sanitize::{diagnostics::Diagnostics, legalize::stand_ins::StandIns},
    schema::{
        draft::Draft,
        keyword::Keywords,
        references::{self, Form, References},
    },
};

/// Schemas that inlining may add where references are accepted as well, and neither `refs` nor `maxNodes` says more.
const MOST_ADDED: usize = 64;

/// What all passes share: the grammar, the caller's options, the budget, what the survey found, and the report.
pub(in crate::sanitize) struct PassContext {
    /// What the call may still do.
    pub(in crate::sanitize) budget: Rc<Budget>,
    pub(in crate::sanitize) dialect: &'static Dialect,
    pub(in crate::sanitize) grammar: &'static Grammar,
    pub(in crate::sanitize) draft: Draft,
    pub(in crate::sanitize) refs: Refs,
    /// The most schemas that inlining may add; with more, what is used more than once stays a definition.
    pub(in crate::sanitize) max_added: usize,
    pub(in crate::sanitize) untyped: Untyped,
    pub(in crate::sanitize) hints: Hints,
    pub(in crate::sanitize) used_as: Use,
    pub(in crate::sanitize) max_nodes: usize,
    /// The most bytes that the caller asks for; what the dialect has, if nobody does.
    pub(in crate::sanitize) max_bytes: Option<usize>,
    /// Where the references lead; nothing where there are none.
    pub(in crate::sanitize) references: Option<Rc<References>>,
    /// Definitions may grow by what stands beside references to them.
    pub(in crate::sanitize) may_specialize: bool,
    /// Whether the passes work on the input, or on what they have written.
    pub(in crate::sanitize) form: Form,
    /// Something was respelled that older drafts say otherwise.
    pub(in crate::sanitize) respelled: bool,
    /// A key called `$ref` stands somewhere.
    pub(in crate::sanitize) mentions_references: bool,
    /// Nothing refers to any definition, so they all go.
    pub(in crate::sanitize) no_references: bool,
    /// A definition that stays has a `/` in some key, and no reference could lead past it.
    pub(in crate::sanitize) no_slash: bool,
    /// What property names that cannot be spelled become.
    pub(in crate::sanitize) stand_ins: Rc<StandIns>,
    /// The input was wrapped: its references lead to other places now.
    pub(in crate::sanitize) is_wrapped: bool,
    /// References stay as they are written, and definitions where they stand.
    pub(in crate::sanitize) leaves_definitions: bool,
    /// A schema without a type gets one.
    pub(in crate::sanitize) types_everything: bool,
    /// How many schemas stand above the deepest one.
    pub(in crate::sanitize) deepest: usize,
    /// What stands in some schema, whatever it was spelled like: a rule that speaks of none of it has nothing to do.
    pub(in crate::sanitize) keywords: Keywords,
    /// What stood in some schema before references were written out.
    pub(in crate::sanitize) stood: Keywords,
    /// What stands in the schemas around the one that is said: whether anything is evaluated may matter there.
    pub(in crate::sanitize) counts_evaluated: Keywords,
    /// Something holds of properties by their names.
    pub(in crate::sanitize) judges_names: bool,
    /// Whether the root declared an object before types were inferred in its branches; `None` before the walk.
    pub(in crate::sanitize) declared_object: Option<bool>,
    /// Objects are listed as values, by the names that their properties had.
    pub(in crate::sanitize) lists_objects: bool,
    /// What `refused` may find something wrong with.
    pub(in crate::sanitize) refused: Keywords,
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
                (None, None, Inlining::Small) => MOST_ADDED,
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
            stood: Keywords::NONE,
            counts_evaluated: Keywords::NONE,
            judges_names: false,
            declared_object: None,
            lists_objects: false,
            refused: grammar.restricted(),
            diagnostics,
        })
    }
}
