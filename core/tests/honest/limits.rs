//! How many faults a dialect may still have; numbers here only fall.

const LIMITS: &[(&str, usize)] = &[
    ("openai-responses", 6),
    ("openai-chat", 8),
    ("openai-strict", 94),
    ("portable", 6),
    ("anthropic", 21),
    ("anthropic-strict", 2),
    ("gemini", 2),
    ("gemini-json-schema", 2),
    ("xai", 20),
    ("deepseek", 4),
    ("deepseek-strict", 52),
    ("bedrock", 2),
    ("mistral", 35),
    ("groq", 6),
    ("cerebras", 2),
    ("fireworks", 15),
    ("llama-cpp", 36),
];

/// The most faults of one dialect; none where nothing is said.
pub(crate) fn of(dialect: &str) -> usize {
    LIMITS.iter().find(|(known, _)| *known == dialect).map_or(0, |(_, most)| *most)
}
