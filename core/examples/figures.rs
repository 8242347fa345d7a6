//! Measures the microseconds per real tool in Rust, and prints one line of JSON for `scripts/figures.mjs`.
//! `make figures` runs this example with a file that has one MCP tool per line.
//!
//! `figures FILE --ratios [DIALECT]...` prints a table instead: the time of `sanitize` as a multiple of the time of
//! parsing and printing alone, and how many schemas went through the passes a second time, with and without a change.

#![allow(clippy::print_stdout, reason = "the program prints figures")]

#[path = "common/rounds.rs"]
#[allow(dead_code, reason = "other benchmarks use the rest")]
mod rounds;

use std::{
    env,
    error::Error,
    fs,
    hint::black_box,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::{json, Map, Value};
use toolwire::{
    dialects, internal::rounds::of as rounds_of, sanitize, sanitize_tools, Dialect, DialectId, Exchange,
    ExchangeOptions, SanitizeOptions, ToolListCache, ToolsOptions,
};

/// Enough rounds for a stable minimum, few enough for all dialects.
const ROUNDS: u32 = 7;
const LEAST_CPU_TIME: Duration = Duration::from_millis(200);
/// Number of tools in a list, and number of lists.
const LIST: usize = 60;
const LISTS: usize = 4;
/// Number of requests in a session; the list changes halfway.
const REQUESTS: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("expected a file with one MCP tool per line, found no argument")?;
    let tools: Vec<Value> = fs::read_to_string(&path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let values: Vec<Value> = tools.iter().filter_map(|tool| tool.get("inputSchema").cloned()).collect();
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    if env::args().nth(2).as_deref() == Some("--ratios") {
        return ratios(&texts, &env::args().skip(3).collect::<Vec<_>>());
    }
    let per = |time: Duration, count: usize| time.as_secs_f64() * 1e6 / count.max(1) as f64;
    let lists: Vec<String> =
        tools.chunks(LIST).take(LISTS).map(|some| Value::from(some.to_vec()).to_string()).collect();
    let alone: Vec<String> = tools.iter().take(LIST * LISTS).map(|tool| json!([tool]).to_string()).collect();
    let mut figures = Map::new();
    for dialect in dialects() {
        let (options, list_options) = (SanitizeOptions::new(dialect.id()), ToolsOptions::new(dialect.id()));
        let times = best(&mut [
            &mut || texts.iter().for_each(|text| drop(black_box(sanitize(text, &options)))),
            &mut || texts.iter().for_each(|text| drop(black_box(read_report(text, &options)))),
            &mut || values.iter().for_each(|value| drop(black_box(sanitize(value, &options)))),
            &mut || lists.iter().for_each(|list| drop(black_box(sanitize_tools(list, &list_options)))),
            &mut || alone.iter().for_each(|list| drop(black_box(sanitize_tools(list, &list_options)))),
        ]);
        let [text, report, value, list, each] = times[..] else { return Err("expected a time for each".into()) };
        figures.insert(
            dialect.name.into(),
            json!({
                "text": per(text, texts.len()),
                "report": per(report, texts.len()),
                "value": per(value, texts.len()),
                "list": per(list, alone.len()),
                "each": per(each, alone.len()),
            }),
        );
    }
    let parsed = best(&mut [&mut || texts.iter().for_each(|text| drop(black_box(parse_and_print(text))))]);
    let repeated: Map<String, Value> = REPEATED
        .iter()
        .map(|(dialect, url)| Ok(((*dialect).to_owned(), measure_session(&tools, dialect, url, per)?)))
        .collect::<Result<_, toolwire::Error>>()?;
    let bytes = texts.iter().map(String::len).sum::<usize>() / texts.len().max(1);
    let parsed = parsed.first().map_or(0.0, |time| per(*time, texts.len()));
    println!(
        "{}",
        json!({"tools": texts.len(), "bytes": bytes, "alone": parsed, "dialects": figures, "repeated": repeated})
    );
    Ok(())
}

/// Dialects whose ratios have a target.
const RATIOS: [DialectId; 6] = [
    Dialect::OPENAI_STRICT,
    Dialect::AZURE_STRICT,
    Dialect::ANTHROPIC_STRICT,
    Dialect::GEMINI,
    Dialect::MOONSHOT,
    Dialect::PORTABLE,
];

/// Prints the time of each dialect as a multiple of the time of parsing and printing alone, and its second rounds.
fn ratios(texts: &[String], names: &[String]) -> Result<(), Box<dyn Error>> {
    let mut dialects = names.iter().map(|name| name.parse()).collect::<Result<Vec<DialectId>, _>>()?;
    if dialects.is_empty() {
        dialects = RATIOS.to_vec();
    }
    let options: Vec<SanitizeOptions> = dialects.iter().copied().map(SanitizeOptions::new).collect();
    let all = |options: &SanitizeOptions| texts.iter().for_each(|text| drop(black_box(sanitize(text, options))));
    let parse = || texts.iter().for_each(|text| drop(black_box(parse_and_print(text))));
    let mut best = vec![Duration::MAX; options.len() + 1];
    for _ in 0..rounds::rounds(ROUNDS) {
        for (at, best) in best.iter_mut().enumerate() {
            let time = match at.checked_sub(1).and_then(|at| options.get(at)) {
                Some(options) => repeated_cpu_time(&|| all(options))?,
                None => repeated_cpu_time(&parse)?,
            };
            *best = time.min(*best);
        }
    }
    let (alone, times) = best.split_first().ok_or("expected a time of parsing")?;
    let each = |time: &Duration| time.as_secs_f64() * 1e6 / texts.len().max(1) as f64;
    println!("{:<20} {:>6} µs", "parse and print", format!("{:.2}", each(alone)));
    println!("{:<20} {:>9} {:>6} {:>9} {:>6} {:>8}", "", "", "ratio", "rewritten", "again", "needless");
    for ((name, options), time) in dialects.iter().zip(&options).zip(times) {
        let ((), rounds) = rounds_of(|| all(options));
        let share = rounds.needless as f64 / rounds.rewritten.max(1) as f64 * 100.0;
        println!(
            "{name:<20} {:>6.2} µs {:>6.2} {:>9} {:>6} {:>8} {share:.1} %",
            each(time),
            time.as_secs_f64() / alone.as_secs_f64(),
            rounds.rewritten,
            rounds.rerun,
            rounds.needless,
        );
    }
    Ok(())
}

/// Rewrites a schema and reads its report, which is made when it is first read.
fn read_report(text: &str, options: &SanitizeOptions) -> Result<usize, toolwire::Error> {
    sanitize(text, options)?.changes().map(<[_]>::len)
}

fn parse_and_print(text: &str) -> serde_json::Result<String> {
    serde_json::from_str::<Value>(text).map(|value| value.to_string())
}

/// Returns the mean CPU time of one call. The system counts CPU time in ticks of up to 10 ms, so the calls together take
/// at least 20 of them.
fn repeated_cpu_time(run: &dyn Fn()) -> Result<Duration, Box<dyn Error>> {
    let (start, mut calls) = (cpu_time()?, 0);
    loop {
        run();
        calls += 1;
        let time = cpu_time()?.saturating_sub(start);
        if time >= LEAST_CPU_TIME || rounds::once() {
            return Ok(time / calls);
        }
    }
}

/// Returns the CPU time of this thread, or the wall-clock time if the system does not report CPU time. Load
/// from other programs affects CPU time less.
fn cpu_time() -> Result<Duration, Box<dyn Error>> {
    match fs::read_to_string("/proc/thread-self/schedstat") {
        Ok(text) => Ok(Duration::from_nanos(text.split(' ').next().ok_or("expected a number")?.parse()?)),
        Err(_) => Ok(SystemTime::now().duration_since(UNIX_EPOCH)?),
    }
}

/// Dialects and URLs of requests that repeat their tools.
const REPEATED: [(&str, &str); 3] = [
    ("moonshot", "http://localhost/v1/chat/completions"),
    ("openai-strict", "http://localhost/v1/chat/completions"),
    ("anthropic-strict", "http://localhost/v1/messages"),
];

/// Measures an agent's session through an exchange, with and without a list cache, per request.
fn measure_session(
    tools: &[Value],
    dialect: &str,
    url: &str,
    per: impl Fn(Duration, usize) -> f64,
) -> Result<Value, toolwire::Error> {
    let body =
        |tools: &[Value]| json!({"model": "m", "messages": MESSAGES.map(user_message), "tools": tools}).to_string();
    let some = tools.get(..LIST).unwrap_or(tools);
    let bodies = [body(some), body(some.get(1..).unwrap_or(some))];
    let options = ExchangeOptions::default().dialect(dialect.parse()?);
    let session = |cache: Option<&ToolListCache>| {
        for request in 0..REQUESTS {
            let [first, second] = &bodies;
            let body = if request < REQUESTS / 2 { first } else { second };
            let opened = match cache {
                Some(cache) => Exchange::open_cached(url, body, &options, cache),
                None => Exchange::open(url, body, &options),
            };
            drop(black_box(opened));
        }
    };
    Exchange::open(url, &body(some), &options)?;
    let times = best(&mut [&mut || session(None), &mut || session(Some(&ToolListCache::default()))]);
    let times: Vec<f64> = times.iter().map(|time| per(*time, REQUESTS)).collect();
    Ok(json!({"anew": times.first(), "kept": times.get(1)}))
}

const MESSAGES: [&str; 3] = ["Find the file.", "I will look for it.", "Thank you. Go on."];

fn user_message(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// Returns the fastest of several rounds of each function. The functions alternate, so that load on the machine affects
/// all of them.
fn best(runs: &mut [&mut dyn FnMut()]) -> Vec<Duration> {
    let mut best = vec![Duration::MAX; runs.len()];
    for _ in 0..rounds::rounds(ROUNDS) {
        for (best, run) in best.iter_mut().zip(runs.iter_mut()) {
            let start = Instant::now();
            run();
            *best = start.elapsed().min(*best);
        }
    }
    best
}
