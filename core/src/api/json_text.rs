//! JSON text as callers hold it: `&str`, or bytes that have to be UTF-8.

use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
    vec::Vec,
};

use crate::{error::Error, json};

/// JSON text that a `_json` function takes: `&str`, `&String`, `&[u8]`, `&Vec<u8>`, `&[u8; N]`, or a `&Cow` of
/// text or bytes. What it gives back has the same form: text for text, bytes for bytes.
///
/// ```
/// use std::borrow::Cow;
/// use toolwire::{apply_deferred_loading_json, DeferredOptions};
/// let body: &[u8] = br#"{"messages":[]}"#;
/// let written: Cow<'_, [u8]> = apply_deferred_loading_json(body, &DeferredOptions::default())?;
/// assert!(matches!(written, Cow::Borrowed(_)));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// Bytes that are not UTF-8 are the error `invalid-json`, with the place of the first of them.
pub trait JsonText<'a>: sealed::Sealed {
    /// What is given back: `str` or `[u8]`.
    type Form: ToOwned + ?Sized + 'a;

    /// The text.
    ///
    /// # Errors
    /// `invalid-json` if it is not UTF-8.
    fn text(self) -> Result<&'a str, Error>;

    /// A text in this form.
    fn form(text: Cow<'a, str>) -> Cow<'a, Self::Form>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! texts {
    ($($type:ty),*) => {$(
        impl sealed::Sealed for &$type {}

        impl<'a> JsonText<'a> for &'a $type {
            type Form = str;

            fn text(self) -> Result<&'a str, Error> {
                Ok(self)
            }

            fn form(text: Cow<'a, str>) -> Cow<'a, str> {
                text
            }
        }
    )*};
}

macro_rules! bytes {
    ($(($($parameters:tt)*) $type:ty),*) => {$(
        impl<$($parameters)*> sealed::Sealed for $type {}

        impl<$($parameters)*> JsonText<'a> for $type {
            type Form = [u8];

            fn text(self) -> Result<&'a str, Error> {
                json::utf8(self)
            }

            fn form(text: Cow<'a, str>) -> Cow<'a, [u8]> {
                match text {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                }
            }
        }
    )*};
}

texts!(str, String, Cow<'_, str>);
bytes!(('a) &'a [u8], ('a) &'a Cow<'_, [u8]>, ('a) &'a Vec<u8>, ('a, const N: usize) &'a [u8; N]);
