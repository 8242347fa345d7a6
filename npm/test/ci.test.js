// What is ready for CI: the action and the pre-commit hooks of this repository, each run as its runner would.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = join(ROOT, 'npm/dist/command.js');
const { version } = JSON.parse(readFileSync(join(ROOT, 'npm/package.json'), 'utf8'));
const read = (name) => parse(readFileSync(join(ROOT, name), 'utf8'));
const CLEAN = [{ name: 'now', description: 'The time.', inputSchema: { type: 'object', properties: {} } }];
const BAD = [{ name: 'bad', inputSchema: { type: 'object', properties: { a: { enum: [] } } } }];
const skip = process.platform === 'win32' && 'bash there is another one';

const places = [];
function place(files) {
  const folder = mkdtempSync(join(tmpdir(), 'toolwire-ci-'));
  places.push(folder);
  for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(value));
  return folder;
}
after(() => {
  for (const folder of places) rmSync(folder, { recursive: true });
});

describe('the action', { skip }, () => {
  const { inputs, runs } = read('action.yml');

  /** Runs the steps as a runner does: expressions in `env` are filled in, and nothing else is. */
  function run(files, given) {
    const values = { ...Object.fromEntries(Object.entries(inputs).map(([name, it]) => [name, it.default ?? ''])) };
    Object.assign(values, { command: `'${process.execPath}' ${PROGRAM}` }, given);
    const cwd = place(files);
    const summary = join(cwd, 'summary.md');
    let done;
    for (const step of runs.steps) {
      assert.equal(step.shell, 'bash');
      assert.ok(!step.run.includes('${{'), 'an expression in a script is code of whoever wrote its value');
      const env = { ...process.env, GITHUB_ACTION_PATH: ROOT, GITHUB_STEP_SUMMARY: summary };
      for (const [name, value] of Object.entries(step.env)) {
        env[name] = value.replace(/\$\{\{ inputs\.([a-z-]+) \}\}/, (_, input) => {
          assert.ok(input in inputs, input);
          return values[input];
        });
      }
      done = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
        cwd,
        env,
        encoding: 'utf8',
      });
    }
    return { ...done, cwd, summary };
  }

  test('is green for clean tools, by a pattern', () => {
    const { status, stdout, stderr } = run({ 'tools.json': CLEAN }, { files: '*.json' });
    assert.deepEqual([status, stdout], [0, ''], stderr);
    assert.match(stderr, /nothing is refused/);
  });
  test('fails with an annotation, SARIF and a summary', () => {
    const given = { files: 'a.json\nb.json\n', dialects: 'openai-chat', sarif: 'out.sarif', summary: 'true' };
    const { status, stdout, cwd, summary } = run({ 'a.json': BAD, 'b.json': CLEAN }, given);
    assert.equal(status, 1);
    assert.match(stdout, /^::error file=a\.json,line=1,col=\d+,title=toolwire%3A enum-empty::/);
    assert.equal(JSON.parse(readFileSync(join(cwd, 'out.sarif'), 'utf8')).runs[0].results.length, 1);
    assert.match(readFileSync(summary, 'utf8'), /^## toolwire check\n/);
  });
  test('starts a server, whose command has quotes', () => {
    const server = `
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method, params } = JSON.parse(line);
        const serverInfo = { name: "f", version: "1" };
        const told = { initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } };
        told["tools/list"] = { tools: JSON.parse(process.argv[1]) };
        if (told[method]) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: told[method] }));
      })`.replaceAll(/\s+/g, ' ');
    const command = `'${process.execPath}' -e '${server}' '${JSON.stringify(BAD)}'`;
    const { status, stdout } = run({}, { server: command, exclude: 'cohere', timeout: '20' });
    assert.equal(status, 1);
    assert.match(stdout, /^::error title=toolwire%3A enum-empty::/);
  });
  test('is not green on nothing', () => {
    assert.equal(run({}, {}).status, 2);
    assert.equal(run({}, { files: 'gone.json' }).status, 2);
    assert.equal(run({}, { files: '$(touch made)' }).status, 2);
  });
  test('says what it finds, whatever it writes besides', () => {
    const { status, stdout, cwd } = run({ 'none.json': [] }, { files: 'none.json', sarif: 'out.sarif' });
    assert.equal(status, 2);
    assert.match(stdout, /^::error file=none\.json,.*expected at least one tool/);
    const { invocations } = JSON.parse(readFileSync(join(cwd, 'out.sarif'), 'utf8')).runs[0];
    assert.equal(invocations[0].executionSuccessful, false);
    const unwritten = run({ 'tools.json': CLEAN }, { files: 'tools.json', sarif: 'none/out.sarif' });
    assert.equal(unwritten.status, 2);
    assert.match(unwritten.stdout, /^::error title=toolwire::expected a file that can be written in `sarif`/);
  });
  test('takes names of files for nothing else', () => {
    const { status, stderr } = run({ 'bad.json': BAD }, { files: 'bad.json\n--fail-on=never' });
    assert.equal(status, 2);
    assert.match(stderr, /\.\/--fail-on=never: expected a file/);
  });
  test('takes spaces in lists, and no quotes that are open', () => {
    const given = { files: 'a.json', dialects: 'openai-chat, anthropic', exclude: ' anthropic , cohere' };
    const { status, stderr } = run({ 'a.json': CLEAN }, given);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /1 dialect:/);
    const open = run({}, { server: "node 'server.js" });
    assert.equal(open.status, 2);
    assert.match(open.stdout, /^::error title=toolwire::expected words in `server`, found quotes that are not closed/);
  });
  test('is written for the bash of macOS', () => {
    const script = readFileSync(join(ROOT, 'scripts/action.sh'), 'utf8').replaceAll(/#.*/g, '');
    assert.doesNotMatch(script, /mapfile|readarray|declare -[An]|\$\{\w+,,/);
    assert.doesNotMatch(script, /(?<!\+)"\$\{(arguments|inputs|split)\[@\]\}"/);
  });
  test('takes the version that it is part of', () => {
    assert.ok(inputs.command.default.includes(`toolwire@${version} `));
  });
});

describe('the hooks of pre-commit', { skip }, () => {
  for (const { id, entry, language, files, exclude } of read('.pre-commit-hooks.yaml')) {
    test(id, () => {
      assert.equal(language, 'system');
      const [runner, ...rest] = entry.split(' ');
      assert.ok(rest.includes(`toolwire@${version}`), entry);
      // In place of what would fetch the package: what comes behind its name.
      const bin = place({});
      const script = `#!/bin/sh\nwhile [ "$1" != toolwire@${version} ]; do shift; done\nshift\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`;
      writeFileSync(join(bin, runner), script);
      chmodSync(join(bin, runner), 0o755);
      const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
      const cwd = place({ 'tools.json': CLEAN, 'my-tools.json': BAD, '.mcp.json': {} });
      const names = ['tools.json', 'my-tools.json', '.mcp.json', '.config/dotnet-tools.json'];
      const matching = names.filter((name) => new RegExp(files).test(name) && !new RegExp(exclude).test(name));
      assert.deepEqual(matching, ['tools.json', 'my-tools.json']);
      const done = spawnSync(runner, [...rest, ...matching], { cwd, env, encoding: 'utf8' });
      assert.equal(done.status, 1, done.stderr);
      assert.match(done.stdout, /my-tools\.json:1:\d+: `bad`/);
      assert.equal(spawnSync(runner, [...rest, 'tools.json'], { cwd, env }).status, 0);
    });
  }
});
