//! One request of a client and its reply.

use std::{borrow::Cow, sync::LazyLock};

use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use toolwire::{
    internal::bindings::{self, Naming},
    ExchangeOptions, ToolListCache,
};

use crate::{
    entry::{catch_panic, catch_panic_with, without_gil},
    raise::{option_error, to_exception},
    read::Values,
    text::Source,
    write::Writer,
};

/// Tool lists of earlier requests, for all exchanges and threads of the process.
static LISTS: LazyLock<ToolListCache> = LazyLock::new(ToolListCache::default);

/// State of `toolwire.Exchange`.
#[pyclass(module = "toolwire._toolwire")]
pub(crate) struct Exchange(Option<toolwire::Exchange>);

#[pymethods]
impl Exchange {
    /// Opens an exchange for a request's URL and body; returns `None` if the request must be passed on unchanged.
    #[staticmethod]
    #[pyo3(signature = (url, body, options, /))]
    fn open(
        py: Python<'_>,
        url: &str,
        body: Bound<'_, PyAny>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Option<Exchange>> {
        catch_panic(|| {
            let chosen = Values::read(options).map_err(|failure| option_error(py, failure))?;
            let options = bindings::options::<ExchangeOptions>(&chosen.tree()?, Naming::Snake)
                .map_err(|error| to_exception(py, &error))?;
            let source = Source::new(body)?;
            let body = source.text()?;
            let work = || toolwire::Exchange::open_cached(url, body, &options, &LISTS);
            let exchange = without_gil(py, body.len(), work);
            Ok(exchange.map_err(|error| to_exception(py, &error))?.map(|exchange| Exchange(Some(exchange))))
        })
    }

    /// Returns the request to send: the first one, or the next one if the model has to be asked again.
    fn request(&mut self) -> PyResult<String> {
        catch_panic_with(&mut self.0, |exchange| Ok(exchange.request().to_owned()))
    }

    /// Returns the request to send as bytes, which need no encoding.
    fn request_bytes<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        catch_panic_with(&mut self.0, |exchange| Ok(PyBytes::new(py, exchange.request().as_bytes())))
    }

    /// Returns the report about the request.
    fn report<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catch_panic_with(&mut self.0, |exchange| {
            Ok(Writer::new(py, &Values::default(), false).value(&bindings::report(exchange))?)
        })
    }

    /// Returns the betas that the request's `anthropic-beta` header has to name.
    fn betas(&mut self) -> PyResult<Vec<String>> {
        catch_panic_with(&mut self.0, |exchange| Ok(exchange.betas().to_vec()))
    }

    /// Returns the backend's native construct for deferred tools that the request uses.
    fn native(&mut self) -> PyResult<&'static str> {
        catch_panic_with(&mut self.0, |exchange| Ok(exchange.native().as_str()))
    }

    /// Returns the repairs of the calls that ended since the last call to this method, as a list.
    fn take_repaired_calls<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catch_panic_with(&mut self.0, |exchange| {
            let calls = bindings::repaired_calls(&exchange.take_repaired_calls());
            Ok(Writer::new(py, &Values::default(), false).value(&calls)?)
        })
    }

    /// Returns the changes to the answer since the last call to this method, as a list.
    fn take_answer_changes<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catch_panic_with(&mut self.0, |exchange| {
            let changes = bindings::answer_changes(&exchange.take_answer_changes());
            Ok(Writer::new(py, &Values::default(), false).value(&changes)?)
        })
    }

    /// Returns the warning about tools that are not in the request, as `{ message, key }`; `None` if there is no
    /// warning.
    fn warning<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catch_panic_with(&mut self.0, |exchange| {
            Ok(Writer::new(py, &Values::default(), false).value(&bindings::warning(exchange))?)
        })
    }

    /// Returns the body of an answer that reports an error in the format of the API at a URL.
    #[staticmethod]
    #[pyo3(signature = (url, code, pointer, message, /))]
    fn refusal(url: &str, code: &str, pointer: &str, message: &str) -> PyResult<String> {
        catch_panic(|| {
            let known = toolwire::Code::ALL.iter().find(|known| known.as_str() == code);
            let code = *known.unwrap_or(&toolwire::Code::Internal);
            Ok(toolwire::Exchange::refusal(url, &toolwire::Error::new(code, pointer, message)))
        })
    }

    /// Restores a whole reply; returns `None` if the model has to be asked again.
    #[pyo3(signature = (reply, /))]
    fn reply(&mut self, py: Python<'_>, reply: Bound<'_, PyAny>) -> PyResult<Option<String>> {
        catch_panic_with(&mut self.0, |exchange| {
            let source = Source::new(reply)?;
            let text = source.text()?;
            let length = text.len().max(exchange.request().len());
            let work = || exchange.reply(text).map(|restored| restored.map(Cow::into_owned));
            without_gil(py, length, work).map_err(|error| to_exception(py, &error))
        })
    }

    /// Restores a piece of a stream, and returns the text to pass on.
    #[pyo3(signature = (piece, /))]
    fn feed_text(&mut self, py: Python<'_>, piece: Bound<'_, PyAny>) -> PyResult<String> {
        catch_panic_with(&mut self.0, |exchange| {
            let source = Source::new(piece)?;
            exchange.feed_text(source.text()?).map(Cow::into_owned).map_err(|error| to_exception(py, &error))
        })
    }

    /// Ends a stream, and returns the rest of the text.
    fn finish_text(&mut self, py: Python<'_>) -> PyResult<String> {
        catch_panic_with(&mut self.0, |exchange| {
            // The end of a stream may make the next request.
            let length = exchange.request().len();
            without_gil(py, length, || exchange.finish_text()).map_err(|error| to_exception(py, &error))
        })
    }

    /// Restores a piece of a stream of bytes, and returns the bytes to pass on.
    #[pyo3(signature = (piece, /))]
    fn feed_bytes<'py>(&mut self, py: Python<'py>, piece: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = catch_panic_with(&mut self.0, |exchange| {
            exchange.feed_bytes(piece).map_err(|error| to_exception(py, &error))
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Ends a stream of bytes, and returns the rest.
    fn finish_bytes<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = catch_panic_with(&mut self.0, |exchange| {
            let length = exchange.request().len();
            without_gil(py, length, || exchange.finish_bytes()).map_err(|error| to_exception(py, &error))
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the bytes of an error event.
    #[pyo3(signature = (body, /))]
    fn failed_bytes<'py>(&mut self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &catch_panic_with(&mut self.0, |exchange| Ok(exchange.failed_bytes(body)))?))
    }

    /// Returns true if the last stream ended with a search, so the model must be asked again.
    fn asks_again(&mut self) -> PyResult<bool> {
        catch_panic_with(&mut self.0, |exchange| Ok(exchange.asks_again()))
    }

    /// Returns the text of an error event.
    #[pyo3(signature = (body, /))]
    fn failed_text(&mut self, body: &str) -> PyResult<String> {
        catch_panic_with(&mut self.0, |exchange| Ok(exchange.failed_text(body)))
    }
}
