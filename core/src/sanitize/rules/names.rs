//! Property names that the grammar takes for keywords: renamed everywhere, and brought back by `restore_arguments`.

use alloc::{format, string::String};

use super::{
    notes::{Effect, Spot},
    Rules,
};
use crate::{
    dialect::grammar::NameRule,
    json::{Data, Node, Object, Text},
    schema::walk::Place,
};

/// Names under which properties are named: tables by their keys, lists by their items.
const TABLES: [&str; 3] = ["properties", "dependentRequired", "dependentSchemas"];

/// The name that stands for a reserved one: the first free one of `x_`, `x__`, … with `$` spelled out.
///
/// It depends on the name alone, so that `restore_arguments` finds it again without the schema that was written.
pub(crate) fn stand_in(rule: NameRule, name: &str) -> Option<String> {
    rule.reserved.contains(&name).then(|| format!("{}_", name.replace('$', "dollar_")))
}

/// Renames properties of one schema, wherever it names them.
pub(super) fn rename<'a>(node: &mut Node<'a>, place: &Place<'_, 'a>, rules: &mut Rules) {
    let rule = rules.grammar.names;
    let reserved = |name: &Text<'_>| name.value().and_then(|name| stand_in(rule, &name));
    let Some(object) = node.as_object() else { return };
    let is_table_affected = |table: Option<&Node<'_>>| {
        table.and_then(Node::as_object).is_some_and(|table| {
            table.iter().any(|member| reserved(&member.key).is_some() || lists_reserved(&member.value, &reserved))
        })
    };
    let affected = TABLES.iter().any(|keyword| is_table_affected(object.get(keyword)))
        || object.get("required").is_some_and(|names| lists_reserved(names, &reserved));
    if !affected {
        return;
    }
    if let Some(properties) = object.get("properties").and_then(Node::as_object) {
        for member in properties {
            let Some(new) = reserved(&member.key) else { continue };
            let old = member.key.display().into_owned();
            let effect = Effect { encoded: true, ..Effect::same("rename-property") };
            let spot = Spot::of(&member.value);
            rules.notes.note(place.position, spot.clone(), spot, effect, || format!("renamed the property `{old}` to `{new}`"));
        }
    }
    for keyword in TABLES {
        node.visit(keyword, |table| {
            let Some(members) = table.as_object().filter(|_| is_table_affected(Some(table))) else { return };
            let names: alloc::collections::BTreeSet<String> =
                members.iter().filter_map(|member| member.key.value().map(|name| name.into_owned())).collect();
            for member in table.as_object_mut().into_iter().flat_map(Object::members_mut) {
                if let Some(new) = reserved(&member.key).filter(|new| !names.contains(new)) {
                    member.key = Text::new(new);
                }
                rename_list(&mut member.value, &reserved);
            }
        });
    }
    node.visit("required", |names| rename_list(names, &reserved));
}

fn lists_reserved(list: &Node<'_>, reserved: &dyn Fn(&Text<'_>) -> Option<String>) -> bool {
    list.as_array().is_some_and(|names| names.iter().filter_map(Node::as_text).any(|name| reserved(name).is_some()))
}

fn rename_list<'a>(list: &mut Node<'a>, reserved: &dyn Fn(&Text<'_>) -> Option<String>) {
    if !lists_reserved(list, reserved) {
        return;
    }
    for name in list.as_array_mut().into_iter().flatten() {
        if let Some(new) = name.as_text().and_then(|name| reserved(name)) {
            name.replace(Data::String(Text::new(new)));
        }
    }
}
