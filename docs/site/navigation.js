// The pages of the site, in groups by reader: the title in the navigation, and the file of the repository. A page has one reader and one
// purpose. Pages about the inside (design, pipeline, architecture, evidence, census, messages) stay in the repository.

export const navigation = [
  [
    'Start',
    [
      ['What toolwire is', 'README.md'],
      ['TypeScript', 'docs/typescript.md'],
      ['Python', 'docs/python.md'],
      ['Rust', 'docs/rust.md'],
      ['Without code', 'docs/without-code.md'],
    ],
  ],
  [
    'I maintain an MCP server',
    [
      ['Will it work with every model?', 'docs/servers/check.md'],
      ['What clients refuse', 'docs/mcp-clients.md'],
      ['What a release breaks', 'docs/diff.md'],
      ['Pages and badges', 'docs/report.md'],
      ['TypeScript servers and FastMCP', 'docs/servers/frameworks.md'],
    ],
  ],
  [
    'I use an agent',
    [
      ['Claude Code', 'docs/clients/claude-code.md'],
      ['Codex', 'docs/clients/codex.md'],
      ['opencode', 'docs/clients/opencode.md'],
      ['Cursor', 'docs/clients/cursor.md'],
      ['Claude Desktop', 'docs/clients/claude-desktop.md'],
      ['The relay for agents', 'docs/relay.md'],
      ['The proxy for MCP', 'docs/proxy.md'],
    ],
  ],
  [
    'I use an SDK',
    [
      ["OpenAI's SDK", 'docs/sdks/openai.md'],
      ["Anthropic's SDK", 'docs/sdks/anthropic.md'],
      ["Google's SDK", 'docs/sdks/gemini.md'],
      ['Vercel AI SDK, Mastra', 'docs/sdks/ai-sdk.md'],
      ['LangChain, LangGraph', 'docs/sdks/langchain.md'],
      ['pydantic-ai, Agents SDK', 'docs/sdks/pydantic-ai.md'],
      ['LiteLLM', 'docs/sdks/litellm.md'],
    ],
  ],
  [
    'I run a gateway',
    [
      ['Adapters and Exchange', 'docs/adapters.md'],
      ['From Anthropic to Chat', 'docs/gateways/anthropic-to-chat.md'],
      ['Deploy and watch', 'docs/deploy/README.md'],
      ['Cost and latency', 'docs/performance.md'],
    ],
  ],
  [
    'Concepts',
    [
      ['Changes and loss', 'docs/concepts/changes.md'],
      ['Restoring and repairing', 'docs/concepts/restoring.md'],
      ['Deferred tools', 'docs/deferred-loading.md'],
      ['Response formats', 'docs/response-formats.md'],
    ],
  ],
  [
    'Reference',
    [
      ['Errors and their fix', 'docs/cookbook.md'],
      ['Functions', 'docs/functions/README.md'],
      ['Schemas and lists of tools', 'docs/functions/tools.md'],
      ['Requests and replies', 'docs/functions/requests.md'],
      ['Deferred tools, search', 'docs/functions/deferred.md'],
      ['Arguments and results', 'docs/functions/arguments.md'],
      ['Commands', 'docs/command-line.md'],
      ['Rules', 'docs/rules.md'],
      ['Hosts', 'docs/backends.md'],
      ['Chat templates', 'docs/templates.md'],
      ['Dialects', 'docs/dialects/README.md'],
    ],
  ],
  [
    'Project',
    [
      ['Security', 'SECURITY.md'],
      ['Comparison', 'docs/comparison.md'],
    ],
  ],
];
