//! Converts `serde_json::Value` to and from the tree.

use alloc::{string::ToString, vec::Vec};
use core::str::FromStr as _;
use serde_json::{Map, Value};

use super::{Data, Member, Node, Object, Origin, Text};
use crate::{
    error::{Code, Error},
    json::pointer::push_token,
    limits::MAX_DEPTH,
};

impl<'a> Node<'a> {
    /// Reads a `serde_json::Value`, borrowing its strings.
    ///
    /// # Errors
    /// `too-deep` beyond [`MAX_DEPTH`] levels.
    pub fn from_value(value: &'a Value) -> Result<Node<'a>, Error> {
        from_value(value, 0, &mut 0)
    }

    /// Returns the same value as a `serde_json::Value`. Without serde_json's `preserve_order`, its keys are sorted.
    ///
    /// # Errors
    /// `invalid-value` for a string with a lone surrogate or a number that `Value` cannot hold. Both occur only in
    /// values that were read from text.
    pub fn to_value(&self) -> Result<Value, Error> {
        Ok(match self.data() {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(text) => Value::Number(serde_json::Number::from_str(text).map_err(|_| {
                Error::new(
                    Code::InvalidValue,
                    "",
                    alloc::format!("expected a number that `serde_json` can hold, found `{text}`"),
                )
            })?),
            Data::String(text) => Value::String(string(text)?),
            Data::Array(items) => {
                let mut values = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    values.push(item.to_value().map_err(|error| error.below(&alloc::format!("/{index}")))?);
                }
                Value::Array(values)
            }
            Data::Object(object) => {
                let mut map = Map::new();
                for member in object {
                    let key = string(&member.key)?;
                    let value = member.value.to_value().map_err(|error| {
                        let mut prefix = alloc::string::String::new();
                        push_token(&mut prefix, &key);
                        error.below(&prefix)
                    })?;
                    map.insert(key, value);
                }
                Value::Object(map)
            }
            Data::Verbatim(text) => super::read(text)?.to_value()?,
        })
    }
}

fn string(text: &Text<'_>) -> Result<alloc::string::String, Error> {
    text.value().map(|value| value.into_owned()).ok_or_else(|| {
        Error::new(
            Code::InvalidValue,
            "",
            alloc::format!("expected a string of valid Unicode, found `{}` with half a surrogate pair", text.display()),
        )
    })
}

fn from_value<'a>(value: &'a Value, depth: usize, count: &mut u32) -> Result<Node<'a>, Error> {
    let origin = Origin::new(*count);
    *count = count.saturating_add(1);
    if depth >= MAX_DEPTH && matches!(value, Value::Array(_) | Value::Object(_)) {
        return Err(Error::new(
            Code::TooDeep,
            "",
            alloc::format!("expected at most {MAX_DEPTH} levels of nesting, found more"),
        ));
    }
    let data = match value {
        Value::Null => Data::Null,
        Value::Bool(value) => Data::Bool(*value),
        Value::Number(number) => Data::Number(number.to_string().into()),
        Value::String(string) => Data::String(Text::new(string.as_str())),
        Value::Array(values) => {
            let mut items = Vec::with_capacity(values.len());
            for (index, value) in values.iter().enumerate() {
                items.push(
                    from_value(value, depth + 1, count).map_err(|error| error.below(&alloc::format!("/{index}")))?,
                );
            }
            Data::Array(items)
        }
        Value::Object(map) => {
            let mut members = Vec::with_capacity(map.len());
            for (key, value) in map {
                let value = from_value(value, depth + 1, count).map_err(|error| {
                    let mut prefix = alloc::string::String::new();
                    push_token(&mut prefix, key);
                    error.below(&prefix)
                })?;
                members.push(Member { key: Text::new(key.as_str()), value });
            }
            Data::Object(Object::from_unique(members))
        }
    };
    Ok(Node::read(data, origin))
}
