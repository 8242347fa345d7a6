//! Repairs of encoded arguments: first as they were sent, then, their encoding undone, by the tool's own schema. One
//! report tells of both: where a value stood as the model answered it, and where it stands in the result.
//!
//! Undoing an encoding moves values and renames them, and keeps their numbers: by those they are found again.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    collections::{Map, Set},
    error::Error,
    json::{self, Data, Node},
    options::RepairOptions,
    repair::{self, Answered},
    report::{Repair, Repaired},
    sanitize::decode::Plan,
    schema::validate::Validator,
};

/// Undoes the encoding of arguments that were repaired as they were sent, and repairs what came of it. Where neither
/// repairs anything, `changed` is false.
///
/// # Errors
/// `budget-exceeded`, which only a plan from elsewhere can come to.
pub(super) fn repair<'n>(
    first: Repaired<Node<'n>>,
    plan: &Plan,
    own: &Validator<'_, '_>,
    options: &RepairOptions,
) -> Result<Repaired<Node<'n>>, Error> {
    let mut sent = first.arguments.detached();
    sent.number_in_order();
    let mut restored = sent.clone();
    plan.restore(&mut restored)?;
    let before = restored.clone();
    let Ok(second) = repair::repair(own, Answered::Value(restored), options) else {
        // A string at the root, which is no arguments in either form.
        let arguments = first.arguments.detached();
        return Ok(Repaired { arguments, ..first });
    };
    let repairs = joined(first.repairs, second.repairs, &sent, &before);
    // What the model reads should speak of what the model was told.
    let retry_message = second.retry_message.map(|own| first.retry_message.unwrap_or(own));
    Ok(Repaired {
        arguments: second.arguments.detached(),
        changed: first.changed || second.changed,
        valid: second.valid,
        repairs,
        left: second.left,
        retry_message,
    })
}

/// Both lists as one. `sent` is what the first left, `restored` the same without its encoding.
fn joined(first: Vec<Repair>, second: Vec<Repair>, sent: &Node<'_>, restored: &Node<'_>) -> Vec<Repair> {
    if first.is_empty() && second.is_empty() {
        return first;
    }
    let mut outputs: Set<&str> = first.iter().filter_map(|repair| repair.output_pointer.as_deref()).collect();
    let mut numbers = Map::new();
    let mut texts = Set::new();
    each(sent, &Set::new(), &mut |pointer, node| {
        let Some(number) = node.origin().number() else { return };
        if node.as_text().is_some() {
            texts.insert(number);
        }
        if outputs.remove(pointer) {
            numbers.insert(pointer.to_string(), number);
        }
    });
    let inputs: Set<&str> = second.iter().map(|repair| repair.pointer.as_str()).collect();
    let wanted: Set<u32> = numbers.values().copied().collect();
    let (mut after, mut sources) = (Map::new(), Map::new());
    each(restored, &texts, &mut |pointer, node| {
        let Some(number) = node.origin().number() else { return };
        if wanted.contains(&number) {
            after.entry(number).or_insert_with(|| pointer.to_string());
        }
        if inputs.contains(pointer) {
            sources.insert(pointer.to_string(), number);
        }
    });
    let wanted: Set<u32> = sources.values().copied().collect();
    let mut origins = Map::new();
    each(sent, &Set::new(), &mut |pointer, node| {
        if let Some(number) = node.origin().number().filter(|number| wanted.contains(number)) {
            origins.insert(number, pointer.to_string());
        }
    });
    let answered = moves(first.iter().filter_map(|repair| Some((repair.output_pointer.as_ref()?, &repair.pointer))));
    let settled = moves(second.iter().filter_map(|repair| Some((&repair.pointer, repair.output_pointer.as_ref()?))));
    let first = first.into_iter().map(|repair| {
        let output = repair.output_pointer.as_ref().and_then(|pointer| after.get(numbers.get(pointer)?));
        let output_pointer = output.map(|pointer| moved(pointer, &settled));
        Repair { output_pointer, ..repair }
    });
    let second = second.into_iter().map(|repair| {
        let source = sources.get(&repair.pointer).and_then(|number| origins.get(number));
        let pointer = source.map_or_else(|| repair.pointer.clone(), |pointer| moved(pointer, &answered));
        Repair { pointer, ..repair }
    });
    // They borrow from each other until here.
    let first: Vec<Repair> = first.collect();
    first.into_iter().chain(second).collect()
}

/// The places that a list of repairs has moved values from, with those they stand at now.
fn moves<'r>(pairs: impl Iterator<Item = (&'r String, &'r String)>) -> Map<String, String> {
    pairs.filter(|(from, to)| from != to).map(|(from, to)| (from.clone(), to.clone())).collect()
}

/// A place after the values around it have moved.
fn moved(pointer: &str, moves: &Map<String, String>) -> String {
    let ends = core::iter::once(pointer.len()).chain(pointer.rmatch_indices('/').map(|(end, _)| end));
    for end in ends {
        let (above, below) = pointer.split_at(end);
        if let Some(above) = moves.get(above) {
            return above.clone() + below;
        }
    }
    pointer.to_string()
}

/// Shows every value of a tree with its place, but not what was read from the text of one of these.
fn each<'n, 'a>(root: &'n Node<'a>, texts: &Set<u32>, visit: &mut dyn FnMut(&str, &'n Node<'a>)) {
    let mut open: Vec<(&Node<'a>, usize, Option<String>)> = Vec::from([(root, 0, None)]);
    let mut pointer = String::new();
    while let Some((node, length, token)) = open.pop() {
        pointer.truncate(length);
        if let Some(token) = token {
            json::push_token(&mut pointer, &token);
        }
        visit(&pointer, node);
        if node.origin().number().is_some_and(|number| texts.contains(&number)) {
            continue;
        }
        let length = pointer.len();
        match node.data() {
            Data::Array(items) => {
                let items = items.iter().enumerate().rev();
                open.extend(items.map(|(index, item)| (item, length, Some(index.to_string()))));
            }
            Data::Object(object) => {
                let members: Vec<_> = object.iter().collect();
                let token = |name: &json::Text<'_>| Some(name.display().into_owned());
                open.extend(members.iter().rev().map(|member| (&member.value, length, token(&member.key))));
            }
            _ => {}
        }
    }
}
