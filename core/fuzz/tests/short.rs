//! The fuzz targets with fixed seeds: the same inputs on every machine, in a thread with the stack size that must
//! suffice for every call.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::thread;

use toolwire_fuzz::{Seeds, Target};

/// Stack size in bytes: the default of threads on macOS.
const STACK: usize = 512 * 1024;

/// The first seed of each target. Earlier seeds were used during the development of the rules.
const FIRST: u64 = 40_000_000;

fn run(target: Target, inputs: u64) {
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        let mut verdicts = 0;
        for seed in FIRST..FIRST + inputs {
            match target.verdict(&Seeds::new(seed).input()) {
                Ok(count) => verdicts += count,
                Err(fault) => panic!("seed {seed}, {}: {fault}", target.name()),
            }
        }
        verdicts
    });
    let verdicts = worker.expect("a thread").join().expect("no find");
    println!("{}: {inputs} inputs, {verdicts} verdicts", target.name());
    // A target without verdicts would never fail.
    assert!(verdicts as u64 >= inputs / 2, "{}: {verdicts} verdicts on {inputs} inputs", target.name());
}

#[test]
fn reader() {
    run(Target::Reader, 100_000);
}

#[test]
fn sanitize() {
    run(Target::Sanitize, 6_000);
}

#[test]
fn arguments() {
    run(Target::Arguments, 3_000);
}

#[test]
fn answers() {
    run(Target::Answers, 3_000);
}

#[test]
fn requests() {
    run(Target::Requests, 2_000);
}

#[test]
fn replies() {
    run(Target::Replies, 2_000);
}

#[test]
fn validate() {
    run(Target::Validate, 3_000);
}

#[test]
fn repair() {
    run(Target::Repair, 3_000);
}

#[test]
fn patterns() {
    run(Target::Patterns, 20_000);
}
