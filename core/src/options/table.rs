//! `options!`: declares the options of a function as a table with one row per option.
//!
//! A row has the option's documentation, its name in JSON, its field, its type and its default:
//!
//! ```text
//! /// Handling of `$ref`.
//! "refs" refs: Option<Refs> = None, set(|refs: Refs| refs.into());
//! ```
//!
//! The row generates the field of the struct, its default, its entry in the list of known names, its reader and its
//! setter. The type decides how the option is read ([`Readable`]), unless the row has `read(function)`. A setter
//! accepts the field's type, unless the row has `set(|value: Type| expression)`, or `set(by hand)` if the option has no
//! setter or another file defines it. `with { fields }` declares the fields that are not options themselves.
//! `forward ($) name` defines a macro `name!(Type.field)`, which adds to a type the setters of
//! the options in its field.
//!
//! `core/tests/options.rs` compares the rows with the TypeScript and Python types, the documentation pages and the
//! flags of the command.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::read::Reader;
use crate::error::Error;

/// Declaration of an option.
#[derive(Debug)]
pub struct Row {
    /// Name in JSON.
    pub name: &'static str,
    /// Documentation, with line breaks.
    pub doc: &'static str,
    /// Default as JSON; `None` if the option has no default, or one that no JSON value expresses.
    pub default: Option<String>,
}

/// A type that options can have. It decides how the option is read.
pub(crate) trait Readable: Sized {
    /// Reads the option `name`; `None` if it is absent.
    ///
    /// # Errors
    /// `invalid-option` if the value has another type.
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error>;

    /// Returns the value as JSON; `None` if no JSON value expresses it.
    fn shown(&self) -> Option<String>;
}

/// Implements [`Readable`] for a type and for `Option` of it.
macro_rules! readable {
    ($type:ty, $reader:ident $name:ident: $read:expr, $value:ident: $shown:expr) => {
        impl $crate::options::table::Readable for $type {
            fn read(
                $reader: &$crate::options::read::Reader<'_, '_>,
                $name: &str,
            ) -> Result<Option<Self>, $crate::error::Error> {
                $read
            }

            fn shown(&self) -> Option<alloc::string::String> {
                let $value = self;
                Some($shown)
            }
        }

        impl $crate::options::table::Readable for Option<$type> {
            fn read(
                reader: &$crate::options::read::Reader<'_, '_>,
                name: &str,
            ) -> Result<Option<Self>, $crate::error::Error> {
                Ok(<$type as $crate::options::table::Readable>::read(reader, name)?.map(Some))
            }

            fn shown(&self) -> Option<alloc::string::String> {
                self.as_ref().and_then(|value| value.shown())
            }
        }
    };
}
pub(crate) use readable;

readable!(bool, reader name: reader.flag(name), value: value.to_string());
readable!(usize, reader name: reader.count(name), value: value.to_string());
readable!(u64, reader name: Ok(reader.count(name)?.map(|count| count as u64)), value: value.to_string());
readable!(String, reader name: reader.text(name), value: format!("\"{value}\""));
readable!(Vec<String>, reader name: reader.names(name), names: list(names.iter().map(String::as_str)));

/// Returns a list of names as JSON.
pub(super) fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    format!("[{}]", names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", "))
}

/// A limit, which null disables.
impl Readable for Option<Option<usize>> {
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error> {
        Ok(reader.limit(name)?.map(Some))
    }

    fn shown(&self) -> Option<String> {
        None
    }
}

/// Declares an option whose value is one of a fixed set of words.
macro_rules! choice {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $type { $($(#[$vdoc])* $variant,)* }

        impl $type {
            pub(crate) const CHOICES: &'static [(&'static str, $type)] = &[$(($text, $type::$variant),)*];

            /// Returns the word that names this value in the options of every language.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($type::$variant => $text,)*
                }
            }
        }

        $crate::options::table::readable!(
            $type,
            reader name: reader.choice(name, $type::CHOICES),
            word: alloc::format!("\"{}\"", word.as_str())
        );
    };
}
pub(crate) use choice;

/// Declares the options of a function; see the documentation of this module.
macro_rules! options {
    (
        $(#[$meta:meta])*
        $vis:vis struct $type:ident {
            $(
                $(#[doc = $doc:literal])*
                $json:literal $field:ident: $of:ty = $default:expr $(, read($read:expr))? $(, set($($set:tt)*))?;
            )*
        }
        $(with {
            $(
                $(#[doc = $internal_doc:literal])*
                $internal_vis:vis $internal:ident: $internal_of:ty = $internal_default:expr
                    $(, read($internal_read:expr))?;
            )*
        })?
        $(forward ($dollar:tt) $forward:ident)?
    ) => {
        $(#[$meta])*
        $vis struct $type {
            $($(
                $(#[doc = $internal_doc])*
                $internal_vis $internal: $internal_of,
            )*)?
            $(
                $(#[doc = $doc])*
                pub $field: $of,
            )*
        }

        impl $type {
            /// Names of the options in JSON.
            pub(crate) const KNOWN: &'static [&'static str] = &[$($json,)*];

            /// Returns the defaults of all options.
            pub(crate) fn at_default() -> Self {
                Self {
                    $($($internal: $internal_default,)*)?
                    $($field: $default,)*
                }
            }

            /// Reads these options; the function that has them may have others as well.
            ///
            /// # Errors
            /// `invalid-option`, `unknown-option`.
            pub(crate) fn of(
                reader: &$crate::options::read::Reader<'_, '_>,
                default: Self,
            ) -> Result<Self, $crate::error::Error> {
                Ok(Self {
                    $($(
                        $internal: $crate::options::table::internal!(reader, default.$internal $(, $internal_read)?),
                    )*)?
                    $(
                        $field: $crate::options::table::option!(reader, $json, $of $(, $read)?)?
                            .unwrap_or(default.$field),
                    )*
                })
            }

            /// Returns the declarations of the options.
            pub(crate) fn rows() -> alloc::vec::Vec<$crate::options::table::Row> {
                let default = Self::at_default();
                alloc::vec![$(
                    $crate::options::table::Row {
                        name: $json,
                        doc: concat!($($doc, "\n",)*),
                        default: $crate::options::table::Readable::shown(&default.$field),
                    },
                )*]
            }

            $($crate::options::table::setter! { $field $of; $($($set)*)? })*
        }

        $crate::options::table::forwards! {
            ($($dollar $forward)?) $type { $($field $of; ($($($set)*)?))* }
        }
    };
}
pub(crate) use options;

/// Defines the macro that gives another type the setters of these options.
macro_rules! forwards {
    (() $type:ident { $($rest:tt)* }) => {};
    (($dollar:tt $forward:ident) $type:ident { $($field:ident $of:ty; ($($set:tt)*))* }) => {
        #[allow(unused_macros, reason = "without the feature `search`, no options contain request options")]
        macro_rules! $forward {
            ($dollar holder:ident.$dollar inner:ident) => {
                impl $dollar holder {
                    $($crate::options::table::forwarded! { $dollar inner $type; $field $of; $($set)* })*
                }
            };
        }
        #[allow(unused_imports, reason = "as above")]
        pub(crate) use $forward;
    };
}
pub(crate) use forwards;

/// Reads one option.
macro_rules! option {
    ($reader:ident, $json:literal, $of:ty) => {
        <$of as $crate::options::table::Readable>::read($reader, $json)
    };
    ($reader:ident, $json:literal, $of:ty, $read:expr) => {
        $read($reader, $json)
    };
}
pub(crate) use option;

/// Reads a field that is not an option, if the row has a reader for it.
macro_rules! internal {
    ($reader:ident, $default:expr) => {
        $default
    };
    ($reader:ident, $default:expr, $read:expr) => {
        $read($reader)?
    };
}
pub(crate) use internal;

/// Defines the setter of one option.
macro_rules! setter {
    ($field:ident $of:ty; by hand) => {};
    ($field:ident $of:ty;) => {
        $crate::options::table::setter! { $field $of; |value: $of| value }
    };
    ($field:ident $of:ty; |$value:ident: $taken:ty| $set:expr) => {
        #[doc = concat!("Sets [`Self::", stringify!($field), "`].")]
        #[must_use]
        pub fn $field(mut self, $value: $taken) -> Self {
            self.$field = $set;
            self
        }
    };
}
pub(crate) use setter;

/// Defines the setter of one option on a type that holds the options in a field.
macro_rules! forwarded {
    ($inner:ident $type:ident; $field:ident $of:ty; by hand) => {};
    ($inner:ident $type:ident; $field:ident $of:ty;) => {
        $crate::options::table::forwarded! { $inner $type; $field $of; |value: $of| value }
    };
    ($inner:ident $type:ident; $field:ident $of:ty; |$value:ident: $taken:ty| $set:expr) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](crate::", stringify!($type), "::", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $value: $taken) -> Self {
            self.$inner = self.$inner.$field($value);
            self
        }
    };
}
pub(crate) use forwarded;
