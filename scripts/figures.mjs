// Writes docs/performance.md from one run of all measurements in the three languages. `make figures` builds the
// prerequisites and passes the file of tools. Text outside of the markers is written by hand and kept.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = `${root}docs/performance.md`;
const [, , data] = process.argv;
if (data === undefined) throw new Error('expected a file with one tool per line, found no argument');

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
const example = (name, ...args) => [
  'run',
  '--quiet',
  '--release',
  '--locked',
  '-p',
  'toolwire',
  '--example',
  name,
  '--',
  ...args,
];

const rust = JSON.parse(run('Rust', 'cargo', example('figures', data)));
const node = JSON.parse(run('Node', process.execPath, ['--expose-gc', 'npm/bench/figures.js', data]));
const python = JSON.parse(run('Python', 'python/.venv/bin/python', ['python/bench/figures.py', data]));
const growth = run('growth', 'cargo', example('growth'));
const bytes = run('growth by bytes', 'cargo', example('growth', 'page'));
const programs = run('program', 'target/release/examples/program', []).trim();

const dialects = Object.keys(rust.dialects);
const ratio = (number) => number.toFixed(2);
const micros = (number) => (number < 100 ? number.toFixed(1) : number.toFixed(0));
const table = (head, rows) =>
  [head, head.map((_, at) => (at === 0 ? '---' : '--:')), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();

const parts = {
  machine: [
    `Measured on ${new Date().toISOString().slice(0, 10)} at commit ${commit}, on ${cpus().length} cores of "${cpus()[0].model.trim()}",`,
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
    ['dialect', 'Rust text', 'with report', 'value', 'Node text', 'object', 'Python text', 'object'],
    [
      ['parsing and printing alone', rust.alone, '', '', node.alone, '', python.alone, ''],
      ['copying alone', '', '', '', '', node.clone, '', python.clone],
      ...dialects.map((name) => {
        const [own, there, here] = [rust.dialects[name], node.dialects[name], python.dialects[name]];
        return [`\`${name}\``, own.text, own.report, own.value, there.text, there.object, here.text, here.object];
      }),
    ].map((row) => row.map((cell) => (typeof cell === 'number' ? micros(cell) : cell))),
  ),
  growth: growth.trim(),
  bytes: bytes.trim(),
  programs,
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
