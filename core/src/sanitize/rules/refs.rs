//! References: inlined where that ends, kept under root `$defs` where it does not, and cut where they lead nowhere.

use super::{
    conflicts,
    notes::{Effect, Spot},
    unused, Rules,
};
use crate::{
    error::{Code, Error},
    json::{Data, Member, Node, Object, Text},
    limits::MAX_DEPTH,
    options::Refs,
    report::{Accepts, Guidance},
    schema::{
        graph::Graph,
        keyword::{Holds, Keyword, Keywords, Role},
        merge,
        resolve::{self, Number, References},
        walk::{self, Next, Place, Position, Rewrite},
    },
    sorted::{self, Map, Set},
};
use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

const INLINE: Effect = Effect::same("inline-ref");
const KEEP: Effect = Effect::same("respell-ref");
const UNRESOLVED: Effect = Effect::same("unresolved-ref").accepts(Accepts::Wider);
const OWN: Effect = Effect::same("cut-recursion").accepts(Accepts::Wider);
const SIBLING: Effect = Effect::same("drop-ref-sibling").guidance(Guidance::Lost);
const IDENTIFIER: Effect = Effect::same("drop-identifier");

/// Inlines or respells every reference, and leaves exactly the definitions that are still needed.
pub(super) fn settle<'a>(root: &mut Node<'a>, references: &References, rules: &mut Rules) -> Result<(), Error> {
    let source = root.clone();
    let graph = Graph::of(&source, references);
    let mut kept: Set<Number> = match rules.refs {
        Refs::Keep => graph.all().collect(),
        Refs::Inline => graph.all().filter(|target| graph.is_recursive(*target)).collect(),
    };
    let (too_many, too_deep) = (graph.produced > rules.max_nodes, graph.depth > MAX_DEPTH);
    if (too_many || too_deep) && !rules.grammar.refs.to_defs {
        let (found, most) = if too_many { (graph.produced, rules.max_nodes) } else { (graph.depth, MAX_DEPTH) };
        let what = if too_many { "nodes" } else { "levels" };
        return Err(Error::new(
            Code::BudgetExceeded,
            "",
            format!("expected references that inline to at most {most} {what}, found {found}"),
        ));
    }
    rules.keeps_definitions = too_many || too_deep || rules.refs == Refs::Keep;
    if too_many {
        kept.extend(graph.shared());
    }
    if too_deep {
        kept.extend(graph.all());
    }
    let wanted: Set<Number> = references.all_targets().collect();
    let mut targets = Map::new();
    index(&source, &wanted, &mut targets);
    let mut expand = Expand {
        references,
        targets,
        kept,
        names: Map::new(),
        taken: Set::new(),
        queue: Vec::new(),
        used: Set::new(),
        in_definitions: false,
        at_root: true,
        root_chain: Set::from([0]),
        rules,
    };
    walk::rewrite(root, Keywords::ALL, &mut expand)?;
    expand.in_definitions = true;
    let mut definitions: Vec<(Definition, Member<'a>)> = Vec::new();
    while let Some(definition) = expand.queue.pop() {
        let mut body = expand.body(&definition);
        walk::rewrite(&mut body, Keywords::ALL, &mut expand)?;
        let name = expand.names.get(&definition).cloned().unwrap_or_default();
        definitions.push((definition, Member { key: Text::new(name), value: body }));
    }
    let used = core::mem::take(&mut expand.used);
    unused::note(&source, &used, rules);
    if !definitions.is_empty() {
        // In document order, and where the table stood: a table that is fine as it is stays as it is.
        let definitions = sorted::by(definitions, |(one, _), (two, _)| one.cmp(two));
        let members = definitions.into_iter().map(|(_, member)| member).collect();
        let table = Node::object(Object::from_unique(members));
        for member in table.as_object().into_iter().flatten() {
            if let (Some(name), Some(kind)) = (member.key.value(), member.value.get("type").and_then(Node::as_text).and_then(Text::value)) {
                rules.definition_types.insert(name.into_owned(), kind.into_owned());
            }
        }
        let table = match source.get("$defs") {
            Some(standing) => table.with_origin(standing.origin()),
            None => table,
        };
        let after: Vec<&Text<'a>> =
            source.as_object().into_iter().flatten().map(|member| &member.key).skip_while(|key| !key.is("$defs")).skip(1).collect();
        if let Some(object) = root.as_object_mut() {
            let at = object.iter().position(|member| after.contains(&&member.key)).unwrap_or(object.len());
            object.insert_at(at, Text::literal("$defs"), table);
        }
    }
    // Everything was written anew to find out that nothing had to be.
    if source.is_intact() && crate::json::write(root) == crate::json::write(&source) {
        *root = source;
    }
    Ok(())
}

/// A definition that is kept: a target as it is, or one that has grown by what stood beside one reference to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Definition {
    target: Number,
    /// The reference whose siblings belong to it.
    with: Option<Number>,
}

struct Expand<'e, 's, 'a> {
    references: &'e References,
    targets: Map<Number, (&'s Node<'a>, String)>,
    kept: Set<Number>,
    names: Map<Definition, String>,
    taken: Set<String>,
    queue: Vec<Definition>,
    used: Set<Number>,
    /// The root is done.
    in_definitions: bool,
    /// What is walked stands at the root, or is to be merged with what stands there.
    at_root: bool,
    /// The targets that the root already consists of.
    root_chain: Set<Number>,
    rules: &'e mut Rules,
}

impl<'a> Rewrite<'a> for Expand<'_, '_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<Next, Error> {
        self.drop_tables(node);
        self.drop_identifiers(node, place);
        // A definition may be nothing but a reference to the next one.
        while node.get("$ref").is_some_and(|reference| reference.as_text().is_some()) {
            if !self.reference(node, place)? {
                break;
            }
            self.drop_tables(node);
            self.drop_identifiers(node, place);
        }
        Ok(Next::Into)
    }
}

impl<'a> Expand<'_, '_, 'a> {
    fn drop_tables(&self, node: &mut Node<'a>) {
        if unused::TABLES.iter().any(|table| node.get(table).is_some()) {
            if let Some(object) = node.as_object_mut() {
                object.retain(|member| !unused::TABLES.iter().any(|table| member.key.is(table)));
            }
        }
    }

    /// Every reference has found its target, and an `$id` further down would only change what `#/$defs/…` means there.
    fn drop_identifiers(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) {
        let is_root = place.keyword.is_none() && node.origin().number() == Some(0) && !self.in_definitions;
        let goes = |member: &Member<'_>| {
            let fragment = || member.value.as_text().is_some_and(|text| text.display().contains('#'));
            (member.key.is("$id") && (!is_root || fragment())) || member.key.is("$anchor")
        };
        let Some(object) = node.as_object().filter(|object| object.iter().any(goes)) else { return };
        for member in object.iter().filter(|member| goes(member)) {
            let keyword = member.key.display().into_owned();
            self.rules.notes.note(place.position, Spot::of(&member.value), Spot::Nowhere, IDENTIFIER, || {
                format!("dropped `{keyword}`: every reference has found its target")
            });
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| !goes(member));
        }
    }

    /// Deals with one `$ref`; `true` if there may be another in its place.
    fn reference(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<bool, Error> {
        if self.rules.draft.ref_stands_alone() {
            self.drop_siblings(node, place.position);
        }
        let number = resolve::reference_number(node);
        // What this pass has written itself is settled.
        if number.is_none() {
            return Ok(false);
        }
        let target = number.and_then(|number| self.references.target(number)).filter(|target| {
            // A pointer may lead to something that is no schema.
            self.targets.get(target).is_some_and(|(node, _)| node.as_object().is_some() || node.as_bool().is_some())
        });
        let Some(target) = target else {
            self.cut(node, place.position);
            return Ok(false);
        };
        self.used.insert(target);
        // Where the root must be an object it cannot be a reference, so its definition is said there once more.
        let at_root = place.keyword.is_none() && self.at_root && !self.in_definitions && self.rules.grammar.object_root;
        if at_root && !self.root_chain.insert(target) {
            self.cut_own(node, place.position);
            return Ok(false);
        }
        if self.kept.contains(&target) && !at_root {
            self.keep(node, place, target);
            return Ok(false);
        }
        let (body, pointer) = match self.targets.get(&target) {
            Some((body, pointer)) => ((*body).clone(), pointer.clone()),
            None => return Ok(false),
        };
        let spot = Spot::under(node, "$ref");
        let alone = node.as_object().is_some_and(|object| object.len() == 1);
        let to = if alone { Spot::of(&body) } else { Spot::of(node) };
        self.rules.notes.note(place.position, spot, to, INLINE, || format!("put `#{pointer}` where it is referred to"));
        let outer = core::mem::replace(&mut self.at_root, at_root);
        let merged = self.merge(node, body, place);
        self.at_root = outer;
        merged.map(|()| true)
    }

    /// Replaces a reference by its target; what stands beside it applies too.
    fn merge(&mut self, node: &mut Node<'a>, body: Node<'a>, place: &Place<'_, 'a>) -> Result<(), Error> {
        let reference_at = node.as_object().and_then(|object| object.position("$ref")).unwrap_or_default();
        if let Some(object) = node.as_object_mut() {
            object.remove("$ref");
        }
        if node.as_object().is_some_and(Object::is_empty) {
            *node = body;
            // It is another input value than the one that stood here.
            node.touch();
            return Ok(());
        }
        let mut siblings = core::mem::take(node);
        let mut body = body;
        if !only_annotations(&siblings) {
            // Both may hold references of their own at the same place, so both are settled before they become one.
            walk::rewrite_at(&mut siblings, place.position, Keywords::ALL, self)?;
            walk::rewrite_at(&mut body, place.position, Keywords::ALL, self)?;
        }
        *node = self.both(siblings, body, reference_at, place.position);
        node.touch();
        Ok(())
    }

    fn both(&mut self, outer: Node<'a>, inner: Node<'a>, at: usize, position: Position) -> Node<'a> {
        let merged = merge::both_at(outer, inner, at);
        conflicts::note(&merged, position, &Spot::of(&merged.node), self.rules);
        merged.node
    }

    /// Keeps a reference, spelled as the dialect reads it.
    fn keep(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>, target: Number) {
        let allowed = self.rules.grammar.refs.beside;
        let alone = |member: &Member<'_>| member.key.is("$ref") || Keyword::named(&member.key).is_some_and(|keyword| allowed.has(keyword));
        // Texts that may not stand beside it stand around it.
        let mut around: Vec<Member<'a>> = Vec::new();
        let texts =
            |member: &Member<'_>| !alone(member) && Keyword::named(&member.key).is_some_and(|keyword| keyword.role() == Role::Annotation);
        if node.as_object().is_some_and(|object| object.iter().any(texts) && object.iter().all(|member| alone(member) || texts(member))) {
            let members = core::mem::take(node.as_object_mut().unwrap_or(&mut Object::new())).into_members();
            let (inner, outer): (Vec<Member<'a>>, Vec<Member<'a>>) = members.into_iter().partition(alone);
            around = outer;
            node.replace(Data::Object(Object::from_unique(inner)));
        }
        let with = node.as_object().filter(|object| !object.iter().all(alone)).and(resolve::reference_number(node));
        let definition = Definition { target, with };
        let name = self.name(&definition);
        let reference = format!("#/$defs/{name}");
        let inside = self.rules.grammar.refs.not_directly_under;
        let elsewhere = |keyword: Keyword| {
            let only = self.rules.grammar.refs.only_under;
            // What stands in a list is not looked at.
            only.is_some_and(|only| !only.has(keyword)) && keyword.holds() != Holds::Schemas
        };
        let wrapped = place.keyword.is_some_and(|keyword| inside.has(keyword) || elsewhere(keyword));
        if !node.get("$ref").is_some_and(|spelled| spelled.is_text(&reference)) || with.is_some() || wrapped || !around.is_empty() {
            let spot = Spot::under(node, "$ref");
            self.rules.notes.note(place.position, spot.clone(), spot, KEEP, || format!("spelled the reference `{reference}`"));
        }
        let Some(object) = node.as_object_mut() else { return };
        object.retain(|member| alone(member));
        object.set(Text::literal("$ref"), Node::string(reference));
        if wrapped {
            let inner = Node::new(core::mem::take(node).into_data()).with_origin(node.origin());
            node.replace(Node::record([("allOf", Node::array(vec![inner]))]).into_data());
        }
        if !around.is_empty() {
            let inner = Node::new(core::mem::take(node).into_data()).with_origin(node.origin());
            around.push(Member { key: Text::literal("anyOf"), value: Node::array(vec![inner]) });
            node.replace(Data::Object(Object::from_unique(around)));
        }
    }

    /// The name of a definition that is kept; asking for it puts it on the list.
    fn name(&mut self, definition: &Definition) -> String {
        if let Some(name) = self.names.get(definition) {
            return name.clone();
        }
        let pointer = self.targets.get(&definition.target).map(|(_, pointer)| pointer.as_str()).unwrap_or_default();
        let token = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "_").replace("~0", "_");
        let stem: String = token
            .chars()
            .map(|character| if character.is_ascii_alphanumeric() || "_-.".contains(character) { character } else { '_' })
            .collect();
        let stem = if stem.is_empty() { String::from("root") } else { stem };
        let mut name = stem.clone();
        let mut count = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{stem}_{count}");
            count += 1;
        }
        self.names.insert(definition.clone(), name.clone());
        self.queue.push(definition.clone());
        name
    }

    /// What a kept definition holds, its own references not yet settled.
    fn body(&mut self, definition: &Definition) -> Node<'a> {
        let Some((target, _)) = self.targets.get(&definition.target) else { return Node::new(Data::Bool(true)) };
        let body = (*target).clone();
        let Some((with, _)) = definition.with.and_then(|with| self.targets.get(&with)) else { return body };
        let mut siblings = (*with).clone();
        if let Some(object) = siblings.as_object_mut() {
            object.remove("$ref");
        }
        self.both(siblings, body, 0, Position::Positive)
    }

    /// A reference that leads nowhere in this document accepts what it would have refused.
    fn cut(&mut self, node: &mut Node<'a>, position: Position) {
        let reference = node.get("$ref").and_then(Node::as_text).map(|text| text.display().into_owned()).unwrap_or_default();
        self.rules.notes.note(position, Spot::under(node, "$ref"), Spot::of(node), UNRESOLVED, || {
            format!("removed `$ref: \"{reference}\"`, which leads nowhere in this document")
        });
        if let Some(object) = node.as_object_mut() {
            object.remove("$ref");
        }
        if node.as_object().is_some_and(Object::is_empty) {
            node.replace(Data::Bool(true));
        }
    }

    /// A root that is its own definition says nothing by that.
    fn cut_own(&mut self, node: &mut Node<'a>, position: Position) {
        self.rules
            .notes
            .note(position, Spot::under(node, "$ref"), Spot::of(node), OWN, || String::from("removed a reference from the root to itself"));
        if let Some(object) = node.as_object_mut() {
            object.remove("$ref");
        }
    }

    /// Draft 7 and older: beside `$ref` nothing validates. What tells the reader something stays.
    fn drop_siblings(&mut self, node: &mut Node<'a>, position: Position) {
        let validates = |member: &Member<'_>| {
            !member.key.is("$ref")
                && Keyword::named(&member.key).is_some_and(|keyword| !matches!(keyword.role(), Role::Annotation | Role::Meta))
        };
        let Some(object) = node.as_object().filter(|object| object.iter().any(validates)) else { return };
        for member in object.iter().filter(|member| validates(member)) {
            let keyword = member.key.display().into_owned();
            self.rules.notes.note(position, Spot::under(node, keyword.clone()), Spot::Nowhere, SIBLING, || {
                format!("dropped `{keyword}`, which does not apply beside `$ref` in this draft")
            });
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| !validates(member));
        }
    }
}

fn only_annotations(node: &Node<'_>) -> bool {
    let annotates =
        |member: &Member<'_>| Keyword::named(&member.key).is_some_and(|keyword| matches!(keyword.role(), Role::Annotation | Role::Meta));
    node.as_object().is_some_and(|object| object.iter().all(annotates))
}

/// Where the wanted nodes are, with their pointers.
fn index<'s, 'a>(root: &'s Node<'a>, wanted: &Set<Number>, found: &mut Map<Number, (&'s Node<'a>, String)>) {
    fn visit<'s, 'a>(node: &'s Node<'a>, pointer: &mut String, wanted: &Set<Number>, found: &mut Map<Number, (&'s Node<'a>, String)>) {
        let own = node.origin().number().filter(|number| wanted.contains(number));
        for number in own.into_iter().chain(resolve::reference_number(node)) {
            found.entry(number).or_insert_with(|| (node, pointer.clone()));
        }
        let length = pointer.len();
        let mut below = |token: Cow<'_, str>, child: &'s Node<'a>| {
            crate::json::push_token(pointer, &token);
            visit(child, pointer, wanted, found);
            pointer.truncate(length);
        };
        match node.data() {
            Data::Array(items) => items.iter().enumerate().for_each(|(index, item)| below(Cow::Owned(index.to_string()), item)),
            Data::Object(object) => object.iter().for_each(|member| below(member.key.display(), &member.value)),
            _ => {}
        }
    }
    visit(root, &mut String::new(), wanted, found);
}
