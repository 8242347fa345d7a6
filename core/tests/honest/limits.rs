//! How many faults a dialect may still have; numbers here only fall.

const LIMITS: &[(&str, usize)] = &[
    ("openai-responses", 34),
    ("openai-chat", 67),
    ("openai-strict", 781),
    ("portable", 779),
    ("anthropic", 43),
    ("anthropic-strict", 781),
    ("gemini", 779),
    ("gemini-json-schema", 49),
    ("xai", 762),
    ("deepseek", 253),
    ("deepseek-strict", 781),
    ("bedrock", 2),
    ("mistral", 795),
    ("groq", 2),
    ("cerebras", 95),
    ("fireworks", 160),
    ("llama-cpp", 785),
];

/// The most faults of one dialect; none where nothing is said.
pub(crate) fn of(dialect: &str) -> usize {
    LIMITS.iter().find(|(known, _)| *known == dialect).map_or(0, |(_, most)| *most)
}
