//! Runs targets over seeds without a fuzzer: `soak TARGET [FIRST_SEED [COUNT]]`.
//!
//! Every failure is printed once with its seed, and the run continues.

use std::{panic, process::ExitCode, time::Instant};

use toolwire_fuzz::{Seeds, Target};

/// The stack that must suffice for every call, in bytes: the default of threads on the smallest supported platform.
const STACK: usize = 512 * 1024;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let targets: Vec<Target> = match arguments.next().as_deref() {
        None | Some("all") => Target::ALL.to_vec(),
        Some(name) => vec![Target::named(name)],
    };
    let first: u64 = arguments.next().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let count: u64 = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(100_000);
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let mut finds = 0_u64;
        for target in targets {
            let (start, mut slowest, mut verdicts) = (Instant::now(), (0, 0), 0);
            for seed in first..first + count {
                let input = Seeds::new(seed).input();
                let began = Instant::now();
                let verdict = panic::catch_unwind(|| target.verdict(&input)).unwrap_or_else(|_| Err("a panic".into()));
                slowest = slowest.max((began.elapsed().as_micros(), seed));
                match verdict {
                    Ok(count) => verdicts += count,
                    Err(fault) => {
                        finds += 1;
                        println!("seed {seed}, {}: {fault}\n", target.name());
                    }
                }
            }
            let rate = count as f64 / start.elapsed().as_secs_f64();
            let (name, (longest, slow)) = (target.name(), slowest);
            eprintln!(
                "{name}: {count} inputs, {verdicts} verdicts, {rate:.0} a second, the slowest {} ms (seed {slow})",
                longest / 1000
            );
        }
        finds
    });
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(0)) => ExitCode::SUCCESS,
        Ok(Ok(finds)) => {
            eprintln!("{finds} finds");
            ExitCode::FAILURE
        }
        _ => ExitCode::from(2),
    }
}
