//! Input of functions: a `serde_json::Value`, or JSON text as `&str` or as UTF-8 bytes.

use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
    vec::Vec,
};
use core::fmt::Debug;
use serde_json::Value;

use super::text_of;
use crate::{
    error::Error,
    json::{self, Node},
    request,
};

/// Input of a function: `&Value`, or JSON text as `&str`, `&String`, `&[u8]`, `&Vec<u8>`, `&[u8; N]`, or as a `&Cow` of
/// text or bytes. The result has the same form: a [`Value`] for a value, text for text, bytes for bytes.
///
/// Text is the fast and lossless form: key order, number spelling and escapes are preserved outside the rewritten
/// parts, and text that needs no change is returned borrowed. Unless your own build enables serde_json's feature
/// `preserve_order`, `Value` sorts its keys.
///
/// ```
/// use std::borrow::Cow;
/// use toolwire::{sanitize, Dialect, SanitizeOptions};
/// let body: &[u8] = br#"{"type":"object","properties":{}}"#;
/// let written: Cow<'_, [u8]> = sanitize(body, &SanitizeOptions::new(Dialect::OPENAI_CHAT))?.schema;
/// assert!(matches!(written, Cow::Borrowed(_)));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// Bytes that are not UTF-8 cause the error `invalid-json`, which contains the position of the first invalid byte.
pub trait Input: Copy + Debug + sealed::Sealed {
    /// Form of the result: `Value`, `Cow<str>` or `Cow<[u8]>`.
    type Output: Clone + Debug + PartialEq;

    /// Returns the value, or the text as UTF-8.
    ///
    /// # Errors
    /// `invalid-json` if bytes are not UTF-8.
    fn given(&self) -> Result<Given<'_>, Error>;

    /// Writes a tree that was read from this input, borrowing its unchanged parts.
    ///
    /// # Errors
    /// `invalid-value` for an unpaired surrogate, which a `Value` cannot hold.
    fn written(self, node: &Node<'_>) -> Result<Self::Output, Error>;

    /// Returns JSON text in the form of this input; `None` represents the input itself.
    ///
    /// # Errors
    /// Same as [`Self::written`].
    fn text(self, text: Option<String>) -> Result<Self::Output, Error>;
}

/// An input whose text is known to be UTF-8.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// A value.
    Value(&'a Value),
    /// JSON text.
    Text(&'a str),
}

impl<'a> Given<'a> {
    pub(crate) fn read(self) -> Result<Node<'a>, Error> {
        match self {
            Given::Value(value) => Node::from_value(value),
            Given::Text(text) => json::read(text),
        }
    }

    /// Does not parse messages that need no change.
    pub(crate) fn read_request(self) -> Result<Node<'a>, Error> {
        match self {
            Given::Value(value) => Node::from_value(value),
            Given::Text(text) => request::read(text),
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for &Value {}

impl Input for &Value {
    type Output = Value;

    fn given(&self) -> Result<Given<'_>, Error> {
        Ok(Given::Value(self))
    }

    fn written(self, node: &Node<'_>) -> Result<Value, Error> {
        node.to_value()
    }

    fn text(self, text: Option<String>) -> Result<Value, Error> {
        text.map_or_else(|| Ok(self.clone()), |text| json::read(&text)?.to_value())
    }
}

macro_rules! texts {
    ($form:ty: $([$($parameters:tt)*] $type:ty),*) => {$(
        impl<$($parameters)*> sealed::Sealed for &$type {}

        impl<'a, $($parameters)*> Input for &'a $type {
            type Output = Cow<'a, $form>;

            fn given(&self) -> Result<Given<'_>, Error> {
                let form: &$form = *self;
                form.utf8().map(Given::Text)
            }

            fn written(self, node: &Node<'_>) -> Result<Self::Output, Error> {
                let form: &$form = self;
                let text = if node.is_intact() { None } else { Some(text_of(form.utf8()?, node).into_owned()) };
                self.text(text)
            }

            fn text(self, text: Option<String>) -> Result<Self::Output, Error> {
                let same: &'a $form = self;
                Ok(text.map_or(Cow::Borrowed(same), |text| Cow::Owned(<$form>::form(text))))
            }
        }
    )*};
}

texts!(str: [] str, [] String, [] Cow<'_, str>);
texts!([u8]: [] [u8], [] Vec<u8>, [] Cow<'_, [u8]>, [const N: usize] [u8; N]);

/// `str`, or bytes.
trait Form: ToOwned {
    fn utf8(&self) -> Result<&str, Error>;

    fn form(text: String) -> Self::Owned;
}

impl Form for str {
    fn utf8(&self) -> Result<&str, Error> {
        Ok(self)
    }

    fn form(text: String) -> String {
        text
    }
}

impl Form for [u8] {
    fn utf8(&self) -> Result<&str, Error> {
        json::utf8(self)
    }

    fn form(text: String) -> Vec<u8> {
        text.into_bytes()
    }
}
