#![allow(deprecated, reason = "sampling is a feature of every version")]
//! The Rust SDK: `pair server`, or `pair client VERSION COMMAND…`.

mod client;
mod server;

use serde_json::Value;

/// The tools, resources and prompts that each server has.
pub fn scenario() -> Value {
    serde_json::from_str(include_str!("../../scenario.json")).expect("the scenario is JSON")
}

/// A part of the scenario, as a type of the SDK.
pub fn part<T: serde::de::DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(scenario()[name].clone()).expect("the scenario fits the types")
}

#[tokio::main]
async fn main() {
    let line: Vec<String> = std::env::args().skip(1).collect();
    match line[0].as_str() {
        "server" => server::serve().await,
        _ => client::connect(&line[1], &line[2..]).await,
    }
}
