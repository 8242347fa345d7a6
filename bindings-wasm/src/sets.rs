//! A tool list that is sent with every request, kept in a separate instance.

use std::{borrow::Cow, cell::RefCell};

use toolwire::{
    internal::{
        bindings::{self, Naming, TextOutput, ValueOutput},
        json::{self, Data, Node, Object},
    },
    ToolSet,
};
use wasm_bindgen::{prelude::wasm_bindgen, JsValue};

use crate::{
    call::{return_outcome, Failure, InputLayout},
    shared_buffer,
};

thread_local! {
    static SET: RefCell<Option<ToolSet<String>>> = const { RefCell::new(None) };
}

/// Stores the tool list that the shared buffer contains as a value, and replaces the previous one. The output is the
/// list as JSON text in a string, or null if it is equal to the previous one. Returns undefined, or an error as
/// [`crate::call::call`] does.
#[wasm_bindgen(js_name = storeSet)]
pub fn store_set(words: usize, chars: usize, spelled: bool) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs: 1, words, chars, spelled }.on_values(&mut input, output, |mut inputs, _| {
        let tools = inputs.pop().ok_or_else(missing_input)?;
        let list = store(tools)?;
        Ok(ValueOutput { value: list.map_or_else(Node::default, Node::string), report: None, share: false })
    });
    return_outcome(input, outcome)
}

/// Stores the tool list that the shared buffer contains as JSON text. Like [`store_set`], but the output is text: the
/// list, or `null` if the list is equal to the previous list.
#[wasm_bindgen(js_name = storeSetText)]
pub fn store_set_text(words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs: 1, words, chars, spelled }.on_texts(broken, &mut input, output, |texts, _| {
        let tools = toolwire::internal::json::read(texts.first().ok_or_else(missing_input)?)?;
        Ok(TextOutput { text: Cow::Owned(store(tools)?.unwrap_or_else(|| "null".into())), report: None })
    });
    return_outcome(input, outcome)
}

/// Returns the number of tools in the list.
#[wasm_bindgen(js_name = toolsInSet)]
pub fn tools_in_set() -> usize {
    SET.with_borrow(|set| set.as_ref().map_or(0, |set| set.len()))
}

/// Sanitizes the list for the options in the shared buffer. The output is an object of JSON texts: `json` for the list,
/// and the other results by name, without the changes. Returns undefined, or an error as [`crate::call::call`] does.
#[wasm_bindgen(js_name = readySet)]
pub fn ready_set(words: usize, chars: usize, spelled: bool) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs: 0, words, chars, spelled }.on_values(&mut input, output, |_, options| {
        let ready = SET.with_borrow_mut(|set| {
            Ok::<_, Failure>(bindings::ready_tools(set.as_mut().ok_or_else(missing_input)?, options, Naming::Camel)?)
        });
        let TextOutput { text, report } = ready?;
        let mut texts = Object::new();
        texts.set("json", Node::string(text.into_owned()));
        for member in report.iter().filter_map(Node::as_object).flatten() {
            let is_flag = matches!(member.value.data(), Data::Bool(_));
            let value = if is_flag { member.value.clone() } else { Node::string(json::write(&member.value)) };
            texts.set(member.key.clone(), value);
        }
        Ok(ValueOutput { value: Node::object(texts), report: None, share: false })
    });
    return_outcome(input, outcome)
}

/// Returns the text of the list if it differs from the previous list.
fn store(tools: Node<'_>) -> Result<Option<String>, Failure> {
    SET.with_borrow_mut(|set| {
        let is_new = match set {
            Some(set) => bindings::update_tools(set, tools)?,
            None => {
                *set = Some(bindings::tool_set(tools)?);
                true
            }
        };
        Ok(set.as_ref().filter(|_| is_new).map(|set| bindings::list_of(set).to_owned()))
    })
}

fn missing_input() -> Failure {
    Failure::Defect("the shared buffer is empty, or no list is stored")
}
