//! Recognizes requests that no step would change, without parsing them: requests without tools, calls and response
//! formats.

use alloc::{string::String, vec::Vec};

use super::endpoint;
use crate::{
    dialect::{
        backends,
        requests::Refusal,
        rule::{Location, Refused, When},
    },
    json::{skim, Flags, Skimmed, Text},
    options::Api,
    request::prefilter,
    wire::{self, responses::answer::ANSWER_ID, routes::Part},
};

/// Facts about a request, found from its strings.
pub(crate) struct Outline {
    pub(crate) model: Option<String>,
    /// True if an API of the request's format can receive the request unchanged, and the reply needs no restoring.
    pub(crate) is_plain: bool,
}

/// Members that no step changes in a request without tools and response formats. No API refuses these members for every
/// model; a test compares them with the facts.
const PLAIN: &[&str] = &[
    "model",
    "stream",
    "stream_options",
    "temperature",
    "top_p",
    "top_k",
    "n",
    "stop",
    "stop_sequences",
    "presence_penalty",
    "system",
    "instructions",
];

fn is_plain_member(api: Api, name: &str) -> bool {
    let wire = wire::of(api);
    name == wire.history() || PLAIN.iter().chain(wire.unchanged_members()).any(|plain| *plain == name)
}

/// Returns true if a rule of any API concerns a member, in requests to this model with these members. `numbers`
/// contains the members that are numbers, with their text.
fn is_ruled(api: Api, model: &str, (name, members, numbers): (&str, &[String], &[(String, &str)])) -> bool {
    let of_hosts = backends::BACKENDS.iter().flat_map(backends::Backend::facts);
    let mut facts = crate::dialects().iter().flat_map(|dialect| dialect.requests()).chain(of_hosts);
    facts.any(|fact| match &fact.refuses {
        Refusal::Rule(rule) => {
            let is_about = matches!(rule.at, Location::Request([member, ..]) if *member == name);
            let is_met = match rule.refuses {
                Refused::Above(maximum) => numbers.iter().any(|(of, number)| of == name && is_above(number, maximum)),
                _ => true,
            };
            is_about
                && is_met
                && rule.concerns(api, model)
                && rule.when.iter().all(|condition| may_hold(condition, members))
        }
        _ => false,
    })
}

fn is_above(number: &str, maximum: &str) -> bool {
    let value = |text: &str| text.parse::<f64>().ok();
    value(number).zip(value(maximum)).is_none_or(|(number, maximum)| number > maximum)
}

fn may_hold(condition: &When, members: &[String]) -> bool {
    match condition {
        When::Has([name, ..]) | When::Is([name, ..], _) => members.iter().any(|member| member == name),
        _ => true,
    }
}

fn concerns_no_step(api: Option<Api>, text: &Text<'_>) -> bool {
    let accepted_flags = api.map_or(Flags::NONE, |api| wire::of(api).accepted_flags());
    prefilter::of(text).without(accepted_flags) == Flags::NONE && !text.chars().starts_with(ANSWER_ID)
}

/// Returns `None` if the request has to be parsed: it may not be an object, or has several models.
pub(crate) fn outline(url: &str, body: &str) -> Option<Outline> {
    let is_body = |part: &Part| part.at.is_empty() && part.requires.is_none();
    let endpoint = endpoint::of(url).filter(|endpoint| endpoint.route.parts.iter().all(is_body));
    let api = endpoint.map(|endpoint| endpoint.api());
    let (mut model, mut models, mut is_model) = (None, 0, false);
    // A history is a list or a string.
    let (mut is_plain, mut has_history, mut is_history) = (api.is_some(), false, false);
    let (mut members, mut numbers): (Vec<String>, Vec<(String, &str)>) = (Vec::new(), Vec::new());
    let is_object = skim(body, |part| {
        match part {
            Skimmed::Member(name) => {
                is_model = name.is("model");
                models += usize::from(is_model);
                if let Some(api) = api.filter(|_| is_plain) {
                    let name = name.display();
                    // `members` cannot become longer than the list of plain members.
                    is_plain = is_plain_member(api, &name) && !members.iter().any(|known| *known == name);
                    is_history = name == wire::of(api).history();
                    members.extend(is_plain.then(|| name.into_owned()));
                }
            }
            Skimmed::List => has_history |= is_history,
            Skimmed::Number(number) => {
                numbers.extend(members.last().filter(|_| is_plain).map(|name| (name.clone(), number)));
            }
            Skimmed::Value(text) => {
                has_history |= is_history;
                if is_model {
                    model = Some(text.display().into_owned());
                }
                is_plain = is_plain && concerns_no_step(api, &text);
            }
            Skimmed::Inner(text) => is_plain = is_plain && concerns_no_step(api, &text),
        }
        models < 2
    });
    // Routers prefix the name with the vendor.
    let lower = model.as_deref().and_then(|model| model.rsplit('/').next()).unwrap_or_default().to_lowercase();
    let is_ruled = |name: &String| api.is_some_and(|api| is_ruled(api, &lower, (name, &members, &numbers)));
    let is_plain = is_plain && has_history && !members.iter().any(is_ruled);
    is_object.then_some(Outline { model, is_plain })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::models::Models;

    #[test]
    fn no_fact_concerns_a_plain_member() {
        let facts = crate::dialects().iter().flat_map(|dialect| dialect.requests());
        for fact in facts {
            let Refusal::Rule(rule) = fact.refuses else { continue };
            let Location::Request([name, ..]) = rule.at else { continue };
            let is_of_all = rule.models == Models::All && rule.when.iter().all(|condition| may_hold(condition, &[]));
            assert!(!is_of_all || rule.apis.iter().all(|api| !is_plain_member(*api, name)), "{name}");
        }
    }

    #[test]
    fn a_maximum_concerns_greater_numbers_only() {
        let url = "https://api.example.com/v1/messages";
        let is_plain = |limit: &str| {
            let messages = r#""messages":[{"role":"user","content":"a"}]"#;
            let body = alloc::format!(r#"{{"model":"claude-opus-4-5",{limit},{messages}}}"#);
            outline(url, &body).is_some_and(|outline| outline.is_plain)
        };
        assert!(is_plain(r#""max_tokens":64000"#) && !is_plain(r#""max_tokens":64001"#));
        assert!(!is_plain(r#""max_tokens":9,"max_tokens":64001"#) && !is_plain(r#""max_tokens":9e4"#));
    }

    /// The members of a request do not show rules about parts.
    #[test]
    fn parts_with_a_rule_are_not_plain() {
        let url = "https://api.example.com/v1/messages";
        let system = r#"[{"type":"text","text":"s","cache_control":{"type":"ephemeral","scope":"global"}}]"#;
        let body = |system: &str| {
            alloc::format!(r#"{{"model":"m","system":{system},"messages":[{{"role":"user","content":"a"}}]}}"#)
        };
        let is_plain = |system: &str| outline(url, &body(system)).is_some_and(|outline| outline.is_plain);
        assert!(is_plain("\"s\"") && !is_plain(system));
    }

    #[test]
    fn plain_requests_have_only_text() {
        let url = "https://api.example.com/v1/chat/completions";
        let plain = |members: &str| {
            let body = alloc::format!(r#"{{"model":"m","messages":[{{"role":"user","content":"a"}}]{members}}}"#);
            outline(url, &body).map(|outline| (outline.model, outline.is_plain))
        };
        let model = || Some(String::from("m"));
        assert_eq!(plain(""), Some((model(), true)));
        assert_eq!(plain(r#","stop":["tools of"],"n":1"#), Some((model(), true)));
        for members in [
            r#","tools":[]"#,
            r#","response_format":{"type":"text"}"#,
            r#","max_tokens":1"#,
            r#","stop":"\u0074ools""#,
            r#","user":"tool_search_tool_bm25""#,
        ] {
            assert_eq!(plain(members), Some((model(), false)), "{members}");
        }
        assert_eq!(plain(r#","model":"n""#), None);
        assert_eq!(outline(url, r#"{"model":"m","prompt":"a"}"#).map(|outline| outline.is_plain), Some(false));
        let other = "https://api.example.com/v1/completions";
        assert_eq!(outline(other, r#"{"model":"m"}"#).map(|outline| outline.is_plain), Some(false));
    }

    #[test]
    fn formats_have_their_own_members() {
        let is_plain = |url: &str, body: &str| outline(url, body).is_some_and(|outline| outline.is_plain);
        assert!(is_plain("/v1/messages", r#"{"max_tokens":1,"messages":[]}"#));
        assert!(is_plain("/v1/responses", r#"{"input":"a","store":false}"#));
        assert!(is_plain("/v1beta/models/m:generateContent", r#"{"contents":[{"parts":[{"text":"a"}]}]}"#));
        assert!(!is_plain("/v1beta/models/m:generateContent", r#"{"messages":[]}"#));
        assert!(!is_plain("/v1/responses", r#"{"input":"a","text":{"format":{"type":"json_object"}}}"#));
    }
}
