//! Rules about locations in a request, as data: the refused value, the conditions, and the fix.

use super::{models::Models, name_rules::NamePattern};
use crate::{json::Flags, options::Api, wire::turns::Speaker};

/// A refused value at a location in requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// One of the names in `RequestFact::CONSTRAINTS`.
    pub(crate) id: &'static str,
    /// Formats of the requests that the rule is about; empty for every format.
    pub(crate) apis: &'static [Api],
    pub(crate) models: Models,
    pub(crate) at: Location,
    pub(crate) refuses: Refused,
    /// All conditions must hold.
    pub(crate) when: &'static [When],
    pub(crate) fix: Fix,
}

/// A location in requests. Paths consist of names of members; an empty path is the value itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A member of the request.
    Request(Path),
    /// A member of messages or items of the history.
    Message(Messages, Path),
    /// A member of parts of the system prompt.
    SystemPart(Path),
    /// A member of parts of messages.
    Part(Parts, Path),
    /// The ids of the client's calls. Their results have the same ids.
    CallId,
    /// A member of the entries of the list of tools.
    Tool(Path),
    /// The choice of tools.
    Choice,
    /// The betas of Anthropic Messages, in the header `anthropic-beta` and in the body.
    Beta,
}

pub(crate) type Path = &'static [&'static str];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Messages {
    By(Speaker),
    /// Items of this `type`.
    Type(&'static str),
    /// Messages of this `role`.
    Role(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    Text,
    /// Parts of this `type`.
    Type(&'static str),
    /// Parts with this member.
    With(&'static str),
}

/// The refused value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Any value except null.
    Present,
    /// Null, or no value.
    Absent,
    /// One of these strings.
    Words(&'static [&'static str]),
    /// Explicit null.
    Null,
    /// A string that does not begin with this one.
    NotBegin(&'static str),
    /// A string that does not match the pattern.
    NotMatch(NamePattern),
    /// The id of an earlier call.
    Repeated,
    /// The id of another call in the same message.
    RepeatedInMessage,
    /// An empty list or string.
    Empty,
    /// A string that contains only white space.
    Blank,
    /// Any value except an object, if there is one.
    NotObject,
    /// A greater number than this integer.
    Above(&'static str),
    /// The part, after a call in the same message.
    AfterCall,
    /// The message, directly after a message of this author.
    After(Speaker),
    /// The part, as the first part of the model's last message.
    First,
    /// The first call of a message of the model in the current turn, without this member.
    FirstCallWithout(&'static str),
    /// A choice of several tools.
    Allowed,
    /// A choice of several tools that does not require a call.
    AllowedOptional,
    /// A choice of one tool.
    Named,
    /// A choice that forbids calls.
    Forbidden,
    /// The part, if its `name` begins so and no part of the same message refers to its `id` in this member. The last
    /// message of the history may continue.
    WithoutResult { name: &'static str, reference: &'static str },
    /// Any call or choice, in a request without tools. In a message: its calls.
    WithoutTools,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// The request does not have this member with this JSON value.
    Unless(Path, &'static str),
    /// The request has this member.
    Has(Path),
    /// The request has this member with this JSON value.
    Is(Path, &'static str),
    /// The message has only this part.
    OnlyPart,
    /// The message has this member, and its value is not an empty list.
    MessageHas(&'static str),
    /// The message does not have this member.
    MessageLacks(&'static str),
    /// The message has text and nothing else.
    TextOnly,
    /// The request does not have this member with this integer or a greater number.
    Below(Path, &'static str),
    /// The message is in the current turn.
    CurrentTurn,
    /// The request does not name this beta where the API reads betas.
    WithoutBeta(&'static str, BetaLocation),
}

/// Where an API reads betas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BetaLocation {
    /// In the HTTP header `anthropic-beta`. Rules about it apply only if the caller knows the header.
    Header,
    /// In the member `anthropic_beta` of the body.
    Body,
}

/// The change that makes a request acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fix {
    /// Nothing: the rule is only checked.
    None,
    /// The request without the member or the choice.
    Remove,
    /// The message without the part. A cache breakpoint moves to the nearest part that accepts a breakpoint.
    RemovePart,
    /// The same value under this name, unless a member of this name already exists.
    Rename(&'static str),
    /// A part of the value under this name: `effort` of `reasoning`.
    Take { part: &'static str, name: &'static str },
    /// This JSON value.
    Set(&'static str),
    /// This JSON value instead of the object around the member.
    SetOuter(&'static str),
    /// The request without the object around the member.
    RemoveOuter,
    /// The value as a member of an object.
    Wrap(&'static str),
    /// An id that the API accepts, the same for the call and its result.
    MapId,
    /// The part before the first call of its message.
    MoveBeforeCalls,
    /// A message of the model before this one, with this text.
    InsertMessage(&'static str),
    /// The message as a message of the user.
    ToUser,
    /// An additional member with this name and this string.
    Insert(&'static str, &'static str),
    /// The tools that the history calls.
    DeclareTools,
    /// The request without the list of tools, and without the members that need tools, unless the choice requires a
    /// call.
    RemoveList,
    /// The allowed tools only, with a choice that names no tool.
    Narrow,
    /// The request with this beta.
    AddBeta(&'static str, BetaLocation),
}

const REMOVED: Rule = Rule {
    id: "unsupported-member",
    apis: &[],
    models: Models::All,
    at: Location::Request(&[]),
    refuses: Refused::Present,
    when: &[],
    fix: Fix::Remove,
};

impl Rule {
    /// Returns a rule that removes a member of the request.
    pub(super) const fn member(apis: &'static [Api], path: Path) -> Rule {
        Rule { apis, at: Location::Request(path), ..REMOVED }
    }

    pub(super) const fn of_chat(path: Path) -> Rule {
        Rule::member(&[Api::OpenaiChat], path)
    }

    pub(super) const fn message(apis: &'static [Api], messages: Messages, path: Path) -> Rule {
        Rule { apis, at: Location::Message(messages, path), ..REMOVED }
    }

    pub(super) const fn part(apis: &'static [Api], parts: Parts, path: Path) -> Rule {
        Rule { apis, at: Location::Part(parts, path), ..REMOVED }
    }

    pub(super) const fn system_part(apis: &'static [Api], path: Path) -> Rule {
        Rule { apis, at: Location::SystemPart(path), ..REMOVED }
    }

    pub(super) const fn tool(apis: &'static [Api], path: Path) -> Rule {
        Rule { apis, at: Location::Tool(path), ..REMOVED }
    }

    pub(super) const fn call_ids(apis: &'static [Api], pattern: NamePattern) -> Rule {
        Rule {
            id: "call-id",
            apis,
            at: Location::CallId,
            refuses: Refused::NotMatch(pattern),
            fix: Fix::MapId,
            ..REMOVED
        }
    }

    pub(super) const fn unique_call_ids(apis: &'static [Api], refuses: Refused) -> Rule {
        Rule { id: "call-id", apis, at: Location::CallId, refuses, fix: Fix::MapId, ..REMOVED }
    }

    pub(super) const fn item_id(kind: &'static str, prefix: &'static str) -> Rule {
        Rule {
            id: "item-id",
            apis: &[Api::OpenaiResponses],
            at: Location::Message(Messages::Type(kind), &["id"]),
            refuses: Refused::NotBegin(prefix),
            ..REMOVED
        }
    }

    pub(super) const fn maximum(apis: &'static [Api], path: Path, maximum: &'static str) -> Rule {
        let refuses = Refused::Above(maximum);
        Rule { id: "unsupported-value", apis, at: Location::Request(path), refuses, fix: Fix::Set(maximum), ..REMOVED }
    }

    pub(super) const fn choice(apis: &'static [Api], refuses: Refused) -> Rule {
        Rule { id: "choice-kind", apis, at: Location::Choice, refuses, ..REMOVED }
    }

    pub(super) const fn beta(apis: &'static [Api], name: &'static [&'static str]) -> Rule {
        Rule { id: "unsupported-beta", apis, at: Location::Beta, refuses: Refused::Words(name), ..REMOVED }
    }

    pub(super) const fn renamed_beta(apis: &'static [Api], name: &'static [&'static str], other: &'static str) -> Rule {
        Rule::beta(apis, name).with_fix(Fix::Rename(other))
    }

    /// The API accepts the member only with a beta. `needs` is this beta as a condition.
    pub(super) const fn needs_beta(
        apis: &'static [Api],
        path: Path,
        needs: &'static [When],
        (beta, location): (&'static str, BetaLocation),
    ) -> Rule {
        let fix = Fix::AddBeta(beta, location);
        Rule { id: "missing-beta", apis, at: Location::Request(path), when: needs, fix, ..REMOVED }
    }

    pub(super) const fn with_id(self, id: &'static str) -> Rule {
        Rule { id, ..self }
    }

    pub(super) const fn of(self, models: Models) -> Rule {
        Rule { models, ..self }
    }

    pub(super) const fn refusing(self, refuses: Refused) -> Rule {
        Rule { refuses, ..self }
    }

    pub(super) const fn when(self, when: &'static [When]) -> Rule {
        Rule { when, ..self }
    }

    pub(super) const fn with_fix(self, fix: Fix) -> Rule {
        Rule { fix, ..self }
    }

    pub(super) const fn renamed_to(self, name: &'static str) -> Rule {
        self.with_fix(Fix::Rename(name))
    }

    pub(super) const fn check_only(self) -> Rule {
        self.with_fix(Fix::None)
    }

    pub(crate) fn concerns(&self, api: Api, model: &str) -> bool {
        (self.apis.is_empty() || self.apis.contains(&api)) && self.models.include(model)
    }

    /// Returns true if the rule removes, needs or adds this beta.
    pub(crate) fn names_beta(&self, beta: &str) -> bool {
        let is_refused = match (self.at, self.refuses) {
            (Location::Beta, Refused::Words(names)) => names.contains(&beta),
            _ => false,
        };
        let is_added = matches!(self.fix, Fix::AddBeta(name, _) | Fix::Rename(name) if name == beta);
        is_refused || is_added
    }

    /// Returns true if the rule shows that the API reads a member of messages: the rule requires or renames the member.
    pub(crate) fn shows_member(&self, member: &str) -> bool {
        let is_read = self.refuses == Refused::Absent || matches!(self.fix, Fix::Rename(_));
        matches!(self.at, Location::Message(_, [name]) if *name == member) && is_read
    }

    pub(crate) fn maximum_of(&self, member: &str) -> Option<u64> {
        match (self.at, self.refuses) {
            (Location::Request([name]), Refused::Above(maximum)) if *name == member => maximum.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn is_about_betas(&self) -> bool {
        self.at == Location::Beta || self.when.iter().any(|when| matches!(when, When::WithoutBeta(..)))
    }

    /// Returns true if the fix changes a value in place. Such rules are applied to the original request, and the other
    /// rules to the request that is sent.
    pub(crate) const fn is_in_place(&self) -> bool {
        let stays = !matches!(self.fix, Fix::RemovePart | Fix::MoveBeforeCalls | Fix::InsertMessage(_));
        stays && !matches!(self.at, Location::CallId | Location::Choice)
    }

    /// Returns the flags of the messages that may violate the rule, if it is about the history. A message with none of
    /// these flags is not parsed and does not violate the rule.
    pub(crate) fn flags(&self) -> Flags {
        const CALLS: Flags = Flags::CALL.union(Flags::RESULT).union(Flags::CHAT);
        match (self.at, self.refuses) {
            (Location::CallId, _) | (_, Refused::First | Refused::FirstCallWithout(_)) => CALLS,
            (_, Refused::NotObject | Refused::AfterCall | Refused::After(_) | Refused::WithoutTools) => CALLS,
            (Location::Part(Parts::Text, _), Refused::Empty | Refused::Blank) => Flags::EMPTY,
            (Location::Message(..), Refused::Absent) => CALLS,
            (_, Refused::WithoutResult { .. }) => Flags::DEFERRAL,
            (Location::Message(Messages::Role("system"), _), _) => Flags::SYSTEM,
            _ => Flags::RULE,
        }
    }
}

/// Words of the rules in a message that may violate a rule: a member, a type or a role of each rule with
/// [`Flags::RULE`] or [`Flags::SYSTEM`].
pub(crate) const WORDS: &[(&str, Flags)] = &[
    ("system", Flags::SYSTEM),
    ("name", Flags::RULE),
    ("developer", Flags::RULE),
    ("reasoning", Flags::RULE),
    ("reasoning_content", Flags::RULE),
    ("refusal", Flags::RULE),
    ("function_call", Flags::RULE),
    ("message", Flags::RULE),
    ("tool_calls", Flags::RULE),
    ("caller", Flags::RULE),
    ("cache_control", Flags::RULE),
    ("citations", Flags::RULE),
];
