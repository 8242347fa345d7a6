//! `options!`: declares the options of a function as a table with one row per option. Options are read from a JSON
//! object; the errors for unknown names and invalid values list what is accepted.
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
//! `core/tests/it/options.rs` compares the rows with the TypeScript and Python types, the documentation pages and the
//! flags of the command.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    dialect::DialectId,
    error::{Code, Error},
    json::{Data, Node, Object},
    naming::{did_you_mean, Naming},
};

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
    /// Returns `None` if the option is absent.
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error>;

    /// Returns the value as JSON, or `None` if no JSON value expresses it.
    fn shown(&self) -> Option<String>;
}

/// Implements [`Readable`] for a type and for an `Option` of that type.
macro_rules! readable {
    ($type:ty, $reader:ident $name:ident: $read:expr, $value:ident: $shown:expr) => {
        impl $crate::options::table::Readable for $type {
            fn read(
                $reader: &$crate::options::table::Reader<'_, '_>,
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
                reader: &$crate::options::table::Reader<'_, '_>,
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

pub(super) fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    format!("[{}]", names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", "))
}

/// No dialect is a default.
impl Readable for DialectId {
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error> {
        reader.dialect(name)
    }

    fn shown(&self) -> Option<String> {
        None
    }
}

impl Readable for Option<DialectId> {
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error> {
        Ok(reader.dialect(name)?.map(Some))
    }

    fn shown(&self) -> Option<String> {
        None
    }
}

/// Declares an option whose value is one of a fixed set of words.
macro_rules! choice {
    (
        $(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }
        $(in tests { $test:ident = $word:literal })?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $type { $($(#[$vdoc])* $variant,)* $(#[cfg(test)] #[doc = "Only in tests."] $test,)? }

        impl $type {
            pub(crate) const CHOICES: &'static [(&'static str, $type)] = &[$(($text, $type::$variant),)*];

            /// Returns the word that names this value in the options of every language.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($type::$variant => $text,)*
                    $(#[cfg(test)] $type::$test => $word,)?
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

            pub(crate) fn at_default() -> Self {
                Self {
                    $($($internal: $internal_default,)*)?
                    $($field: $default,)*
                }
            }

            /// Reads the options. The function may have additional options.
            pub(crate) fn of(
                reader: &$crate::options::table::Reader<'_, '_>,
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
        #[allow(unused_macros, reason = "without the feature `exchange`, no options contain request options")]
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

impl Naming {
    pub(crate) fn example(self, call: &Example<'_>) -> String {
        let comma = if call.input.is_empty() { "" } else { ", " };
        match self {
            Naming::Camel => format!("{}({}{comma}{{ {}: {} }})", call.function, call.input, call.option, call.value),
            Naming::Rust => format!("options.{}({})", self.spell(call.option), call.value),
            Naming::Snake => {
                // The name of a class is the same in every language.
                let (class, function) = call.function.rsplit_once('.').unwrap_or(("", call.function));
                let dot = if class.is_empty() { "" } else { "." };
                let function = snake(function);
                format!("{class}{dot}{function}({}{comma}{}={})", call.input, snake(call.option), call.value)
            }
        }
    }
}

fn snake(camel: &str) -> String {
    Naming::Snake.spell(camel).into_owned()
}

/// A call to a function with one option, as an example in messages.
#[derive(Clone, Copy)]
pub(crate) struct Example<'e> {
    pub(crate) function: &'static str,
    pub(crate) input: &'static str,
    pub(crate) option: &'static str,
    pub(crate) value: &'e str,
}

pub(crate) struct Reader<'o, 'a> {
    object: Option<&'o Object<'a>>,
    naming: Naming,
    example: Example<'static>,
}

impl<'o, 'a> Reader<'o, 'a> {
    /// `known` contains the function's option names in camelCase. Null is equivalent to an empty object.
    ///
    /// # Errors
    /// `invalid-option` if `node` is not an object; `unknown-option`, with the known names and a valid call.
    pub(crate) fn new(
        node: &'o Node<'a>,
        naming: Naming,
        known: &[&str],
        example: Example<'static>,
    ) -> Result<Self, Error> {
        let object = match node.data() {
            Data::Null => None,
            Data::Object(object) => Some(object),
            _ => {
                return Err(Error::new(
                    Code::InvalidOption,
                    "",
                    format!(
                        "expected the options to be an object, for example `{}`, found {}",
                        naming.example(&example),
                        node.kind()
                    ),
                ))
            }
        };
        for member in object.into_iter().flatten() {
            if !known.iter().any(|name| member.key.is(&naming.spell(name))) {
                let names: Vec<String> = known.iter().map(|name| format!("`{}`", naming.spell(name))).collect();
                let name = member.key.display();
                let mut pointer = String::new();
                crate::json::push_token(&mut pointer, &name);
                return Err(Error::new(
                    Code::UnknownOption,
                    pointer,
                    format!(
                        "expected one of {}, found `{name}`{}; for example `{}`",
                        names.join(", "),
                        did_you_mean(&name, known.iter().map(|name| naming.spell(name)).collect::<Vec<_>>().iter()),
                        naming.example(&example)
                    ),
                ));
            }
        }
        Ok(Reader { object, naming, example })
    }

    pub(crate) fn naming(&self) -> Naming {
        self.naming
    }

    pub(crate) fn example(&self) -> String {
        self.naming.example(&self.example)
    }

    /// Returns the value of an option; `None` if it is absent or null.
    fn value(&self, name: &str) -> Option<&'o Node<'a>> {
        self.node_or_null(name).filter(|node| !node.is_null())
    }

    fn node_or_null(&self, name: &str) -> Option<&'o Node<'a>> {
        self.object?.get(&self.naming.spell(name))
    }

    fn invalid(&self, name: &str, expected: &str, found: &Node<'_>) -> Error {
        let shown = match found.as_text() {
            Some(text) => format!("`{}`", text.display()),
            None => match found.as_number() {
                Some(number) => format!("`{number}`"),
                None => found.kind().to_string(),
            },
        };
        Error::new(
            Code::InvalidOption,
            format!("/{}", self.naming.spell(name)),
            format!("expected `{}` to be {expected}, found {shown}", self.naming.spell(name)),
        )
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        let Some(node) = self.value(name) else { return Ok(None) };
        match node.as_text().and_then(|text| text.value()) {
            Some(value) => Ok(Some(value.into_owned())),
            None => Err(self.invalid(name, "a string", node)),
        }
    }

    pub(crate) fn dialect(&self, name: &str) -> Result<Option<DialectId>, Error> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|error: Error| error.at(format!("/{}", self.naming.spell(name))))
    }

    /// Returns the value of an option that the caller reads itself.
    pub(crate) fn node(&self, name: &str) -> Option<&'o Node<'a>> {
        self.value(name)
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Error> {
        let Some(node) = self.value(name) else { return Ok(None) };
        node.as_bool().map(Some).ok_or_else(|| self.invalid(name, "a boolean", node))
    }

    pub(crate) fn count(&self, name: &str) -> Result<Option<usize>, Error> {
        let Some(node) = self.value(name) else { return Ok(None) };
        self.as_count(name, node, "a non-negative integer").map(Some)
    }

    /// Null disables a limit: `None` if the option is absent, `Some(None)` if it is null.
    pub(crate) fn limit(&self, name: &str) -> Result<Option<Option<usize>>, Error> {
        match self.node_or_null(name) {
            None => Ok(None),
            Some(node) if node.is_null() => Ok(Some(None)),
            Some(node) => {
                self.as_count(name, node, "a non-negative integer, or null for no limit").map(|count| Some(Some(count)))
            }
        }
    }

    fn as_count(&self, name: &str, node: &Node<'_>, expected: &str) -> Result<usize, Error> {
        node.as_u64().and_then(|count| usize::try_from(count).ok()).ok_or_else(|| self.invalid(name, expected, node))
    }

    pub(crate) fn names(&self, name: &str) -> Result<Option<Vec<String>>, Error> {
        let Some(node) = self.value(name) else { return Ok(None) };
        let Some(items) = node.as_array() else { return Err(self.invalid(name, "a list of strings", node)) };
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            match item.as_text().and_then(|text| text.value()) {
                Some(value) => names.push(value.into_owned()),
                None => return Err(self.invalid(name, "a list of strings", item)),
            }
        }
        Ok(Some(names))
    }

    /// Reads the name of a function, which must not be empty.
    pub(crate) fn function_name(&self, name: &str) -> Result<Option<String>, Error> {
        let text = self.text(name)?;
        if text.as_deref() == Some("") {
            let spelled = self.naming.spell(name);
            let expected = format!("expected `{spelled}` to be a function's name, found an empty string");
            return Err(Error::new(Code::InvalidOption, format!("/{spelled}"), expected));
        }
        Ok(text)
    }

    pub(crate) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(node) = self.value(name) else { return Ok(None) };
        match choices.iter().find(|(spelling, _)| node.is_text(spelling)) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let spellings: Vec<String> = choices.iter().map(|(spelling, _)| format!("\"{spelling}\"")).collect();
                let written = node.as_text().map(|text| text.display()).unwrap_or_default();
                let meant = did_you_mean(&written, choices.iter().map(|(spelling, _)| spelling));
                let error = self.invalid(name, &format!("one of {}", spellings.join(", ")), node);
                Err(Error::new(error.code(), error.pointer(), format!("{}{meant}", error.message())))
            }
        }
    }
}
