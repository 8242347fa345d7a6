// An MCP server whose tools every client can pass to its model's API: schemas in the dialect `portable`, repaired arguments, checked
// results.

import { McpServer } from '@modelcontextprotocol/server';
import { type ServerOptions, toolwireServer } from 'toolwire/mcp';
import { z } from 'zod';

/** The first and the last line. */
const Range = z.tuple([z.int(), z.int()]);

export function files(
  read: (path: string, lines: z.infer<typeof Range>) => string,
  options: Partial<ServerOptions> = {},
) {
  const server = new McpServer({ name: 'files', version: '1.0.0' });
  toolwireServer(server, { dialect: 'portable', repair: true, results: 'refuse', ...options });
  server.registerTool(
    'files.read',
    {
      description: 'Reads lines of a file',
      inputSchema: z.object({ path: z.string(), lines: Range }),
      outputSchema: z.object({ text: z.string() }),
    },
    async ({ path, lines }) => {
      const structuredContent = { text: read(path, lines) };
      return { structuredContent, content: [{ type: 'text', text: structuredContent.text }] };
    },
  );
  return server;
}
