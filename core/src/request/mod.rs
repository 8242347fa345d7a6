//! What a request to a model API is, whichever API it is written for: the one model that deferred loading, tool lists
//! and exchanges share.

pub(crate) mod choice;

use alloc::string::String;

use crate::{
    error::Error,
    json::{lazy::view, Node},
};

/// The model of a request in lower case, without the vendor that routers write before it.
pub(crate) fn model(request: &Node<'_>) -> Result<String, Error> {
    let Some(model) = request.get("model") else { return Ok(String::new()) };
    let model = view(model)?;
    let name = model.as_text().map(|name| name.display().into_owned()).unwrap_or_default();
    Ok(name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase())
}
