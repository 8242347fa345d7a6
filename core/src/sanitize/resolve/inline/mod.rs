//! Respells dynamic references as `$ref`, and inlines references. Recursive references are kept, with their targets
//! under `$defs` of the root. References that do not resolve, and references from the root to itself, are removed.
//! A chain of targets that consist only of a reference is followed once, however many references point to its targets.

pub(crate) mod siblings;

use alloc::{format, string::String, vec, vec::Vec};

use super::{
    definitions::{self, Definition, Definitions},
    spelling::respell_dynamic,
    unroll,
};
use crate::{
    budget::Budget,
    collections::{self, Map, Set},
    dialect::grammar::Recursion,
    effect::Accepts,
    error::{Code, Error},
    json::{self, Data, Flags, Member, Node, Object, Origin, Step, Text},
    limits::MAX_DEPTH,
    options::Refs,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize::all_of::intersected,
    },
    schema::{
        definitions::{definition_name, TABLES},
        emptiness,
        graph::Graph,
        intersect::accepts_all,
        keyword::{Draft, Keyword, Keywords},
        references::{self, Form, Number, References},
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const INLINE: ChangeKind = ChangeKind::of(Rule::InlineRef);
const KEEP: ChangeKind = ChangeKind::of(Rule::RewriteRef);
const TRUNCATE: ChangeKind = ChangeKind::of(Rule::TruncateDefinition);
const ALL_BUT_TEXTS: Keywords =
    Keywords::all_but(&[Keyword::Title, Keyword::Description, Keyword::Default, Keyword::Examples]);
const ANCHORS: [Keyword; 3] = [Keyword::Anchor, Keyword::DynamicAnchor, Keyword::RecursiveAnchor];
const IDENTIFIER: ChangeKind = ChangeKind::of(Rule::DropIdentifier);

pub(crate) fn resolve_references<'a>(
    root: &mut Node<'a>,
    references: &References,
    context: &mut PassContext,
) -> Result<(), Error> {
    let budget = context.budget.clone();
    let graph = Graph::of(root, references, &budget)?;
    let mut kept: Set<Number> = match context.refs {
        Refs::Keep => graph.target_numbers().collect(),
        Refs::Inline => graph.target_numbers().filter(|target| graph.is_recursive(*target)).collect(),
    };
    let (too_many, too_deep) = (graph.nodes_after_inlining > context.max_nodes, graph.depth > MAX_DEPTH);
    let cut = if (too_many || too_deep) && !context.grammar.refs.to_defs {
        // Inlining a definition that is used once adds nothing, so only shared definitions are cut; if the nesting is
        // too deep, any definition may be cut.
        let cuttable = graph
            .target_numbers()
            .filter(|target| !graph.is_recursive(*target) && (too_deep || graph.is_shared(*target)));
        let counted: Set<Number> = cuttable.collect();
        let Some(levels) = graph.affordable_levels(&counted, context.max_nodes, MAX_DEPTH) else {
            let (limit, found) = (context.max_nodes, graph.nodes_after_inlining);
            let message = format!(
                "expected references that inline to at most {limit} nodes, found {found}, still too many after cutting \
                    them"
            );
            return Err(Error::new(Code::BudgetExceeded, "", message));
        };
        Some(DepthCut { counted, levels })
    } else {
        if too_many || graph.added_by_inlining() > context.max_added {
            kept.extend(graph.target_numbers().filter(|target| graph.is_shared(*target)));
        }
        if too_deep {
            kept.extend(graph.target_numbers());
        }
        None
    };
    // Earlier passes have to run again if some targets are not subschemas, because they have not visited these targets.
    // After a cut, and if the caller requested inlining, the next round may keep fewer references.
    context.effects.inlined_more |= cut.is_some()
        || !references.targets_outside_subschemas(root, &budget).is_empty()
        || (context.refs == Refs::Inline && kept.iter().any(|target| !graph.is_recursive(*target)));
    // Encoding needs a single schema: siblings of a kept reference would not be encoded together with its target.
    let encodes_kept_references = context.grammar.encodes() && context.grammar.refs.recursion != Recursion::Refused;
    let accepted_siblings = if encodes_kept_references {
        context.grammar.refs.beside.difference(ALL_BUT_TEXTS)
    } else {
        context.grammar.refs.beside
    };
    let remaining_nodes = if context.may_specialize { context.max_nodes } else { 0 };
    let keys_after: Vec<Text<'a>> = keys_after_definitions(root);
    let mut source = take_source(root, references, &graph, &budget);
    respell_dynamic(root, &mut source, references, context)?;
    let mut inliner = Inliner {
        references,
        graph: &graph,
        definitions: Definitions::new(&source, references, accepted_siblings, remaining_nodes, &budget),
        kept,
        depth_cut: cut,
        inlined_levels: Vec::new(),
        used: Set::new(),
        in_definitions: false,
        at_root: true,
        merged_into_root: vec![references.root(&source).into_iter().collect()],
        next_in_chain: Map::new(),
        root: source.origin(),
        context,
    };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut inliner)?;
    inliner.in_definitions = true;
    let mut definitions: Vec<(Definition, Member<'a>)> = Vec::new();
    while let Some((definition, name, mut body)) = inliner.definitions.next_queued() {
        // In later rounds, the same definitions are written again.
        if inliner.context.form == Form::Read {
            inliner.record_location(&body, definition.target);
        }
        visit::walk_mut(&budget, &mut body, Keywords::ALL, &mut inliner)?;
        definitions.push((definition, Member { key: Text::new(name), value: body }));
    }
    let Inliner { used, definitions: Definitions { targets, .. }, .. } = inliner;
    // Definitions between two recursive definitions were kept. If the first of them is unused, they are not needed.
    context.effects.inlined_more |=
        graph.target_numbers().any(|target| !used.contains(&target) && graph.is_recursive(target));
    definitions::record_pruned(&source, references, &used, context)?;
    // The order of the document and the position of the original table keep an unchanged table unchanged.
    let definitions = collections::sorted_by(definitions, |(one, _), (two, _)| one.cmp(two));
    let existing = source.get(Keyword::Defs);
    let is_unchanged = are_entries(&definitions, &source, &targets);
    let root_shell = root.shell();
    if !definitions.is_empty() {
        let content = Data::Object(Object::from_unique(definitions.into_iter().map(|(_, member)| member).collect()));
        let table = match existing {
            Some(existing) if is_unchanged => existing.shell().around(content),
            Some(existing) => Node::new(content).with_origin(existing.origin()),
            None => Node::new(content),
        };
        if let Some(object) = root.as_object_mut() {
            let at = object.iter().position(|member| keys_after.contains(&member.key)).unwrap_or(object.len());
            object.insert_at(at, Text::literal("$defs"), table);
        }
    }
    if is_unchanged {
        // The tables are back as they were, so the root is unchanged if the walk did not change it.
        *root = root_shell.around(core::mem::take(root).into_data());
    } else {
        root.touch();
    }
    Ok(())
}

/// Returns true if these definitions are the unchanged entries of the root's only table.
fn are_entries<'a>(
    definitions: &[(Definition, Member<'a>)],
    source: &Node<'a>,
    targets: &Map<Number, (&Node<'a>, String)>,
) -> bool {
    let tables: Vec<&Member<'a>> = source.as_object().into_iter().flatten().filter(|member| is_table(member)).collect();
    let entries = match *tables {
        [] => &[][..],
        [table] if table.key.is(Keyword::Defs) => match table.value.as_object() {
            Some(entries) if !entries.is_empty() => entries.members(),
            _ => return false,
        },
        _ => return false,
    };
    let stays = |(entry, (definition, member)): (&Member<'a>, &(Definition, Member<'a>))| {
        definition.is_plain()
            && targets.get(&definition.target).is_some_and(|(target, _)| core::ptr::eq(*target, &entry.value))
            && entry.key.as_plain() == member.key.as_plain()
            && member.value.is_unchanged()
    };
    entries.len() == definitions.len() && entries.iter().zip(definitions).all(stays)
}

fn is_table(member: &Member<'_>) -> bool {
    TABLES.iter().any(|table| member.key.is(table))
}

fn is_entry(pointer: &str) -> bool {
    let mut tokens = pointer.split('/').skip(1);
    tokens.next().is_some_and(|token| TABLES.contains(&token)) && tokens.count() == 1
}

fn keys_after_definitions<'a>(root: &Node<'a>) -> Vec<Text<'a>> {
    let members = root.as_object().into_iter().flatten();
    members.map(|member| &member.key).skip_while(|key| !key.is(Keyword::Defs)).skip(1).cloned().collect()
}

/// Moves the tables of definitions out of the root, and returns a root with them. Targets are read from the returned
/// root while the original root is rewritten. If targets or tables exist elsewhere, the returned root also has copies
/// of the other members, because the walk may change the originals.
fn take_source<'a>(root: &mut Node<'a>, references: &References, graph: &Graph, budget: &Budget) -> Node<'a> {
    let targets = references.targets(root, budget);
    let is_elsewhere = |(_, pointer): &(&Node<'_>, String)| {
        let table = pointer.split('/').nth(1).unwrap_or_default();
        !TABLES.contains(&table)
    };
    let other = root.as_object().into_iter().flatten().filter(|member| !is_table(member));
    let copies = graph.target_numbers().filter_map(|target| targets.get(&target)).any(is_elsewhere)
        || other.map(|member| &member.value).any(|value| value.has_member(is_table));
    let shell = root.shell();
    let (mut source, mut rest) = (Vec::new(), Vec::new());
    match core::mem::take(root).into_data() {
        Data::Object(object) => {
            for member in object.into_members() {
                if is_table(&member) {
                    source.push(member);
                } else {
                    source.extend(copies.then(|| member.copy(budget)));
                    rest.push(member);
                }
            }
            *root = shell.around(Data::Object(Object::from_unique(rest)));
        }
        data => *root = shell.around(data),
    }
    shell.around(Data::Object(Object::from_unique(source)))
}

/// A limit on the nesting of inlined targets, for a grammar without references, if inlining everything would exceed the
/// budget.
struct DepthCut {
    /// Targets that are cut if they are nested too deep in one another.
    counted: Set<Number>,
    /// Number of levels up to which these targets are inlined.
    levels: usize,
}

struct Inliner<'e, 's, 'a> {
    references: &'e References,
    graph: &'e Graph,
    definitions: Definitions<'e, 's, 'a>,
    kept: Set<Number>,
    depth_cut: Option<DepthCut>,
    /// For each schema on the path of the walk, the number of counted targets that were inlined on the path.
    inlined_levels: Vec<usize>,
    used: Set<Number>,
    /// The next target of each target with nothing but a reference. Each chain is thus followed only once.
    next_in_chain: Map<Number, Number>,
    root: Origin,
    /// True once the root is finished.
    in_definitions: bool,
    /// True if the walk is at the root, or in schemas that will be merged into the root.
    at_root: bool,
    /// Targets that were merged into the root, for the root and for each enclosing branch of its union.
    merged_into_root: Vec<Set<Number>>,
    context: &'e mut PassContext,
}

impl<'a> VisitorMut<'a> for Inliner<'_, '_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        if self.is_root_branch(path) {
            let above = self.merged_into_root.last().cloned().unwrap_or_default();
            self.merged_into_root.push(above);
        }
        self.inlined_levels.push(self.inlined_levels.last().copied().unwrap_or_default());
        self.drop_tables(node);
        self.drop_identifiers(node, path);
        siblings::flatten_nested_all_of(node, path, self.context);
        // A definition may be just a reference to the next one.
        while node.get(Keyword::Ref).is_some_and(|reference| reference.as_text().is_some()) {
            if !self.resolve_reference(node, path)? {
                break;
            }
            self.drop_tables(node);
            self.drop_identifiers(node, path);
            siblings::flatten_nested_all_of(node, path, self.context);
        }
        Ok(Visit::Descend)
    }

    fn leave(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        // If a part of `allOf` keeps its reference, the other parts become siblings of that reference; then the next
        // part follows.
        while siblings::flatten_reference_part(node, path, self.context) {
            if self.resolve_reference(node, path)? {
                break;
            }
        }
        self.inlined_levels.pop();
        if self.is_root_branch(path) {
            self.merged_into_root.pop();
        }
        Ok(())
    }
}

impl<'a> Inliner<'_, '_, 'a> {
    /// Returns true for the root and for branches of its union, which will be merged into the root.
    fn is_root(&self, path: &SchemaPath<'_, 'a>) -> bool {
        let joins = |step: &Step<'_>| matches!(step, Step::Name("anyOf") | Step::Index(_));
        self.context.grammar.object_root
            && self.at_root
            && !self.in_definitions
            && path.pointer.steps().iter().all(joins)
    }

    fn is_root_branch(&self, path: &SchemaPath<'_, 'a>) -> bool {
        self.is_root(path) && matches!(path.pointer.steps().last(), Some(Step::Index(_)))
    }

    fn drop_tables(&mut self, node: &mut Node<'a>) {
        if TABLES.iter().any(|table| node.get(table).is_some()) {
            // Definitions inside a schema may have made it recursive.
            self.context.effects.inlined_more |= self.in_definitions || node.origin() != self.root;
            if let Some(object) = node.as_object_mut() {
                object.retain(|member| !is_table(member));
            }
        }
    }

    /// Removes identifiers. All references are resolved, and a nested `$id` would change the meaning of `#/$defs/…`
    /// inside it.
    fn drop_identifiers(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) {
        let is_root = path.keyword.is_none() && node.origin() == self.root && !self.in_definitions;
        let draft = self.context.draft;
        let is_removed = |member: &Member<'_>| {
            // The spelling of draft 4 is `id`.
            if member.key.is("id") && draft == Draft::Four && member.value.as_text().is_some() {
                return !is_root;
            }
            let has_fragment = || member.value.as_text().is_some_and(|text| text.display().contains('#'));
            (member.key.is(Keyword::Id) && (!is_root || has_fragment()))
                || ANCHORS.iter().any(|keyword| member.key.is(*keyword))
        };
        let Some(object) = node.as_object().filter(|object| object.iter().any(is_removed)) else { return };
        self.context.effects.inlined_more = true;
        for member in self.context.budget.each(object).filter(|member| is_removed(member)) {
            let keyword = member.key.display().into_owned();
            self.context.diagnostics.report(path, Location::of(&member.value).removed(), IDENTIFIER, || {
                format!("removed `{keyword}`: all references are resolved")
            });
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| !is_removed(member));
        }
    }

    /// Returns true if another reference may have replaced this one.
    fn resolve_reference(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<bool, Error> {
        // Old drafts ignore siblings of `$ref`, unless the reference came from a part of `allOf` or from a definition:
        // then they apply.
        if self.context.draft.ignores_ref_siblings() && !siblings::siblings_apply(node) {
            siblings::drop_ignored_siblings(node, path.polarity, self.context);
        }
        let Some(reference) = references::reference(node) else { return Ok(false) };
        if reference.origin().number().is_none() {
            // A reference that this pass wrote is final, unless a merge has added siblings to it.
            if let Some(definition) = definition_name(node)
                .and_then(|name| self.definitions.written(name))
                .cloned()
                .filter(|_| !self.definitions.has_no_other_siblings(node))
            {
                self.write_kept_reference(node, path, &definition)?;
            }
            return Ok(false);
        }
        let target = match reference.flags().intersects(Flags::RESOLVED) {
            true => definition_name(node)
                .and_then(|name| self.definitions.written(name))
                .map(|definition| definition.target),
            false => self.references.target(reference),
        };
        let target = target.filter(|target| {
            // A pointer may point to a value that is not a schema.
            self.definitions
                .targets
                .get(target)
                .is_some_and(|(node, _)| node.as_object().is_some() || node.as_bool().is_some())
        });
        let Some(target) = target else {
            self.context.effects.inlined_more = true;
            self.remove_unresolved(node, path.polarity);
            return Ok(false);
        };
        self.used.insert(target);
        // A target inside another schema may be the middle of a cycle, which the passes before this one did not enter.
        let is_definition = |(_, pointer): &(&Node<'_>, String)| pointer.matches('/').count() == 2;
        self.context.effects.inlined_more |= !self.definitions.targets.get(&target).is_some_and(is_definition);
        // An object root cannot be a reference, so its definition is repeated there.
        let at_root = self.is_root(path);
        self.context.effects.inlined_more |= at_root;
        if at_root && !self.joins_root(target) {
            self.remove_reference_to_root(node, path.polarity);
            return Ok(false);
        }
        // A reference to a definition that was merged with siblings still refers to the merged definition.
        let merged_definition = definition_name(node)
            .and_then(|name| self.definitions.written(name))
            .filter(|definition| definition.is_merged_copy_of(target))
            .cloned();
        if self.kept.contains(&target) && !at_root {
            self.write_kept_reference(node, path, &merged_definition.unwrap_or_else(|| Definition::of(target)))?;
            return Ok(false);
        }
        let (body, pointer) = match self.definitions.targets.get(&target) {
            Some((body, pointer)) => (body.copy(&self.context.budget), pointer.clone()),
            None => return Ok(false),
        };
        self.context.effects.inlined_more |= merged_definition.is_some();
        let may_skip = merged_definition.is_none() && !at_root && self.depth_cut.is_none();
        let body = merged_definition.and_then(|definition| self.definitions.body(&definition)).unwrap_or(body);
        if let Some(cut) = self.depth_cut.as_ref().filter(|cut| cut.counted.contains(&target)) {
            let written = self.inlined_levels.last().copied().unwrap_or_default();
            if written >= cut.levels && !at_root {
                // Definitions to which the target refers are cut with it, and must not be reported as unused.
                self.graph.collect_reachable(target, &mut self.used);
                self.inline_type_only(node, path, &body, &pointer);
                return Ok(false);
            }
            if let Some(last) = self.inlined_levels.last_mut() {
                *last = written + 1;
            }
        }
        let end = if may_skip { self.end_of_chain(target) } else { target };
        let location = Location::of_reference(node);
        let has_no_siblings = node.as_object().is_some_and(|object| object.len() == 1);
        let to = if has_no_siblings { Location::of(&body) } else { Location::of(node) };
        let describe = || format!("inlined `#{pointer}`");
        // The reference may have been kept until its definition was merged with siblings.
        self.context.diagnostics.supersede(KEEP, path, location.to(to), INLINE, describe);
        let body = match self.definitions.targets.get(&end).filter(|_| end != target) {
            Some((last, _)) => last.copy(&self.context.budget),
            None => body,
        };
        // Earlier passes leave a definition unchanged if it accepts nothing, but not a property or a branch. They also
        // leave a definition unchanged if it accepts anything, but not a schema under `not`.
        self.context.effects.inlined_more = self.context.effects.inlined_more
            || body.as_object().is_none()
            || emptiness::branch_admits_nothing(&body, &self.context.budget)
            || path.polarity != Polarity::Positive && accepts_all(&body);
        self.record_location(&body, end);
        if may_skip {
            self.record_chain(end, &body);
        }
        let outer = core::mem::replace(&mut self.at_root, at_root);
        let merged = self.merge(node, body, path);
        self.at_root = outer;
        merged.map(|()| true)
    }

    /// Records another location of the target. A target that is not a definition is also written at its original
    /// location.
    fn record_location(&mut self, body: &Node<'a>, target: Number) {
        let stays = |(_, pointer): &(&Node<'_>, String)| !is_entry(pointer);
        self.context.diagnostics.record_location(body, self.definitions.targets.get(&target).is_some_and(stays));
    }

    /// Inlines only the title, type and description of a target, because inlining all of it would exceed the budget.
    fn inline_type_only(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, body: &Node<'a>, pointer: &str) {
        let levels = self.depth_cut.as_ref().map_or(0, |cut| cut.levels);
        self.context.diagnostics.report(path, Location::of(body).to(Location::of(node)), TRUNCATE, || match levels {
            0 => format!("removed the content of `#{pointer}`: inlining it everywhere would make the schema too large"),
            _ => format!(
                "removed the content of `#{pointer}` more than {levels} definitions deep: the schema would be \
                too large"
            ),
        });
        let end = unroll::last_level(body, self.context);
        let at = node.as_object().and_then(|object| object.position(Keyword::Ref)).unwrap_or_default();
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
        let origin = node.origin();
        let siblings = core::mem::take(node);
        *node = match siblings.as_object().is_some_and(Object::is_empty) {
            true => end,
            false => intersected((siblings, end), at, path.polarity, None, self.context),
        };
        *node = core::mem::take(node).with_origin(origin);
        node.touch();
    }

    /// Returns true if the target may be merged into the root. A definition may not be merged into itself. In branches
    /// of unions, the size limit applies.
    fn joins_root(&mut self, target: Number) -> bool {
        let is_new = self.merged_into_root.last_mut().is_some_and(|targets| targets.insert(target));
        let cost = self
            .definitions
            .targets
            .get(&target)
            .filter(|_| self.merged_into_root.len() > 1)
            .map_or(0, |(body, _)| json::size(body, &self.context.budget));
        is_new && self.definitions.spend(cost)
    }

    fn merge(&mut self, node: &mut Node<'a>, body: Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        let reference_at = node.as_object().and_then(|object| object.position(Keyword::Ref)).unwrap_or_default();
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
        if node.as_object().is_some_and(Object::is_empty) {
            *node = body;
            // The node now has the origin of the definition, not of the reference.
            node.touch();
            return Ok(());
        }
        let mut siblings = core::mem::take(node);
        let mut body = body;
        if !siblings::only_annotations(&siblings) {
            self.context.effects.inlined_more = true;
            // Both schemas may hold references at the same path, so references are resolved in both before the merge.
            let budget = self.context.budget.clone();
            visit::walk_mut_at(&budget, &mut siblings, path.polarity, Keywords::ALL, self)?;
            visit::walk_mut_at(&budget, &mut body, path.polarity, Keywords::ALL, self)?;
            siblings::mark_siblings_as_applying(&mut siblings);
            siblings::mark_siblings_as_applying(&mut body);
        }
        *node = intersected((siblings, body), reference_at, path.polarity, None, self.context);
        node.touch();
        Ok(())
    }
}

impl<'a> Inliner<'_, '_, 'a> {
    /// Returns the last known target of a chain. The references of the chain have already been reported.
    fn end_of_chain(&mut self, target: Number) -> Number {
        let mut end = target;
        while let Some(next) = self.next_in_chain.get(&end).filter(|_| self.context.budget.pay(1)) {
            end = *next;
        }
        // Shortens the chain: each target now points directly to the end.
        let mut at = target;
        while at != end {
            let Some(next) = self.next_in_chain.insert(at, end) else { break };
            at = next;
        }
        end
    }

    fn record_chain(&mut self, target: Number, body: &Node<'a>) {
        let is_more = |member: &Member<'a>| {
            let names = [Keyword::Ref, Keyword::Id].into_iter().chain(ANCHORS);
            !names.into_iter().any(|keyword| member.key.is(keyword))
        };
        let Some(object) = body.as_object().filter(|object| !object.iter().any(is_more)) else { return };
        let next = object.get(Keyword::Ref).and_then(|reference| self.references.target(reference));
        let is_schema = |next: &Number| {
            let target = self.definitions.targets.get(next);
            target.is_some_and(|(node, _)| node.as_object().is_some() || node.as_bool().is_some())
        };
        // References in cycles are kept, so their chains are not recorded.
        if let Some(next) = next.filter(|next| !self.kept.contains(next) && is_schema(next)) {
            self.next_in_chain.insert(target, next);
        }
    }
}

const UNRESOLVED: ChangeKind = ChangeKind::of(Rule::UnresolvedRef);
const ROOT_TO_ITSELF: ChangeKind = ChangeKind::of(Rule::CutRecursion);

impl<'a> Inliner<'_, '_, 'a> {
    pub(crate) fn remove_unresolved(&mut self, node: &mut Node<'a>, polarity: Polarity) {
        let reference = node.text_at(Keyword::Ref).map(|text| text.display().into_owned()).unwrap_or_default();
        // Inside `not`, accepting more would make the whole schema accept less.
        let is_negated = polarity == Polarity::Negative;
        let effect = if is_negated { UNRESOLVED.accepts(Accepts::Narrower) } else { UNRESOLVED };
        self.context.diagnostics.report(polarity, Location::of_reference(node).to(Location::of(node)), effect, || {
            format!("removed `$ref: \"{reference}\"`, which has no target in this document")
        });
        if is_negated {
            node.replace(Data::Bool(false));
            return;
        }
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
        if node.as_object().is_some_and(Object::is_empty) {
            node.replace(Data::Bool(true));
        }
    }

    fn remove_reference_to_root(&mut self, node: &mut Node<'a>, polarity: Polarity) {
        self.context.diagnostics.report(
            polarity,
            Location::of_reference(node).to(Location::of(node)),
            ROOT_TO_ITSELF,
            || String::from("removed a reference from the root to itself"),
        );
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
    }
}
