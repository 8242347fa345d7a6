//! What a format of an API looks like belongs in its description (`wire/`), not in the code that reads and rewrites
//! requests.
#![allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The words with which the APIs spell calls, results, tools, references, turns and events. Words that JSON Schema, MCP
/// and several APIs share (`name`, `content`, `type`) say nothing about a format and are left out. A word that ends
/// with a dot matches every word that begins with it.
const WORDS: [&str; 71] = [
    "additional_tools",
    "call_id",
    "candidates",
    "choices",
    "contentBlockDelta",
    "contentBlockIndex",
    "contentBlockStart",
    "contentBlockStop",
    "content_block",
    "content_block_delta",
    "content_block_start",
    "content_block_stop",
    "custom_tool_call",
    "custom_tool_call_output",
    "defer_loading",
    "disable_parallel_tool_use",
    "finishReason",
    "finish_reason",
    "functionCall",
    "functionCallingConfig",
    "functionDeclarations",
    "functionResponse",
    "function_call",
    "function_call_output",
    "function_calling_config",
    "function_declarations",
    "function_response",
    "function_result",
    "generationConfig",
    "generation_config",
    "input_json_delta",
    "input_text",
    "is_error",
    "mcp_tool_use",
    "message_delta",
    "message_start",
    "message_stop",
    "model_output",
    "output_index",
    "output_text",
    "parallel_tool_calls",
    "partial_json",
    "previous_response_id",
    "reasoning_content",
    "response.",
    "server_tool_use",
    "step.",
    "stop_reason",
    "systemInstruction",
    "system_instruction",
    "text_delta",
    "toolAddition",
    "toolChoice",
    "toolConfig",
    "toolRemoval",
    "toolResult",
    "toolSpec",
    "toolUse",
    "toolUseId",
    "tool_addition",
    "tool_call_id",
    "tool_calls",
    "tool_choice",
    "tool_reference",
    "tool_removal",
    "tool_result",
    "tool_search_call",
    "tool_search_output",
    "tool_search_tool_result",
    "tool_use",
    "tool_use_id",
];

/// Layers that may know a format: the descriptions, the facts about APIs, and the options, whose values name formats.
const MAY_NAME_AN_API: [&str; 3] = ["wire", "dialect", "options"];
const MAY_SPELL_A_FORMAT: [&str; 2] = ["wire", "dialect"];

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder exists").flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, into),
            path if path.extension().is_some_and(|end| end == "rs") => into.push(path),
            _ => {}
        }
    }
}

/// The counted words of a file, without its comments and its unit tests.
#[derive(Default)]
struct Counted {
    words: BTreeSet<String>,
    mentions: usize,
}

fn count_words() -> BTreeMap<String, Counted> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    files(&source, &mut paths);
    let mut counted = BTreeMap::new();
    for path in paths {
        let name = path.strip_prefix(&source).expect("it is below the folder").to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&path).expect("the file is text");
        if !name.contains("tests") {
            let mut file = Counted::default();
            count(TokenStream::from_str(&text).expect("the file is Rust"), &mut file);
            counted.insert(name, file);
        }
    }
    counted
}

/// Walks over tokens, including tokens of macros. Attributes are skipped, because a documentation comment is an
/// attribute, and so is the item after `#[cfg(test)]`.
fn count(tokens: TokenStream, file: &mut Counted) {
    let mut tokens = tokens.into_iter().peekable();
    let mut is_test = false;
    let mut path: Option<&str> = None;
    while let Some(token) = tokens.next() {
        let before = path.take();
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if let Some(TokenTree::Punct(mark)) = tokens.peek() {
                    if mark.as_char() == '!' {
                        tokens.next();
                    }
                }
                if let Some(TokenTree::Group(attribute)) = tokens.next() {
                    is_test |= attribute.stream().to_string().replace(' ', "") == "cfg(test)";
                }
            }
            TokenTree::Punct(mark) => {
                is_test &= mark.as_char() != ';';
                path = match (mark.as_char(), before) {
                    (':', Some("Api")) => Some("Api:"),
                    (':', Some("Api:")) => {
                        file.mentions += usize::from(!is_test);
                        None
                    }
                    _ => None,
                };
            }
            TokenTree::Group(group) if is_test => is_test = group.delimiter() != Delimiter::Brace,
            TokenTree::Group(group) => count(group.stream(), file),
            TokenTree::Ident(name) => path = (name == "Api").then_some("Api"),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let Some(text) = text.trim_start_matches(['b', 'r', '#']).strip_prefix('"') else { continue };
                let text = text.trim_end_matches('#').trim_end_matches('"');
                let is_word = |word: &str| text == word || word.ends_with('.') && text.starts_with(word);
                if !is_test && WORDS.into_iter().any(is_word) {
                    file.words.insert(text.to_owned());
                }
            }
        }
    }
}

fn layer(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or_default()
}

#[test]
fn only_descriptions_name_an_api() {
    let counted = count_words();
    let outside: BTreeMap<&String, usize> = counted
        .iter()
        .filter(|(name, file)| !MAY_NAME_AN_API.contains(&layer(name)) && file.mentions > 0)
        .map(|(name, file)| (name, file.mentions))
        .collect();
    assert!(outside.is_empty(), "describe the difference between the APIs in their descriptions: {outside:#?}");
}

#[test]
fn only_descriptions_spell_a_format() {
    let counted = count_words();
    let outside: BTreeMap<&String, &BTreeSet<String>> = counted
        .iter()
        .filter(|(name, file)| !MAY_SPELL_A_FORMAT.contains(&layer(name)) && !file.words.is_empty())
        .map(|(name, file)| (name, &file.words))
        .collect();
    assert!(outside.is_empty(), "words of a format belong in its description: {outside:#?}");
}

#[test]
fn words_and_mentions_are_counted_where_code_is() {
    let text = r##"
        //! A "tool_use" in a comment.
        /// Another "tool_use".
        #[doc = "tool_use"]
        const WORD: &str = "function_call";
        fn events(kind: &str) -> bool { matches!(kind, "response.done" | "other") && Api::Gemini == api }
        const BYTES: &[u8] = b"tool_calls";
        const RAW: &str = r#"toolUse"#;
        const MESSAGE: &str = "expected `tool_use`";
        #[cfg(test)]
        mod tests { const HERE: &str = "tool_result"; const API: Api = Api::Gemini; }
        #[cfg(test)]
        const ALSO: &str = "tool_result";
        const AFTER: &str = "stop_reason";
    "##;
    let mut file = Counted::default();
    count(TokenStream::from_str(text).expect("it is Rust"), &mut file);
    let words: Vec<&str> = file.words.iter().map(String::as_str).collect();
    assert_eq!(words, ["function_call", "response.done", "stop_reason", "toolUse", "tool_calls"]);
    assert_eq!(file.mentions, 1);
}
