//! Checks that calls pay for all of their work: the time for a step of the budget may not grow with the input. Counted
//! steps cannot show a loop that pays nothing, so this test measures the time of its own thread, relative to the steps.
//!
//! A fault is reported only if every attempt shows it. An unpaid quadratic loop takes four times as long for each step
//! if the input is four times as large. A disturbed call with the smaller input hides a fault, so an attempt without a
//! fault measures that call twice.

use std::{fs, time::Duration, time::Instant};

use toolwire::internal::steps;

use crate::shapes::{shapes, Shape, Work, MEASURED};

/// Maximum growth of the time for a paid unit, from the smaller to the larger size. Sorting and searching grow a
/// little.
const MAX_GROWTH: f64 = 2.2;
/// Shorter calls are not judged, because the time is too inexact.
const SHORTEST: Duration = Duration::from_millis(25);
const ATTEMPTS: usize = 8;

/// Returns the elapsed time on systems other than Linux.
fn run_time(start: Instant) -> Duration {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.as_deref().and_then(|stat| stat.split(' ').next()).and_then(|run| run.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The cost of a call: the time, and the units that were paid. A byte of the input is a unit, because reading is not
/// paid.
#[derive(Clone)]
struct Cost {
    time: Duration,
    units: f64,
    /// The code of the error that ended the call.
    end: Option<&'static str>,
}

fn cost(work: Work, dialect: &str, (texts, bytes): &(Vec<String>, usize)) -> Cost {
    let start = Instant::now();
    let before = run_time(start);
    let (end, steps) = steps::of(|| work.run(dialect, texts).err());
    Cost { time: run_time(start).saturating_sub(before), units: (steps + bytes) as f64, end }
}

fn is_judged([small, large]: &[Cost; 2]) -> bool {
    large.time >= SHORTEST && large.end == small.end
}

fn growth([small, large]: &[Cost; 2]) -> f64 {
    let a_unit = |cost: &Cost| cost.time.as_secs_f64() / cost.units;
    // A time below the resolution of the clock would make the growth endless.
    let least = Cost { time: small.time.max(SHORTEST / 16), ..*small };
    a_unit(large) / a_unit(&least)
}

enum Verdict {
    TooShort,
    Paid,
    Unpaid(String),
}

/// Measures a call until an attempt is inconspicuous.
fn judge(work: Work, dialect: &str, inputs: &[(Vec<String>, usize); 2]) -> Verdict {
    let mut least: Option<[Cost; 2]> = None;
    for _ in 0..ATTEMPTS {
        let mut attempt = inputs.each_ref().map(|input| cost(work, dialect, input));
        if is_judged(&attempt) && growth(&attempt) <= MAX_GROWTH {
            let [small, _] = &mut attempt;
            let again = cost(work, dialect, &inputs[0]);
            small.time = small.time.min(again.time);
        }
        let mut costs = attempt.clone();
        for (cost, before) in costs.iter_mut().zip(least.iter().flatten()) {
            cost.time = cost.time.min(before.time);
        }
        if !is_judged(&costs) {
            return Verdict::TooShort;
        }
        // On a busy machine, the least times may come from different attempts, one of which had the machine to itself.
        if growth(&attempt) <= MAX_GROWTH || growth(&costs) <= MAX_GROWTH {
            return Verdict::Paid;
        }
        least = Some(costs);
    }
    let Some(costs) = least else { return Verdict::TooShort };
    let (growth, [_, Cost { time, units, .. }]) = (growth(&costs), costs);
    Verdict::Unpaid(format!("the time for a step grows {growth:.1} times, to {time:?} for {units} steps and bytes"))
}

/// The factors by which inputs are enlarged on a machine that is too fast to judge any call of a row.
const FACTORS: [usize; 3] = [1, 4, 16];

pub(crate) fn faults() -> Vec<String> {
    let (shapes, mut faults, mut judged) = (shapes(), Vec::new(), 0);
    for (work, dialect, sizes, groups) in MEASURED {
        let is_measured = |shape: &&Shape| groups.contains(&shape.group.as_str()) && shape.works.contains(&work);
        let mut judge_all = |factor: usize| {
            let before = judged;
            for shape in shapes.iter().filter(is_measured) {
                let name = (&shape.group, &shape.name);
                match judge(work, dialect, &sizes.map(|size| shape.of_size(size * factor))) {
                    Verdict::TooShort => continue,
                    Verdict::Paid => {}
                    Verdict::Unpaid(fault) => faults.push(format!("{:?}, {dialect}, {name:?}: {fault}", work.name())),
                }
                judged += 1;
            }
            judged > before
        };
        if !FACTORS.into_iter().any(&mut judge_all) {
            faults.push(format!("{:?}, {dialect}: no call is long enough to be judged", work.name()));
        }
    }
    println!("{judged} calls were long enough to be judged");
    assert!(judged > 150, "only {judged} calls were judged");
    faults
}
