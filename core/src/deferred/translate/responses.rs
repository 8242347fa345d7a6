//! Messages as items of OpenAI Responses.

use alloc::vec::Vec;

use super::{arguments, blocks, image, lose_block, lose_rest, set};
use crate::{
    deferred::{lazy::take, report::Warnings, tool::has_type},
    error::{Code, Error},
    json::{Data, Node, Text},
};

/// Replaces the messages by input items, at their place; the system prompt is the first one.
pub(super) fn input<'a>(
    request: &mut Node<'a>,
    system: Option<Node<'a>>,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let mut items = Items { list: Vec::new(), parts: Vec::new(), warnings };
    if let Some(system) = system {
        items.message(system, "developer")?;
    }
    let messages = request
        .visit("messages", |messages| messages.as_array_mut().map(core::mem::take))
        .flatten()
        .unwrap_or_default();
    for (at, mut message) in messages.into_iter().enumerate() {
        let mut message = match message.data() {
            Data::Verbatim(text) => crate::json::read(text)?,
            _ => core::mem::take(&mut message),
        };
        let role = role(&message, at)?;
        lose_rest(&message, &["role", "content"], items.warnings);
        let content = take(&mut message, "content")?;
        items.message(content.unwrap_or_default(), role)?;
    }
    let list = Node::array(items.list);
    if let Some(object) = request.as_object_mut() {
        if let Some(member) = object.members_mut().iter_mut().find(|member| member.key.is("messages")) {
            member.key = Text::literal("input");
            member.value = list;
        }
    }
    Ok(())
}

fn role(message: &Node<'_>, at: usize) -> Result<&'static str, Error> {
    let at = alloc::format!("/messages/{at}");
    if message.as_object().is_none() {
        return Err(Error::new(
            Code::InvalidRequest,
            at,
            alloc::format!("expected a message as an object, found {}", message.kind()),
        ));
    }
    match message.get("role") {
        Some(role) if role.is_text("user") => Ok("user"),
        Some(role) if role.is_text("assistant") => Ok("assistant"),
        Some(role) if role.is_text("system") || role.is_text("developer") => Ok("developer"),
        role => {
            let found = role.map_or_else(|| "none".into(), crate::json::write);
            let message = alloc::format!("expected a `role` of `user`, `assistant` or `system`, found {found}");
            Err(Error::new(Code::InvalidRequest, at + "/role", message))
        }
    }
}

struct Items<'w, 'a> {
    list: Vec<Node<'a>>,
    /// Parts of the message being written.
    parts: Vec<Node<'a>>,
    warnings: &'w mut Warnings,
}

impl<'a> Items<'_, 'a> {
    fn message(&mut self, content: Node<'a>, role: &'static str) -> Result<(), Error> {
        for mut block in blocks(Some(content), self.warnings) {
            if let Data::Verbatim(text) = block.data() {
                block = crate::json::read(text)?;
            }
            if has_type(&block, "tool_use") {
                self.finish(role);
                lose_rest(&block, &["type", "id", "name", "input"], self.warnings);
                self.list.push(Node::record([
                    ("type", Node::literal("function_call")),
                    ("call_id", block.get("id").cloned().unwrap_or_else(|| Node::literal(""))),
                    ("name", block.get("name").cloned().unwrap_or_else(|| Node::literal(""))),
                    ("arguments", arguments(&block)),
                ]));
            } else if has_type(&block, "tool_result") {
                self.finish(role);
                lose_rest(&block, &["type", "tool_use_id", "content"], self.warnings);
                let content = block.visit("content", core::mem::take).unwrap_or_default();
                let output = self.output(content)?;
                self.list.push(Node::record([
                    ("type", Node::literal("function_call_output")),
                    ("call_id", block.get("tool_use_id").cloned().unwrap_or_else(|| Node::literal(""))),
                    ("output", output),
                ]));
            } else if let Some(part) =
                self.part(block, if role == "assistant" { "output_text" } else { "input_text" })?
            {
                self.parts.push(part);
            }
        }
        self.finish(role);
        Ok(())
    }

    /// Ends the message being written, if there is one.
    fn finish(&mut self, role: &'static str) {
        if !self.parts.is_empty() {
            self.list.push(Node::record([
                ("type", Node::literal("message")),
                ("role", Node::literal(role)),
                ("content", Node::array(core::mem::take(&mut self.parts))),
            ]));
        }
    }

    fn output(&mut self, content: Node<'a>) -> Result<Node<'a>, Error> {
        if content.as_text().is_some() {
            return Ok(content);
        }
        let mut parts = Vec::new();
        for block in blocks(Some(content), self.warnings) {
            parts.extend(self.part(block, "input_text")?);
        }
        Ok(if parts.is_empty() { Node::literal("") } else { Node::array(parts) })
    }

    /// A text or an image.
    fn part(&mut self, mut block: Node<'a>, text_type: &'static str) -> Result<Option<Node<'a>>, Error> {
        if has_type(&block, "text") {
            lose_rest(&block, &["type", "text"], self.warnings);
            let text = block.visit("text", core::mem::take).filter(|text| text.as_text().is_some());
            return Ok(text.map(|text| Node::record([("type", Node::literal(text_type)), ("text", text)])));
        }
        let url = if has_type(&block, "image") { image::url(&block)? } else { None };
        let Some(url) = url else {
            lose_block(&block, self.warnings);
            return Ok(None);
        };
        lose_rest(&block, &["type", "source"], self.warnings);
        let mut part = Node::record([("type", Node::literal("input_image"))]);
        set(&mut part, "image_url", url);
        Ok(Some(part))
    }
}
