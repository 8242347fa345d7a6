//! `Serialize` for reports and dialects: the JSON of [`describe`], as in the other languages.

use alloc::{
    borrow::Cow,
    string::{String, ToString},
};
use core::iter;

use serde::{
    de::{Deserialize, Deserializer, Error as _},
    ser::{Serialize, Serializer},
};

use super::{describe, Adapted, Restore, RestorePlan};
use crate::{
    adapt::AdaptReport,
    check::Violation,
    dialect::{
        lookup::{deferral::DeferralChoice, DialectChoice},
        requests::RequestFact,
        Dialect, DialectId,
    },
    effect::{Accepts, Guidance},
    error::{Code, Error},
    json::{Node, Object},
    repair::results::FittedResult,
    report::{
        AnswerChange, Change, Confidence, Grade, Left, LeftReason, Reason, Repair, RepairRule, Repaired, RepairedCall,
        ResultChange, ResultRule, Severity,
    },
    request::report::{CallKind, ClientTool, DeferredReport, Warning},
    rules::{Constraint, Rule},
    sanitize::decode::Plan,
    schema::validate::{ArgumentViolation, Validation},
    tools::{
        check::{RequestViolation, ToolViolation},
        formats::FormatChange,
        quarantine::{Quarantined, SetAsideWarning},
        request_facts::{ChoiceChange, RequestChange},
        sanitize_list::ToolChange,
    },
};

macro_rules! as_described {
    ($($type:ty: $describe:expr,)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let describe: fn(&$type) -> Node<'static> = $describe;
                describe(self).serialize(serializer)
            }
        }
    )*};
}

as_described! {
    AdaptReport: describe::request,
    ArgumentViolation: describe::argument_violation,
    Change: describe::change,
    ChoiceChange: describe::choice_change,
    ClientTool: ClientTool::to_node,
    DeferralChoice: describe::deferral,
    DeferredReport: describe::deferred_report,
    Dialect: describe::dialect,
    DialectChoice: describe::choice,
    Error: describe::describe_error,
    FormatChange: describe::format_change,
    Left: describe::remaining_violation,
    Quarantined: describe::quarantined_tool,
    Repair: describe::repair,
    RepairedCall: describe::repaired_call,
    RequestChange: describe::request_change,
    RequestFact: RequestFact::describe,
    RequestViolation: describe::request_violation,
    Restore: |restore| restore.0.to_node(),
    RestorePlan: |plan| plan.0.to_versioned_node(),
    ResultChange: describe::result_change,
    SetAsideWarning: describe::warning,
    ToolChange: describe::tool_change,
    ToolViolation: describe::tool_violation,
    Validation: describe::validation,
    Violation: describe::violation,
    Warning: describe::request_warning,
}

macro_rules! as_names {
    ($($type:ty: $name:ident,)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.$name())
            }
        }
    )*};
}

as_names! {
    Accepts: as_str,
    AnswerChange: as_str,
    CallKind: as_str,
    Code: as_str,
    Confidence: as_str,
    Constraint: id,
    DialectId: as_str,
    Grade: as_str,
    Guidance: as_str,
    LeftReason: as_str,
    RepairRule: as_str,
    ResultRule: as_str,
    Rule: id,
    Severity: as_str,
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A member of a result: its value, or a member of its report.
enum Part<'r, T> {
    Value(&'r T),
    Report(&'r Node<'static>),
}

impl<T: Serialize> Serialize for Part<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Part::Value(value) => value.serialize(serializer),
            Part::Report(node) => node.serialize(serializer),
        }
    }
}

/// Writes the value, in the member with its name in all languages, before the members of the report.
fn with_value<S: Serializer, T: Serialize>(
    serializer: S,
    (name, value): (&'static str, &T),
    report: &Node<'static>,
) -> Result<S::Ok, S::Error> {
    let members = report.as_object().map(Object::members).unwrap_or_default();
    let members = members.iter().map(|member| (member.key.display(), Part::Report(&member.value)));
    serializer.collect_map(iter::once((Cow::Borrowed(name), Part::Value(value))).chain(members))
}

impl<T: Serialize> Serialize for Adapted<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        with_value(serializer, ("request", &self.request), &describe::adapted(&self.report, &self.restore))
    }
}

impl<T: Serialize> Serialize for FittedResult<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        with_value(serializer, ("result", &self.result), &describe::fitted(self))
    }
}

impl<T: Serialize> Serialize for Repaired<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        with_value(serializer, ("arguments", &self.arguments), &describe::repaired(self))
    }
}

impl<'de> Deserialize<'de> for DialectId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(|error: Error| D::Error::custom(error.to_string()))
    }
}

impl<'de> Deserialize<'de> for Restore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        Restore::from_node(&node).map_err(|error| D::Error::custom(error.to_string()))
    }
}

impl<'de> Deserialize<'de> for RestorePlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        Plan::from_versioned_node(&node).map(RestorePlan).map_err(|error| D::Error::custom(error.to_string()))
    }
}
