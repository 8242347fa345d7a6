// A conversation of two turns with every real tool deferred, as an agent that supports deferred loading would send it.

/** Tools in the format of Anthropic's API: all deferred, except the search tool. */
function toolsOf(servers) {
  const search = {
    name: 'ToolSearch',
    description: 'Finds tools by what they do. Their schemas arrive with the result.',
    input_schema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  };
  const deferred = servers.flatMap(({ name: server, tools }) =>
    tools.map(({ name, description, inputSchema }) => ({
      name: `mcp__${server}__${name}`,
      ...(description === undefined ? {} : { description }),
      input_schema: inputSchema,
      defer_loading: true,
    })),
  );
  return [search, ...deferred];
}

/** Returns `[{ what, request }]`, one for each turn. In the first turn the model searches, in the second it has found the tool. */
export function turns(servers, found) {
  const tools = toolsOf(servers);
  if (!tools.some((tool) => tool.name === found)) {
    throw new Error(`expected a tool named \`${found}\` among those that the servers list, found none`);
  }
  const question = { role: 'user', content: 'Which of our pages mention the launch?' };
  const call = { type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: { query: 'search pages' } };
  const result = {
    type: 'tool_result',
    tool_use_id: 'toolu_1',
    content: [{ type: 'tool_reference', tool_name: found }],
  };
  const request = (messages) => ({ model: 'some-model', max_tokens: 1024, tools, messages });
  return [
    { what: 'user asks', request: request([question]) },
    {
      what: 'search found one',
      request: request([question, { role: 'assistant', content: [call] }, { role: 'user', content: [result] }]),
    },
  ];
}
