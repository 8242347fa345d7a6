//! What all passes share.

use alloc::rc::Rc;

use super::notes::Notes;
use crate::{
    budget::Budget,
    dialect::grammar::{Anything, Grammar, Typed},
    error::Error,
    json::Node,
    limits::MAX_NODES,
    options::{Hints, Refs, SanitizeOptions, Untyped},
    schema::{draft::Draft, keyword::Keywords, resolve},
};

/// What all passes share: the grammar, the caller's options, the budget, what the survey found, and the report.
pub(super) struct PassContext {
    /// What the call may still do.
    pub(super) budget: Rc<Budget>,
    pub(super) grammar: &'static Grammar,
    pub(super) draft: Draft,
    pub(super) refs: Refs,
    pub(super) untyped: Untyped,
    pub(super) hints: Hints,
    pub(super) max_nodes: usize,
    /// Definitions may grow by what stands beside references to them.
    pub(super) may_grow: bool,
    /// What the rules work on is the input, and not what they have written.
    pub(super) reads_input: bool,
    /// Something was respelled that older drafts say otherwise.
    pub(super) respelled: bool,
    /// A key called `$ref` stands somewhere.
    pub(super) mentions_references: bool,
    /// Nothing refers to any definition, so they all go.
    pub(super) no_references: bool,
    /// A definition that stays has a `/` in some key, and no reference could lead past it.
    pub(super) no_slash: bool,
    /// References stay as they are written, and definitions where they stand.
    pub(super) leaves_definitions: bool,
    /// A schema without a type gets one.
    pub(super) types_everything: bool,
    /// How many schemas stand above the deepest one.
    pub(super) deepest: usize,
    /// What stands in some schema, whatever it was spelled like: a rule that speaks of none of it has nothing to do.
    pub(super) present: Keywords,
    /// What stood in some schema before references were written out.
    pub(super) stood: Keywords,
    /// What stands in the schemas around the one that is said: whether anything is evaluated may matter there.
    pub(super) counts_evaluated: Keywords,
    /// Something holds of properties by their names.
    pub(super) judges_names: bool,
    /// Objects are listed as values, by the names that their properties had.
    pub(super) lists_objects: bool,
    /// What `refused` may find something wrong with.
    pub(super) refused: Keywords,
    pub(super) notes: Notes,
}

impl PassContext {
    pub(super) fn new(
        node: &Node<'_>,
        grammar: &'static Grammar,
        options: &SanitizeOptions,
        draft: Draft,
        notes: Notes,
        budget: &Rc<Budget>,
    ) -> Result<Self, Error> {
        let mentions_references = resolve::mentions_references(node);
        let has_references = mentions_references && resolve::has_references(node, budget)?;
        Ok(PassContext {
            budget: budget.clone(),
            grammar,
            draft,
            refs: options.refs.unwrap_or(if grammar.refs.kept_by_default { Refs::Keep } else { Refs::Inline }),
            untyped: options.untyped.unwrap_or(if grammar.anything == Anything::Unsaid { Untyped::Keep } else { Untyped::Any }),
            hints: options.hints.unwrap_or(Hints::Describe),
            max_nodes: options.max_nodes.unwrap_or(MAX_NODES),
            may_grow: true,
            reads_input: notes.reads_input(),
            respelled: false,
            mentions_references,
            no_references: !has_references,
            no_slash: false,
            leaves_definitions: false,
            types_everything: grammar.typed != Typed::No || grammar.anything != Anything::Unsaid || options.untyped.is_some(),
            deepest: 0,
            present: Keywords::NONE,
            stood: Keywords::NONE,
            counts_evaluated: Keywords::NONE,
            judges_names: false,
            lists_objects: false,
            refused: grammar.restricted(),
            notes,
        })
    }
}
