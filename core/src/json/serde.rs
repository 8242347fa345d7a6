//! `Serialize` and `Deserialize` for the tree, for formats that carry JSON values (options in, reports out).

use alloc::{borrow::Cow, string::String, string::ToString, vec::Vec};
use core::fmt;
use serde::{
    de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor},
    ser::{Serialize, SerializeMap, SerializeSeq, Serializer},
};

use super::{Data, Member, Node, Object, Text};

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.data() {
            Data::Null => serializer.serialize_unit(),
            Data::Bool(value) => serializer.serialize_bool(*value),
            Data::Number(text) => match (text.parse::<u32>(), text.parse::<f64>()) {
                (Ok(value), _) => serializer.serialize_u32(value),
                (_, Ok(value)) => serializer.serialize_f64(value),
                _ => Err(serde::ser::Error::custom("not a number")),
            },
            Data::String(text) => serializer.serialize_str(&text.display()),
            Data::Array(items) => {
                let mut sequence = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    sequence.serialize_element(item)?;
                }
                sequence.end()
            }
            Data::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for member in object {
                    map.serialize_entry(&*member.key.display(), &member.value)?;
                }
                map.end()
            }
            Data::Verbatim(text) => super::read(text).map_err(serde::ser::Error::custom)?.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Node<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Node<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Node::new(Data::Null))
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Node::new(Data::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Node::bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Node::new(Data::Number(Cow::Owned(value.to_string()))))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Node::count(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        if !value.is_finite() {
            return Err(E::custom("expected a finite number"));
        }
        Ok(Node::new(Data::Number(Cow::Owned(value.to_string()))))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Node::string(String::from(value)))
    }

    fn visit_string<E>(self, value: String) -> Result<Self::Value, E> {
        Ok(Node::string(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Node::array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Node<'static>>()? {
            members.push(Member { key: Text::new(key), value });
        }
        Ok(Node::object(Object::from_members(members)))
    }
}
