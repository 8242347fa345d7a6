//! How option names are spelled in the caller's language.

use alloc::{
    borrow::Cow,
    string::{String, ToString},
};

/// How the caller's language spells option names. Pointers in errors are always camelCase, as in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// `maxBytes`, as in JSON and TypeScript.
    #[default]
    Camel,
    /// `max_bytes`, as in Python.
    Snake,
}

impl Naming {
    /// A camelCase name in this spelling.
    pub(crate) fn spell(self, camel: &str) -> Cow<'_, str> {
        match self {
            Naming::Camel => Cow::Borrowed(camel),
            Naming::Snake => {
                let mut snake = String::with_capacity(camel.len() + 4);
                for character in camel.chars() {
                    if character.is_ascii_uppercase() {
                        snake.push('_');
                    }
                    snake.push(character.to_ascii_lowercase());
                }
                Cow::Owned(snake)
            }
        }
    }

    /// A name in this spelling as camelCase, which pointers in errors use in every language.
    #[must_use]
    pub fn camel(self, name: &str) -> String {
        match self {
            Naming::Camel => name.to_string(),
            Naming::Snake => {
                let mut camel = String::with_capacity(name.len());
                let mut raise = false;
                for character in name.chars() {
                    match character {
                        '_' => {}
                        _ if raise => camel.extend(character.to_uppercase()),
                        _ => camel.push(character),
                    }
                    raise = character == '_';
                }
                camel
            }
        }
    }
}
