//! Adds the function's name to results of Gemini Interactions, which refuses results without a name.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Map,
    error::Error,
    json::{
        lazy::{edit, may_hold, view},
        Node, Text,
    },
    options::Api,
    request::{prefilter::CALL, tool::has_type},
};

/// Gives each result without a name the name of its call. Returns the pointers to these results.
///
/// # Errors
/// `invalid-json` if a step is text that cannot be read.
pub(super) fn complete(request: &mut Node<'_>, api: Api) -> Result<Vec<String>, Error> {
    let mut places = Vec::new();
    if api != Api::GeminiInteractions {
        return Ok(places);
    }
    let mut called: Map<Text<'_>, Text<'_>> = Map::new();
    let completed = request.visit(api.history(), |steps| {
        let mut missing = Vec::new();
        for (at, step) in steps.as_array().unwrap_or_default().iter().enumerate() {
            if !may_hold(step, CALL) {
                continue;
            }
            let step = view(step)?;
            let text = |key: &str| step.text_at(key).filter(|text| !text.is_empty());
            if has_type(&step, "function_call") {
                if let Some((id, name)) = text("id").zip(text("name")) {
                    called.insert(id.clone(), name.clone());
                }
            } else if has_type(&step, "function_result") && text("name").is_none() {
                missing.extend(text("call_id").and_then(|id| called.get(id)).map(|name| (at, name.clone())));
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let Some(list) = steps.as_array_mut() else { return Ok(()) };
        for (at, name) in missing {
            if let Some(step) = list.get_mut(at) {
                edit(step, |step| {
                    step.set("name", Node::string(name));
                    Ok::<(), Error>(())
                })?;
                places.push(format!("/{}/{at}", api.history()));
            }
        }
        Ok(())
    });
    completed.unwrap_or(Ok(()))?;
    Ok(places)
}
