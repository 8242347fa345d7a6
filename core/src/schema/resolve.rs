//! What each `$ref` refers to: pointers, anchors and embedded resources, by the numbers of the nodes as they were read.
//!
//! Resolution happens on the schema as it came, before anything moves; the numbers then find the nodes wherever they are.

use alloc::{string::String, vec::Vec};

use super::{
    draft::Draft,
    keyword::{Keyword, Keywords},
    reach, uri,
    walk::{self, Next},
};
use crate::{
    json::{Data, Node, Text},
    sorted::{Map, Set},
};

/// The number of a node as it was read.
pub(crate) type Number = u32;

/// Every reference of a schema that could be resolved: the number of the value of `$ref` (which survives when the schema around it
/// is joined with another), and of the node it refers to.
#[derive(Clone, Debug, Default)]
pub(crate) struct References {
    targets: Map<Number, Number>,
}

impl References {
    /// What the `$ref` whose value has this number refers to; `None` if it leads nowhere in this document.
    pub(crate) fn target(&self, of: Number) -> Option<Number> {
        self.targets.get(&of).copied()
    }

    /// Does no reference lead anywhere?
    pub(crate) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Every node that is referred to, once.
    pub(crate) fn all_targets(&self) -> impl Iterator<Item = Number> + '_ {
        self.targets.values().copied().collect::<Set<Number>>().into_iter()
    }

    /// What every reference refers to, one entry a reference.
    pub(crate) fn uses(&self) -> impl Iterator<Item = Number> + '_ {
        self.targets.values().copied()
    }
}

/// Resolves every `$ref` of a schema as it was read.
pub(crate) fn resolve(root: &Node<'_>, draft: Draft) -> References {
    let mut document = Document { resources: Map::new(), anchors: Map::new(), refs: Vec::new() };
    document.survey(root, draft);
    let mut targets = Map::new();
    for (number, base, reference) in &document.refs {
        if let Some(target) = document.find(base, reference) {
            targets.insert(*number, target);
        }
    }
    References { targets }
}

/// The number of a schema's reference: that of the value of its `$ref`.
pub(crate) fn reference_number(node: &Node<'_>) -> Option<Number> {
    node.get("$ref").filter(|reference| reference.as_text().is_some())?.origin().number()
}

/// Is there a key called `$ref` anywhere, whatever it means there? Quicker to tell than whether it is a reference.
pub(crate) fn mentions_references(root: &Node<'_>) -> bool {
    match root.data() {
        Data::Array(items) => items.iter().any(mentions_references),
        Data::Object(object) => object.iter().any(|member| member.key.is("$ref") || mentions_references(&member.value)),
        _ => false,
    }
}

/// Is there a `$ref` anywhere where a schema stands?
pub(crate) fn has_references(root: &Node<'_>) -> bool {
    let mut found = false;
    let _ = walk::visit(root, Keywords::ALL, &mut |node, _| {
        found = found || node.get("$ref").is_some_and(|reference| reference.as_text().is_some());
        Ok(if found { Next::Skip } else { Next::Into })
    });
    found
}

/// Is there a reference whose target is found by what stands around it, `$dynamicRef` or `$recursiveRef`? (They are not resolved.)
pub(crate) fn has_dynamic(root: &Node<'_>) -> bool {
    let mut found = false;
    let _ = walk::visit(root, Keywords::ALL, &mut |node, _| {
        found = found || ["$dynamicRef", "$recursiveRef"].iter().any(|keyword| node.get(keyword).is_some());
        Ok(if found { Next::Skip } else { Next::Into })
    });
    found
}

struct Document<'t, 'a> {
    /// Embedded resources (and the root) by their URIs.
    resources: Map<String, &'t Node<'a>>,
    /// Named places by resource and name.
    anchors: Map<(String, String), Number>,
    /// Number, base and text of every reference.
    refs: Vec<(Number, String, String)>,
}

impl<'t, 'a> Document<'t, 'a> {
    fn survey(&mut self, root: &'t Node<'a>, draft: Draft) {
        self.resources.insert(String::new(), root);
        self.schema(root, String::new(), draft);
    }

    /// Notes what a schema and the schemas in it name and refer to. Goes where schemas stand, by the keyword table, because
    /// an `$id` inside an `enum` is no identifier.
    fn schema(&mut self, node: &'t Node<'a>, base: String, draft: Draft) {
        match node.data() {
            Data::Array(items) => items.iter().for_each(|item| self.schema(item, base.clone(), draft)),
            Data::Object(object) => {
                let word = |keyword: &str| object.get(keyword).and_then(Node::as_text).and_then(Text::value);
                let reference = word("$ref");
                let mut base = base;
                // Beside `$ref` old drafts see nothing, `$id` included.
                if !(draft.ref_stands_alone() && reference.is_some()) {
                    if let Some(id) = word("$id").or_else(|| if draft == Draft::Four { word("id") } else { None }) {
                        let (name, fragment) = uri::split_fragment(&id);
                        if !name.is_empty() {
                            base = uri::resolve(&base, name);
                            self.resources.entry(base.clone()).or_insert(node);
                        }
                        if let Some(anchor) =
                            fragment.filter(|anchor| draft.id_may_be_anchor() && !anchor.is_empty() && !anchor.starts_with('/'))
                        {
                            self.name(&base, anchor, node);
                        }
                    }
                    for keyword in ["$anchor", "$dynamicAnchor"] {
                        if let Some(anchor) = word(keyword) {
                            self.name(&base, &anchor, node);
                        }
                    }
                }
                if let (Some(reference), Some(number)) = (reference, reference_number(node)) {
                    self.refs.push((number, base.clone(), reference.into_owned()));
                }
                for member in object {
                    let Some(keyword) = Keyword::named(&member.key) else { continue };
                    walk::schemas_under(keyword, &member.value, &mut |schema| self.schema(schema, base.clone(), draft));
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, base: &str, anchor: &str, node: &Node<'_>) {
        if let Some(number) = node.origin().number() {
            self.anchors.entry((base.into(), anchor.into())).or_insert(number);
        }
    }

    fn find(&self, base: &str, reference: &str) -> Option<Number> {
        let (name, fragment) = uri::split_fragment(reference);
        let resource = uri::resolve(base, name);
        let fragment = reach::percent_decoded(fragment.unwrap_or_default())?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.anchors.get(&(resource, fragment.into_owned())).copied();
        }
        let mut node = *self.resources.get(&resource)?;
        for spelled in fragment.split('/').skip(1) {
            node = child(node, &reach::token(spelled))?;
        }
        node.origin().number()
    }
}

/// One step of a JSON Pointer.
fn child<'t, 'a>(node: &'t Node<'a>, token: &str) -> Option<&'t Node<'a>> {
    match node.data() {
        Data::Object(object) => object.get(token),
        Data::Array(items) => {
            let canonical = token == "0" || !token.starts_with('0');
            items.get(token.parse::<usize>().ok().filter(|_| canonical && token.bytes().all(|digit| digit.is_ascii_digit()))?)
        }
        _ => None,
    }
}
