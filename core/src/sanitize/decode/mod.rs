//! Restores the model's arguments into the shape of the tool's own schema.
//!
//! Sanitizing returns a [`Plan`], which describes what to undo and can be stored as JSON. Running it needs neither the
//! schema nor the dialect. Values that do not match the plan are not changed.
//!
//! Results may nest as deep as inputs, so that every result can be read again. Rules that replace a boolean with an
//! object, or add an empty object, can exceed the limit at the last level.

mod discriminator;
mod encoded;
mod examples;
mod json_string;
mod names;
pub(crate) mod version;

use alloc::{format, rc::Rc, string::String};

use encoded::Decode;
use examples::Encode;
use names::Names;

use super::{encode::plan, legalize::replacement_names::ReplacementNames};
use crate::{
    budget::Budget,
    collections::Map,
    dialect::grammar::Grammar,
    error::{Code, Error},
    json::{self, push_token, Data, Member, Node, Object, Text},
    limits::MAX_DEPTH,
};

/// The parts of a plan, one for each encoding. The encodings are undone in this order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Encoding for strict modes.
    encoded: Option<Node<'static>>,
    /// JSON in strings.
    json: Option<Node<'static>>,
    names: Option<Node<'static>>,
    /// Name of the property that contains the structured output, because of `wrap-root`.
    pub(crate) wrapper: Option<String>,
}

#[derive(Default)]
pub(crate) struct PlanBuilder<'a> {
    plan: Plan,
    /// Original schema and its replacement names, if some of its names may be replaced.
    original: Option<(Node<'a>, Rc<ReplacementNames>)>,
    /// Property that the original schema was wrapped in.
    wrapper: Option<String>,
    /// True if names with `/` were replaced too.
    pub(crate) no_slash: bool,
}

impl<'a> PlanBuilder<'a> {
    /// Keeps the original schema, which must not be rewritten yet.
    pub(crate) fn keep(
        &mut self,
        original: &Node<'a>,
        wrapper: Option<&str>,
        replacement_names: &Rc<ReplacementNames>,
        budget: &Budget,
    ) {
        self.wrapper = wrapper.map(String::from);
        self.original = (!replacement_names.is_empty()).then(|| (original.copy(budget), replacement_names.clone()));
    }

    /// Plans the encoding of the plain schema, which must not be lowered yet.
    pub(crate) fn encode(&mut self, plain: &Node<'_>, grammar: &'static Grammar, budget: &Budget) -> Result<(), Error> {
        within_limit(plain)?;
        self.plan.encoded = plan::of(plain, grammar, budget);
        Ok(())
    }

    pub(crate) fn finish(mut self, written: &Node<'_>, grammar: &Grammar, budget: &Budget) -> Result<Plan, Error> {
        if json_string::may_need_plan(grammar) {
            within_limit(written)?;
            self.plan.json = json_string::plan(written, budget);
        }
        self.finish_names(grammar, budget)
    }

    pub(crate) fn finish_names(mut self, grammar: &Grammar, budget: &Budget) -> Result<Plan, Error> {
        if let Some((original, replacement_names)) = &self.original {
            self.plan.names =
                names::plan((original, self.wrapper.as_deref(), replacement_names), grammar, self.no_slash, budget)?;
        }
        budget.check(String::new)?;
        Ok(self.plan)
    }
}

impl Plan {
    pub(crate) fn is_empty(&self) -> bool {
        self.wrapper.is_none() && self.parts().iter().all(|(_, part)| part.is_none())
    }

    pub(crate) fn new_names(&self) -> Map<String, String> {
        self.names.as_ref().map(names::new_names).unwrap_or_default()
    }

    pub(crate) fn of_wrapper(name: String) -> Plan {
        Plan { wrapper: Some(name), ..Plan::default() }
    }

    fn parts(&self) -> [(&'static str, &Option<Node<'static>>); 3] {
        [("encoded", &self.encoded), ("json", &self.json), ("names", &self.names)]
    }

    /// Restores arguments within a separate budget. Only thousands of values of a union exceed it, if the union has
    /// hundreds of branches that no property distinguishes.
    pub(crate) fn restore(&self, arguments: &mut Node<'_>) -> Result<(), Error> {
        let budget = Budget::new(arguments.values_read(), None);
        self.restore_within(arguments, &budget).map_err(|error| {
            let message = "expected arguments that can be restored within one call's budget, found ones that exceed it";
            Error::new(error.code(), error.pointer(), message)
        })
    }

    /// Returns an encoder for the examples of a tool, which share the budget.
    pub(crate) fn encoder<'p>(&'p self, budget: &'p Budget) -> Encoder<'p> {
        Encoder {
            names: self.names.as_ref().map(|plan| Names::to_new(plan, budget)),
            encode: self.encoded.as_ref().map(|plan| Encode::new(plan, budget)),
            restorer: self.restorer(budget),
        }
    }

    fn restorer<'p>(&'p self, budget: &'p Budget) -> Restorer<'p> {
        Restorer {
            plan: self,
            budget,
            decode: self.encoded.as_ref().map(|plan| Decode::new(plan, budget)),
            names: self.names.as_ref().map(|plan| Names::to_original(plan, budget)),
        }
    }

    pub(crate) const fn may_have_pairs(&self) -> bool {
        self.encoded.is_some()
    }

    pub(crate) fn restore_within(&self, arguments: &mut Node<'_>, budget: &Budget) -> Result<(), Error> {
        self.restorer(budget).restore(arguments)
    }

    pub(crate) fn to_node(&self) -> Node<'static> {
        Node::object(Object::from_unique(self.members().collect()))
    }

    pub(crate) fn to_versioned_node(&self) -> Node<'static> {
        let version = Member { key: Text::literal("version"), value: Node::count(version::VERSION) };
        Node::object(Object::from_unique(core::iter::once(version).chain(self.members()).collect()))
    }

    fn members(&self) -> impl Iterator<Item = Member<'static>> + '_ {
        let parts = self.parts().into_iter();
        let parts = parts.filter_map(|(key, part)| Some(Member { key: Text::literal(key), value: part.clone()? }));
        let wrapper =
            self.wrapper.iter().map(|name| Member { key: Text::literal(WRAPPER), value: Node::string(name.clone()) });
        parts.chain(wrapper)
    }

    pub(crate) fn from_node(node: &Node<'_>) -> Result<Plan, Error> {
        let mut plan = Plan::default();
        for Member { key, value } in
            node.as_object().ok_or_else(|| malformed_plan(String::new(), "an object", node.kind()))?
        {
            if key.is(WRAPPER) {
                let name = value.as_text().and_then(Text::value);
                let name = name.ok_or_else(|| malformed_plan(format!("/{WRAPPER}"), "a string", value.kind()))?;
                plan.wrapper = Some(name.into_owned());
                continue;
            }
            let part = match key.value().as_deref() {
                Some("encoded") => &mut plan.encoded,
                Some("json") => &mut plan.json,
                Some("names") => &mut plan.names,
                _ => continue,
            };
            let at = || format!("/{}", key.display());
            *part = Some(
                value
                    .as_object()
                    .map(|_| value.detached())
                    .ok_or_else(|| malformed_plan(at(), "an object", value.kind()))?,
            );
        }
        Ok(plan)
    }

    pub(crate) fn from_versioned_node(node: &Node<'_>) -> Result<Plan, Error> {
        let object = node.as_object().ok_or_else(|| malformed_plan(String::new(), "an object", node.kind()))?;
        if !object.has("version") {
            let found = "an object without one, such as a schema";
            return Err(malformed_plan("/version".into(), "with its `version`", found));
        }
        version::check(node, version::VERSION, "a plan", "sanitize the schema again")?;
        let parts = Plan::default().parts().map(|(name, _)| name);
        let is_unknown =
            |member: &&Member<'_>| !parts.iter().chain(&["version", WRAPPER]).any(|name| member.key.is(name));
        match object.iter().find(is_unknown) {
            None => Plan::from_node(node),
            Some(Member { key, .. }) => {
                let mut at = String::new();
                json::push_token(&mut at, &key.display());
                Err(malformed_plan(at, "of one schema", &format!("the member `{}`", key.display())))
            }
        }
    }
}

struct Restorer<'p> {
    plan: &'p Plan,
    budget: &'p Budget,
    decode: Option<Decode<'p, 'p>>,
    names: Option<Names<'p, 'p>>,
}

impl Restorer<'_> {
    fn restore(&self, arguments: &mut Node<'_>) -> Result<(), Error> {
        if let Some(decode) = &self.decode {
            decode.arguments(arguments);
        }
        if let Some(plan) = &self.plan.json {
            json_string::read(arguments, plan, self.budget);
        }
        if let Some(names) = &self.names {
            names.arguments(arguments);
        }
        if let Some(name) = &self.plan.wrapper {
            unwrap(arguments, name);
        }
        self.budget.check(String::new)
    }
}

pub(crate) struct Encoder<'p> {
    names: Option<Names<'p, 'p>>,
    encode: Option<Encode<'p, 'p>>,
    restorer: Restorer<'p>,
}

impl Encoder<'_> {
    /// Returns example arguments as the model has to write them. Returns `None` if no such arguments are found, which
    /// is possible for values of unions. If the budget is exceeded, every later example fails, too.
    pub(crate) fn encoded<'a>(&self, example: &Node<'a>) -> Result<Option<Node<'a>>, Error> {
        let budget = self.restorer.budget;
        let mut encoded = example.copy(budget);
        if let Some(names) = &self.names {
            names.arguments(&mut encoded);
        }
        if let Some(encode) = &self.encode {
            encode.arguments(&mut encoded);
        }
        let mut restored = encoded.copy(budget);
        self.restorer.restore(&mut restored)?;
        let is_same = json::same_within(budget, &restored, example);
        budget.check(String::new)?;
        Ok(is_same.then_some(encoded))
    }
}

const WRAPPER: &str = "wrapper";

fn unwrap(output: &mut Node<'_>, name: &str) {
    if !output.as_object().is_some_and(|object| object.len() == 1 && object.has(name)) {
        return;
    }
    if let Some(mut value) = output.as_object_mut().and_then(|object| object.remove(name)) {
        // The value is unchanged, but it is no longer the root of the input text.
        value.touch();
        *output = value;
    }
}

fn malformed_plan(pointer: String, expected: &str, found: &str) -> Error {
    let message = format!("expected an unchanged restore plan, {expected}; found {found}");
    Error::new(Code::InvalidValue, pointer, message)
}

/// Returns an error at the first array or object beyond [`MAX_DEPTH`].
pub(super) fn within_limit(node: &Node<'_>) -> Result<(), Error> {
    // An unchanged input was measured when it was read.
    if node.is_intact() {
        return Ok(());
    }
    if is_deeper(node, MAX_DEPTH) {
        return check_depth(node, 0);
    }
    Ok(())
}

/// [`check_depth`] also finds the pointer, and takes three times as long.
fn is_deeper(node: &Node<'_>, levels: usize) -> bool {
    match node.data() {
        Data::Array(_) | Data::Object(_) if levels == 0 => true,
        Data::Array(items) => items.iter().any(|item| item.is_container() && is_deeper(item, levels - 1)),
        Data::Object(object) => {
            object.iter().any(|member| member.value.is_container() && is_deeper(&member.value, levels - 1))
        }
        _ => false,
    }
}

fn check_depth(node: &Node<'_>, depth: usize) -> Result<(), Error> {
    match node.data() {
        Data::Array(_) | Data::Object(_) if depth >= MAX_DEPTH => {
            let message = format!("expected at most {MAX_DEPTH} levels of nesting, found more in the result");
            Err(Error::new(Code::TooDeep, "", message))
        }
        Data::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check_depth(item, depth + 1).map_err(|error| error.below(&format!("/{index}")))?;
            }
            Ok(())
        }
        Data::Object(object) => {
            for member in object {
                check_depth(&member.value, depth + 1).map_err(|error| {
                    let mut prefix = String::new();
                    push_token(&mut prefix, &member.key.display());
                    error.below(&prefix)
                })?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
