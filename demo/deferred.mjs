// Prints the savings of deferred loading for the demo's real tools, and the part of each request that a provider's prompt cache can reuse
// from the previous one: the tables of docs/deferred-loading.md.
import { answerToolSearch, applyDeferredLoading } from 'toolwire';

import { listTools } from './servers.mjs';

const catalogue = (await listTools()).flatMap(({ tools }) =>
  tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
    defer_loading: true,
  })),
);
const read = {
  name: 'read_file',
  description: 'Reads a file',
  input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};
const hosted = [{ type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }, read, ...catalogue];
/** The client's own search, for backends with native constructs. */
const ownSearch = {
  name: 'ToolSearch',
  description: 'Finds tools by what they do.',
  input_schema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};
const system = 'You help with pages, notes and files. '.repeat(80);

/** A conversation of eight requests, in which the model searches three times. */
const WANTED = { 1: 'navigate to a page in the browser', 3: 'search pages by title', 5: 'add two numbers' };
const TURNS = 8;

/** Providers hash a prompt in this order, regardless of the order of the request's members: tools, system prompt, messages. */
function prompt({ tools, system, instructions, messages, input }) {
  // A deferred tool is not part of the prompt until it is referenced.
  const listed = (tools ?? []).filter((tool) => tool.defer_loading !== true);
  return JSON.stringify([listed, system ?? instructions ?? '', messages ?? input]);
}

function commonPrefix(first, second) {
  let length = 0;
  while (length < first.length && first[length] === second[length]) length++;
  return length;
}

function play(options, search = 'tool_search', tools = hosted) {
  const messages = [];
  const row = { tools: 0, sent: 0, kept: 0, possible: 0, saved: 0, loaded: [], unreachable: false };
  let before;
  for (let turn = 0; turn < TURNS; turn++) {
    messages.push({ role: 'user', content: `Step ${turn}: go on with the task, please. `.repeat(5) });
    const request = { model: 'm', system, messages, tools };
    const { request: body, report } = applyDeferredLoading(request, options);
    const text = prompt(body);
    if (before !== undefined) {
      row.kept += commonPrefix(before, text);
      row.possible += before.length;
    }
    row.tools += JSON.stringify(body.tools.filter((tool) => tool.defer_loading !== true)).length;
    row.sent += text.length;
    row.saved += report.savedBytes;
    row.loaded = report.loaded;
    row.unreachable ||= report.unreachable;
    before = text;
    const query = WANTED[turn];
    if (query === undefined) {
      messages.push({ role: 'assistant', content: [{ type: 'text', text: `Did step ${turn}. `.repeat(5) }] });
    } else {
      const call = { type: 'tool_use', id: `c${turn}`, name: search, input: { query } };
      messages.push({ role: 'assistant', content: [call] });
      messages.push({ role: 'user', content: [answerToolSearch(call, tools, { limit: 1, toolSearchName: search })] });
    }
  }
  return row;
}

const emulate = { serverToolSearch: 'emulate' };
const all = JSON.stringify(catalogue).length;
console.log(`${catalogue.length} tools of three MCP servers, ${all} bytes; ${TURNS} requests, three searches\n`);
console.log(`| options | tools sent, bytes | whole prompts, bytes | same prefix as the previous request |`);
console.log(`|---|---|---|---|`);
for (const [label, options] of Object.entries({
  '`mode: "load-all"`': { ...emulate, mode: 'load-all' },
  'defaults and `serverToolSearch: "emulate"`': emulate,
  'the same, `order: "append"`': { ...emulate, order: 'append' },
  'the same, `announce: "names"`': { ...emulate, order: 'append', announce: 'names' },
})) {
  const { tools, sent, kept, possible, saved, unreachable } = play(options);
  if (unreachable) throw new Error(`${label}: the model cannot reach its tools`);
  // `load-all` hides no tool, so the report must not count any bytes as saved.
  if (options.mode === 'load-all' && saved !== 0)
    throw new Error(`expected no saved bytes with load-all, found ${saved}`);
  console.log(`| ${label} | ${tools} | ${sent} | ${kept} of ${possible} (${Math.round((100 * kept) / possible)} %) |`);
}

console.log('\nThe same conversation on other backends, with the search tool of the client:\n');
console.log('| backend | whole prompts, bytes | same prefix as the previous request |');
console.log('|---|---|---|');
const own = [ownSearch, read, ...catalogue];
for (const [label, options] of Object.entries({
  'Claude API (`references`, `changes` or `inline`)': { native: 'references' },
  'OpenAI, `tool-search`': { target: 'openai-responses', native: 'tool-search' },
  'OpenAI, `additional-tools`': { target: 'openai-responses', native: 'additional-tools' },
  'Kimi K3, `kimi`': { target: 'openai-chat', native: 'kimi' },
  'Chat Completions, emulated': { target: 'openai-chat' },
  'the same, `order: "append"`': { target: 'openai-chat', order: 'append' },
})) {
  const { sent, kept, possible } = play(options, ownSearch.name, own);
  console.log(`| ${label} | ${sent} | ${kept} of ${possible} (${Math.round((100 * kept) / possible)} %) |`);
}

const { loaded } = play(emulate);
const compacted = {
  model: 'm',
  system,
  messages: [{ role: 'user', content: 'Summary: two steps are left.' }],
  tools: hosted,
};
console.log(`\nloaded by the end: ${loaded.join(', ')}\n`);
console.log('| after compaction | tools that the model sees |');
console.log('|---|---|');
for (const [label, options] of Object.entries({
  'nothing passed on': emulate,
  '`loadedTools`': { ...emulate, loadedTools: loaded },
})) {
  const { request } = applyDeferredLoading(compacted, options);
  console.log(`| ${label} | ${request.tools.map(({ name }) => `\`${name}\``).join(', ')} |`);
}
