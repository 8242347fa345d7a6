//! Resolution of references: pointers, anchors and embedded resources in a schema as read, or the names of definitions
//! in a rewritten schema. A schema is *as read* until a pass changes it.
//!
//! References in a schema as read are resolved before any node moves; from then on, the numbers of nodes identify their
//! targets. References in a rewritten schema point only to the root and to its definitions, so names identify the
//! targets.
//!
//! `$dynamicRef` and `$recursiveRef` are resolved to the anchor that they name. The dynamic scope would only matter if
//! another document referred to this document, and no document does.

use alloc::{
    boxed::Box,
    string::{String, ToString as _},
    vec::Vec,
};
use core::ops::Range;

use super::{
    definitions::TABLES,
    keyword::{Draft, Keyword, Keywords, Subschemas},
    uri::{self, percent_decoded},
    visit::{self, SchemaPath, Visit},
};
use crate::{
    budget::Budget,
    collections::{self, Map, Set},
    error::Error,
    json::{self, unescaped_token, Child, Data, Member, Node, Step, Text},
};

/// A target of references: the number of a node in a schema as read, or of a definition in a rewritten schema. Numbers
/// follow document order.
pub(crate) type Number = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The caller's schema as read: references may point anywhere.
    Read,
    /// A schema rewritten by passes: references point to the root and its definitions.
    Written,
}

pub(crate) fn of(root: &Node<'_>, form: Form, draft: Draft, budget: &Budget) -> Result<References, Error> {
    match form {
        Form::Read => resolve(root, draft, budget),
        Form::Written => by_name(root, budget),
    }
}

#[derive(Clone, Debug)]
pub(crate) enum References {
    Read(Resolved),
    Written(Names),
}

impl Default for References {
    fn default() -> Self {
        References::Read(Resolved::default())
    }
}

impl References {
    /// `reference` is the value of the keyword. Returns `None` if it does not resolve in this document.
    pub(crate) fn target(&self, reference: &Node<'_>) -> Option<Number> {
        match self {
            References::Read(resolved) => resolved.target(reference),
            References::Written(names) => names.target(reference),
        }
    }

    pub(crate) fn target_of(&self, schema: &Node<'_>) -> Option<Number> {
        self.target(reference(schema)?)
    }

    /// Redirects references from each key of `ends` to its value. References of a rewritten schema are not redirected,
    /// because their text identifies their targets.
    pub(crate) fn redirect(&mut self, ends: &Map<Number, Number>) {
        let References::Read(resolved) = self else { return };
        let redirected =
            resolved.targets.iter().filter_map(|(reference, target)| Some((*reference, *ends.get(target)?)));
        for (reference, end) in redirected.collect::<Vec<_>>() {
            resolved.targets.insert(reference, end);
        }
    }

    pub(crate) fn root(&self, root: &Node<'_>) -> Option<Number> {
        match self {
            References::Read(_) => root.origin().number(),
            References::Written(_) => Some(0),
        }
    }

    /// Returns the number of a schema if it is a target. `path` must be relative to the root.
    pub(crate) fn number_at(&self, schema: &Node<'_>, path: &SchemaPath<'_, '_>) -> Option<Number> {
        match self {
            References::Read(resolved) => resolved.number_at(schema),
            References::Written(names) => names.number_at(path),
        }
    }

    /// Returns true if a target is this schema, or (in a schema as read) inside it.
    pub(crate) fn points_into(&self, schema: &Node<'_>, path: &SchemaPath<'_, '_>, targets: &Set<Number>) -> bool {
        match self {
            References::Read(_) => {
                let range = number_range(schema);
                targets.first_from(&range.start).is_some_and(|first| range.contains(first))
            }
            References::Written(names) => names.number_at(path).is_some_and(|target| targets.contains(&target)),
        }
    }

    /// Returns all targets with their pointers.
    pub(crate) fn targets<'s, 'a>(&self, root: &'s Node<'a>, budget: &Budget) -> Map<Number, (&'s Node<'a>, String)> {
        match self {
            References::Read(resolved) => resolved.targets(root, budget),
            References::Written(names) => names.targets(root, budget),
        }
    }

    pub(crate) fn target_node<'s, 'a>(&self, root: &'s Node<'a>, target: Number) -> Option<&'s Node<'a>> {
        match self {
            References::Read(_) => node_with_number(root, target),
            References::Written(names) => names.target_node(root, target),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.referenced_targets().next().is_none()
    }

    pub(crate) fn all_targets(&self) -> impl Iterator<Item = Number> + '_ {
        self.referenced_targets().collect::<Set<Number>>().into_iter()
    }

    /// Returns the target of each reference. A target with several references occurs several times.
    pub(crate) fn referenced_targets(&self) -> Box<dyn Iterator<Item = Number> + '_> {
        match self {
            References::Read(resolved) => Box::new(resolved.referenced_targets()),
            References::Written(names) => Box::new(names.referenced_targets()),
        }
    }

    /// Returns the targets that are not at the position of a subschema, in document order.
    pub(crate) fn targets_outside_subschemas<'t, 'a>(&self, root: &'t Node<'a>, budget: &Budget) -> Vec<&'t Node<'a>> {
        match self {
            References::Read(resolved) => resolved.targets_outside_subschemas(root, budget),
            References::Written(_) => Vec::new(),
        }
    }

    /// Returns true if another anchor of this name may match the dynamic reference, depending on the dynamic scope.
    pub(crate) fn is_ambiguous(&self, reference: &Node<'_>) -> bool {
        match self {
            References::Read(resolved) => resolved.is_ambiguous(reference),
            References::Written(_) => false,
        }
    }

    /// Returns true if a reference names `$defs` in a document that has only `definitions`, or the reverse.
    pub(crate) fn is_misnamed(&self, reference: &Node<'_>) -> bool {
        match self {
            References::Read(resolved) => resolved.is_misnamed(reference),
            References::Written(_) => false,
        }
    }
}

pub(crate) const KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Returns the value of `$ref`, otherwise of a dynamic reference.
pub(crate) fn reference<'n, 'a>(schema: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let mut dynamic = None;
    for member in schema.as_object()? {
        match Keyword::named(&member.key) {
            Some(Keyword::Ref) if member.value.as_text().is_some() => return Some(&member.value),
            Some(Keyword::DynamicRef | Keyword::RecursiveRef) if member.value.as_text().is_some() => {
                dynamic = Some(&member.value)
            }
            _ => {}
        }
    }
    dynamic
}

/// Returns true if any key is named like a reference, even if it is not a keyword there. Faster than
/// [`has_references`].
pub(crate) fn mentions_references(root: &Node<'_>) -> bool {
    mentions(root, Keywords::of(&[Keyword::Ref, Keyword::DynamicRef, Keyword::RecursiveRef]))
}

/// Returns true if any key is named like one of these keywords, even if it is not a keyword there. Faster than a walk.
pub(crate) fn mentions(root: &Node<'_>, keywords: Keywords) -> bool {
    root.has_member(|Member { key, .. }| Keyword::named(key).is_some_and(|keyword| keywords.contains(keyword)))
}

pub(crate) fn has_references(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    has_keyword(root, &[Keyword::Ref, Keyword::DynamicRef, Keyword::RecursiveRef], budget)
}

pub(crate) fn has_dynamic(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    let dynamic = [Keyword::DynamicRef, Keyword::RecursiveRef];
    Ok(mentions(root, Keywords::of(&dynamic)) && has_keyword(root, &dynamic, budget)?)
}

fn has_keyword(root: &Node<'_>, keywords: &[Keyword], budget: &Budget) -> Result<bool, Error> {
    let mut is_found = false;
    visit::walk(budget, root, Keywords::ALL, &mut |node, _| {
        is_found = is_found
            || keywords.iter().any(|keyword| node.get(keyword).is_some_and(|reference| reference.as_text().is_some()));
        Ok(if is_found { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(is_found)
}

pub(crate) fn number_range(node: &Node<'_>) -> Range<Number> {
    fn last_number(node: &Node<'_>) -> Number {
        let number = node.origin().number().unwrap_or_default();
        match node.data() {
            Data::Array(items) => items.iter().map(last_number).fold(number, Number::max),
            Data::Object(object) => object.iter().map(|member| last_number(&member.value)).fold(number, Number::max),
            _ => number,
        }
    }
    let first = node.origin().number().unwrap_or_default();
    first..last_number(node).saturating_add(1)
}

/// Targets by the number of the value of `$ref`. This number stays the same if its schema is merged with another
/// schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resolved {
    targets: Map<Number, Number>,
    /// All targets, in document order, without duplicates.
    all: Vec<Number>,
    /// Targets that are not at the position of a subschema, such as targets under unknown keywords.
    outside: Set<Number>,
    /// Dynamic references whose target depends on the dynamic scope, because several anchors have their name.
    ambiguous: Set<Number>,
    /// References to `$defs` in a document that has only `definitions`, or the reverse.
    misnamed: Set<Number>,
}

impl Resolved {
    pub(crate) fn target(&self, reference: &Node<'_>) -> Option<Number> {
        self.targets.get(&reference.origin().number()?).copied()
    }

    pub(crate) fn number_at(&self, schema: &Node<'_>) -> Option<Number> {
        schema.origin().number().filter(|number| self.all.binary_search(number).is_ok())
    }

    pub(crate) fn referenced_targets(&self) -> impl Iterator<Item = Number> + '_ {
        self.targets.values().copied()
    }

    pub(crate) fn is_ambiguous(&self, reference: &Node<'_>) -> bool {
        reference.origin().number().is_some_and(|number| self.ambiguous.contains(&number))
    }

    pub(crate) fn is_misnamed(&self, reference: &Node<'_>) -> bool {
        reference.origin().number().is_some_and(|number| self.misnamed.contains(&number))
    }

    pub(crate) fn targets_outside_subschemas<'t, 'a>(&self, root: &'t Node<'a>, budget: &Budget) -> Vec<&'t Node<'a>> {
        let (numbers, mut targets, mut pending) = (&self.outside, Vec::new(), Vec::from([root]));
        while let Some(node) = pending.pop().filter(|_| targets.len() < numbers.len() && budget.pay(1)) {
            if node.origin().number().is_some_and(|number| numbers.contains(&number)) {
                targets.push(node);
            }
            match node.data() {
                Data::Array(items) => pending.extend(items),
                Data::Object(object) => pending.extend(object.iter().map(|member| &member.value)),
                _ => {}
            }
        }
        collections::sorted_by(targets, |left, right| left.origin().number().cmp(&right.origin().number()))
    }

    pub(crate) fn targets<'s, 'a>(&self, root: &'s Node<'a>, budget: &Budget) -> Map<Number, (&'s Node<'a>, String)> {
        let (numbers, mut targets) = (&self.all, Map::new());
        // Nodes that are still to be visited, each with its depth and the last token of its path.
        let mut pending: Vec<(&'s Node<'a>, usize, Child<'s, 'a>)> = Vec::from([(root, 0, Child::Item(0))]);
        let mut path: Vec<Child<'s, 'a>> = Vec::new();
        while let Some((node, level, token)) = pending.pop().filter(|_| targets.len() < numbers.len() && budget.pay(1))
        {
            path.truncate(level);
            path.push(token);
            if let Some(number) = node.origin().number().filter(|number| numbers.binary_search(number).is_ok()) {
                targets.entry(number).or_insert_with(|| (node, pointer(path.get(1..).unwrap_or_default())));
            }
            let level = path.len();
            match node.data() {
                Data::Array(items) => {
                    let children = items.iter().enumerate().rev();
                    pending.extend(children.map(|(index, item)| (item, level, Child::Item(index))));
                }
                Data::Object(object) => {
                    let children = object.members().iter().rev();
                    pending.extend(children.map(|member| (&member.value, level, Child::Member(&member.key))));
                }
                _ => {}
            }
        }
        targets
    }
}

fn pointer(path: &[Child<'_, '_>]) -> String {
    let mut pointer = String::new();
    for token in path {
        match token {
            Child::Member(name) => json::push_token(&mut pointer, &name.display()),
            Child::Item(index) => json::push_token(&mut pointer, &index.to_string()),
        }
    }
    pointer
}

/// Resolves all references. A target may be outside of all subschemas, such as `#/components/schemas/Pet`. References
/// inside such a target are resolved, too.
pub(crate) fn resolve(root: &Node<'_>, draft: Draft, budget: &Budget) -> Result<References, Error> {
    let mut document = Document {
        budget,
        draft,
        bases: Vec::from([String::new()]),
        resources: Map::new(),
        embedded: Map::new(),
        anchors: Map::new(),
        references: Vec::new(),
        dynamic_anchor_counts: Map::new(),
        members_by_name: Map::new(),
    };
    document.resources.insert(String::new(), (root, 0));
    document.register_subschemas(root, 0)?;
    let (mut references, mut all) = (Resolved::default(), Set::new());
    let mut next = 0;
    while let Some(Reference { number, base, text, is_dynamic }) = document.references.get(next) {
        next += 1;
        let (number, base, text) = (*number, *base, text.clone());
        if *is_dynamic && document.dynamic_anchor_counts.get(anchor_of(&text)).is_some_and(|count| *count > 1) {
            references.ambiguous.insert(number);
        }
        let Some(target) = document.find_target(base, &text).filter(|_| !budget.is_spent()) else { continue };
        let Some(number_of_target) = target.node.origin().number() else { continue };
        references.targets.insert(number, number_of_target);
        if target.is_misnamed {
            references.misnamed.insert(number);
        }
        all.insert(number_of_target);
        if target.is_outside && references.outside.insert(number_of_target) {
            document.register_subschemas(target.node, target.base)?;
        }
    }
    budget.check(String::new)?;
    references.all = all.into_iter().collect();
    Ok(References::Read(references))
}

/// Index into the base URIs.
type Base = usize;

struct Reference {
    number: Number,
    base: Base,
    text: String,
    is_dynamic: bool,
}

/// Returns the anchor that a reference names, or an empty string for `$recursiveAnchor`.
fn anchor_of(reference: &str) -> &str {
    uri::split_fragment(reference).1.unwrap_or_default()
}

struct Target<'t, 'a> {
    node: &'t Node<'a>,
    base: Base,
    /// True if the target is not at the position of a subschema.
    is_outside: bool,
    /// True if the reference names `$defs` in a document that has only `definitions`, or the reverse.
    is_misnamed: bool,
}

struct Document<'b, 't, 'a> {
    budget: &'b Budget,
    draft: Draft,
    bases: Vec<String>,
    /// Embedded resources and the root, by URI.
    resources: Map<String, (&'t Node<'a>, Base)>,
    /// Base URIs of embedded resources, by node number.
    embedded: Map<Number, Base>,
    /// Anchors by resource and name.
    anchors: Map<(Base, String), (&'t Node<'a>, Base)>,
    references: Vec<Reference>,
    /// Number of dynamic anchors of each name.
    dynamic_anchor_counts: Map<String, usize>,
    /// Members of the large objects on the path of a pointer, by node number of the object, then by name.
    members_by_name: Map<Number, Map<String, &'t Node<'a>>>,
}

const TRACKED_KEYWORDS: Keywords = Keywords::of(&[
    Keyword::Id,
    Keyword::Anchor,
    Keyword::DynamicAnchor,
    Keyword::RecursiveAnchor,
    Keyword::Ref,
    Keyword::DynamicRef,
    Keyword::RecursiveRef,
]);

/// Objects with more members are indexed.
const LINEAR_SEARCH_LIMIT: usize = 16;

impl<'t, 'a> Document<'_, 't, 'a> {
    /// Registers all subschemas. Other values are not visited, because an `$id` inside `enum` is not an identifier.
    fn register_subschemas(&mut self, part: &'t Node<'a>, base: Base) -> Result<(), Error> {
        // Enclosing identifiers, with their depth.
        let mut enclosing: Vec<(usize, Base)> = Vec::new();
        visit::walk(self.budget, part, Keywords::ALL, &mut |node, path| {
            while enclosing.last().is_some_and(|(known, _)| *known >= path.depth) {
                enclosing.pop();
            }
            let outer_base = enclosing.last().map_or(base, |(_, base)| *base);
            let inner_base = self.register_schema(node, outer_base);
            if inner_base != outer_base {
                enclosing.push((path.depth, inner_base));
            }
            Ok(Visit::Descend)
        })
    }

    /// Registers the identifiers, anchors and references of a schema. Returns the base URI inside it.
    fn register_schema(&mut self, node: &'t Node<'a>, outer_base: Base) -> Base {
        let Some(object) = node.as_object() else { return outer_base };
        // Most schemas have none of these keywords. (The identifier of draft 4 is `id`, a common name of properties.)
        if self.draft != Draft::Four && !Keywords::in_object(object).intersects(TRACKED_KEYWORDS) {
            return outer_base;
        }
        let text_of = |keyword: &str| object.get(keyword).and_then(Node::as_text).and_then(Text::value);
        let mut base = outer_base;
        // Old drafts ignore siblings of `$ref`, including `$id`.
        let are_siblings_ignored = self.draft.ignores_ref_siblings() && text_of("$ref").is_some();
        if !are_siblings_ignored {
            if let Some(id) = text_of("$id").or_else(|| if self.draft == Draft::Four { text_of("id") } else { None }) {
                let (name, fragment) = uri::split_fragment(&id);
                if !name.is_empty() {
                    base = self.register_resource(outer_base, name, node);
                }
                let is_anchor =
                    |anchor: &&str| self.draft.id_may_be_anchor() && !anchor.is_empty() && !anchor.starts_with('/');
                if let Some(anchor) = fragment.filter(is_anchor) {
                    self.anchors.entry((base, anchor.into())).or_insert((node, base));
                }
            }
            if object.get(Keyword::RecursiveAnchor).and_then(Node::as_bool) == Some(true) {
                *self.dynamic_anchor_counts.entry(String::new()).or_default() += 1;
            }
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(anchor) = text_of(keyword) {
                    if keyword == "$dynamicAnchor" {
                        *self.dynamic_anchor_counts.entry(anchor.clone().into_owned()).or_default() += 1;
                    }
                    self.anchors.entry((base, anchor.into_owned())).or_insert((node, base));
                }
            }
        }
        for keyword in KEYWORDS {
            let Some(value) = object.get(keyword) else { continue };
            let (Some(text), Some(number)) = (value.as_text().and_then(Text::value), value.origin().number()) else {
                continue;
            };
            self.references.push(Reference { number, base, text: text.into_owned(), is_dynamic: keyword != "$ref" });
        }
        base
    }

    fn register_resource(&mut self, outer_base: Base, name: &str, node: &'t Node<'a>) -> Base {
        let base = self.bases.len();
        let uri = self.absolute_uri(outer_base, name);
        self.resources.entry(uri.clone()).or_insert((node, base));
        if let Some(number) = node.origin().number() {
            self.embedded.insert(number, base);
        }
        self.bases.push(uri);
        base
    }

    fn absolute_uri(&self, base: Base, name: &str) -> String {
        let base = self.bases.get(base).map(String::as_str).unwrap_or_default();
        self.budget.pay(base.len() + name.len());
        uri::resolve(base, name)
    }

    fn find_target(&mut self, base: Base, reference: &str) -> Option<Target<'t, 'a>> {
        let (name, fragment) = uri::split_fragment(reference);
        let (resource, base) = if name.is_empty() {
            let uri = self.bases.get(base)?;
            *self.resources.get(uri)?
        } else {
            *self.resources.get(&self.absolute_uri(base, name))?
        };
        let fragment = uri::percent_decoded(fragment.unwrap_or_default())?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let (node, base) = self.anchors.get(&(base, fragment.into_owned())).copied()?;
            return Some(Target { node, base, is_outside: false, is_misnamed: false });
        }
        let mut target = Target { node: resource, base, is_outside: false, is_misnamed: false };
        let mut expected = Some(Expected::Schema);
        for (level, segment) in fragment.split('/').skip(1).enumerate() {
            let mut token = unescaped_token(segment);
            let mut child = self.child_at(target.node, &token);
            if let Some(table) = other_table(&token).filter(|_| level == 0 && child.is_none()) {
                token = table.into();
                target.is_misnamed = true;
                child = self.child_at(target.node, &token).filter(|table| table.as_object().is_some());
            }
            expected = expected.and_then(|expected| expected.nested(&token));
            target.node = child?;
            let base = target.node.origin().number().and_then(|number| self.embedded.get(&number));
            target.base = base.copied().unwrap_or(target.base);
        }
        target.is_outside = expected != Some(Expected::Schema);
        Some(target)
    }

    fn child_at(&mut self, node: &'t Node<'a>, token: &str) -> Option<&'t Node<'a>> {
        self.budget.pay(1 + token.len() / 8);
        match (node.data(), node.origin().number()) {
            (Data::Object(object), Some(number)) if object.len() > LINEAR_SEARCH_LIMIT => {
                let by_name =
                    || object.iter().filter_map(|member| Some((member.key.value()?.into_owned(), &member.value)));
                self.members_by_name.entry(number).or_insert_with(|| by_name().collect()).get(token).copied()
            }
            (Data::Object(object), _) => object.get(token),
            (Data::Array(items), _) => {
                let is_canonical = token == "0" || !token.starts_with('0');
                items.get(
                    token
                        .parse::<usize>()
                        .ok()
                        .filter(|_| is_canonical && token.bytes().all(|digit| digit.is_ascii_digit()))?,
                )
            }
            _ => None,
        }
    }
}

fn other_table(named: &str) -> Option<&'static str> {
    let [first, second] = TABLES;
    TABLES.contains(&named).then_some(if named == first { second } else { first })
}

/// Kind of value at a location, according to the keywords on its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Schema,
    /// An object whose members are schemas.
    Named,
    List,
    SchemaOrList,
}

impl Expected {
    fn nested(self, token: &str) -> Option<Expected> {
        let is_index = !token.is_empty() && token.bytes().all(|digit| digit.is_ascii_digit());
        match self {
            Expected::Named => Some(Expected::Schema),
            Expected::List | Expected::SchemaOrList if is_index => Some(Expected::Schema),
            Expected::List => None,
            Expected::Schema | Expected::SchemaOrList => {
                match Keyword::named(&Text::new(String::from(token)))?.subschemas() {
                    Subschemas::Value => None,
                    Subschemas::Schema => Some(Expected::Schema),
                    Subschemas::Schemas => Some(Expected::List),
                    Subschemas::SchemaOrSchemas => Some(Expected::SchemaOrList),
                    Subschemas::Named | Subschemas::NamedOrNames => Some(Expected::Named),
                }
            }
        }
    }
}

/// Finds a node by its number. Numbers follow document order, so a node is inside the last child with a number that is
/// not greater.
fn node_with_number<'s, 'a>(root: &'s Node<'a>, number: Number) -> Option<&'s Node<'a>> {
    let mut node = root;
    while node.origin().number()? != number {
        let comes_later =
            |inner: &&'s Node<'a>| inner.origin().number().is_none_or(|inner_number| inner_number > number);
        node = match node.data() {
            Data::Array(items) => items.iter().rfind(|inner| !comes_later(inner))?,
            Data::Object(object) => object.iter().map(|member| &member.value).rfind(|inner| !comes_later(inner))?,
            _ => return None,
        };
    }
    Some(node)
}

/// Like [`node_with_number`], but marks the enclosing nodes as changed. The budget pays for the search, because callers
/// look for many nodes.
pub(crate) fn node_with_number_mut<'s, 'a>(
    root: &'s mut Node<'a>,
    number: Number,
    budget: &Budget,
) -> Option<&'s mut Node<'a>> {
    let mut node = root;
    while node.origin().number()? != number {
        let comes_later = |inner: &Node<'a>| {
            !budget.pay(1) || inner.origin().number().is_none_or(|inner_number| inner_number > number)
        };
        node = match node.data_mut() {
            Data::Array(items) => items.iter_mut().rfind(|inner| !comes_later(inner))?,
            Data::Object(object) => {
                object.members_mut().iter_mut().map(|member| &mut member.value).rfind(|inner| !comes_later(inner))?
            }
            _ => return None,
        };
    }
    Some(node)
}

#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// For each of [`TABLES`], numbers by name. The root is 0; definitions are numbered in document order.
    definitions: [Map<String, Number>; TABLES.len()],
    /// Target of each reference.
    referenced_targets: Vec<Number>,
}

fn by_name(root: &Node<'_>, budget: &Budget) -> Result<References, Error> {
    let mut names = Names { definitions: TABLES.map(|_| Map::new()), referenced_targets: Vec::new() };
    let definitions =
        definitions_of(root).filter_map(|(table, member)| Some((table, member.key.value()?.into_owned())));
    for ((table, name), number) in definitions.zip(1..) {
        if let Some((_, numbers)) = TABLES.iter().zip(&mut names.definitions).find(|(known, _)| **known == table) {
            numbers.insert(name, number);
        }
    }
    visit::walk(budget, root, Keywords::ALL, &mut |schema, _| {
        let target = reference(schema).and_then(|reference| names.target(reference));
        names.referenced_targets.extend(target);
        Ok(Visit::Descend)
    })?;
    Ok(References::Written(names))
}

/// Returns the definitions in document order.
fn definitions_of<'n, 'a>(root: &'n Node<'a>) -> impl Iterator<Item = (&'static str, &'n Member<'a>)> {
    root.as_object().into_iter().flatten().flat_map(|member| {
        let table = TABLES.iter().find(|table| member.key.is(table));
        let entries = table.and_then(|_| member.value.as_object()).into_iter().flatten();
        entries.filter_map(move |entry| Some((*table?, entry)))
    })
}

impl Names {
    fn definition(&self, table: &str, name: &str) -> Option<Number> {
        let (_, numbers) = TABLES.iter().zip(&self.definitions).find(|(known, _)| **known == table)?;
        numbers.get(name).copied()
    }

    pub(crate) fn target(&self, reference: &Node<'_>) -> Option<Number> {
        let reference = reference.as_text().and_then(Text::value)?;
        let fragment = percent_decoded(reference.strip_prefix('#')?)?;
        if fragment.is_empty() {
            return Some(0);
        }
        let mut tokens = fragment.strip_prefix('/')?.split('/').map(unescaped_token);
        let (table, name) = (tokens.next()?, tokens.next()?);
        if tokens.next().is_some() {
            return None;
        }
        self.definition(&table, &name)
    }

    pub(crate) fn number_at(&self, path: &SchemaPath<'_, '_>) -> Option<Number> {
        let target = match path.pointer.steps() {
            [] => 0,
            [Step::Name(table), Step::Member(name)] => self.definition(table, &name.value()?)?,
            _ => return None,
        };
        Some(target)
    }

    pub(crate) fn target_node<'s, 'a>(&self, root: &'s Node<'a>, target: Number) -> Option<&'s Node<'a>> {
        match target.checked_sub(1) {
            None => Some(root),
            Some(before) => definitions_of(root).nth(before as usize).map(|(_, member)| &member.value),
        }
    }

    pub(crate) fn referenced_targets(&self) -> impl Iterator<Item = Number> + '_ {
        self.referenced_targets.iter().copied()
    }

    pub(crate) fn targets<'s, 'a>(&self, root: &'s Node<'a>, budget: &Budget) -> Map<Number, (&'s Node<'a>, String)> {
        let definitions = definitions_of(root).filter(|_| budget.pay(1)).filter_map(|(table, member)| {
            let mut pointer = String::from("/");
            pointer.push_str(table);
            json::push_token(&mut pointer, &member.key.display());
            Some((self.definition(table, &member.key.value()?)?, (&member.value, pointer)))
        });
        core::iter::once((0, (root, String::new()))).chain(definitions).collect()
    }
}
