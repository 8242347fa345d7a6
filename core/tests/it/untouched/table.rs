//! Number of accepted requests that change, by dialect and rule. `unreported` stands for an empty report, `lost` for a
//! part that is neither sent nor reported, and `refused` for an error. The numbers may only fall.

/// Numbers of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) changed: usize,
    /// A part is in neither the request nor the report, or a change lost something.
    pub(crate) lossy: usize,
    /// The request differs, and the report is empty.
    pub(crate) unreported: usize,
}

impl Counts {
    pub(crate) fn add(&mut self, is_lossy: bool, is_unreported: bool) {
        self.changed += 1;
        self.lossy += usize::from(is_lossy);
        self.unreported += usize::from(is_unreported);
    }

    pub(crate) fn exceed(self, limit: Counts) -> bool {
        self.changed > limit.changed || self.lossy > limit.lossy || self.unreported > limit.unreported
    }
}

const fn of(changed: usize, lossy: usize, unreported: usize) -> Counts {
    Counts { changed, lossy, unreported }
}

#[rustfmt::skip]
pub(crate) const TABLE: &[(&str, &str, Counts)] = &[
    //                                      changed, lossy, unreported
    ("anthropic", "deferred", of(3, 0, 0)),
    ("anthropic", "lost", of(3, 3, 0)),
    ("fireworks", "expand-any", of(8, 0, 0)),
    ("gemini", "add-properties", of(5, 0, 0)),
    ("gemini", "drop-description", of(7, 0, 0)),
    ("gemini", "omit-arguments", of(18, 0, 0)),
    ("gemini", "repair-type", of(1, 0, 0)),
    ("ollama", "add-schema", of(8, 0, 0)),
    ("ollama", "drop-keyword", of(28, 17, 0)),
    ("ollama", "inline-ref", of(7, 0, 0)),
    ("ollama", "lost", of(7, 7, 0)),
    ("ollama", "not-strict", of(3, 0, 0)),
    ("ollama", "repair-type", of(6, 0, 0)),
    ("ollama", "strict-flag", of(12, 0, 0)),
    ("openai-chat", "add-schema", of(5, 0, 0)),
    ("openai-chat", "strict-flag", of(23, 0, 0)),
    ("openai-responses", "deferred", of(8, 0, 0)),
    ("openai-responses", "lost", of(7, 7, 0)),
    ("openai-responses", "namespace", of(3, 0, 0)),
    ("openai-responses", "server-tool-search-unavailable", of(4, 0, 0)),
    ("openai-responses", "strict-flag", of(39, 0, 0)),
    ("openai-strict", "close-object", of(3, 3, 0)),
    ("openai-strict", "strict-flag", of(2, 0, 0)),
    ("portable", "history-name", of(8, 0, 0)),
    ("portable", "lost", of(1, 1, 1)),
    ("portable", "rename-tool", of(3, 0, 0)),
    ("portable", "unreported", of(1, 0, 1)),
    ("vertex", "repair-type", of(2, 0, 0)),
    ("vllm", "declare-open", of(10, 0, 0)),
    ("vllm", "strict-flag", of(12, 0, 0)),
];
