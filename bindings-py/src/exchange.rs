//! One request of a client and its reply.

use pyo3::{prelude::*, types::PyDict};
use toolwire::{ExchangeOptions, Naming};

use crate::{
    entry::{guarded, DETACH_FROM},
    raise::{option_error, raised},
    read::Values,
    text::Source,
    write::Writer,
};

/// What `toolwire.Exchange` keeps.
#[pyclass(module = "toolwire._toolwire")]
pub(crate) struct Exchange(toolwire::Exchange);

#[pymethods]
impl Exchange {
    /// Opens one for a request's URL and body; None if it is to be passed on as it is.
    #[staticmethod]
    #[pyo3(signature = (url, body, options, /))]
    fn open(py: Python<'_>, url: &str, body: Bound<'_, PyAny>, options: &Bound<'_, PyDict>) -> PyResult<Option<Exchange>> {
        guarded(|| {
            let chosen = Values::read(options).map_err(|fault| option_error(py, fault))?;
            let options = ExchangeOptions::read(&chosen.tree()?, Naming::Snake).map_err(|error| raised(py, &error))?;
            let source = Source::new(body)?;
            let body = source.text()?;
            let work = || toolwire::Exchange::open(url, body, &options);
            let exchange = if body.len() < DETACH_FROM { work() } else { py.detach(work) };
            Ok(exchange.map_err(|error| raised(py, &error))?.map(Exchange))
        })
    }

    /// What is to be sent, or sent next.
    fn request(&self) -> &str {
        self.0.request()
    }

    /// What was done to it.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| Writer::new(py, &Values::default(), false).value(&self.0.report_node()))
    }

    /// Takes a whole reply; None if the model is to be asked again.
    #[pyo3(signature = (reply, /))]
    fn reply(&mut self, py: Python<'_>, reply: Bound<'_, PyAny>) -> PyResult<Option<String>> {
        guarded(|| {
            let source = Source::new(reply)?;
            let told = self.0.reply(source.text()?).map_err(|error| raised(py, &error))?;
            Ok(told.map(std::borrow::Cow::into_owned))
        })
    }

    /// Takes a piece of a stream, and gives the text to be passed on.
    #[pyo3(signature = (piece, /))]
    fn feed_text(&mut self, py: Python<'_>, piece: Bound<'_, PyAny>) -> PyResult<String> {
        guarded(|| self.0.feed_text(Source::new(piece)?.text()?).map_err(|error| raised(py, &error)))
    }

    /// Ends a stream: the text that is still to be passed on.
    fn finish_text(&mut self, py: Python<'_>) -> PyResult<String> {
        guarded(|| self.0.finish_text().map_err(|error| raised(py, &error)))
    }

    /// Whether the stream that ended asks for another round.
    fn asks_again(&self) -> bool {
        self.0.asks_again()
    }

    /// The event that tells of an error.
    #[pyo3(signature = (body, /))]
    fn failed_text(&self, body: &str) -> String {
        self.0.failed_text(body)
    }
}
