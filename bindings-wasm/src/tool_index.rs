//! A tool list that is kept for many searches.
//!
//! Each instance contains one list. JavaScript creates an instance for every index, so that the list is freed when the
//! index is collected. Therefore, lists need no handles, and no function has to free them.

use std::{borrow::Cow, cell::RefCell};

use toolwire::{
    internal::{
        bindings::{self, Naming, TextOutput, ValueOutput},
        json::Node,
    },
    Code, Error, SearchOptions, ToolIndex,
};
use wasm_bindgen::{prelude::wasm_bindgen, JsValue};

use crate::{
    call::{return_outcome, Failure, InputLayout},
    shared_buffer,
};

thread_local! {
    static INDEX: RefCell<Option<ToolIndex>> = const { RefCell::new(None) };
}

/// Stores the tool list that the shared buffer contains as a value. Returns undefined, or an error as
/// [`crate::call::call`] does.
#[wasm_bindgen(js_name = storeIndex)]
pub fn store_index(words: usize, chars: usize, spelled: bool) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs: 1, words, chars, spelled }.on_values(&mut input, output, |inputs, _| {
        INDEX.set(Some(bindings::index(only_input(&inputs)?)?));
        Ok(value_output(Node::default()))
    });
    return_outcome(input, outcome)
}

/// Stores the tool list that the shared buffer contains as JSON text. Returns what [`store_index`] returns.
#[wasm_bindgen(js_name = storeIndexText)]
pub fn store_index_text(words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs: 1, words, chars, spelled }.on_texts(broken, &mut input, output, |texts, _| {
        INDEX.set(Some(ToolIndex::new(*only_input(texts)?)?));
        Ok(TextOutput { text: Cow::Borrowed(""), report: None })
    });
    return_outcome(input, outcome)
}

/// Returns the number of tools in the list.
#[wasm_bindgen(js_name = toolsInIndex)]
pub fn tools_in_index() -> usize {
    INDEX.with_borrow(|index| index.as_ref().map_or(0, ToolIndex::len))
}

/// Searches the list for the query that the shared buffer contains. Returns what [`store_index`] returns.
#[wasm_bindgen(js_name = searchIndex)]
pub fn search_index(words: usize, chars: usize, spelled: bool) -> JsValue {
    with_index(words, chars, spelled, |index, query, options| {
        let Some(query) = query.as_text() else {
            let message = format!("expected the query to be a string, found {}", query.kind());
            return Err(Error::new(Code::InvalidValue, "/query", message));
        };
        bindings::search(index, &query.display(), options)
    })
}

/// Answers, from the list, the call that the shared buffer contains. Returns what [`store_index`] returns.
#[wasm_bindgen(js_name = answerFromIndex)]
pub fn answer_from_index(words: usize, chars: usize, spelled: bool) -> JsValue {
    with_index(words, chars, spelled, |index, call, options| {
        Ok(bindings::answer(index, call, options)?.unwrap_or_default())
    })
}

fn with_index(
    words: usize,
    chars: usize,
    spelled: bool,
    work: impl FnOnce(&ToolIndex, &Node<'_>, &SearchOptions) -> Result<Node<'static>, Error>,
) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs: 1, words, chars, spelled }.on_values(&mut input, output, |inputs, options| {
        let options = bindings::options::<SearchOptions>(options, Naming::Camel)?;
        INDEX.with_borrow(|index| {
            let index = index.as_ref().ok_or(Failure::Defect("no index is stored"))?;
            Ok(value_output(work(index, only_input(&inputs)?, &options)?))
        })
    });
    return_outcome(input, outcome)
}

fn only_input<T>(inputs: &[T]) -> Result<&T, Failure> {
    inputs.first().ok_or(Failure::Defect("the shared buffer is empty"))
}

fn value_output(value: Node<'_>) -> ValueOutput<'_> {
    ValueOutput { value, report: None, share: false }
}
