//! Clients of MCP servers: tools, and their `outputSchema`, that a client refuses before they reach a model's API.

use super::{
    grammar::{EnumRule, Grammar, PatternRule},
    surface::{NamePattern, Surface},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::rules::Constraint;

const SDK: &str = "@modelcontextprotocol/sdk 1.32.2, run (`client.listTools`)";
const CLAUDE: &str =
    "live, since 2026-08-13: `Tool 'X' has an invalid outputSchema: JSON Schema declares an unsupported \
    dialect (\"$schema\": \"http://json-schema.org/draft-07/schema#\"). The default validator supports JSON Schema \
    2020-12 only` (n8n#36361, claude-code#86142, claude-code#88882)";

const ROOT: Fact = Fact {
    statement: "there is an `inputSchema`, and each root has `type: \"object\"`: otherwise the whole answer to \
        `tools/list` is refused",
    confidence: 'A',
    source: SDK,
    rules: &[Constraint::RootObject, Constraint::RootNotSchema],
    drops_server: true,
    ..Fact::REFUSED
};
const PROPERTIES: Fact = Fact {
    statement:
        "the root's `properties` is an object of objects, and `required` a list of strings: otherwise the whole \
        answer to `tools/list` is refused",
    confidence: 'A',
    source: SDK,
    rules: &[Constraint::PropertiesNotObject, Constraint::NotASchema, Constraint::RequiredNotStrings],
    drops_server: true,
    ..Fact::REFUSED
};
const TARGETS: Fact = Fact {
    statement: "every reference resolves within the schema: otherwise all tools of the server are lost",
    confidence: 'A',
    source: "@modelcontextprotocol/sdk 1.32.2, run: `can't resolve reference #/$defs/X from id #` \
        (MiMo-Code#1733, claude-code#76040, typescript-sdk#1175)",
    rules: &[Constraint::RefTarget, Constraint::RefNotString],
    drops_server: true,
    ..Fact::REFUSED
};
const COMPILES: Fact = Fact {
    statement: "Ajv compiles the schema: types are known, keyword values have the right type, and `enum` is not empty",
    confidence: 'A',
    source: "@modelcontextprotocol/sdk 1.32.2, run: `type must be JSONType or JSONType[]: any`, `minLength value must \
        be [\"number\"]`, `enum must have non-empty array`",
    rules: &[
        Constraint::UnknownType,
        Constraint::KeywordValue,
        Constraint::EnumEmpty,
        Constraint::EnumNotList,
        Constraint::ItemsNotSchema,
        Constraint::AdditionalPropertiesNotSchema,
        Constraint::CombinatorNotList,
        Constraint::AnyOfSize,
        Constraint::DefsNotObject,
    ],
    ..Fact::REFUSED
};
const PATTERNS: Fact = Fact {
    statement: "every `pattern` compiles in JavaScript with the `u` flag",
    confidence: 'A',
    source: "@modelcontextprotocol/sdk 1.32.2, run: `Invalid regular expression: /\\-/u: Invalid escape`",
    rules: &[Constraint::Pattern],
    ..Fact::REFUSED
};
const DRAFT: Fact = Fact {
    statement: "`$schema` names 2020-12, or is absent",
    confidence: 'A',
    source: CLAUDE,
    rules: &[Constraint::UnknownDraft],
    ..Fact::REFUSED
};

const CLAUDE_NAMES: Fact = Fact {
    statement: "tool names match `^[a-zA-Z0-9_-]{1,64}$`: otherwise all tools of the server are lost",
    confidence: 'A',
    source: "live, nine reports: one tool with another name withholds its whole server (meho#2745)",
    rules: &[Constraint::ToolName],
    drops_server: true,
    ..Fact::REFUSED
};

const CLIENT_TOOLS: Surface = Surface { is_client: true, ..Surface::PLAIN };

const INPUT: Grammar = Grammar { root_booleans: false, ..Grammar::OPEN };

/// Schemas that Ajv compiles. The SDK compiles them when it lists tools.
const OUTPUT: Grammar = Grammar {
    metaschema: true,
    enums: EnumRule { empty: false, ..EnumRule::OPEN },
    patterns: PatternRule::Unicode,
    ..INPUT
};
const OUTPUT_2020: Grammar =
    Grammar { drafts: Some(&["json-schema.org/draft/2020-12/schema"]), array_items: false, ..OUTPUT };

/// Restates a fact about the SDK for a client that is only assumed to use it, because its errors have the same words.
const fn likely(fact: Fact) -> Fact {
    Fact { confidence: 'C', ..fact }
}

const OUTPUT_OF_SDK: Dialect = Dialect {
    name: "mcp-typescript",
    surface: "MCP clients with the TypeScript SDK, `outputSchema` of tools",
    facts: &[ROOT, PROPERTIES, TARGETS, COMPILES, PATTERNS, WELL_FORMED],
    unverified: &[
        "`outputSchema` of 2026-07-28, whose root may be any schema: older SDKs refuse the list",
        "negative lengths, a `multipleOf` of 0, empty unions: Ajv compiles them, and this table refuses them",
        "patterns: backreferences to missing groups, and unknown Unicode names in `\\p{…}`, are not found",
    ],
    method: Method::Rules(&OUTPUT),
    ..CLIENT
};
const OUTPUT_OF_CLAUDE: Dialect = Dialect {
    name: "claude-desktop",
    surface: "Claude Desktop and Claude Code, `outputSchema` of tools",
    facts: &[DRAFT, likely(ROOT), likely(PROPERTIES), likely(TARGETS), likely(COMPILES), likely(PATTERNS), WELL_FORMED],
    unverified: &["whether a refused tool is hidden or fails when it is called: both were reported"],
    method: Method::Rules(&OUTPUT_2020),
    ..CLIENT
};

pub(super) const MCP_TYPESCRIPT: Dialect =
    Dialect { tools: Surface { output: Some(&OUTPUT_OF_SDK), ..CLIENT_TOOLS }, ..CLIENT };

/// A client of the SDK, without the rules for `outputSchema`.
const CLIENT: Dialect = Dialect {
    name: "mcp-typescript",
    surface: "MCP clients with the TypeScript SDK: the tools that `client.listTools()` returns",
    documentation: "https://github.com/modelcontextprotocol/typescript-sdk",
    as_of: "2026-11-26",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[ROOT, PROPERTIES, WELL_FORMED],
    unverified: &["the model's own API may refuse more: this table describes only the client"],
    reasons: &[],
    method: Method::Rules(&INPUT),
    tools: CLIENT_TOOLS,
};

pub(super) const CLAUDE_DESKTOP: Dialect = Dialect {
    name: "claude-desktop",
    surface: "Claude Desktop and Claude Code, tools of MCP servers: what reaches the model's API",
    documentation:
        "https://support.claude.com/en/articles/10949351-getting-started-with-local-mcp-servers-on-claude-desktop",
    revision: 2,
    facts: &[likely(ROOT), likely(PROPERTIES), CLAUDE_NAMES, WELL_FORMED],
    unverified: &[
        "Claude Code sends `mcp__SERVER__TOOL`, of at most 64 characters: this table does not know the server's name",
        "its errors have the wording of the SDK's client; no source is public",
        "the model's own API may refuse more: the dialect `anthropic` describes it",
    ],
    tools: Surface { names: NamePattern::OPENAI, output: Some(&OUTPUT_OF_CLAUDE), ..CLIENT_TOOLS },
    ..CLIENT
};
