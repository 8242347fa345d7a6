//! Respells regular expressions for the API's engine.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    dialect::grammar::PatternRule,
    json::{Data, Member, Node, Object, Text},
    report::Accepts,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        regex,
        regex_engines::{self, Reading},
        visit::SchemaPath,
    },
};

const RESPELL: ChangeKind = ChangeKind::of(Rule::RespellPattern);

/// True if the API's engine compiles a pattern and reads it correctly.
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

/// Respells a pattern, or the keys of `patternProperties`, if the API's engine reads them differently. Returns false if
/// no spelling works.
pub(super) fn respell<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    name: &str,
    value: &Node<'a>,
    context: &mut PassContext,
) -> bool {
    let rule = context.grammar.patterns;
    let spelled = match (value.as_text(), value.as_object()) {
        (Some(pattern), _) => respelled(pattern, rule).map(Data::String),
        (None, Some(table)) => {
            let (mut renamed, mut keys) = (Vec::new(), Set::new());
            for member in table {
                let key =
                    if compiles(&member.key, rule) { Some(member.key.clone()) } else { respelled(&member.key, rule) };
                match key.filter(|key| keys.insert(key.clone())) {
                    Some(key) => renamed.push(Member { key, value: member.value.copy(&context.budget) }),
                    None => return false,
                }
            }
            Some(Data::Object(Object::from_unique(renamed)))
        }
        _ => None,
    };
    let Some(spelled) = spelled else { return false };
    // An engine that searches for a match accepts more without the anchors.
    let effect = match (rule, value.as_text()) {
        (PatternRule::Unanchored, Some(_)) => RESPELL.accepts(Accepts::Wider),
        // A name that newly matches is checked against the schema of the pattern.
        (PatternRule::Unanchored, None) => RESPELL.accepts(Accepts::Mixed),
        _ => RESPELL,
    };
    let location = Location::under(node, String::from(name));
    context.diagnostics.report(place, location.in_place(), effect, || {
        let how = match rule {
            PatternRule::Whole => "for this API, which matches the whole string",
            PatternRule::Unanchored => "without anchors, because this API always matches the whole string",
            _ => "with escapes that this API knows",
        };
        format!("rewrote `{name}` {how}")
    });
    node.visit(name, |value| value.replace(spelled));
    true
}

/// Returns an equivalent pattern that the API's engine reads correctly.
fn respelled<'a>(pattern: &Text<'_>, rule: PatternRule) -> Option<Text<'a>> {
    let text = pattern.display();
    let plain = regex::with_plain_hyphens(&text);
    let text = plain.as_deref().unwrap_or(&text);
    let uses = regex::uses(text);
    // A pattern that no engine compiles may compile as part of another one.
    if uses.not_python.is_some() || (uses.not_regular.is_some() && rule != PatternRule::Python) {
        return None;
    }
    let spelled = match rule {
        PatternRule::Whole => regex_engines::whole(text),
        PatternRule::Unanchored => regex_engines::unanchored(text),
        PatternRule::Python | PatternRule::Regular => plain,
        PatternRule::Any | PatternRule::Unicode | PatternRule::Gbnf => None,
    };
    spelled.map(Text::new).filter(|known| compiles(known, rule))
}
