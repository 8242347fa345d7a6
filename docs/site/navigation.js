// The pages of the site, in groups by reader: the title in the navigation, and the file of the repository. A page has one reader and one
// purpose. Pages about the inside (design, pipeline, architecture, evidence, census, messages) stay in the repository.

export const navigation = [
  [
    'Start',
    [
      ['What toolwire is', 'README.md'],
      ['The packages', 'docs/packages.md'],
      ['Workers and bundlers', 'docs/bundlers.md'],
    ],
  ],
  ['I maintain an MCP server', [['What clients refuse', 'docs/mcp-clients.md']]],
  [
    'I use an agent',
    [
      ['Which lines to paste', 'docs/clients/README.md'],
      ['Claude Code', 'docs/clients/claude-code.md'],
      ['Codex', 'docs/clients/codex.md'],
      ['opencode', 'docs/clients/opencode.md'],
      ['Cursor', 'docs/clients/cursor.md'],
      ['Claude Desktop', 'docs/clients/claude-desktop.md'],
      ['The relay for agents', 'docs/relay.md'],
      ['toolwire run', 'docs/run.md'],
      ['The proxy for MCP', 'docs/proxy.md'],
    ],
  ],
  [
    'I use an SDK',
    [
      ['Examples for SDKs', 'docs/examples.md'],
      ['Adapters', 'docs/adapters.md'],
    ],
  ],
  [
    'I run a gateway',
    [
      ['Deploy and watch', 'docs/deploy/README.md'],
      ['Cost and latency', 'docs/performance.md'],
    ],
  ],
  [
    'Concepts',
    [
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
