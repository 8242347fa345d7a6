// Prints the sizes of the package's entry points as the table of docs/typescript.md. `--write` writes it there; `--check` fails
// if a size there differs by more than 5 %.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { COMPANIONS, ENTRIES } from './entries.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const page = join(root, '../docs/typescript.md');
const BEGIN = '<!-- sizes: npm run sizes --prefix npm -- --write -->';
const END = '<!-- end of sizes -->';

const files = ENTRIES.flatMap(({ name, slim, wasm }) => {
  const entry = name === 'index' ? 'toolwire' : `toolwire/${name.replaceAll('-', '/')}`;
  const given = [
    { entry: `${entry}/slim`, file: `${slim}.js` },
    { entry: `toolwire/${wasm}.wasm`, file: `${wasm}.wasm` },
  ];
  // An import loads the script with the WebAssembly, too.
  const whole = { entry, file: `${name}.js`, more: `inline/${wasm}.js` };
  return [whole, ...(slim === undefined ? [] : given)];
});
// These sizes do not include the file of the other entry point that they import.
files.push(...COMPANIONS.map(({ name, beside }) => ({ entry: `toolwire/${name}`, file: `${name}.js`, beside })));
const rows = files.map(({ entry, file, more, beside }) => {
  const bytes = Buffer.concat([file, more ?? []].flat().map((name) => readFileSync(join(root, 'dist', name))));
  return [
    beside === undefined
      ? `\`${entry}\``
      : `\`${entry}\`, in addition to \`${beside === 'index' ? 'toolwire' : `toolwire/${beside}`}\``,
    bytes.length,
    gzipSync(bytes, { level: 9 }).length,
    brotliCompressSync(bytes).length,
  ];
});
const kilobytes = (bytes) => (bytes / 1000).toFixed(bytes < 100_000 ? 1 : 0);
const table = [
  '| entry | KB | gzip | brotli |',
  '|---|---:|---:|---:|',
  ...rows.map(([entry, ...sizes]) => `| ${entry} | ${sizes.map(kilobytes).join(' | ')} |`),
].join('\n');

const [mode] = process.argv.slice(2);
if (mode === undefined) {
  console.log(table);
} else if (mode === '--write') {
  const [before, , after] = parts();
  writeFileSync(page, `${before}${BEGIN}\n${table}\n${END}${after}`);
} else if (mode === '--check') {
  const figures = (text) => text.split('\n').map((line) => line.split('|').slice(2, -1).map(Number));
  const written = figures(parts()[1].trim());
  const off = figures(table).some((row, line) => {
    return row.some(
      (found, column) => !(Math.abs(found - written[line]?.[column]) <= found / 20 || Number.isNaN(found)),
    );
  });
  if (off || written.length !== rows.length + 2) {
    console.error(`docs/typescript.md: expected\n${table}\n(\`npm run sizes --prefix npm -- --write\` writes it)`);
    process.exitCode = 1;
  }
} else {
  throw new Error(`expected \`--write\`, \`--check\` or nothing, found \`${mode}\``);
}

/** Returns the page's text before, between and after the markers. */
function parts() {
  const text = readFileSync(page, 'utf8');
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`docs/typescript.md: expected \`${BEGIN}\` … \`${END}\``);
  return [text.slice(0, begin), text.slice(begin + BEGIN.length, end), text.slice(end + END.length)];
}
