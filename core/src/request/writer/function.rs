//! Converts a tool definition to another format.

use alloc::{format, string::String};

use crate::{
    envelope,
    error::Error,
    json::{Data, Node, Text},
    options::{Api, CustomTools},
    report::Recorder,
    request::{
        notice::whole,
        report::{Warnings, LOST},
        tool::{self, has_type, type_of, Kind},
    },
};

/// A definition, independent of any format.
struct Definition<'a> {
    name: Node<'a>,
    description: Option<Node<'a>>,
    schema: Node<'a>,
    strict: bool,
    /// Set for OpenAI's `custom` tools, whose input is free-form text. The inner value is the format of the text, if
    /// given.
    freeform: Option<Option<Node<'a>>>,
}

/// Converts a tool to a function of the target. Returns `None` and adds a warning if the tool is hosted or has no name.
///
/// # Errors
/// `invalid-value` for an unpaired surrogate in a grammar.
pub(crate) fn write<'a>(
    tool: Node<'a>,
    (source, target): (Api, Api),
    custom: CustomTools,
    warnings: &mut Warnings,
) -> Result<Option<Node<'a>>, Error> {
    if tool::kind(&tool) == Kind::ClientSearch {
        return Ok(None);
    }
    let Some(mut definition) = read(tool, source, warnings) else { return Ok(None) };
    let has_custom = !matches!(target, Api::Anthropic | Api::GeminiInteractions);
    let keeps_custom = custom == CustomTools::Keep && has_custom;
    if let Some(format) = definition.freeform.take_if(|_| !keeps_custom) {
        as_function(&mut definition, format)?;
    }
    Ok(Some(shaped(definition, target)))
}

fn read<'a>(tool: Node<'a>, source: Api, warnings: &mut Warnings) -> Option<Definition<'a>> {
    let kind = type_of(&tool);
    let inner = match source {
        Api::Anthropic if kind.is_none_or(|kind| kind.is("custom")) => None,
        Api::OpenaiResponses | Api::GeminiInteractions
            if kind.is_none_or(|kind| kind.is("function") || kind.is("custom")) =>
        {
            None
        }
        Api::OpenaiChat => [tool::INNER_FUNCTION, "custom"].into_iter().find(|key| tool.get(key).is_some()),
        _ => {
            warnings.about(LOST, shown(&tool));
            return None;
        }
    };
    if tool::name(&tool).is_none() || source == Api::OpenaiChat && inner.is_none() {
        warnings.about(LOST, shown(&tool));
        return None;
    }
    let is_custom = source != Api::Anthropic && has_type(&tool, "custom");
    let Data::Object(object) = tool.into_data() else { return None };
    let mut definition = Definition {
        name: Node::default(),
        description: None,
        schema: Node::default(),
        strict: false,
        freeform: is_custom.then_some(None),
    };
    for member in object.into_members() {
        let is_inner = inner.is_some_and(|inner| member.key.is(inner));
        if !is_inner {
            take(&mut definition, member.key, member.value, source, warnings);
            continue;
        }
        if let Data::Object(object) = member.value.into_data() {
            for member in object.into_members() {
                take(&mut definition, member.key, member.value, source, warnings);
            }
        }
    }
    envelope::normalize(&mut definition.schema, &mut Recorder::off());
    if definition.schema.get("$schema").is_some() {
        definition.schema.remove("$schema");
    }
    Some(definition)
}

/// Adds a member to a definition.
fn take<'a>(definition: &mut Definition<'a>, key: Text<'a>, value: Node<'a>, source: Api, warnings: &mut Warnings) {
    let schema = if source == Api::Anthropic { "input_schema" } else { "parameters" };
    if key.is("name") {
        definition.name = value;
    } else if key.is("description") {
        definition.description = Some(value).filter(|text| text.as_text().is_some());
    } else if key.is(schema) {
        definition.schema = value;
    } else if key.is("strict") && source != Api::Anthropic {
        definition.strict = value.as_bool() == Some(true);
    } else if key.is("format") && definition.freeform.is_some() {
        definition.freeform = Some(Some(value));
    } else if !key.is("type") && !key.is(tool::FLAG) && !key.is(tool::SHORT) {
        warnings.lose(&key.display(), &value);
    }
}

fn shown(tool: &Node<'_>) -> String {
    tool::name(tool).or_else(|| type_of(tool)).map_or_else(|| "tools".into(), |name| name.display().into_owned())
}

/// Converts a `custom` tool to a function: the text becomes the argument `input`, and the description states the format
/// of the text.
fn as_function<'a>(definition: &mut Definition<'a>, format: Option<Node<'a>>) -> Result<(), Error> {
    let input = Node::record([("type", Node::literal("string"))]);
    definition.schema = Node::record([
        ("type", Node::literal("object")),
        ("properties", Node::record([("input", input)])),
        ("required", Node::array(alloc::vec![Node::literal("input")])),
    ]);
    let text = |key| format.as_ref().and_then(|format| format.get(key)).and_then(Node::as_text);
    let Some(grammar) = text("definition") else { return Ok(()) };
    let grammar = whole(grammar, "/tools")?;
    let syntax = text("syntax").map(|syntax| format!("{} ", syntax.display())).unwrap_or_default();
    let mut description = match definition.description.as_ref().and_then(Node::as_text) {
        Some(text) => format!("{}\n\n", whole(text, "/tools")?),
        None => String::new(),
    };
    description.push_str(&format!("Input format: a text of this {syntax}grammar:\n{grammar}"));
    definition.description = Some(Node::string(description));
    Ok(())
}

fn shaped<'a>(definition: Definition<'a>, target: Api) -> Node<'a> {
    let Definition { name, description, schema, strict, freeform } = definition;
    let is_custom = freeform.is_some();
    let kind = ("type", Node::literal(if is_custom { "custom" } else { "function" }));
    let mut function = match target {
        Api::OpenaiResponses | Api::GeminiInteractions => Node::record([kind, ("name", name)]),
        _ => Node::record([("name", name)]),
    };
    let mut set = |key: &'static str, value: Option<Node<'a>>| {
        if let (Some(object), Some(value)) = (function.as_object_mut(), value) {
            object.set(key, value);
        }
    };
    set("description", description);
    if let Some(format) = freeform {
        set("format", format);
    } else {
        set(if target == Api::Anthropic { "input_schema" } else { "parameters" }, Some(schema));
        match target {
            Api::OpenaiResponses => set("strict", Some(Node::bool(strict))),
            Api::OpenaiChat if strict => set("strict", Some(Node::bool(true))),
            _ => {}
        }
    }
    match target {
        Api::OpenaiChat if is_custom => Node::record([("type", Node::literal("custom")), ("custom", function)]),
        Api::OpenaiChat => Node::record([("type", Node::literal("function")), ("function", function)]),
        _ => function,
    }
}
