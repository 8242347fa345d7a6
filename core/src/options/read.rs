//! Reads options from a JSON object. The errors for unknown names and invalid values list what is accepted.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    error::{Code, Error},
    json::{Data, Node, Object},
    naming::Naming,
    nearest::did_you_mean,
};

impl Naming {
    /// Formats a call with one option in the syntax of the caller's language.
    pub(crate) fn example(self, call: &Example) -> String {
        let comma = if call.input.is_empty() { "" } else { ", " };
        match self {
            Naming::Camel => format!("{}({}{comma}{{ {}: {} }})", call.function, call.input, call.option, call.value),
            Naming::Snake => {
                format!("{}({}{comma}{}={})", snake(call.function), call.input, snake(call.option), call.value)
            }
        }
    }
}

fn snake(camel: &str) -> String {
    Naming::Snake.spell(camel).into_owned()
}

/// A call to a function with one option, as an example in messages.
#[derive(Clone, Copy)]
pub(crate) struct Example {
    pub(crate) function: &'static str,
    pub(crate) input: &'static str,
    pub(crate) option: &'static str,
    pub(crate) value: &'static str,
}

/// Reads options from a JSON object.
pub(crate) struct Reader<'o, 'a> {
    object: Option<&'o Object<'a>>,
    naming: Naming,
    example: Example,
}

impl<'o, 'a> Reader<'o, 'a> {
    /// Creates a reader, if all names in `node` are known. `known` contains the function's option names in camelCase.
    /// Null is equivalent to an empty object.
    ///
    /// # Errors
    /// `invalid-option` if `node` is not an object; `unknown-option`, with the known names and a valid call.
    pub(crate) fn new(node: &'o Node<'a>, naming: Naming, known: &[&str], example: Example) -> Result<Self, Error> {
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

    /// Returns a call to the function with one option, in the syntax of the caller's language.
    pub(crate) fn example(&self) -> String {
        self.naming.example(&self.example)
    }

    /// Returns an option's value; null is equivalent to absence.
    fn given(&self, name: &str) -> Option<&'o Node<'a>> {
        self.present(name).filter(|node| !node.is_null())
    }

    fn present(&self, name: &str) -> Option<&'o Node<'a>> {
        self.object?.get(&self.naming.spell(name))
    }

    fn wrong(&self, name: &str, expected: &str, found: &Node<'_>) -> Error {
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
        let Some(node) = self.given(name) else { return Ok(None) };
        match node.as_text().and_then(|text| text.value()) {
            Some(value) => Ok(Some(value.into_owned())),
            None => Err(self.wrong(name, "a string", node)),
        }
    }

    /// Returns the value of an option that the caller reads itself.
    pub(crate) fn node(&self, name: &str) -> Option<&'o Node<'a>> {
        self.given(name)
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Error> {
        let Some(node) = self.given(name) else { return Ok(None) };
        node.as_bool().map(Some).ok_or_else(|| self.wrong(name, "a boolean", node))
    }

    pub(crate) fn count(&self, name: &str) -> Result<Option<usize>, Error> {
        let Some(node) = self.given(name) else { return Ok(None) };
        self.as_count(name, node, "a non-negative integer").map(Some)
    }

    /// Reads a count that null disables: `None` if the option is absent, `Some(None)` if it is null.
    pub(crate) fn limit(&self, name: &str) -> Result<Option<Option<usize>>, Error> {
        match self.present(name) {
            None => Ok(None),
            Some(node) if node.is_null() => Ok(Some(None)),
            Some(node) => {
                self.as_count(name, node, "a non-negative integer, or null for no limit").map(|count| Some(Some(count)))
            }
        }
    }

    fn as_count(&self, name: &str, node: &Node<'_>, expected: &str) -> Result<usize, Error> {
        node.as_u64().and_then(|count| usize::try_from(count).ok()).ok_or_else(|| self.wrong(name, expected, node))
    }

    pub(crate) fn names(&self, name: &str) -> Result<Option<Vec<String>>, Error> {
        let Some(node) = self.given(name) else { return Ok(None) };
        let Some(items) = node.as_array() else { return Err(self.wrong(name, "a list of strings", node)) };
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            match item.as_text().and_then(|text| text.value()) {
                Some(value) => names.push(value.into_owned()),
                None => return Err(self.wrong(name, "a list of strings", item)),
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
        let Some(node) = self.given(name) else { return Ok(None) };
        match choices.iter().find(|(spelling, _)| node.is_text(spelling)) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let spellings: Vec<String> = choices.iter().map(|(spelling, _)| format!("\"{spelling}\"")).collect();
                let written = node.as_text().map(|text| text.display()).unwrap_or_default();
                let meant = did_you_mean(&written, choices.iter().map(|(spelling, _)| spelling));
                let wrong = self.wrong(name, &format!("one of {}", spellings.join(", ")), node);
                Err(Error::new(wrong.code(), wrong.pointer(), format!("{}{meant}", wrong.message())))
            }
        }
    }
}
