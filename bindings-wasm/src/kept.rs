//! A tool list that is kept for many searches.
//!
//! There is one per instance: JavaScript creates an instance for every index, so that the list is freed when the index
//! is collected. This needs no function to free a list, and no handles.

use std::{borrow::Cow, cell::RefCell};

use toolwire::{
    internal::bindings::{self, Answer, Naming, TextAnswer},
    json::Node,
    Code, Error, SearchOptions, ToolIndex,
};
use wasm_bindgen::{prelude::wasm_bindgen, JsValue};

use crate::{
    call::{hand_over, Failure, Order},
    desk,
};

thread_local! {
    static KEPT: RefCell<Option<ToolIndex>> = const { RefCell::new(None) };
}

/// Stores the tool list that the shared buffer contains as a value. Returns undefined, or an error as
/// [`crate::call::call`] does.
#[wasm_bindgen]
pub fn keep(words: usize, chars: usize, spelled: bool) -> JsValue {
    let (mut given, handed) = desk::take();
    let outcome = Order { inputs: 1, words, chars, spelled }.on_values(&mut given, handed, |inputs, _| {
        KEPT.set(Some(bindings::index(only(&inputs)?)?));
        Ok(answer(Node::default()))
    });
    hand_over(given, outcome)
}

/// Stores the tool list that the shared buffer contains as JSON text. Returns what [`keep`] returns.
#[wasm_bindgen(js_name = keepText)]
pub fn keep_text(words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    let (mut given, handed) = desk::take();
    let outcome = Order { inputs: 1, words, chars, spelled }.on_texts(broken, &mut given, handed, |texts, _| {
        KEPT.set(Some(ToolIndex::new(*only(texts)?)?));
        Ok(TextAnswer { text: Cow::Borrowed(""), report: None })
    });
    hand_over(given, outcome)
}

/// Returns the number of tools in the list.
#[wasm_bindgen(js_name = keptTools)]
pub fn kept_tools() -> usize {
    KEPT.with_borrow(|kept| kept.as_ref().map_or(0, ToolIndex::len))
}

/// Searches the list for the query that the shared buffer contains. Returns what [`keep`] returns.
#[wasm_bindgen(js_name = searchKept)]
pub fn search_kept(words: usize, chars: usize, spelled: bool) -> JsValue {
    ask(words, chars, spelled, |index, query, options| {
        let Some(query) = query.as_text() else {
            let message = format!("expected the query to be a string, found {}", query.kind());
            return Err(Error::new(Code::InvalidValue, "/query", message));
        };
        bindings::search(index, &query.display(), options)
    })
}

/// Answers, from the list, the call that the shared buffer contains. Returns what [`keep`] returns.
#[wasm_bindgen(js_name = answerKept)]
pub fn answer_kept(words: usize, chars: usize, spelled: bool) -> JsValue {
    ask(words, chars, spelled, |index, call, options| Ok(bindings::answer(index, call, options)?.unwrap_or_default()))
}

fn ask(
    words: usize,
    chars: usize,
    spelled: bool,
    what: impl FnOnce(&ToolIndex, &Node<'_>, &SearchOptions) -> Result<Node<'static>, Error>,
) -> JsValue {
    let (mut given, handed) = desk::take();
    let outcome = Order { inputs: 1, words, chars, spelled }.on_values(&mut given, handed, |inputs, options| {
        let options = bindings::options::<SearchOptions>(options, Naming::Camel)?;
        KEPT.with_borrow(|kept| {
            let index = kept.as_ref().ok_or(Failure::Defect("nothing is kept"))?;
            Ok(answer(what(index, only(&inputs)?, &options)?))
        })
    });
    hand_over(given, outcome)
}

fn only<T>(inputs: &[T]) -> Result<&T, Failure> {
    inputs.first().ok_or(Failure::Defect("nothing lies on the desk"))
}

fn answer(value: Node<'_>) -> Answer<'_> {
    Answer { value, report: None, share: false }
}
