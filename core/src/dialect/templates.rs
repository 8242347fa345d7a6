//! Chat templates: a server writes the tools into the prompt with the template of the model, and a template that walks
//! schemas fails for shapes that it does not know. The whole request fails then, whatever the server accepts.
//!
//! The table has the templates that llama.cpp's sources ship. `python/tests/test_judge_templates.py` runs all of them
//! with llama.cpp's engine and with Jinja2, which vLLM and SGLang run, and compares both with `check`.

use alloc::format;

use super::{
    grammar::{ArrayRule, Grammar, TypeLists, TypeRequirement, Walk},
    llama_cpp, sglang, vllm, Dialect, Fact, Method,
};
use crate::{
    error::{Code, Error},
    nearest::did_you_mean,
    options::SanitizeOptions,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

/// What a template fails for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refuses {
    /// Lists of types and `null`, which are no names in its table of types.
    UnknownNames,
    /// Lists of types.
    TypeLists,
    /// Lists of types in `items`.
    ItemTypeLists,
    /// Arrays without `items`.
    OpenArrays,
    /// Properties whose `type` is no name.
    Untyped,
    /// Arrays, and what [`Refuses::UnknownNames`] has.
    Arrays,
    /// `oneOf`.
    OneOf,
}

/// A template: the name of its file without `.jinja`, what the names of its models contain, and what it fails for.
struct Row(&'static str, &'static [&'static str], Option<Refuses>);

#[rustfmt::skip]
const TEMPLATES: &[Row] = &[
    Row("Apertus-8B-Instruct", &["apertus"], Some(Refuses::OpenArrays)),
    Row("Apriel-1.6-15b-Thinker-fixed", &["apriel-1.6"], None),
    Row("Bielik-11B-v3.0-Instruct", &["bielik-11b-v3"], None),
    Row("ByteDance-Seed-OSS", &["seed-oss"], Some(Refuses::Untyped)),
    Row("Cohere2MoE", &[], None),
    Row("CohereForAI-c4ai-command-r-plus-tool_use", &["command-r-plus"], Some(Refuses::Arrays)),
    Row("CohereForAI-c4ai-command-r7b-12-2024-tool_use", &["command-r7b"], None),
    Row("deepseek-ai-DeepSeek-R1-Distill-Llama-8B", &["deepseek-r1-distill-llama"], None),
    Row("deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", &["deepseek-r1-distill-qwen"], None),
    Row("deepseek-ai-DeepSeek-V3.1", &["deepseek-v3.1"], None),
    Row("deepseek-ai-DeepSeek-V3.2", &["deepseek-v3.2"], None),
    Row("deepseek-ai-DeepSeek-V4", &["deepseek-v4"], None),
    Row("deepseek-ai-DeepSeek-V4-Flash-0731", &["deepseek-v4-flash"], None),
    Row("fireworks-ai-llama-3-firefunction-v2", &["firefunction-v2"], None),
    Row("GigaChat3-10B-A1.8B", &["gigachat3-"], Some(Refuses::TypeLists)),
    Row("GigaChat3.1-10B-A1.8B", &["gigachat3.1"], Some(Refuses::TypeLists)),
    Row("GLM-4.6", &["glm-4.6"], None),
    Row("GLM-4.7-Flash", &["glm-4.7-flash"], None),
    Row("google-gemma-2-2b-it", &["gemma-2-"], None),
    Row("google-gemma-4-31B-it", &["gemma-4"], Some(Refuses::ItemTypeLists)),
    Row("google-gemma-4-31B-it-interleaved", &[], Some(Refuses::ItemTypeLists)),
    Row("HuggingFaceTB-SmolLM3-3B", &["smollm3"], None),
    Row("ibm-granite-granite-3.3-2B-Instruct", &["granite-3.3"], None),
    Row("ibm-granite-granite-4.0", &["granite-4.0"], None),
    Row("ibm-granite-granite-4.1", &["granite-4.1"], None),
    Row("inclusionai-ling-3.0-flash", &["ling-3.0-flash"], None),
    Row("Kimi-K2-Instruct", &["kimi-k2-instruct"], None),
    Row("Kimi-K2-Thinking", &["kimi-k2-thinking"], None),
    Row("Kimi-K3", &["kimi-k3"], None),
    Row("LFM2-8B-A1B", &["lfm2-"], None),
    Row("LFM2.5-8B-A1B", &["lfm2.5-8b-a1b"], None),
    Row("LFM2.5-Instruct", &["lfm2.5"], None),
    Row("llama-cpp-deepseek-r1", &["deepseek-r1"], None),
    Row("llama-cpp-rwkv-world", &["rwkv-world"], None),
    Row("llm-jp-llm-jp-4.1-8b-thinking", &["llm-jp-4.1"], Some(Refuses::OpenArrays)),
    Row("meetkai-functionary-medium-v3.1", &["functionary-medium-v3.1"], None),
    Row("meetkai-functionary-medium-v3.2", &["functionary-medium-v3.2"], Some(Refuses::OneOf)),
    Row("meta-llama-Llama-3.1-8B-Instruct", &["llama-3.1"], None),
    Row("meta-llama-Llama-3.2-3B-Instruct", &["llama-3.2"], None),
    Row("meta-llama-Llama-3.3-70B-Instruct", &["llama-3.3"], None),
    Row("microsoft-Phi-3.5-mini-instruct", &["phi-3.5-mini"], None),
    Row("MiMo-VL", &["mimo-vl"], None),
    Row("MiniMax-M1", &["minimax-m1"], None),
    Row("MiniMax-M2", &["minimax-m2"], None),
    Row("MiniMax-M3", &["minimax-m3"], None),
    Row("Mistral-Small-3.2-24B-Instruct-2506", &["mistral-small-3.2"], None),
    Row("mistralai-Ministral-3-14B-Reasoning-2512", &["ministral-3-"], None),
    Row("mistralai-Mistral-Nemo-Instruct-2407", &["mistral-nemo"], None),
    Row("moonshotai-Kimi-K2", &["kimi-k2"], None),
    Row("muse-glimmer", &[], None),
    Row("NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", &["hermes-2-pro"], Some(Refuses::UnknownNames)),
    Row("NousResearch-Hermes-3-Llama-3.1-8B-tool_use", &["hermes-3-llama"], Some(Refuses::UnknownNames)),
    Row("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", &["nemotron-3-nano"], None),
    Row("NVIDIA-Nemotron-Nano-v2", &["nemotron-nano-9b-v2", "nemotron-nano-12b-v2"], None),
    Row("openai-gpt-oss-120b", &["gpt-oss"], Some(Refuses::OpenArrays)),
    Row("openbmb-MiniCPM5-1B", &["minicpm5"], None),
    Row("poolside-Laguna-S-2.1", &["laguna-s-2.1"], None),
    Row("poolside-Laguna-XS-2.1", &["laguna-xs-2.1"], None),
    Row("poolside-Laguna-XS.2", &["laguna-xs.2"], None),
    Row("Qwen-Qwen2.5-7B-Instruct", &["qwen2.5-"], None),
    Row("Qwen-Qwen3-0.6B", &["qwen3-0.6b", "qwen3-1.7b", "qwen3-4b", "qwen3-8b", "qwen3-14b", "qwen3-32b"], None),
    Row("Qwen-QwQ-32B", &["qwq-32b"], None),
    Row("Qwen3-Coder", &["qwen3-coder"], None),
    Row("Qwen3.5-4B", &["qwen3.5"], None),
    Row("Reka-Edge", &["reka-edge"], None),
    Row("Spark2.5", &[], None),
    Row("StepFun3.5-Flash", &["step-3.5-flash"], None),
    Row("tencent-Hy3", &["hy3"], None),
    Row("unsloth-Apriel-1.5", &["apriel-1.5"], None),
    Row("unsloth-mistral-Devstral-Small-2507", &["devstral-small-2507"], None),
    Row("upstage-Solar-Open-100B", &["solar-open-100b"], None),
];

const RUN: &str =
    "run: the template in llama.cpp b11434 with llama.cpp's engine (python/tests/test_judge_templates.py)";
const RUN_JINJA: &str = "run: the template in llama.cpp b11434 with Jinja2, set up as transformers does \
    (python/tests/test_judge_templates.py)";

/// Where templates look: at properties, and into what these contain.
const fn walk(nested: &[Keyword]) -> Walk {
    Walk { first: Keywords::of(&[Keyword::Properties]), nested: Keywords::of(nested), ..Walk::EVERYWHERE }
}

impl Refuses {
    /// The grammar of a server that runs such a template.
    const fn narrow(self, grammar: &Grammar) -> Grammar {
        let one_type = Grammar { type_lists: TypeLists::None, ..*grammar };
        let maps = walk(&[Keyword::AdditionalProperties]);
        match self {
            Refuses::UnknownNames => Grammar {
                types: &["string", "number", "integer", "boolean", "object", "array"],
                walked: maps,
                ..one_type
            },
            Refuses::TypeLists => Grammar {
                walked: Walk {
                    first: Keywords::of(&[Keyword::Properties, Keyword::AdditionalProperties]),
                    ..walk(&[Keyword::Properties, Keyword::Items, Keyword::AdditionalProperties])
                },
                ..one_type
            },
            Refuses::ItemTypeLists => Grammar {
                walked: Walk {
                    last: Keywords::of(&[Keyword::Items]),
                    ..walk(&[Keyword::Properties, Keyword::Items, Keyword::AdditionalProperties])
                },
                ..one_type
            },
            Refuses::OpenArrays => Grammar {
                arrays: ArrayRule { needs_items: true, truthy_items: true, ..grammar.arrays },
                walked: walk(&[Keyword::Properties, Keyword::Items, Keyword::OneOf]),
                ..*grammar
            },
            Refuses::Untyped => Grammar { typed: TypeRequirement::Type, walked: walk(&[]), ..one_type },
            Refuses::Arrays => {
                Grammar { types: &["string", "number", "integer", "boolean", "object"], walked: maps, ..one_type }
            }
            Refuses::OneOf => *grammar,
        }
    }

    /// The fact about such templates.
    const fn fact(self, source: &'static str) -> Fact {
        let (statement, rules, keywords): (_, &[Constraint], _) = match self {
            Refuses::UnknownNames => (
                "the template knows no list of types and no `null` in the `type` of a property or of \
                `additionalProperties`",
                &[Constraint::TypeList, Constraint::UnknownType],
                Keywords::NONE,
            ),
            Refuses::TypeLists => ("the template knows no list of types", &[Constraint::TypeList], Keywords::NONE),
            Refuses::ItemTypeLists => {
                ("the template knows no list of types in `items`", &[Constraint::TypeList], Keywords::NONE)
            }
            Refuses::OpenArrays => {
                ("the template reads the `items` of every array", &[Constraint::ArrayWithoutItems], Keywords::NONE)
            }
            Refuses::Untyped => (
                "the template needs one `type` in every property of the root",
                &[Constraint::TypeList, Constraint::Untyped],
                Keywords::NONE,
            ),
            Refuses::Arrays => (
                "the template knows neither arrays nor `null` nor lists of types in a property or in \
                `additionalProperties`",
                &[Constraint::TypeList, Constraint::UnknownType],
                Keywords::NONE,
            ),
            Refuses::OneOf => {
                ("the template knows no `oneOf`", &[Constraint::RefusedKeyword], Keywords::of(&[Keyword::OneOf]))
            }
        };
        Fact { statement, confidence: 'A', source, rules, keywords, ..Fact::REFUSED }
    }
}

/// The facts of a dialect with one more behind the first, which stands behind the rules that none names.
#[allow(clippy::indexing_slicing, reason = "an index that is out of bounds fails at compile time")]
const fn with_fact<const N: usize>(fact: Fact, facts: &[Fact]) -> [Fact; N] {
    let mut all = [fact; N];
    let [first, rest @ ..] = facts else { return all };
    all[0] = *first;
    let mut at = 2;
    let mut rest = rest;
    while let [next, after @ ..] = rest {
        all[at] = *next;
        (at, rest) = (at + 1, after);
    }
    all
}

/// A dialect's table for servers that run such a template.
macro_rules! templated {
    ($dialect:path, $grammar:path, $refuses:path, $source:expr $(, alternatives: $alternatives:expr)?) => {{
        const REFUSES: Refuses = $refuses;
        const FACTS: &[Fact] = &with_fact::<{ $dialect.facts.len() + 1 }>(REFUSES.fact($source), $dialect.facts);
        const GRAMMAR: &Grammar = &Grammar { $(alternatives: $alternatives,)? ..REFUSES.narrow(&$grammar) };
        const TABLE: &Dialect = &Dialect { facts: FACTS, method: Method::Rules(GRAMMAR), ..$dialect };
        (REFUSES, TABLE)
    }};
}

const VLLM_ALTERNATIVE: &Grammar = &Refuses::UnknownNames.narrow(&vllm::LLGUIDANCE);

/// The tables of the dialects for the templates that fail for something.
const TABLES: &[(Refuses, &Dialect)] = &[
    templated!(llama_cpp::LLAMA_CPP, llama_cpp::GRAMMAR, Refuses::UnknownNames, RUN),
    templated!(llama_cpp::LLAMA_CPP, llama_cpp::GRAMMAR, Refuses::TypeLists, RUN),
    templated!(llama_cpp::LLAMA_CPP, llama_cpp::GRAMMAR, Refuses::ItemTypeLists, RUN),
    templated!(llama_cpp::LLAMA_CPP, llama_cpp::GRAMMAR, Refuses::OpenArrays, RUN),
    templated!(llama_cpp::LLAMA_CPP, llama_cpp::GRAMMAR, Refuses::Untyped, RUN),
    templated!(llama_cpp::LLAMA_CPP, llama_cpp::GRAMMAR, Refuses::Arrays, RUN),
    templated!(llama_cpp::LLAMA_CPP, llama_cpp::GRAMMAR, Refuses::OneOf, RUN),
    templated!(
        vllm::VLLM,
        vllm::XGRAMMAR,
        Refuses::UnknownNames,
        RUN_JINJA,
        alternatives: &[VLLM_ALTERNATIVE]
    ),
    templated!(sglang::SGLANG, sglang::GRAMMAR, Refuses::UnknownNames, RUN_JINJA),
];

/// The table of a dialect for servers that run this template, which is named by its file or by a model.
///
/// # Errors
/// `invalid-option` for a name that no row has.
pub(super) fn of(
    dialect: &'static Dialect,
    template: &str,
    options: &SanitizeOptions,
) -> Result<&'static Dialect, Error> {
    let Row(_, _, refuses) = row(template).ok_or_else(|| {
        let name = options.naming.spell("template");
        let message = format!(
            "expected the file or the model of a chat template of docs/templates.md, found `{template}`{}",
            did_you_mean(template, TEMPLATES.iter().map(|Row(file, ..)| file))
        );
        Error::new(Code::InvalidOption, format!("/{name}"), message)
    })?;
    let table = TABLES.iter().find(|(one, table)| Some(*one) == *refuses && table.name == dialect.name);
    Ok(table.map_or(dialect, |(_, table)| table))
}

/// The row of a file's name, or the one whose models have the longest part of the name.
fn row(template: &str) -> Option<&'static Row> {
    let name = template.rsplit('/').next().unwrap_or_default().to_lowercase();
    let name = name.strip_suffix(".jinja").unwrap_or(&name);
    let length = |row: &&Row| row.1.iter().filter(|part| name.contains(**part)).map(|part| part.len()).max();
    TEMPLATES
        .iter()
        .find(|row| row.0.to_lowercase() == name)
        .or_else(|| TEMPLATES.iter().filter(|row| length(row).is_some()).max_by_key(length))
}

/// The templates, each with what a dialect's server refuses in addition if it runs that one; none for a dialect without
/// the option.
pub(super) fn all(dialect: &Dialect) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let (name, known) = (dialect.name, if dialect.options.contains(&"template") { TEMPLATES } else { &[] });
    known.iter().map(move |Row(file, _, refuses)| {
        let table = TABLES.iter().find(|(one, table)| Some(*one) == *refuses && table.name == name);
        (*file, table.and_then(|(_, table)| table.facts.get(1)).map(|fact| fact.statement))
    })
}
