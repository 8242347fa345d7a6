//! The page of chat templates: what each one refuses in addition to its server.

use std::fmt::Write as _;

use toolwire::dialects;

use super::markdown::cell;

const HEAD: &str =
    "<!-- Generated: `cargo xtask pages`. Edit core/src/dialect/templates.rs, not this page. -->

# Chat templates

A server of open models writes the tools into the prompt with the chat template of the model. Some templates walk the
schemas and fail for shapes that they do not support: the request fails with 400 or 500, though the server itself accepts
the schema. With the option `template`, `check` finds these shapes and `sanitize` replaces them with equivalents, if
there are any.

```ts
sanitize(schema, { dialect: 'llama-cpp', template: 'NousResearch/Hermes-3-Llama-3.1-8B' });
```

The value is the name of a template file or the full name of its model, with or without the owner; any other name is
`invalid-option`, because a fine-tune may have another template. The rows
are the templates that llama.cpp b11434 ships. `python/tests/test_judge_templates.py` runs all of them in both engines,
llama.cpp's own and Jinja2 (as vLLM and SGLang run it), and compares the answers with `check`. Two cases are not in the
table: with Jinja2, Command R+ needs a `description` in every property and `additionalProperties` in every object, and
some templates need a `description` of the tool. Ollama has templates of its own, which were not run.

";

pub(super) fn page() -> String {
    let servers: Vec<_> = dialects().iter().filter(|dialect| dialect.templates().next().is_some()).collect();
    let mut page = HEAD.to_owned();
    let names: Vec<String> = servers.iter().map(|dialect| format!("`{}`", dialect.name)).collect();
    let _ = writeln!(page, "| template | {} |\n|---{}|", names.join(" | "), "|---".repeat(names.len()));
    let Some(first) = servers.first() else { return page };
    let mut others = Vec::new();
    for (file, _) in first.templates() {
        let refuses: Vec<&str> = servers
            .iter()
            .map(|dialect| dialect.templates().find(|(name, _)| *name == file).and_then(|(_, refuses)| refuses))
            .map(Option::unwrap_or_default)
            .collect();
        if refuses.iter().all(|refuses| refuses.is_empty()) {
            others.push(format!("`{file}`"));
            continue;
        }
        let cells: Vec<String> = refuses.iter().map(|refuses| cell(refuses)).collect();
        let _ = writeln!(page, "| `{file}` | {} |", cells.join(" | "));
    }
    let _ = writeln!(
        page,
        "\nThese {} templates accept every schema that the servers accept: {}.",
        others.len(),
        others.join(", ")
    );
    page
}
