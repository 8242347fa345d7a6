//! Counters of a relay, in the text format of Prometheus.

use std::{collections::BTreeMap, fmt::Write as _};

/// Upper bounds of the histogram of added latency, in microseconds.
const BOUNDS: [u64; 10] = [250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000];

/// Counters since the start. Their labels contain no names of clients, models or tools.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    /// Requests by [`Outcome`].
    pub(super) requests: BTreeMap<Outcome, u64>,
    pub(super) replies: BTreeMap<u16, u64>,
    /// Requests that an upstream did not answer, or answered only in part.
    pub(super) failures: u64,
    /// Requests whose model was called again after a search.
    pub(super) searches: u64,
    /// Tools with a change, and tools that were left out.
    pub(super) rewritten: u64,
    pub(super) quarantined: u64,
    /// Calls whose arguments were repaired, and calls that still do not match their schema.
    pub(super) repaired: u64,
    pub(super) invalid: u64,
    /// Number of requests for each bucket of added latency. The last bucket is above all bounds.
    added: [u64; BOUNDS.len() + 1],
    added_total: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Adapted,
    /// The request may have tools, but needed no change.
    Unchanged,
    /// The request was forwarded unread: it is of a different kind, or cannot have tools.
    Passed,
    Refused,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Adapted => "adapted",
            Outcome::Unchanged => "unchanged",
            Outcome::Passed => "passed",
            Outcome::Refused => "refused",
        }
    }
}

impl Metrics {
    pub(super) fn count(&mut self, outcome: Outcome) {
        *self.requests.entry(outcome).or_default() += 1;
    }

    /// `time` is the latency that the relay added to a request, in microseconds.
    pub(super) fn record_latency(&mut self, time: u64) {
        let bound = BOUNDS.iter().position(|bound| time <= *bound).unwrap_or(BOUNDS.len());
        if let Some(count) = self.added.get_mut(bound) {
            *count += 1;
        }
        self.added_total = self.added_total.saturating_add(time);
    }

    /// Text format of Prometheus, version 0.0.4.
    pub(super) fn text(&self, open: usize) -> String {
        let mut out = String::new();
        write_header(&mut out, "requests_total", "counter", "Requests, by outcome.");
        for outcome in [Outcome::Adapted, Outcome::Unchanged, Outcome::Passed, Outcome::Refused] {
            let count = self.requests.get(&outcome).copied().unwrap_or_default();
            write_counter(&mut out, "requests_total", &format!("{{outcome=\"{}\"}}", outcome.word()), count);
        }
        write_header(&mut out, "upstream_replies_total", "counter", "Replies of upstreams, by status.");
        for (status, count) in &self.replies {
            write_counter(&mut out, "upstream_replies_total", &format!("{{status=\"{status}\"}}"), *count);
        }
        for (name, help, count) in [
            (
                "upstream_failures_total",
                "Requests that an upstream did not answer, or answered only in part.",
                self.failures,
            ),
            ("searches_total", "Times that a model was asked again after a search for tools.", self.searches),
            ("tools_rewritten_total", "Tools that were changed, over all requests.", self.rewritten),
            ("tools_quarantined_total", "Tools that were left out, over all requests.", self.quarantined),
            ("calls_repaired_total", "Calls whose arguments were repaired.", self.repaired),
            ("calls_invalid_total", "Calls whose arguments still do not match their schema.", self.invalid),
        ] {
            write_header(&mut out, name, "counter", help);
            write_counter(&mut out, name, "", count);
        }
        write_header(&mut out, "open_requests", "gauge", "Requests that are not yet answered.");
        write_counter(&mut out, "open_requests", "", open as u64);
        self.histogram(&mut out);
        out
    }

    fn histogram(&self, out: &mut String) {
        let name = "added_seconds";
        write_header(out, name, "histogram", "Time that a request and its reply spent in the relay.");
        let mut below = 0;
        for (bound, count) in BOUNDS.iter().zip(self.added) {
            below += count;
            write_counter(out, "added_seconds_bucket", &format!("{{le=\"{}\"}}", seconds(*bound)), below);
        }
        let all = self.added.iter().sum();
        write_counter(out, "added_seconds_bucket", "{le=\"+Inf\"}", all);
        let _ = writeln!(out, "toolwire_added_seconds_sum {}", seconds(self.added_total));
        write_counter(out, "added_seconds_count", "", all);
    }
}

fn write_header(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP toolwire_{name} {help}\n# TYPE toolwire_{name} {kind}");
}

fn write_counter(out: &mut String, name: &str, labels: &str, count: u64) {
    let _ = writeln!(out, "toolwire_{name}{labels} {count}");
}

fn seconds(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let mut metrics = Metrics::default();
        for time in [10, 250, 251, 600_000] {
            metrics.record_latency(time);
        }
        let text = metrics.text(2);
        for row in [
            "toolwire_added_seconds_bucket{le=\"0.00025\"} 2",
            "toolwire_added_seconds_bucket{le=\"0.0005\"} 3",
            "toolwire_added_seconds_bucket{le=\"0.5\"} 3",
            "toolwire_added_seconds_bucket{le=\"+Inf\"} 4",
            "toolwire_added_seconds_sum 0.600511",
            "toolwire_added_seconds_count 4",
            "toolwire_open_requests 2",
        ] {
            assert!(text.contains(&format!("{row}\n")), "{row} in {text}");
        }
    }
}
