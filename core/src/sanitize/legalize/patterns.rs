//! Respells regular expressions for the API's engine.
//!
//! Replaces `patternProperties` with `additionalProperties`, if the grammar refuses the former and encodes maps: the
//! schemas of the patterns then apply to all names that are not in `properties`. This prevents the error
//! ``'patternProperties' is not permitted``, and keeps a schema for the values of a map.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    dialect::grammar::PatternRule,
    effect::{Accepts, Guidance},
    json::{self, Data, Member, Node, Object, Text},
    options::Hints,
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        keyword::Keyword,
        regex,
        regex_engines::{self, Reading},
        visit::SchemaPath,
    },
};

const RESPELL: ChangeKind = ChangeKind::of(Rule::RespellPattern);

pub(super) fn compiles(pattern: &Text<'_>, rule: PatternRule) -> bool {
    let uses = || regex::uses(&pattern.display());
    match rule {
        PatternRule::Any => true,
        PatternRule::Python => uses().not_python.is_none(),
        PatternRule::Unicode => uses().not_unicode.is_none(),
        PatternRule::Regular => uses().not_python.or(uses().not_regular).is_none(),
        PatternRule::Gbnf => !matches!(regex_engines::gbnf_reading(&pattern.display()), Reading::Refused(_)),
        PatternRule::Whole => {
            uses().not_python.or(uses().not_regular).is_none() && regex_engines::is_whole(&pattern.display())
        }
        PatternRule::Unanchored => {
            uses().not_python.or(uses().not_regular).is_none() && !regex_engines::is_anchored(&pattern.display())
        }
    }
}

/// Respells the patterns of a keyword for the API's engine. Returns false if no spelling works.
pub(super) fn respell<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    name: &str,
    value: &Node<'a>,
    context: &mut PassContext,
) -> bool {
    let rule = context.grammar.patterns;
    let respelled = match (value.as_text(), value.as_object()) {
        (Some(pattern), _) => respell_pattern(pattern, rule).map(Data::String),
        (None, Some(table)) => {
            let (mut renamed, mut keys) = (Vec::new(), Set::new());
            for member in table {
                let key = if compiles(&member.key, rule) {
                    Some(member.key.clone())
                } else {
                    respell_pattern(&member.key, rule)
                };
                match key.filter(|key| keys.insert(key.clone())) {
                    Some(key) => renamed.push(Member { key, value: member.value.copy(&context.budget) }),
                    None => return false,
                }
            }
            Some(Data::Object(Object::from_unique(renamed)))
        }
        _ => None,
    };
    let Some(respelled) = respelled else { return false };
    // An engine that searches for a match accepts more without the anchors.
    let effect = match (rule, value.as_text()) {
        (PatternRule::Unanchored, Some(_)) => RESPELL.accepts(Accepts::Wider),
        // A name that newly matches is checked against the schema of the pattern.
        (PatternRule::Unanchored, None) => RESPELL.accepts(Accepts::Mixed),
        _ => RESPELL,
    };
    let location = Location::under(node, String::from(name));
    context.diagnostics.report(path, location.in_place(), effect, || {
        let how = match rule {
            PatternRule::Whole => "for this API, which matches the whole string",
            PatternRule::Unanchored => "without anchors, because this API always matches the whole string",
            _ => "with escapes that this API knows",
        };
        format!("rewrote `{name}` {how}")
    });
    node.visit(name, |value| value.replace(respelled));
    true
}

fn respell_pattern<'a>(pattern: &Text<'_>, rule: PatternRule) -> Option<Text<'a>> {
    let text = pattern.display();
    let plain = regex::with_plain_hyphens(&text);
    let text = plain.as_deref().unwrap_or(&text);
    let uses = regex::uses(text);
    // A pattern that no engine compiles may compile as part of another one.
    if uses.not_python.is_some() || (uses.not_regular.is_some() && rule != PatternRule::Python) {
        return None;
    }
    let spelled = match rule {
        PatternRule::Whole => regex_engines::anchored_pattern(text),
        PatternRule::Unanchored => regex_engines::unanchored_pattern(text),
        PatternRule::Python | PatternRule::Regular => plain,
        PatternRule::Any | PatternRule::Unicode | PatternRule::Gbnf => None,
    };
    spelled.map(Text::new).filter(|known| compiles(known, rule))
}

const TO_ADDITIONAL: ChangeKind = ChangeKind::of(Rule::PatternsToAdditional);

const ALL_NAMES: [&str; 6] = ["", "^", ".*", "^.*", "^.*$", "^(.*)$"];

pub(crate) fn to_additional_properties<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if !context.grammar.encodes() || !context.grammar.refuses.contains(Keyword::PatternProperties) {
        return;
    }
    let Some(object) = node.as_object() else { return };
    let Some(patterns) = object.object_at(Keyword::PatternProperties).filter(|table| !table.is_empty()) else {
        return;
    };
    let matches_all_names = patterns.iter().any(|member| ALL_NAMES.iter().any(|pattern| member.key.is(pattern)));
    let additional = object.get(Keyword::AdditionalProperties);
    let has_properties = object.object_at(Keyword::Properties).is_some_and(|table| !table.is_empty());
    let is_closed = additional.and_then(Node::as_bool) == Some(false);
    // Schema for names that match no pattern, unless a pattern matches every name.
    let unmatched_schema = additional
        .filter(|schema| schema.as_object().is_some_and(|object| !object.is_empty()))
        .filter(|_| !matches_all_names);
    let accepts = match (matches_all_names && patterns.len() == 1, has_properties) {
        (true, false) => Accepts::Same,
        (true, true) => Accepts::Wider,
        // Names that match no pattern were unconstrained or forbidden, and now get the schema of the patterns. A name
        // that matches several patterns had to satisfy all of them.
        (false, false) if additional.is_none() && patterns.len() == 1 => Accepts::Narrower,
        (false, _) if additional.is_none() => Accepts::Mixed,
        (false, _) => Accepts::Wider,
    };
    if !is_closed && additional.is_some() && unmatched_schema.is_none() && !matches_all_names {
        // Names that match no pattern may have any value, which one schema for all names would forbid.
        return;
    }
    let names: Vec<Node<'a>> = patterns.iter().map(|member| Node::string(member.key.clone())).collect();
    let mut schemas: Vec<Node<'a>> = Vec::new();
    let mut seen: Set<String> = Set::new();
    for schema in patterns.iter().map(|member| &member.value).chain(unmatched_schema) {
        if seen.insert(json::canonical(schema)) {
            schemas.push(schema.copy(&context.budget));
        }
    }
    let is_described = !matches_all_names && context.hints == Hints::Describe;
    let guidance = match (matches_all_names, is_described) {
        (true, _) => Guidance::Same,
        (false, true) => Guidance::Moved,
        (false, false) => Guidance::Lost,
    };
    let location = Location::under(node, "patternProperties");
    let to = Location::under(node, "additionalProperties");
    context.diagnostics.report(path, location.to(to), TO_ADDITIONAL.accepts(accepts).guidance(guidance), || {
        let displayed: Vec<String> =
            names.iter().filter_map(Node::as_text).map(|name| format!("`{}`", name.display())).collect();
        format!("replaced `patternProperties` ({}) with `additionalProperties`", displayed.join(", "))
    });
    let schema = match (schemas.len(), schemas.pop()) {
        (1, Some(schema)) => schema,
        (_, last) => {
            schemas.extend(last);
            Node::record([("anyOf", Node::array(core::mem::take(&mut schemas)))])
        }
    };
    if let Some(object) = node.as_object_mut() {
        object.remove(Keyword::PatternProperties);
        object.set(Text::literal("additionalProperties"), schema);
    }
    if is_described {
        let mut names = names;
        let pattern = match names.pop() {
            Some(name) if names.is_empty() => name,
            last => {
                names.extend(last);
                Node::new(Data::Array(names))
            }
        };
        description::append(node, &[("patternProperties", &pattern)]);
    }
}
