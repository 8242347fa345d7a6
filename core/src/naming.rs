//! Spelling of option names in the caller's language.

use alloc::{borrow::Cow, string::String};

/// Spelling of option names in the caller's language. Pointers into options have the same spelling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// `maxBytes`, as in JSON and TypeScript.
    #[default]
    Camel,
    /// `max_bytes`, as in Python.
    Snake,
}

impl Naming {
    /// Returns a camelCase name in this spelling.
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
}
