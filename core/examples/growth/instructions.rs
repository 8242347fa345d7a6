//! Counts the instructions of each call with Valgrind, relative to its paid units. This is exact, and slower than the
//! times in `core/tests/growth/unpaid.rs`.

use std::{env, error::Error, fs, path::Path, process::Command};

use toolwire::internal::steps;

use crate::shapes::{shapes, Work, MEASURED};

/// The compared sizes, in bytes.
const SIZES: [usize; 2] = [8 << 10, 32 << 10];
/// Maximum growth of the instructions for a paid unit, from the smaller to the larger size. Sorting and searching grow
/// a little.
const MAX_GROWTH: f64 = 1.5;
/// The argument of the process that Valgrind runs.
const COUNTED: &str = "--counted";

/// Valgrind counts inside this function, and writes a file after each call. A unit is a step or a byte of the input,
/// because reading is not paid.
#[inline(never)]
fn counted_call(work: Work, dialect: &str, texts: &[String]) -> (bool, usize) {
    steps::of(|| work.run(dialect, texts).is_ok())
}

pub(crate) fn rows(words: &[String]) -> Result<(), Box<dyn Error>> {
    if words.first().is_some_and(|word| word == COUNTED) {
        run(words.get(1..).unwrap_or_default());
        return Ok(());
    }
    let folder = env::temp_dir().join(format!("toolwire-instructions-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let result = compare(&folder, words);
    fs::remove_dir_all(&folder)?;
    result
}

fn compare(folder: &Path, words: &[String]) -> Result<(), Box<dyn Error>> {
    let counts = folder.join("counts");
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--toggle-collect=*::counted_call", "--dump-after=*::counted_call"])
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .arg(env::current_exe()?)
        .args(["instructions", COUNTED])
        .args(words);
    let Ok(output) = valgrind.output() else {
        println!("skipped: valgrind, which counts instructions, is not installed");
        return Ok(());
    };
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let count_of = |call: usize| -> Result<f64, Box<dyn Error>> {
        let file = fs::read_to_string(counts.with_extension(call.to_string()))?;
        let count = file.lines().find_map(|line| line.strip_prefix("summary: "));
        Ok(count.ok_or("expected the number of instructions, found none")?.trim().parse()?)
    };
    let mut faults = 0;
    println!("instructions for each unit, and their growth from {SIZES:?} bytes:");
    for (number, row) in String::from_utf8(output.stdout)?.lines().enumerate() {
        let (name, units) = row.rsplit_once('\t').ok_or("expected a row")?;
        let units = units.split(' ').map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let mut each = Vec::new();
        for (size, units) in units.iter().enumerate() {
            each.push(count_of(1 + number * SIZES.len() + size)? / units);
        }
        if let [small, large] = each[..] {
            let growth = large / small;
            faults += usize::from(growth > MAX_GROWTH);
            let mark = if growth > MAX_GROWTH { "\tUNPAID" } else { "" };
            println!("{name}\t{small:.0}\t{large:.0}\t{growth:.2}{mark}");
        }
    }
    match faults {
        0 => Ok(()),
        _ => Err(format!("{faults} calls do not pay for all of their work").into()),
    }
}

fn run(words: &[String]) {
    for shape in shapes() {
        for (work, dialect, _, groups) in MEASURED {
            let row = format!("{}\t{dialect}\t{}\t{}", work.name(), shape.group, shape.name);
            let is_wanted = words.iter().all(|word| row.split('\t').any(|cell| cell.starts_with(word.as_str())));
            if !is_wanted || !groups.contains(&shape.group.as_str()) || !shape.works.contains(&work) {
                continue;
            }
            let costs = SIZES.map(|size| {
                let (texts, bytes) = shape.of_size(size);
                let (ends_well, steps) = counted_call(work, dialect, &texts);
                (ends_well, (steps + bytes).to_string())
            });
            let [(small, units), (large, more)] = costs;
            // A refused call does less than its input suggests. Without both units, a row is not judged.
            println!("{row}\t{}", if small == large { format!("{units} {more}") } else { "1".into() });
        }
    }
}
