// The tools of an MCP server with 12 kinds of faults, which users have reported. Each tool returns its mark.

const LONG_NAME = `search_${'every_document_of_the_archive_'.repeat(3)}`.slice(0, 80);
const object = (properties, more = {}) => ({ type: 'object', properties, required: Object.keys(properties), ...more });
const city = object({ city: { type: 'string' } });
const isCity = ({ city }) => typeof city === 'string';
const text = (said, more = {}) => ({ content: [{ type: 'text', text: said }], ...more });
const count = object({ count: { type: 'integer' } });

/**
 * Each fault: its name, where it was reported, the tools (the first one has the fault, or all have it), if the server accepts arguments,
 * and its result. `mark` is the text of the result that the model must receive.
 */
export const FAULTS = [
  {
    fault: 'bad name',
    source: 'meho#2745',
    tools: [{ name: 'files.read/v1', inputSchema: city }],
    accepts: isCity,
  },
  {
    fault: 'long name',
    source: 'cloudflare/skills#11, claude-code#19882',
    tools: [{ name: LONG_NAME, inputSchema: city }],
    accepts: isCity,
  },
  {
    fault: 'duplicate names',
    source: 'docs/mcp-clients.md',
    tools: [
      { name: 'twin', inputSchema: city },
      { name: 'twin', inputSchema: city },
    ],
    accepts: isCity,
  },
  {
    fault: 'references',
    source: 'claude-code#77194, fastmcp#2808',
    tools: [
      {
        name: 'refs',
        inputSchema: object(
          { from: { $ref: '#/definitions/place' }, to: { $ref: '#/$defs/place' } },
          { definitions: { place: city }, $defs: { place: city } },
        ),
      },
    ],
    accepts: ({ from, to }) => isCity(from ?? {}) && isCity(to ?? {}),
  },
  {
    fault: 'lists of types',
    source: 'claude-code#77194',
    tools: [
      {
        name: 'types',
        inputSchema: object({
          unit: { type: ['string', 'null'], enum: ['c', 'f', null] },
          days: { type: ['integer', 'string'] },
          tags: { type: ['array', 'null'] },
        }),
      },
    ],
    accepts: ({ unit, days }) => ['c', 'f', null].includes(unit) && /^\d+$/.test(`${days}`),
  },
  {
    fault: 'x-mcp-header',
    source: 'SDK client 2.4.0, SEP-2243',
    tools: [{ name: 'header', inputSchema: object({ days: { type: 'number', 'x-mcp-header': 'X Y' } }) }],
    accepts: ({ days }) => typeof days === 'number',
  },
  {
    fault: 'draft 4',
    source: 'SylphxAI/pdf-reader-mcp#63',
    tools: [
      {
        name: 'draft4',
        inputSchema: object(
          { days: { type: 'integer', minimum: 0, exclusiveMinimum: true } },
          { $schema: 'http://json-schema.org/draft-04/schema#', id: 'draft4' },
        ),
      },
    ],
    accepts: ({ days }) => Number.isInteger(days) && days > 0,
  },
  {
    fault: 'no type',
    source: 'basic-memory#444',
    tools: [{ name: 'untyped', inputSchema: { properties: { city: { type: 'string' } }, required: ['city'] } }],
    accepts: isCity,
  },
  {
    fault: 'root is no object',
    source: 'p4mcp#7',
    tools: [{ name: 'root', inputSchema: { anyOf: [city, object({ zip: { type: 'string' } })] } }],
    accepts: (args) => isCity(args) || typeof args.zip === 'string',
  },
  {
    fault: 'results that do not match',
    source: 'dbt-mcp#178 and six more',
    tools: [
      { name: 'mismatch', inputSchema: city, outputSchema: count },
      { name: 'missing', inputSchema: city, outputSchema: count },
      { name: 'failing', inputSchema: city, outputSchema: count },
    ],
    accepts: isCity,
    results: {
      mismatch: (mark) => text(mark, { structuredContent: { count: mark } }),
      missing: (mark) => text(mark),
      failing: (mark) => text(mark, { isError: true, structuredContent: { code: 7 } }),
    },
  },
  {
    fault: 'long result',
    source: 'serena#516, unifi-mcp#144, dbt-mcp#178',
    tools: [{ name: 'long', inputSchema: city }],
    accepts: isCity,
    results: { long: (mark) => text(`${mark}\n${'A line of the result.\n'.repeat(20_000)}`) },
  },
  {
    fault: 'long description',
    source: 'claude-code#41593, #81268, #87650',
    tools: [{ name: 'described', description: 'What it does. '.repeat(1500), inputSchema: city }],
    accepts: isCity,
  },
  // Not a fault: a tool next to the others.
  { fault: 'none', source: '', tools: [{ name: 'healthy', inputSchema: city }], accepts: isCity },
];

/** Returns true for a tool that its server cannot call, because another tool has its name. */
export const isUnreachable = ({ mark }) => mark === 'mark-twin-1';

/** Every tool, with its mark, which identifies the tool in requests and results. The description begins with the mark. */
export const TOOLS = FAULTS.flatMap(({ fault, tools, accepts, results = {} }) =>
  tools.map((tool, index) => {
    const mark = `mark-${tool.name.slice(0, 12).replace(/\W/g, '-')}-${index}`;
    return {
      fault,
      mark,
      accepts,
      result: () => (results[tool.name] ?? text)(mark),
      definition: { ...tool, description: `[${mark}] ${tool.description ?? 'A tool.'}` },
    };
  }),
);

/** Returns a value that a model might write for a schema. */
export function sample(schema, root = schema, depth = 0) {
  if (typeof schema !== 'object' || schema === null || depth > 8) return 'x';
  if (schema.$ref !== undefined) {
    const target = schema.$ref.split('/').slice(1);
    const found = target.reduce((node, key) => node?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], root);
    return sample(found, root, depth + 1);
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) {
    const branch = sample(branches.find(({ type }) => type !== 'null') ?? branches[0], root, depth + 1);
    if (schema.properties === undefined) return branch;
    const { anyOf, oneOf, ...rest } = schema;
    return { ...sample(rest, root, depth + 1), ...branch };
  }
  const [type = schema.properties ? 'object' : 'string'] = [schema.type ?? []].flat();
  if (type === 'object') {
    const wanted = Object.entries(schema.properties ?? {});
    return Object.fromEntries(wanted.map(([name, one]) => [name, sample(one, root, depth + 1)]));
  }
  if (type === 'array') return schema.items ? [sample(schema.items, root, depth + 1)] : [];
  if (type === 'null') return null;
  return { integer: 3, number: 3, boolean: true }[type] ?? 'Rome';
}
