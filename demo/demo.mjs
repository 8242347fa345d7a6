// `make demo`: shows if a real MCP server works with every model, and a restored call; then runs all functions on the
// tools of three servers, in three languages, and shows the changes.
// `--all` shows a line per tool as well.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { structuredPatch } from 'diff';
import { sanitizeTools } from 'toolwire';
import { PROGRAM } from '../tests/program.js';
import { turns } from './conversation.mjs';
import { answers, disagreements } from './languages.mjs';
import { commandOf, listTools } from './servers.mjs';
import { bold, count, dim, green, heading, percent, red, table } from './terminal.mjs';

const FOUND = 'mcp__notion__API-post-search';
const ASKED = 'notion';
const STRICT = { tool: 'API-post-search', argument: 'query', value: 'roadmap' };
const SHOWN = { tool: 'browser_drop', rewrite: 'codex-wire' };
const REWRITES = [
  { title: 'codex', function: 'sanitize', options: { dialect: 'codex' } },
  { title: 'codex-wire', function: 'sanitize', options: { dialect: 'codex-wire' } },
  { title: 'envelope', function: 'normalizeEnvelope', options: {} },
];
const TARGETS = [{}, { target: 'openai-responses' }];

const bytes = (text) => Buffer.byteLength(text);
const sum = (items, of) => items.reduce((total, item) => total + of(item), 0);

/** Returns a call for each tool and rewrite, and for each turn and target, each with labels for the tables. */
function callsFor(servers, conversation) {
  const schemas = servers.flatMap((server) =>
    server.tools.flatMap((tool) =>
      REWRITES.map((rewrite) => ({
        ...rewrite,
        server: server.name,
        tool: tool.name,
        input: JSON.stringify(tool.inputSchema),
      })),
    ),
  );
  const requests = conversation.flatMap((turn) =>
    TARGETS.map((options) => ({
      title: 'deferred loading',
      function: 'applyDeferredLoading',
      options,
      turn: turn.what,
      input: JSON.stringify(turn.request),
    })),
  );
  return [...schemas, ...requests];
}

function showServers(servers) {
  heading('Servers');
  table(
    ['package', 'version', 'tools', 'bytes of schemas'],
    servers.map(({ npm, version, tools }) => [
      npm,
      version,
      tools.length,
      sum(tools, (tool) => bytes(JSON.stringify(tool.inputSchema))),
    ]),
  );
}

/** Prints if the languages agree, and returns the number of differences. */
function showAgreement(calls, byLanguage) {
  heading(`Same answers in ${Object.keys(byLanguage).join(', ')}`);
  const wrong = disagreements(calls, byLanguage);
  const titles = [...new Set(calls.map((call) => call.title))];
  table(
    ['rewrite', 'calls', 'text', 'value', 'report'],
    titles.map((title) => {
      const verdict = (parts) => {
        const differing = wrong.filter(({ call, part }) => call.title === title && parts.includes(part)).length;
        return differing === 0 ? 'same' : `${differing} differ`;
      };
      const total = calls.filter((call) => call.title === title).length;
      return [title, total, verdict(['text']), verdict(['value']), verdict(['report', 'error'])];
    }),
  );
  if (wrong.length === 0) {
    console.log(`  ${green('All agree:')} text byte for byte, values and reports with their key order.`);
  }
  for (const { call, part, found } of wrong.slice(0, 5)) {
    console.log(red(`  ${call.title} of ${call.tool ?? call.turn}: ${part} differs`));
    for (const [language, result] of Object.entries(found))
      console.log(`    ${language.padEnd(6)} ${String(result).slice(0, 300)}`);
  }
  return wrong.length;
}

/** A table row: sizes, and the number of changes with each effect. */
function effects(label, results) {
  const answered = results.filter(({ answer }) => !answer.error);
  const changes = answered.flatMap(({ answer }) => answer.report.changes);
  const having = (key, value) => changes.filter((change) => change[key] === value).length;
  const before = sum(answered, ({ call }) => bytes(call.input));
  const after = sum(answered, ({ answer }) => bytes(answer.text));
  return [
    ...label,
    answered.filter(({ answer }) => answer.report.changes.length > 0).length,
    results.length - answered.length,
    before,
    after,
    percent(before, after),
    ...['same', 'closed', 'wider', 'narrower', 'mixed'].map((effect) => having('accepts', effect)),
    ...['moved', 'lost'].map((effect) => having('guidance', effect)),
  ];
}

const EFFECT_HEADINGS = [
  'changed',
  'refused',
  'bytes',
  'after',
  '',
  'same',
  'closed',
  'wider',
  'narrower',
  'mixed',
  'moved',
  'lost',
];

const LEGEND = [
  'codex, codex-wire: sanitize into that dialect. envelope: normalizeEnvelope.',
  'same, closed, wider, narrower, mixed: how many changes have that effect on the arguments the schema accepts.',
  'moved, lost: how many changes move or remove text that the model reads.',
];

function showEffects(servers, results, all) {
  heading('What changes');
  const rows = REWRITES.flatMap(({ title }) =>
    servers.map(({ name }) => {
      const ours = results.filter(({ call }) => call.title === title && call.server === name);
      return effects([title, name], ours);
    }),
  );
  table(['rewrite', 'server', ...EFFECT_HEADINGS], rows);
  for (const line of LEGEND) console.log(dim(`  ${line}`));
  for (const { call, answer } of results.filter(({ answer }) => answer.error)) {
    console.log(`  refused: ${call.tool} in ${call.title}: ${answer.error.message}`);
  }
  if (all) {
    heading('Every tool');
    table(
      ['rewrite', 'tool', ...EFFECT_HEADINGS],
      results.filter(({ call }) => call.tool).map((result) => effects([result.call.title, result.call.tool], [result])),
    );
  }
}

function showOne(results) {
  const { call, answer } = results.find(
    (result) => result.call.tool === SHOWN.tool && result.call.title === SHOWN.rewrite,
  );
  heading(`One tool before and after: ${call.tool} (${call.server}), ${call.title}`);
  const pretty = (text) => `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  const { hunks } = structuredPatch('', '', pretty(call.input), pretty(answer.text), '', '', { context: 2 });
  const paints = { '+': green, '-': red, ' ': dim };
  hunks.forEach(({ lines }, index) => {
    if (index > 0) console.log(dim('      …'));
    for (const line of lines) console.log(paints[line[0]](`  ${line[0]} ${line.slice(1)}`));
  });
  console.log('  Its report:');
  table(
    ['where', 'rule', 'arguments', 'guidance', 'what'],
    answer.report.changes.map(({ pointer, rule, accepts, guidance, message }) => [
      pointer || '(root)',
      rule,
      accepts,
      guidance,
      message,
    ]),
  );
}

function showConversation(results) {
  heading('Deferred loading: a conversation of two turns, with every tool except the search deferred');
  const rows = results.map(({ call, answer }, index) => {
    const { tools } = JSON.parse(answer.text);
    const { loaded, hidden, savedBytes } = answer.report.report;
    const before = bytes(call.input);
    const after = bytes(answer.text);
    return [
      `${index + 1}: ${call.turn}`,
      tools.length,
      loaded.length,
      hidden.length,
      savedBytes,
      before,
      after,
      percent(before, after),
    ];
  });
  table(['turn', 'visible', 'loaded', 'hidden', 'saved', 'request', 'after', ''], rows);
  const notice = JSON.parse(results.at(-1).answer.text).messages.at(-1).content[0].content[0].text;
  console.log('  What the model reads in place of the tool_reference:');
  const short = notice.length > 240 ? `${notice.slice(0, 240)}… (${count(notice.length)} characters)` : notice;
  for (const line of short.split('\n')) console.log(dim(`    ${line}`.trimEnd()));
}

/** A tool in OpenAI's strict mode, and a call as the model writes it and as the server receives it. */
function showRestoredCall(servers) {
  const tool = servers.find(({ name }) => name === ASKED).tools.find(({ name }) => name === STRICT.tool);
  const { tools, restore } = sanitizeTools([tool], { dialect: 'openai-strict' });
  const { name, parameters } = tools[0].function;
  // The strict mode requires every property, so the model writes null for a property that it would omit.
  const written = parameters.required.map((property) => [property, property === STRICT.argument ? STRICT.value : null]);
  const text = JSON.stringify(Object.fromEntries(written));
  const call = restore.call(name, text);
  heading(`A call in OpenAI's strict mode: sanitizeTools([${tool.name}], { dialect: 'openai-strict' })`);
  table(
    ['', 'tool', 'arguments'],
    [
      ['the model writes', name, text],
      ['the server receives', call.name, call.arguments],
    ],
  );
}

/** Shows the output of the command line about a server, as `npx toolwire` prints it. */
function showCommandLine() {
  const { line, env } = commandOf(ASKED);
  heading(`Will it work with every model? toolwire matrix -- ${line.join(' ')}`);
  const { status } = spawnSync(PROGRAM, ['matrix', '--fail-on', 'never', '--', ...line], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status === 0;
}

async function main() {
  const servers = await listTools();
  const total = sum(servers, ({ tools }) => tools.length);
  console.log(
    bold(`toolwire: ${total} tools of ${servers.length} real MCP servers, as they are and as other APIs need them`),
  );
  const answered = showCommandLine();
  showRestoredCall(servers);
  showServers(servers);

  const calls = callsFor(servers, turns(servers, FOUND));
  const byLanguage = await answers(calls);
  const differing = showAgreement(calls, byLanguage);
  const results = calls.map((call, index) => ({ call, answer: byLanguage.Node[index] }));
  const rewrites = results.filter(({ call }) => call.tool);
  showEffects(servers, rewrites, process.argv.includes('--all'));
  showOne(rewrites);
  showConversation(results.filter(({ call }) => call.turn && !call.options.target));
  process.exitCode = differing === 0 && answered ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
main().catch((error) => {
  console.error(`\n${red('error:')} ${error.message}`);
  process.exit(1);
});
