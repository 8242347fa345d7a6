//! Checks all dialects with all collections against limits that may only decrease, so that regressions are noticed.
#![allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

mod limits;
mod measure;

use crate::print_uncaptured;
use std::thread;

use measure::{collections, described, measure, Row, HEADER, SAMPLE, WHOLE};

#[test]
fn every_dialect_stays_within_its_limits_for_every_collection() {
    hold(&collections(SAMPLE).expect("the sample is part of this repository"), false);
    if let Some(collections) = collections(WHOLE) {
        hold(&collections, true);
    }
}

/// The sample is part of the complete data, so its counts are at most those limits.
fn hold(collections: &[measure::Collection], is_whole: bool) {
    let jobs: Vec<(&str, &measure::Collection)> =
        collections.iter().flat_map(|collection| described().map(move |dialect| (dialect, collection))).collect();
    // Two threads, because the test machines have at least two cores.
    let half = |start: usize| {
        jobs.iter()
            .skip(start)
            .step_by(2)
            .map(|(dialect, collection)| (*dialect, collection.name, measure(dialect, collection)))
    };
    let mut rows: Vec<(&str, &str, Row)> = thread::scope(|scope| {
        let other = scope.spawn(|| half(1).collect::<Vec<_>>());
        let mut rows: Vec<_> = half(0).collect();
        rows.extend(other.join().unwrap_or_else(|_| panic!("the other half of the matrix")));
        rows
    });
    rows.sort_by_key(|(dialect, name, _)| {
        (described().position(|known| known == *dialect), collections.iter().position(|known| known.name == *name))
    });
    let mut broken = Vec::new();
    for (dialect, name, row) in &rows {
        let cells: Vec<String> = HEADER
            .iter()
            .zip(row.cells())
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        print_uncaptured(&format!("{dialect:<20} {name:<14} {}", cells.join(", ")));
        let place = collections.iter().position(|known| known.name == *name).unwrap_or_default();
        let Some([errors, faults, doubtful]) = limits::of(dialect, place) else {
            broken.push(format!("{dialect}: no limits in tests/matrix/limits.rs"));
            continue;
        };
        for (what, count, limit) in [
            ("errors", row.errors, errors),
            ("faults", row.faults.len(), faults),
            ("narrower or mixed", row.narrower + row.mixed, doubtful),
        ] {
            if count > limit {
                let first: Vec<&str> = row.faults.iter().take(3).map(String::as_str).collect();
                broken.push(format!(
                    "{dialect}, {name}: expected at most {limit} {what}, found {count}\n{}\n{:?}",
                    first.join("\n"),
                    row.error_counts
                ));
            } else if is_whole && count < limit {
                print_uncaptured(&format!("  {what}: {count}, and tests/matrix/limits.rs allows {limit}: lower it"));
            }
        }
    }
    assert!(broken.is_empty(), "{} limits broken\n\n{}\n", broken.len(), broken.join("\n\n"));
}
