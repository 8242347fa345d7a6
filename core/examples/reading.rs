//! Compares libraries that parse JSON into the tree: the measurement behind the choice in `src/json/read.rs`.
//!
//! `cargo run --release --example reading -- tools.jsonl` (one MCP tool per line). Each row is a ratio to the first row
//! in the same run.

#[path = "common/rounds.rs"]
#[allow(dead_code, reason = "other benchmarks use the rest")]
mod rounds;

use std::{
    borrow::Cow,
    env,
    error::Error,
    fmt, fs,
    hint::black_box,
    time::{Duration, Instant},
};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use toolwire::internal::json::{self, Data, Member, Node, Object, Text};

const ROUNDS: u32 = 25;

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("expected a file with one MCP tool per line, found no argument")?;
    let mut texts = Vec::new();
    for line in fs::read_to_string(&path)?.lines() {
        let tool: Value = serde_json::from_str(line)?;
        texts.push(tool.get("inputSchema").ok_or("expected a tool with an `inputSchema` on each line")?.to_string());
    }
    let rows = [
        ("serde_json::Value (preserve_order)", best(&texts, |text| serde_json::from_str::<Value>(text).is_ok())),
        (
            "serde_json, a Visitor into the tree (number text lost)",
            best(&texts, |text| serde_json::from_str::<Tree<'_>>(text).is_ok()),
        ),
        ("hifijson into the tree (what `json::read` does)", best(&texts, |text| json::read(text).is_ok())),
    ];
    let first = rows.first().map_or(Duration::ZERO, |row| row.1).as_secs_f64();
    for (name, time) in rows {
        let micros = time.as_secs_f64() * 1e6 / texts.len().max(1) as f64;
        println!("  {name:<56} {micros:6.2} µs per tool  {:.2}", time.as_secs_f64() / first);
    }
    Ok(())
}

fn best<T>(texts: &[String], run: impl Fn(&str) -> T) -> Duration {
    let round = |_| {
        let start = Instant::now();
        for text in texts {
            black_box(run(black_box(text)));
        }
        start.elapsed()
    };
    (0..rounds::rounds(ROUNDS)).map(round).min().unwrap_or_default()
}

/// The tree, filled by serde: the fastest use of serde_json without `arbitrary_precision`, which would affect users'
/// builds.
struct Tree<'de>(Node<'de>);

impl<'de> Deserialize<'de> for Tree<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Tree<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Tree(Node::new(Data::Null)))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Tree(Node::bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Tree(Node::new(Data::Number(Cow::Owned(value.to_string())))))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Tree(Node::count(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Tree(Node::new(Data::Number(Cow::Owned(value.to_string())))))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Tree(Node::string(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Tree(Node::string(String::from(value))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Tree(item)) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Tree(Node::array(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((Name(key), Tree(value))) = map.next_entry()? {
            members.push(Member { key, value });
        }
        Ok(Tree(Node::object(Object::from_members(members))))
    }
}

struct Name<'de>(Text<'de>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Key;
        impl<'de> Visitor<'de> for Key {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Text::new(value)))
            }

            fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
                Ok(Name(Text::new(String::from(value))))
            }
        }
        deserializer.deserialize_str(Key)
    }
}
