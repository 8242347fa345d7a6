//! Clients of MCP servers: tools, and their `outputSchema`, that a client refuses before they reach a model's API.

use super::{
    grammar::{AnyOfRule, EnumRule, Grammar, Null, PatternRule, RefRule, TypeLists},
    surface::{NamePattern, QualifiedName, Surface},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const SDK: &str = "@modelcontextprotocol/sdk 1.32.2, run (`client.listTools`)";
const CLAUDE: &str =
    "live, since 2026-08-13: `Tool 'X' has an invalid outputSchema: JSON Schema declares an unsupported \
    dialect (\"$schema\": \"http://json-schema.org/draft-07/schema#\"). The default validator supports JSON Schema \
    2020-12 only` (n8n#36361, claude-code#86142, claude-code#88882)";

const ROOT: Fact = Fact {
    statement: "there is an `inputSchema`, and each root has `type: \"object\"`: otherwise the whole answer to \
        `tools/list` is refused",
    confidence: Grade::A,
    source: SDK,
    rules: &[Constraint::RootObject, Constraint::RootNotSchema],
    drops_server: true,
    ..Fact::REFUSED
};
const PROPERTIES: Fact = Fact {
    statement:
        "the root's `properties` is an object of objects, and `required` a list of strings: otherwise the whole \
        answer to `tools/list` is refused",
    confidence: Grade::A,
    source: SDK,
    rules: &[Constraint::PropertiesNotObject, Constraint::NotASchema, Constraint::RequiredNotStrings],
    drops_server: true,
    ..Fact::REFUSED
};
const TARGETS: Fact = Fact {
    statement: "every reference resolves within the schema: otherwise all tools of the server are lost",
    confidence: Grade::A,
    source: "@modelcontextprotocol/sdk 1.32.2, run: `can't resolve reference #/$defs/X from id #` \
        (MiMo-Code#1733, claude-code#76040, typescript-sdk#1175)",
    rules: &[Constraint::RefTarget, Constraint::RefNotString],
    drops_server: true,
    ..Fact::REFUSED
};
const COMPILES: Fact = Fact {
    statement: "Ajv compiles the schema: types are known, keyword values have the right type, and `enum` is not empty",
    confidence: Grade::A,
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
    confidence: Grade::A,
    source: "@modelcontextprotocol/sdk 1.32.2, run: `Invalid regular expression: /\\-/u: Invalid escape`",
    rules: &[Constraint::Pattern],
    ..Fact::REFUSED
};
const DRAFT: Fact = Fact {
    statement: "`$schema` names 2020-12, or is absent",
    confidence: Grade::A,
    source: CLAUDE,
    rules: &[Constraint::UnknownDraft],
    ..Fact::REFUSED
};

const HEADERS: Fact = Fact {
    statement:
        "`x-mcp-header` names each header once, next to the type `string`, `integer` or `boolean` of a property that \
        only `properties` lead to: otherwise clients of MCP 2026-07-28 drop the tool",
    confidence: Grade::A,
    source:
        "MCP 2026-07-28, Streamable HTTP (SEP-2243); @modelcontextprotocol/client 2.4.0, run: `x-mcp-header is only \
        permitted on primitive-typed properties`",
    rules: &[Constraint::McpHeader],
    ..Fact::REFUSED
};

const CLAUDE_NAMES: Fact = Fact {
    statement: "tool names match `^[a-zA-Z0-9_-]{1,64}$`: otherwise all tools of the server are lost",
    confidence: Grade::A,
    source: "live, nine reports: one tool with another name withholds its whole server (meho#2745)",
    rules: &[Constraint::ToolName],
    drops_server: true,
    ..Fact::REFUSED
};

const CLAUDE_CODE_NAMES: Fact = Fact {
    statement:
        "`mcp__SERVER__TOOL` has at most 64 characters: otherwise requests fail once a search has found the tool",
    confidence: Grade::B,
    source:
        "live: `messages.2.content.0.tool_result.content.0.tool_reference.tool_name: String should have at most 64 \
        characters` (claude-code#20643, claude-code#21050, cloudflare/skills#11, claude-mem#360)",
    rules: &[Constraint::QualifiedName],
    ..Fact::REFUSED
};
const CLAUDE_CODE_DESCRIPTIONS: Fact = Fact {
    statement: "the model sees the first 2,048 characters (UTF-16 code units) of a description",
    confidence: Grade::A,
    source: "https://code.claude.com/docs/en/mcp, for server authors: `Claude Code truncates tool descriptions and \
        server instructions at 2KB each` (claude-code#81268, claude-code#87650, insights-mcp#340)",
    rules: &[Constraint::DescriptionLength],
    severity: Severity::Ignored,
    hides: true,
    ..Fact::REFUSED
};
const CLAUDE_CODE_DRAFT: Fact = Fact {
    statement: "`$schema` names 2020-12, 2019-09, draft 7 or draft 6, or is absent",
    confidence: Grade::B,
    source: "Claude Code 2.1.233, run; earlier versions accepted only 2020-12 (n8n#36361, claude-code#86142)",
    ..DRAFT
};

const CURSOR_NAMES: Fact = Fact {
    statement:
        "the names of the server and the tool have at most 59 characters together: otherwise Cursor hides the tool",
    confidence: Grade::A,
    source: "live: `g: … – Combined server and tool name length (60) exceeds 60 characters` for names of 1 and 59 \
        characters (composio#2788); names of more than 52 with a server's name of 7 (posthog#51483, awslabs/mcp#1283)",
    rules: &[Constraint::QualifiedName],
    ..Fact::REFUSED
};

/// Restates a fact about Cowork: it shows the model another schema, without an error.
const fn replaced(statement: &'static str, confidence: Grade, source: &'static str) -> Fact {
    Fact { statement, confidence, source, severity: Severity::Reinterpreted, hides: true, ..Fact::REFUSED }
}

const COWORK_NULL: Fact = Fact {
    rules: &[Constraint::TypeList, Constraint::UnknownType],
    ..replaced(
        "a property with null in its list of types or in `anyOf`, and probably with any list of types, becomes `{}` \
        with its description",
        Grade::B,
        "live, with the messages of `tools/list` (claude-code#77194, claude-code#56263)",
    )
};
const COWORK_NULLABLE: Fact = Fact {
    rules: &[Constraint::BesideAnyOf],
    severity: Severity::Ignored,
    ..replaced("`nullable` has an effect next to `type` only", Grade::C, "OpenAPI 3.0.3, which defines the keyword")
};
const COWORK_REFERENCES: Fact = Fact {
    rules: &[Constraint::RefusedKeyword],
    ..replaced(
        "`$ref` and `$defs` are removed, so that a property keeps only its description",
        Grade::B,
        "live, the same server through four clients (claude-ai-mcp#591)",
    )
};

const CLIENT_TOOLS: Surface = Surface { is_client: true, reads_mcp_headers: true, ..Surface::PLAIN };

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

/// Schemas of the drafts that Claude Code's validator knows.
const OUTPUT_BY_DRAFT: Grammar = Grammar {
    drafts: Some(&[
        "json-schema.org/draft/2020-12/schema",
        "json-schema.org/draft/2019-09/schema",
        "draft-07",
        "draft-06",
    ]),
    ..OUTPUT
};

/// The part of a schema that Cowork shows the model.
const COWORK_INPUT: Grammar = Grammar {
    type_lists: TypeLists::None,
    any_of: AnyOfRule { no_null: true, beside: Keywords::all_but(&[Keyword::Nullable]), ..AnyOfRule::OPEN },
    null: Null::Nullable,
    refs: RefRule::NONE,
    refuses: Keywords::of(&[Keyword::Ref, Keyword::Defs, Keyword::Definitions]),
    ..INPUT
};

/// Restates a fact about the SDK for a client that is only assumed to use it, because its errors have the same words.
const fn likely(fact: Fact) -> Fact {
    Fact { confidence: Grade::C, ..fact }
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
    surface: "Claude Desktop, `outputSchema` of tools",
    facts: &[DRAFT, likely(ROOT), likely(PROPERTIES), likely(TARGETS), likely(COMPILES), likely(PATTERNS), WELL_FORMED],
    unverified: &["whether a refused tool is hidden or fails when it is called: both were reported"],
    method: Method::Rules(&OUTPUT_2020),
    ..CLIENT
};

const OUTPUT_OF_CLAUDE_CODE: Dialect = Dialect {
    name: "claude-code",
    surface: "Claude Code, `outputSchema` of tools",
    facts: &[
        CLAUDE_CODE_DRAFT,
        likely(ROOT),
        likely(PROPERTIES),
        likely(TARGETS),
        likely(COMPILES),
        likely(PATTERNS),
        WELL_FORMED,
    ],
    method: Method::Rules(&OUTPUT_BY_DRAFT),
    ..OUTPUT_OF_CLAUDE
};
const OUTPUT_OF_CURSOR: Dialect = Dialect {
    name: "cursor",
    surface: "Cursor, `outputSchema` of tools",
    facts: &[likely(ROOT), likely(PROPERTIES), likely(TARGETS), likely(COMPILES), likely(PATTERNS), WELL_FORMED],
    ..OUTPUT_OF_SDK
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
    facts: &[ROOT, PROPERTIES, HEADERS, WELL_FORMED],
    unverified: &["the model's own API may refuse more: this table describes only the client"],
    method: Method::Rules(&INPUT),
    tools: CLIENT_TOOLS,
};

pub(super) const CLAUDE_DESKTOP: Dialect = Dialect {
    name: "claude-desktop",
    surface: "Claude Desktop, tools of MCP servers: what reaches the model's API",
    documentation:
        "https://support.claude.com/en/articles/10949351-getting-started-with-local-mcp-servers-on-claude-desktop",
    revision: 2,
    facts: &[likely(ROOT), likely(PROPERTIES), likely(HEADERS), CLAUDE_NAMES, WELL_FORMED],
    unverified: &[
        "its errors have the wording of the SDK's client; no source is public",
        "the model's own API may refuse more: the dialect `anthropic` describes it",
    ],
    tools: Surface { names: NamePattern::OPENAI, output: Some(&OUTPUT_OF_CLAUDE), ..CLIENT_TOOLS },
    ..CLIENT
};

pub(super) const CLAUDE_CODE: Dialect = Dialect {
    name: "claude-code",
    surface: "Claude Code, tools of MCP servers: what reaches the model's API",
    documentation: "https://code.claude.com/docs/en/mcp",
    as_of: "2026-11-30",
    revision: 1,
    facts: &[
        likely(ROOT),
        likely(PROPERTIES),
        likely(HEADERS),
        CLAUDE_NAMES,
        CLAUDE_CODE_NAMES,
        CLAUDE_CODE_DESCRIPTIONS,
        WELL_FORMED,
    ],
    unverified: &[
        "a server of a plugin is called `plugin_PLUGIN_SERVER`, one of claude.ai `claude_ai_SERVER`",
        "a schema `{}` makes the model write its argument as a string (claude-code#82652)",
        "the model's own API may refuse more: the dialect `anthropic` describes it",
    ],
    tools: Surface {
        names: NamePattern::OPENAI,
        qualified: Some(QualifiedName { prefix: "mcp__", separator: "__", max_length: 64 }),
        max_description: Some(2_048),
        output: Some(&OUTPUT_OF_CLAUDE_CODE),
        ..CLIENT_TOOLS
    },
    ..CLIENT
};

pub(super) const CURSOR: Dialect = Dialect {
    name: "cursor",
    surface: "Cursor, tools of MCP servers: what reaches the model's API",
    documentation: "https://cursor.com/docs/context/mcp",
    as_of: "2026-11-30",
    revision: 1,
    facts: &[likely(ROOT), likely(PROPERTIES), likely(HEADERS), CURSOR_NAMES, WELL_FORMED],
    unverified: &[
        "whether Cursor uses the TypeScript SDK: its errors have the same wording",
        "the model's own API may refuse more: this table describes only the client",
    ],
    tools: Surface {
        qualified: Some(QualifiedName { prefix: "", separator: "", max_length: 59 }),
        output: Some(&OUTPUT_OF_CURSOR),
        ..CLIENT_TOOLS
    },
    ..CLIENT
};

pub(super) const COWORK: Dialect = Dialect {
    name: "cowork",
    surface: "Cowork in Claude Desktop, tools of local MCP servers: what reaches the model's API",
    documentation: "https://support.claude.com/en/articles/13345190-get-started-with-cowork",
    as_of: "2026-11-30",
    revision: 1,
    facts: &[
        likely(ROOT),
        likely(PROPERTIES),
        likely(HEADERS),
        CLAUDE_NAMES,
        COWORK_NULL,
        COWORK_NULLABLE,
        COWORK_REFERENCES,
        WELL_FORMED,
    ],
    unverified: &[
        "`{\"type\": \"string\", \"format\": \"int64\"}` becomes `{\"type\": \"number\"}` (claude-ai-mcp#591)",
        "lists of types without null; null in `oneOf`, in `enum` and in `const`; `nullable`, with which null is kept \
        for the model",
        "the model's own API may refuse more: the dialect `anthropic` describes it",
    ],
    method: Method::Rules(&COWORK_INPUT),
    tools: Surface { names: NamePattern::OPENAI, output: Some(&OUTPUT_OF_CLAUDE), ..CLIENT_TOOLS },
    ..CLIENT
};
