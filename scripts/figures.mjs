// Measures everything on docs/performance.md in the three languages in one run, and writes it there. `make figures` builds the
// prerequisites. Text outside of the markers is written by hand and kept.
//
// figures.mjs TOOLS [PAGE]  measures with a file that has one tool per line. With `TOOLWIRE_BENCH=once`, which is for
//                           tests, every benchmark runs once, in the debug build.
// figures.mjs age           fails if a page with figures was measured more than 200 commits ago.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The pages with figures, and the targets that measure them. Each page says at which commit they were measured. */
const PAGES = { 'docs/performance.md': 'make figures', 'docs/comparison.md': 'make bench-peers' };
const OLDEST = 200;

const [, , data, page = `${root}docs/performance.md`] = process.argv;
if (data === undefined) throw new Error('expected a file with one tool per line, or `age`, found no argument');
if (data === 'age') process.exit(Object.keys(PAGES).map(isRecent).every(Boolean) ? 0 : 1);

const say = (text) => process.stderr.write(`  ${text}\n`);
const run = (label, command, args) => {
  const start = performance.now();
  const output = execFileSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  say(`${label}: ${Math.round((performance.now() - start) / 1000)} s`);
  return output;
};
const profile = process.env.TOOLWIRE_BENCH === 'once' ? 'debug' : 'release';
const example = (name) => `${process.env.CARGO_TARGET_DIR ?? `${root}target`}/${profile}/examples/${name}`;

const rust = JSON.parse(run('Rust', example('figures'), [data]));
const node = JSON.parse(run('Node', process.execPath, ['--expose-gc', 'npm/bench/figures.js', data]));
const python = JSON.parse(run('Python', 'python/.venv/bin/python', ['python/bench/figures.py', data]));
const growth = run('growth', example('growth'), []);
const bytes = run('growth by bytes', example('growth'), ['page']);
const programs = run('program', example('program'), []).trim();

const dialects = Object.keys(rust.dialects);
const ratio = (number) => number.toFixed(2);
const micros = (number) => (number < 100 ? number.toFixed(1) : number.toFixed(0));
const table = (head, rows) =>
  [head, head.map((_, at) => (at === 0 ? '---' : '--:')), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const today = new Date().toISOString().slice(0, 10);
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();

const parts = {
  machine: [
    `Measured on ${today} at commit ${commit}, on ${cpus().length} cores of "${cpus()[0].model.trim()}",`,
    `with Node ${node.version.slice(1)} and Python ${python.version}, over ${rust.tools.toLocaleString('en')} real tools with schemas of ${rust.bytes.toLocaleString('en')} bytes on average.`,
  ].join('\n'),
  ratios: table(
    ['dialect', 'Rust text', 'Rust value', 'Node text', 'Node object', 'Python text', 'Python object'],
    dialects.map((name) => {
      const [own, there, here] = [rust.dialects[name], node.dialects[name], python.dialects[name]];
      const budget = 1.5 * own.text + 2 * node.clone;
      return [
        `\`${name}\``,
        own.text / rust.alone,
        own.value / own.text,
        there.text / own.text,
        there.object / budget,
        here.text / own.text,
        here.object / own.text,
      ].map((cell) => (typeof cell === 'number' ? ratio(cell) : cell));
    }),
  ),
  lists: table(
    ['dialect', 'Rust', 'Node', 'Python'],
    dialects.map((name) => [
      `\`${name}\``,
      ...[rust, node, python].map(({ dialects: { [name]: one } }) => ratio(one.list / one.each)),
    ]),
  ),
  repeated: table(
    ['dialect', 'Rust', 'Node', 'Python'],
    Object.keys(rust.repeated).map((name) => [
      `\`${name}\``,
      ...[rust, node, python].map(
        ({ repeated: { [name]: one } }) =>
          `${(one.anew / one.kept).toFixed(1)} (${micros(one.anew)} → ${micros(one.kept)})`,
      ),
    ]),
  ),
  start: `Importing \`toolwire\` in Node takes ${node.imported.toFixed(1)} ms, and the first call ${node.firstCall.toFixed(1)} ms (medians of 21 processes).`,
  micros: table(
    [
      'dialect',
      'Rust text',
      'with report',
      'value',
      'Node text',
      'with report',
      'object',
      'Python text',
      'with report',
      'object',
    ],
    [
      ['parsing and printing alone', rust.alone, '', '', node.alone, '', '', python.alone, '', ''],
      ['copying alone', '', '', '', '', '', node.clone, '', '', python.clone],
      ...dialects.map((name) => {
        const [own, there, here] = [rust.dialects[name], node.dialects[name], python.dialects[name]];
        return [
          `\`${name}\``,
          own.text,
          own.report,
          own.value,
          there.text,
          there.report,
          there.object,
          here.text,
          here.report,
          here.object,
        ];
      }),
    ].map((row) => row.map((cell) => (typeof cell === 'number' ? micros(cell) : cell))),
  ),
  growth: growth.trim(),
  bytes: bytes.trim(),
  programs: `Measured on ${today} at commit ${commit}${process.env.LITELLM ? '' : ', without LiteLLM'}.\n\n${programs}`,
};

let text = readFileSync(page, 'utf8');
for (const [name, content] of Object.entries(parts)) {
  const [begin, end] = [`<!-- ${name}: make figures -->`, `<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(`docs/performance.md: expected \`${begin}\`, followed by \`${end}\`, found no such pair`);
  text = `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`;
}
writeFileSync(page, text);
say('docs/performance.md is written');

/** Returns true if the figures of a page are recent enough, or if the history is missing, and prints what was found. */
function isRecent(name) {
  const commit = readFileSync(root + name, 'utf8').match(/\bat commit ([0-9a-f]{7,40})\b/)?.[1];
  if (commit === undefined) {
    console.error(`${name}: expected \`at commit …\`, where its figures were measured, found none`);
    return false;
  }
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const count = git('rev-list', '--count', `${commit}..HEAD`);
  if (count.status !== 0) {
    const shallow = git('rev-parse', '--is-shallow-repository');
    if (shallow.status === 0 && shallow.stdout.trim() === 'false') {
      console.error(`${name}: expected a commit of this repository, found ${commit}`);
      return false;
    }
    console.log(`skipped: ${name}: the history of commit ${commit} is missing`);
    return true;
  }
  const age = Number(count.stdout);
  console.log(`${name}: measured ${age} commits ago, at ${commit}`);
  if (age > OLDEST) console.error(`${name}: expected figures of at most ${OLDEST} commits ago: run \`${PAGES[name]}\``);
  return age <= OLDEST;
}
