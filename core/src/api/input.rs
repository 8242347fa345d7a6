//! Input of functions: a `serde_json::Value`, or JSON text as `&str` or as UTF-8 bytes; and its owned forms.

use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
    vec::Vec,
};
use core::fmt::Debug;
use serde_json::Value;

use self::sealed::{FromNode, Read, Write};
use super::text_of;
use crate::{
    error::Error,
    json::{self, Node, Utf8Pieces},
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
pub trait Input: Copy + Form + sealed::Write<<Self as Form>::Output> {}

/// A form of JSON: an [`Input`], or its owned form `Value`, `String` or `Vec<u8>`.
///
/// The results of [`sanitize`](crate::sanitize), [`sanitize_tools`](crate::sanitize_tools) and
/// [`apply_deferred_loading`](crate::apply_deferred_loading) keep their input for the report. Their `into_owned` copies
/// it. The owner of an input can then return the result:
///
/// ```
/// use serde_json::Value;
/// use toolwire::{sanitize_tools, DialectId, Error, SanitizedTools, ToolsOptions};
/// fn sanitized(listed: Value, dialect: DialectId) -> Result<SanitizedTools<Value>, Error> {
///     Ok(sanitize_tools(&listed, &ToolsOptions::new(dialect))?.into_owned())
/// }
/// ```
pub trait Form: Clone + Debug + sealed::Read<<Self as Form>::Owned> {
    /// Form of the result: `Value`, text or bytes.
    type Output: Clone + Debug + PartialEq + Into<Self::Owned>;

    /// The form that owns its data: `Value`, `String` or `Vec<u8>`.
    type Owned: OwnedForm;
}

/// A form that owns its data.
pub trait OwnedForm: Form<Output = Self, Owned = Self> + PartialEq + sealed::FromNode {}

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

    pub(crate) fn text(self) -> Result<Cow<'a, str>, Error> {
        Ok(match self {
            Given::Value(value) => Cow::Owned(json::write(&Node::from_value(value)?)),
            Given::Text(text) => Cow::Borrowed(text),
        })
    }

    /// Reads a request without parsing messages that need no change.
    pub(crate) fn read_request(self) -> Result<Node<'a>, Error> {
        match self {
            Given::Value(value) => Node::from_value(value),
            Given::Text(text) => request::read(text),
        }
    }
}

pub(super) fn fed<'p>(
    pieces: &mut Utf8Pieces,
    piece: &'p [u8],
    mut feed: impl for<'t> FnMut(&'t str) -> Result<Cow<'t, str>, Error>,
) -> Result<Cow<'p, [u8]>, Error> {
    Ok(match pieces.text(piece) {
        Cow::Borrowed(text) => match feed(text)? {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
        Cow::Owned(text) => Cow::Owned(feed(&text)?.into_owned().into_bytes()),
    })
}

/// What the public traits can do. No other crate can name these traits, so none can implement a form. Other crates can
/// call the methods through a bound, but they are not part of the public API.
mod sealed {
    use alloc::string::String;

    use super::Given;
    use crate::{error::Error, json::Node};

    pub trait Read<Owned> {
        /// Returns the value, or the text as UTF-8.
        ///
        /// # Errors
        /// `invalid-json` if bytes are not UTF-8.
        fn given(&self) -> Result<Given<'_>, Error>;

        fn copied(&self) -> Owned;
    }

    /// Both functions return the error `invalid-value` for an unpaired surrogate, which a `Value` cannot hold.
    pub trait Write<Output> {
        /// Writes a tree that was read from this input, borrowing its unchanged parts.
        fn written(self, node: &Node<'_>) -> Result<Output, Error>;

        /// Returns JSON text in the form of this input; `None` represents the input itself.
        fn text(self, text: Option<String>) -> Result<Output, Error>;
    }

    pub trait FromNode: Sized {
        /// # Errors
        /// `invalid-value` for an unpaired surrogate, which a `Value` cannot hold.
        fn written_from(node: &Node<'_>) -> Result<Self, Error>;

        /// Makes the value from its compact JSON text.
        ///
        /// # Errors
        /// `invalid-value` for an unpaired surrogate, which a `Value` cannot hold.
        fn of_compact_text(text: &str) -> Result<Self, Error>;
    }
}

impl Form for &Value {
    type Output = Value;
    type Owned = Value;
}

impl Input for &Value {}

impl Read<Value> for &Value {
    fn given(&self) -> Result<Given<'_>, Error> {
        Ok(Given::Value(self))
    }

    fn copied(&self) -> Value {
        (*self).clone()
    }
}

impl Write<Value> for &Value {
    fn written(self, node: &Node<'_>) -> Result<Value, Error> {
        node.to_value()
    }

    fn text(self, text: Option<String>) -> Result<Value, Error> {
        text.map_or_else(|| Ok(self.clone()), |text| json::read(&text)?.to_value())
    }
}

macro_rules! texts {
    ($form:ty: $([$($parameters:tt)*] $type:ty),*) => {$(
        impl<'a, $($parameters)*> Form for &'a $type {
            type Output = Cow<'a, $form>;
            type Owned = <$form as ToOwned>::Owned;
        }

        impl<$($parameters)*> Input for &$type {}

        impl<$($parameters)*> Read<<$form as ToOwned>::Owned> for &$type {
            fn given(&self) -> Result<Given<'_>, Error> {
                let form: &$form = *self;
                form.utf8().map(Given::Text)
            }

            fn copied(&self) -> <$form as ToOwned>::Owned {
                let form: &$form = *self;
                form.to_owned()
            }
        }

        impl<'a, $($parameters)*> Write<Cow<'a, $form>> for &'a $type {
            fn written(self, node: &Node<'_>) -> Result<Cow<'a, $form>, Error> {
                let form: &$form = self;
                let text = if node.is_intact() { None } else { Some(text_of(form.utf8()?, node).into_owned()) };
                self.text(text)
            }

            fn text(self, text: Option<String>) -> Result<Cow<'a, $form>, Error> {
                let same: &'a $form = self;
                Ok(text.map_or(Cow::Borrowed(same), |text| Cow::Owned(<$form>::form(text))))
            }
        }
    )*};
}

texts!(str: [] str, [] String, [] Cow<'_, str>);
texts!([u8]: [] [u8], [] Vec<u8>, [] Cow<'_, [u8]>, [const N: usize] [u8; N]);

macro_rules! owned {
    ($($type:ty: $given:expr, $write:expr, $read:expr;)*) => {$(
        impl Form for $type {
            type Output = $type;
            type Owned = $type;
        }

        impl OwnedForm for $type {}

        impl Read<$type> for $type {
            fn given(&self) -> Result<Given<'_>, Error> {
                let given: fn(&$type) -> Result<Given<'_>, Error> = $given;
                given(self)
            }

            fn copied(&self) -> $type {
                self.clone()
            }
        }

        impl FromNode for $type {
            fn written_from(node: &Node<'_>) -> Result<Self, Error> {
                let write: fn(&Node<'_>) -> Result<$type, Error> = $write;
                write(node)
            }

            fn of_compact_text(text: &str) -> Result<Self, Error> {
                let read: fn(&str) -> Result<$type, Error> = $read;
                read(text)
            }
        }
    )*};
}

owned! {
    Value: |value| Ok(Given::Value(value)), |node| node.to_value(), |text| json::read(text)?.to_value();
    String: |text| Ok(Given::Text(text)), |node| Ok(json::write(node)), |text| Ok(text.into());
    Vec<u8>:
        |bytes| json::utf8(bytes).map(Given::Text),
        |node| Ok(json::write(node).into_bytes()),
        |text| Ok(text.into());
}

/// The form of a text input: `str`, or bytes.
trait Text: ToOwned {
    fn utf8(&self) -> Result<&str, Error>;

    fn form(text: String) -> Self::Owned;
}

impl Text for str {
    fn utf8(&self) -> Result<&str, Error> {
        Ok(self)
    }

    fn form(text: String) -> String {
        text
    }
}

impl Text for [u8] {
    fn utf8(&self) -> Result<&str, Error> {
        json::utf8(self)
    }

    fn form(text: String) -> Vec<u8> {
        text.into_bytes()
    }
}
