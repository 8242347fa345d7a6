//! How much may still go wrong, by dialect and collection. Numbers here only fall; the test says when one can.

/// For each dialect, in the order of the collections: errors, faults, and outputs that are narrower or mixed.
#[rustfmt::skip]
const LIMITS: &[(&str, [[usize; 3]; 4])] = &[
    //                     real tools       test suite       issue rows       accepted rows
    ("openai-responses", [[1, 0, ANY], [4, 8, ANY], [2, 2, ANY], [0, 0, ANY]]),
    ("openai-chat", [[1, 0, ANY], [4, 8, ANY], [3, 2, ANY], [0, 0, ANY]]),
    ("openai-strict", [[87, 1216, ANY], [504, 136, ANY], [13, 10, ANY], [32, 77, ANY]]),
    ("portable", [[75, 964, ANY], [602, 91, ANY], [6, 9, ANY], [4, 0, ANY]]),
    ("anthropic", [[0, 0, ANY], [0, 0, ANY], [2, 0, ANY], [0, 0, ANY]]),
    ("anthropic-strict", [[86, 797, ANY], [504, 136, ANY], [13, 10, ANY], [32, 71, ANY]]),
    ("gemini", [[86, 984, ANY], [596, 44, ANY], [10, 5, ANY], [9, 98, ANY]]),
    ("gemini-json-schema", [[1, 0, ANY], [25, 16, ANY], [0, 0, ANY], [2, 0, ANY]]),
    ("moonshot", [[0, 0, ANY], [0, 0, ANY], [0, 0, ANY], [0, 0, ANY]]),
    ("xai", [[77, 485, ANY], [504, 136, ANY], [11, 10, ANY], [32, 71, ANY]]),
    ("deepseek", [[7, 16, ANY], [256, 27, ANY], [2, 3, ANY], [2, 0, ANY]]),
    ("deepseek-strict", [[96, 1208, ANY], [576, 64, ANY], [14, 9, ANY], [33, 80, ANY]]),
    ("bedrock", [[0, 0, ANY], [0, 0, ANY], [0, 0, ANY], [0, 0, ANY]]),
    ("mistral", [[43, 496, ANY], [465, 175, ANY], [0, 0, ANY], [0, 0, ANY]]),
    ("groq", [[0, 0, ANY], [0, 0, ANY], [0, 0, ANY], [0, 0, ANY]]),
    ("cerebras", [[24, 39, ANY], [55, 1, ANY], [0, 0, ANY], [3, 3, ANY]]),
    ("fireworks", [[7, 6, ANY], [142, 33, ANY], [0, 1, ANY], [1, 0, ANY]]),
    ("llama-cpp", [[52, 507, ANY], [465, 175, ANY], [12, 10, ANY], [32, 71, ANY]]),
];

/// Not held to anything while rules are still being written.
const ANY: usize = usize::MAX;

/// The limits of one dialect and one collection, which is known by its place.
pub(crate) fn of(dialect: &str, collection: usize) -> Option<[usize; 3]> {
    LIMITS.iter().find(|(known, _)| *known == dialect).and_then(|(_, limits)| limits.get(collection)).copied()
}
