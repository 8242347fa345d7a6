//! Images: an Anthropic source as the URL that OpenAI takes.

use crate::{
    deferred::{notice::whole, tool::has_type},
    error::Error,
    json::Node,
};

/// The URL of an image block; `None` if its source has none.
pub(super) fn url<'a>(image: &Node<'a>) -> Result<Option<Node<'a>>, Error> {
    let Some(source) = image.get("source") else { return Ok(None) };
    if has_type(source, "url") {
        return Ok(source.get("url").filter(|url| url.as_text().is_some()).cloned());
    }
    let text = |key| source.get(key).and_then(Node::as_text);
    Ok(match (text("media_type"), text("data")) {
        (Some(media_type), Some(data)) if has_type(source, "base64") => {
            let (media_type, data) = (whole(media_type, "/messages")?, whole(data, "/messages")?);
            Some(Node::string(alloc::format!("data:{media_type};base64,{data}")))
        }
        _ => None,
    })
}
