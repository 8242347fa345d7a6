//! Chat templates: a server writes the tools into the prompt with the template of the model. A template that walks
//! schemas fails on unknown forms, and then the whole request fails, even if the server accepts the schema.
//!
//! The table lists the templates in llama.cpp's sources. `python/tests/test_judge_templates.py` runs all of them with
//! llama.cpp's engine and with Jinja2, which vLLM and SGLang use, and compares both with `check`.

use alloc::format;

use super::{
    grammar::{ArrayRule, Grammar, Inlining, RefRule, TypeLists, TypeRequirement, Walk},
    llama_cpp, sglang, vllm, Dialect, Fact, Method,
};
use crate::{
    error::{Code, Error},
    naming::did_you_mean,
    options::SanitizeOptions,
    report::Grade,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

/// The forms of schemas on which a template fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refuses {
    /// Lists of types, and `null`: the template's table of types contains neither.
    UnknownNames,
    /// Lists of types.
    TypeLists,
    /// Lists of types in `items`.
    ItemTypeLists,
    /// Arrays without `items`.
    OpenArrays,
    /// Properties whose `type` is not a string.
    Untyped,
    /// Arrays, and the forms of [`Refuses::UnknownNames`].
    Arrays,
    /// `oneOf`.
    OneOf,
}

/// A template: the name of its file without `.jinja`, the models that use it, and what it fails on. The models are the
/// models in the file's name, and the other sizes of GPT-OSS and of Qwen3, which use the same template.
struct Row(&'static str, &'static [&'static str], Option<Refuses>);

#[rustfmt::skip]
const TEMPLATES: &[Row] = &[
    Row("Apertus-8B-Instruct", &["swiss-ai/Apertus-8B-Instruct-2509"], Some(Refuses::OpenArrays)),
    Row("Apriel-1.6-15b-Thinker-fixed", &[], None),
    Row("Bielik-11B-v3.0-Instruct", &["speakleash/Bielik-11B-v3.0-Instruct"], None),
    Row("ByteDance-Seed-OSS", &["ByteDance-Seed/Seed-OSS-36B-Instruct"], Some(Refuses::Untyped)),
    Row("Cohere2MoE", &[], None),
    Row("CohereForAI-c4ai-command-r-plus-tool_use", &["CohereForAI/c4ai-command-r-plus"], Some(Refuses::Arrays)),
    Row("CohereForAI-c4ai-command-r7b-12-2024-tool_use", &["CohereForAI/c4ai-command-r7b-12-2024"], None),
    Row("deepseek-ai-DeepSeek-R1-Distill-Llama-8B", &["deepseek-ai/DeepSeek-R1-Distill-Llama-8B"], None),
    Row("deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", &["deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"], None),
    Row("deepseek-ai-DeepSeek-V3.1", &["deepseek-ai/DeepSeek-V3.1"], None),
    Row("deepseek-ai-DeepSeek-V3.2", &["deepseek-ai/DeepSeek-V3.2"], None),
    Row("deepseek-ai-DeepSeek-V4", &["deepseek-ai/DeepSeek-V4"], None),
    Row("deepseek-ai-DeepSeek-V4-Flash-0731", &["deepseek-ai/DeepSeek-V4-Flash-0731"], None),
    Row("fireworks-ai-llama-3-firefunction-v2", &["fireworks-ai/llama-3-firefunction-v2"], None),
    Row("GigaChat3-10B-A1.8B", &["ai-sage/GigaChat3-10B-A1.8B"], Some(Refuses::TypeLists)),
    Row("GigaChat3.1-10B-A1.8B", &["ai-sage/GigaChat3.1-10B-A1.8B"], Some(Refuses::TypeLists)),
    Row("GLM-4.6", &["zai-org/GLM-4.6"], None),
    Row("GLM-4.7-Flash", &["zai-org/GLM-4.7-Flash"], None),
    Row("google-gemma-2-2b-it", &["google/gemma-2-2b-it"], None),
    Row("google-gemma-4-31B-it", &["google/gemma-4-31B-it"], Some(Refuses::ItemTypeLists)),
    Row("google-gemma-4-31B-it-interleaved", &[], Some(Refuses::ItemTypeLists)),
    Row("HuggingFaceTB-SmolLM3-3B", &["HuggingFaceTB/SmolLM3-3B"], None),
    Row("ibm-granite-granite-3.3-2B-Instruct", &["ibm-granite/granite-3.3-2b-instruct"], None),
    Row("ibm-granite-granite-4.0", &[], None),
    Row("ibm-granite-granite-4.1", &[], None),
    Row("inclusionai-ling-3.0-flash", &["inclusionai/ling-3.0-flash"], None),
    Row("Kimi-K2-Instruct", &["moonshotai/Kimi-K2-Instruct"], None),
    Row("Kimi-K2-Thinking", &["moonshotai/Kimi-K2-Thinking"], None),
    Row("Kimi-K3", &["moonshotai/Kimi-K3"], None),
    Row("LFM2-8B-A1B", &["LiquidAI/LFM2-8B-A1B"], None),
    Row("LFM2.5-8B-A1B", &["LiquidAI/LFM2.5-8B-A1B"], None),
    Row("LFM2.5-Instruct", &[], None),
    Row("llama-cpp-deepseek-r1", &[], None),
    Row("llama-cpp-rwkv-world", &[], None),
    Row("llm-jp-llm-jp-4.1-8b-thinking", &["llm-jp/llm-jp-4.1-8b-thinking"], Some(Refuses::OpenArrays)),
    Row("meetkai-functionary-medium-v3.1", &["meetkai/functionary-medium-v3.1"], None),
    Row("meetkai-functionary-medium-v3.2", &["meetkai/functionary-medium-v3.2"], Some(Refuses::OneOf)),
    Row("meta-llama-Llama-3.1-8B-Instruct", &["meta-llama/Llama-3.1-8B-Instruct"], None),
    Row("meta-llama-Llama-3.2-3B-Instruct", &["meta-llama/Llama-3.2-3B-Instruct"], None),
    Row("meta-llama-Llama-3.3-70B-Instruct", &["meta-llama/Llama-3.3-70B-Instruct"], None),
    Row("microsoft-Phi-3.5-mini-instruct", &["microsoft/Phi-3.5-mini-instruct"], None),
    Row("MiMo-VL", &[], None),
    Row("MiniMax-M1", &[], None),
    Row("MiniMax-M2", &["MiniMaxAI/MiniMax-M2"], None),
    Row("MiniMax-M3", &["MiniMaxAI/MiniMax-M3"], None),
    Row("Mistral-Small-3.2-24B-Instruct-2506", &["mistralai/Mistral-Small-3.2-24B-Instruct-2506"], None),
    Row("mistralai-Ministral-3-14B-Reasoning-2512", &["mistralai/Ministral-3-14B-Reasoning-2512"], None),
    Row("mistralai-Mistral-Nemo-Instruct-2407", &["mistralai/Mistral-Nemo-Instruct-2407"], None),
    Row("moonshotai-Kimi-K2", &[], None),
    Row("muse-glimmer", &[], None),
    Row(
        "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
        &["NousResearch/Hermes-2-Pro-Llama-3-8B"],
        Some(Refuses::UnknownNames),
    ),
    Row(
        "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
        &["NousResearch/Hermes-3-Llama-3.1-8B"],
        Some(Refuses::UnknownNames),
    ),
    Row("NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", &["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"], None),
    Row("NVIDIA-Nemotron-Nano-v2", &[], None),
    Row("openai-gpt-oss-120b", &["openai/gpt-oss-120b", "openai/gpt-oss-20b"], Some(Refuses::OpenArrays)),
    Row("openbmb-MiniCPM5-1B", &["openbmb/MiniCPM5-1B"], None),
    Row("poolside-Laguna-S-2.1", &["poolside/Laguna-S-2.1"], None),
    Row("poolside-Laguna-XS-2.1", &["poolside/Laguna-XS-2.1"], None),
    Row("poolside-Laguna-XS.2", &["poolside/Laguna-XS.2"], None),
    Row("Qwen-Qwen2.5-7B-Instruct", &["Qwen/Qwen2.5-7B-Instruct"], None),
    Row(
        "Qwen-Qwen3-0.6B",
        &[
            "Qwen/Qwen3-0.6B", "Qwen/Qwen3-1.7B", "Qwen/Qwen3-4B",
            "Qwen/Qwen3-8B", "Qwen/Qwen3-14B", "Qwen/Qwen3-32B",
        ],
        None,
    ),
    Row("Qwen-QwQ-32B", &["Qwen/QwQ-32B"], None),
    Row("Qwen3-Coder", &[], None),
    Row("Qwen3.5-4B", &["Qwen/Qwen3.5-4B"], None),
    Row("Reka-Edge", &[], None),
    Row("Spark2.5", &[], None),
    Row("StepFun3.5-Flash", &[], None),
    Row("tencent-Hy3", &["tencent/Hy3"], None),
    Row("unsloth-Apriel-1.5", &[], None),
    Row("unsloth-mistral-Devstral-Small-2507", &[], None),
    Row("upstage-Solar-Open-100B", &["upstage/Solar-Open-100B"], None),
];

const RUN: &str =
    "run: the template in llama.cpp b11434 with llama.cpp's engine (python/tests/test_judge_templates.py)";
const RUN_JINJA: &str = "run: the template in llama.cpp b11434 with Jinja2, set up as transformers does \
    (python/tests/test_judge_templates.py)";

/// Templates read properties, and the given keywords below them.
const fn walk(nested: &[Keyword]) -> Walk {
    Walk { first: Keywords::of(&[Keyword::Properties]), nested: Keywords::of(nested), ..Walk::EVERYWHERE }
}

impl Refuses {
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
            // A property that is a reference has no type.
            Refuses::Untyped => Grammar {
                typed: TypeRequirement::Type,
                walked: walk(&[]),
                refs: RefRule { inlining: Inlining::All, ..grammar.refs },
                ..one_type
            },
            Refuses::Arrays => {
                Grammar { types: &["string", "number", "integer", "boolean", "object"], walked: maps, ..one_type }
            }
            Refuses::OneOf => *grammar,
        }
    }

    const fn fact(self, source: &'static str) -> Fact {
        let (statement, rules, keywords): (_, &[Constraint], _) = match self {
            Refuses::UnknownNames => (
                "the template fails for a list of types or `null` in the `type` of a property or of \
                    `additionalProperties`",
                &[Constraint::TypeList, Constraint::UnknownType],
                Keywords::NONE,
            ),
            Refuses::TypeLists => ("the template fails for a list of types", &[Constraint::TypeList], Keywords::NONE),
            Refuses::ItemTypeLists => {
                ("the template fails for a list of types in `items`", &[Constraint::TypeList], Keywords::NONE)
            }
            Refuses::OpenArrays => {
                ("the template needs `items` in every array", &[Constraint::ArrayWithoutItems], Keywords::NONE)
            }
            Refuses::Untyped => (
                "the template needs a single `type` in every root property",
                &[Constraint::TypeList, Constraint::Untyped],
                Keywords::NONE,
            ),
            Refuses::Arrays => (
                "the template fails for arrays, `null` and lists of types in a property or in `additionalProperties`",
                &[Constraint::TypeList, Constraint::UnknownType],
                Keywords::NONE,
            ),
            Refuses::OneOf => {
                ("the template fails for `oneOf`", &[Constraint::RefusedKeyword], Keywords::of(&[Keyword::OneOf]))
            }
        };
        Fact { statement, confidence: Grade::A, source, rules, keywords, ..Fact::REFUSED }
    }
}

/// The first fact is the reason for rules that no fact names, so the fact is inserted after it.
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

/// Creates a dialect's table for servers that run such a template.
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

/// `template` is a file name or a model.
pub(super) fn of(
    dialect: &'static Dialect,
    template: &str,
    options: &SanitizeOptions,
) -> Result<&'static Dialect, Error> {
    let Row(_, _, refuses) = find_template(template).ok_or_else(|| {
        let name = options.naming.spell("template");
        let message = format!(
            "expected a file or a model that docs/templates.md lists, found `{template}`{}",
            did_you_mean(template, TEMPLATES.iter().map(|Row(file, ..)| file))
        );
        Error::new(Code::InvalidOption, format!("/{name}"), message)
    })?;
    let table = TABLES.iter().find(|(one, table)| Some(*one) == *refuses && table.name == dialect.name);
    Ok(table.map_or(dialect, |(_, table)| table))
}

/// Accepts a file (with or without `.jinja`) or a model (with or without its owner). Names must match exactly: a
/// derived model or template may refuse other forms.
fn find_template(template: &str) -> Option<&'static Row> {
    let file = template.strip_suffix(".jinja").map_or(template, |path| path.rsplit('/').next().unwrap_or_default());
    let is_model = |model: &&str| {
        let name = model.rsplit('/').next().unwrap_or_default();
        model.eq_ignore_ascii_case(template) || name.eq_ignore_ascii_case(template)
    };
    TEMPLATES
        .iter()
        .find(|find_template| find_template.0.eq_ignore_ascii_case(file))
        .or_else(|| TEMPLATES.iter().find(|find_template| find_template.1.iter().any(&is_model)))
}

/// Returns the templates, each with what a dialect's server refuses in addition if it runs that template. Empty for a
/// dialect without the option `template`.
pub(super) fn all(dialect: &Dialect) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let (name, known) = (dialect.name, if dialect.options.contains(&"template") { TEMPLATES } else { &[] });
    known.iter().map(move |Row(file, _, refuses)| {
        let table = TABLES.iter().find(|(one, table)| Some(*one) == *refuses && table.name == name);
        (*file, table.and_then(|(_, table)| table.facts.get(1)).map(|fact| fact.statement))
    })
}
