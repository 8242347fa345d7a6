//! Moves a schema that is one level too deep or too high.

use alloc::{format, string::String};

use crate::{
    json::{Data, Node, Text},
    rules::Rule,
    sanitize::diagnostics::{ChangeKind, Diagnostics, Location},
    schema::{
        keyword::Keyword,
        misplaced::{misplaced, Misplaced},
        visit::Polarity,
    },
};

const UNWRAP: ChangeKind = ChangeKind::of(Rule::UnwrapSchema);

/// Replaces a wrapper at the root with the schema in it, and a map of properties with a schema with these properties.
///
/// The description of the wrapper is kept if the schema has none. References are resolved afterwards, because they
/// point into the schema that the author meant.
pub(crate) fn unwrap(root: &mut Node<'_>, diagnostics: &mut Diagnostics) {
    let Some(found) = misplaced(root) else { return };
    let to = match found {
        Misplaced::Wrapped(_) => Location::of(root),
        Misplaced::Properties => Location::under(root, "properties"),
    };
    let from = match found {
        Misplaced::Wrapped(name) => Location::under(root, name),
        Misplaced::Properties => Location::of(root),
    };
    diagnostics.report(Polarity::Positive, from.to(to), UNWRAP, || match found {
        Misplaced::Wrapped(name) => format!("replaced the wrapper with the schema under `{name}`"),
        Misplaced::Properties => String::from("moved a map of properties under `properties`"),
    });
    let Some(object) = root.as_object_mut() else { return };
    match found {
        Misplaced::Wrapped(name) => {
            let description = object.remove(Keyword::Description).filter(|text| text.as_text().is_some());
            let Some(Data::Object(mut inner)) = object.remove(name).map(Node::into_data) else { return };
            if let Some(description) = description.filter(|_| !inner.has(Keyword::Description)) {
                inner.set(Text::literal("description"), description);
            }
            *object = inner;
        }
        Misplaced::Properties => {
            let properties = core::mem::take(object);
            object.set(Text::literal("type"), Node::literal("object"));
            object.set(Text::literal("properties"), Node::object(properties));
        }
    }
}
