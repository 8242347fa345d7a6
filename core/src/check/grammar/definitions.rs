//! Checks `$defs`: a table of schemas in which neither names nor keys may need escapes in a reference.

use super::{is_schema_value, quoted, seen, Report, Schema};
use crate::{
    json::{push_token, Data, Node, Pointer, Step},
    rules::Constraint,
    schema::keyword::Keyword,
};

pub(super) fn check(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let Some(table) = value.as_object() else {
        report.add(value, Constraint::DefsNotObject, schema.at("$defs"), "an object of schemas", value.kind());
        return;
    };
    // A table inside a definition was already searched for slashes together with that definition.
    let is_inside = schema.pointer.steps().contains(&Step::Name(Keyword::Defs.name()));
    let no_slash = report.grammar.refs.no_slash_in_definitions && !is_inside;
    for member in table {
        let mut pointer = schema.at("$defs");
        push_token(&mut pointer, &member.key.display());
        if member.key.is_empty() && !report.grammar.refs.anywhere {
            report.add(&member.value, Constraint::DefinitionName, pointer.clone(), "a name", "an empty one");
        } else if no_slash && member.key.display().contains('/') {
            report.add(
                &member.value,
                Constraint::DefinitionName,
                pointer.clone(),
                "a name without `/`",
                &quoted(&member.key),
            );
        }
        if !is_schema_value(&member.value, report.grammar) {
            report.add(&member.value, Constraint::NotASchema, pointer, "a schema (an object)", &seen(&member.value));
        } else if no_slash {
            let mut inside = schema.pointer.clone();
            inside.push(Step::Name(Keyword::Defs.name()));
            inside.push(Step::Member(member.key.clone()));
            slashes(&member.value, &mut inside, report);
        }
    }
}

/// Reports slashes in keys of objects, of nested objects, and of objects in lists, whether or not they are schemas.
fn slashes<'a>(value: &Node<'a>, pointer: &mut Pointer<'a>, report: &mut Report<'_>) {
    for member in value.as_object().into_iter().flatten() {
        pointer.push(Step::Member(member.key.clone()));
        if member.key.display().contains('/') {
            let (expected, found) = ("no `/` in any key inside a definition", quoted(&member.key));
            report.add(&member.value, Constraint::SlashInDefinition, pointer.render(), expected, &found);
        }
        match member.value.data() {
            Data::Object(_) => slashes(&member.value, pointer, report),
            // Lists within lists are not searched.
            Data::Array(items) => {
                for (index, item) in items.iter().enumerate().filter(|(_, item)| item.as_object().is_some()) {
                    pointer.push(Step::Index(index));
                    slashes(item, pointer, report);
                    pointer.pop();
                }
            }
            _ => {}
        }
        pointer.pop();
    }
}
