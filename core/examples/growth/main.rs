//! Measures time and memory by the size of a list, a schema, its references and a history. Writes the plots of
//! `docs/performance.md` and prints the tables below them. `make figures` runs this example.

#![allow(clippy::print_stdout, reason = "the program prints tables")]

#[path = "../../tests/allocation/counting.rs"]
mod counting;
mod inputs;
mod instructions;
mod plot;
#[path = "../common/rounds.rs"]
#[allow(dead_code, reason = "other benchmarks use the rest")]
mod rounds;
#[path = "../../tests/growth/shapes/mod.rs"]
mod shapes;
mod table;

use std::{
    error::Error,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use toolwire::{
    apply_deferred_loading, options::Api, sanitize, sanitize_tools, DeferredOptions, SanitizeOptions, ToolsOptions,
};

/// Sizes of the inputs, in units of the measured quantity.
const SIZES: [usize; 7] = [10, 30, 100, 300, 1_000, 3_000, 10_000];
/// Minimum time of repeated runs per size. There are at least three runs, and the fastest one counts.
const LONG_ENOUGH: Duration = Duration::from_millis(150);

/// Processes an input; returns an error if the input is refused.
type Run = Box<dyn Fn(&str) -> Result<usize, toolwire::Error>>;

/// A measured quantity.
struct Growth {
    file: &'static str,
    title: &'static str,
    /// Singular name of the counted unit.
    unit: &'static str,
    input: fn(usize) -> String,
    series: Vec<(&'static str, Run)>,
}

/// The cost of one size.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    size: usize,
    /// Microseconds.
    time: f64,
    /// Bytes allocated in total, including those freed later.
    memory: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    if command.as_deref() == Some("tools") {
        return table::tools(&arguments.next().ok_or("expected a file of tools")?);
    }
    if command.as_deref() == Some("page") {
        return table::page();
    }
    if command.as_deref() == Some("instructions") {
        return instructions::rows(&arguments.collect::<Vec<_>>());
    }
    if command.as_deref() == Some("rows") {
        let mut selection = table::Selection::default();
        for argument in arguments {
            match argument.split_once('=') {
                Some(("--dialects", names)) => selection.dialects = names.split(',').map(String::from).collect(),
                Some(("--part", part)) => {
                    let (part, of) = part.split_once('/').ok_or("expected `--part=N/M`")?;
                    selection.part = Some((part.parse()?, of.parse()?));
                }
                Some(("--sizes", sizes)) => {
                    selection.sizes = sizes.split(',').map(str::parse).collect::<Result<_, _>>()?
                }
                _ => selection.words.push(argument),
            }
        }
        table::rows(&selection);
        return Ok(());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance");
    for growth in growths() {
        let mut lines = Vec::new();
        for (name, run) in &growth.series {
            lines.push((*name, measure(&growth, run)?));
        }
        let plot = plot::draw(growth.title, growth.unit, &lines)?;
        if !rounds::once() {
            fs::create_dir_all(&folder)?;
            fs::write(folder.join(growth.file).with_extension("svg"), plot)?;
        }
        table(&growth, &lines);
    }
    Ok(())
}

fn growths() -> [Growth; 4] {
    let list = |dialect: &'static str| -> (&'static str, Run) {
        let options = ToolsOptions::new(shapes::id(dialect));
        (dialect, Box::new(move |text| Ok(sanitize_tools(text, &options)?.tools.len())))
    };
    let schema = |dialect: &'static str| -> (&'static str, Run) {
        let options = SanitizeOptions::new(shapes::id(dialect));
        (dialect, Box::new(move |text| Ok(sanitize(text, &options)?.schema.len())))
    };
    let history = |name: &'static str, target: Option<Api>| -> (&'static str, Run) {
        let mut options = DeferredOptions::default();
        options.target = target;
        (name, Box::new(move |text| Ok(apply_deferred_loading(text, &options)?.request.len())))
    };
    [
        Growth {
            file: "tools",
            title: "A list of tools: sanitizeToolsJson",
            unit: "tool",
            input: inputs::tools,
            series: ["anthropic", "llama-cpp", "moonshot", "openai-strict"].map(list).into(),
        },
        Growth {
            file: "schema",
            title: "A large schema: sanitizeJson",
            unit: "property",
            input: inputs::properties,
            series: ["anthropic", "moonshot", "gemini", "portable"].map(schema).into(),
        },
        Growth {
            file: "references",
            title: "A schema of references: sanitizeJson",
            unit: "reference",
            input: inputs::references,
            series: ["anthropic", "moonshot", "gemini", "portable"].map(schema).into(),
        },
        Growth {
            file: "history",
            title: "A long conversation: applyDeferredLoadingJson",
            unit: "message",
            input: inputs::history,
            series: vec![
                history("in place", None),
                history("to openai-chat", Some(Api::OpenaiChat)),
                history("to openai-responses", Some(Api::OpenaiResponses)),
            ],
        },
    ]
}

/// Measures all sizes up to the first one that is refused.
fn measure(growth: &Growth, run: &Run) -> Result<Vec<Point>, Box<dyn Error>> {
    let mut points = Vec::new();
    // A test needs no large inputs.
    for size in SIZES.into_iter().filter(|size| !rounds::once() || *size <= 100) {
        let input = (growth.input)(size);
        let (done, memory) = counting::allocated_by(|| run(&input));
        match done {
            Err(error) if points.len() > 2 => {
                eprintln!("{}, {size}: {error}", growth.title);
                break;
            }
            done => done?,
        };
        let (begin, mut best, mut runs) = (Instant::now(), Duration::MAX, 0);
        while runs == 0 || !rounds::once() && (runs < 3 || begin.elapsed() < LONG_ENOUGH) {
            let start = Instant::now();
            run(&input)?;
            best = best.min(start.elapsed());
            runs += 1;
        }
        points.push(Point { size, time: best.as_secs_f64() * 1e6, memory: memory as f64 });
    }
    Ok(points)
}

/// Prints the time and the memory per unit, for each size.
fn table(growth: &Growth, lines: &[(&str, Vec<Point>)]) {
    println!("### {}\n", growth.title);
    println!("![{}: time and memory per {}](performance/{}.svg)\n", growth.title, growth.unit, growth.file);
    let head: Vec<String> = SIZES.iter().map(|size| format!("{}", Grouped(*size))).collect();
    println!("| µs and KB per {} | {} |", growth.unit, head.join(" | "));
    println!("|---|{}", "--:|".repeat(SIZES.len()));
    for (name, points) in lines {
        let cell = |size: &usize| {
            let point = points.iter().find(|point| point.size == *size);
            point.map_or("refused".into(), |point| {
                let size = point.size as f64;
                format!("{:.1} · {:.1}", point.time / size, point.memory / size / 1e3)
            })
        };
        println!("| {name} | {} |", SIZES.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    println!();
}

/// A number with digit grouping.
struct Grouped(usize);

impl std::fmt::Display for Grouped {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            number if number < 1_000 => write!(formatter, "{number}"),
            number if number < 1_000_000 => write!(formatter, "{},{:03}", number / 1_000, number % 1_000),
            number => {
                write!(formatter, "{},{:03},{:03}", number / 1_000_000, number / 1_000 % 1_000, number % 1_000)
            }
        }
    }
}
