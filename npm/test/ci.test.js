// Tests what this repository offers for other projects' CI, the action and the pre-commit hooks, each run as its runner would.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';

import { PROGRAM } from '../../tests/program.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, 'npm/package.json'), 'utf8'));
const read = (name) => parse(readFileSync(join(ROOT, name), 'utf8'));
const CLEAN = [{ name: 'now', description: 'The time.', inputSchema: { type: 'object', properties: {} } }];
const BAD = [{ name: 'bad', inputSchema: { type: 'object', properties: { a: { enum: [] } } } }];
/** The command of a server with these tools. */
const SERVER = `'${process.execPath}' -e '${`
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const serverInfo = { name: "f", version: "1" };
    const results = { initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } };
    results["tools/list"] = { tools: JSON.parse(process.argv[1]) };
    if (results[method]) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] }));
  })`.replaceAll(/\s+/g, ' ')}' '${JSON.stringify(BAD)}'`;
const skip = process.platform === 'win32' && 'Windows has a different bash';

const places = [];
function place(files) {
  const folder = mkdtempSync(join(tmpdir(), 'toolwire-ci-'));
  places.push(folder);
  for (const [name, value] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), JSON.stringify(value));
  }
  return folder;
}
after(() => {
  for (const folder of places) rmSync(folder, { recursive: true });
});

describe('the action', { skip }, () => {
  const { inputs, runs } = read('action.yml');

  /** Runs the steps as a runner does: replaces expressions in `env`, and no others. */
  function run(files, given, { cwd = place(files), env: more = {} } = {}) {
    const values = { ...Object.fromEntries(Object.entries(inputs).map(([name, it]) => [name, it.default ?? ''])) };
    Object.assign(values, { command: `'${PROGRAM}'` }, given);
    const summary = join(cwd, 'summary.md');
    let done;
    for (const step of runs.steps) {
      assert.equal(step.shell, 'bash');
      assert.ok(!step.run.includes('${{'), 'an expression in a script runs its value as code');
      const env = { ...process.env, ...more, GITHUB_ACTION_PATH: ROOT, GITHUB_STEP_SUMMARY: summary };
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

  test('passes if the files of a pattern contain only clean tools', () => {
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
    const { status, stdout } = run({}, { server: SERVER, exclude: 'cohere', timeout: '20' });
    assert.equal(status, 1);
    assert.match(stdout, /^::error title=toolwire%3A enum-empty::/);
  });
  test('fails if there is nothing to check', () => {
    assert.equal(run({}, {}).status, 2);
    assert.equal(run({}, { files: 'gone.json' }).status, 2);
    assert.equal(run({}, { files: '$(touch made)' }).status, 2);
  });
  test('prints its findings even if it also writes other outputs', () => {
    const { status, stdout, cwd } = run({ 'none.json': [] }, { files: 'none.json', sarif: 'out.sarif' });
    assert.equal(status, 2);
    assert.match(stdout, /^::error file=none\.json,.*expected at least one tool/);
    const { invocations } = JSON.parse(readFileSync(join(cwd, 'out.sarif'), 'utf8')).runs[0];
    assert.equal(invocations[0].executionSuccessful, false);
    const unwritten = run({ 'tools.json': CLEAN }, { files: 'tools.json', sarif: 'none/out.sarif' });
    assert.equal(unwritten.status, 2);
    assert.match(unwritten.stdout, /^::error title=toolwire::expected a writable file in `sarif`/);
  });
  test('places the findings of a server at a file of the project', () => {
    const uri = (files, given) => {
      const { cwd } = run(files, {
        server: SERVER,
        dialects: 'openai-chat',
        sarif: 'out.sarif',
        timeout: '20',
        ...given,
      });
      const { results } = JSON.parse(readFileSync(join(cwd, 'out.sarif'), 'utf8')).runs[0];
      return results[0].locations[0].physicalLocation.artifactLocation.uri;
    };
    assert.equal(uri({ 'package.json': {} }, {}), 'package.json');
    assert.equal(uri({ 'package.json': {} }, { 'sarif-file': 'src/server.ts' }), 'src/server.ts');
  });
  test('does not write SARIF through a link in the checkout', () => {
    const outside = place({ 'target.sarif': 'kept' });
    const kept = readFileSync(join(outside, 'target.sarif'), 'utf8');
    const cwd = place({ 'tools.json': CLEAN });
    symlinkSync(join(outside, 'target.sarif'), join(cwd, 'out.sarif'));
    symlinkSync(outside, join(cwd, 'out'));
    mkdirSync(join(cwd, 'in'));
    for (const sarif of [
      'out.sarif',
      './out.sarif',
      'out/target.sarif',
      'out/made.sarif',
      join(realpathSync(cwd), 'out/made.sarif'),
      `${realpathSync(cwd)}//out/made.sarif`,
      `${realpathSync(cwd)}/./out/made.sarif`,
      `${realpathSync(cwd)}/../${basename(cwd)}/out/made.sarif`,
    ]) {
      const { status, stdout } = run({}, { files: 'tools.json', sarif }, { cwd });
      assert.equal(status, 2, sarif);
      assert.match(stdout, /expected a writable file in `sarif`/);
    }
    assert.deepEqual(readdirSync(outside), ['target.sarif']);
    assert.equal(readFileSync(join(outside, 'target.sarif'), 'utf8'), kept);
    assert.equal(run({}, { files: 'tools.json', sarif: 'in/out.sarif' }, { cwd }).status, 0);
    assert.equal(JSON.parse(readFileSync(join(cwd, 'in/out.sarif'), 'utf8')).version, '2.1.0');
  });
  test('passes no injected workflow commands to the runner', () => {
    const sarif = 'none/x%\n::warning::injected\r::error::too';
    const { status, stdout } = run({ 'tools.json': CLEAN }, { files: 'tools.json', sarif });
    assert.equal(status, 2);
    assert.match(stdout, /^::error title=toolwire::.*: none\/x%25%0A::warning::injected%0D::error::too\n$/);
  });
  test('does not read file names as options', () => {
    const { status, stderr } = run({ 'bad.json': BAD }, { files: 'bad.json\n--fail-on=never' });
    assert.equal(status, 2);
    assert.match(stderr, /\.\/--fail-on=never: expected a file/);
  });
  test('accepts spaces in lists, and refuses unclosed quotes', () => {
    const given = { files: 'a.json', dialects: 'openai-chat, anthropic', exclude: ' anthropic , cohere' };
    const { status, stderr } = run({ 'a.json': CLEAN }, given);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /1 dialect:/);
    const open = run({}, { server: "node 'server.js" });
    assert.equal(open.status, 2);
    assert.match(open.stdout, /^::error title=toolwire::expected words in `server`, found quotes that are not closed/);
  });
  test("only uses features of macOS's bash", () => {
    for (const name of ['action.sh', 'hook.sh', 'install.sh']) {
      const script = readFileSync(join(ROOT, 'scripts/ci', name), 'utf8').replaceAll(/#.*/g, '');
      assert.doesNotMatch(script, /mapfile|readarray|declare -[An]|\$\{\w+,,/);
      assert.doesNotMatch(script, /(?<!\+)"\$\{(arguments|inputs|split|options|files)\[@\]\}"/);
    }
  });
  test('does not run code of the repository that it checks', () => {
    const { PATH, started, nodes } = fetching();
    const temporary = place({});
    const env = { PATH, RUNNER_TEMP: temporary };
    const cwd = poisoned({ 'tools.json': CLEAN, 'x.json': SERVERS, '::add-mask::x.json': BAD });
    const fine = run({}, { command: '', files: 'tools.json' }, { cwd, env });
    assert.equal(fine.status, 0, fine.stderr);
    const found = run({}, { command: '', files: '*.json', dialects: 'openai-chat' }, { cwd, env });
    assert.equal(found.status, 2, found.stderr);
    assert.match(found.stdout, /^::error file=x\.json,line=1,title=toolwire::.*use `--servers FILE`$/m);
    for (const line of `${found.stdout}\n${found.stderr}`.split('\n'))
      assert.doesNotMatch(line, /^\s*::(?!error |warning )/);
    const server = `'${process.execPath}' -e 'process.exit(3)'`;
    const { status, stdout } = run({}, { command: '', server }, { cwd, env });
    assert.equal(status, 2);
    assert.match(stdout, /the server did not list its tools/);
    assert.doesNotMatch(stdout, /expected the package/);
    assert.equal(started().length, 3);
    for (const { cwd: where } of started()) assert.ok(where.startsWith(realpathSync(temporary)), where);
    harmless(cwd, started(), nodes());
  });
  test('starts the servers of a file that the workflow names', () => {
    const mcp = { mcpServers: { x: { command: process.execPath, args: ['-e', 'process.exit(3)', '${' + 'A}'] } } };
    const unnamed = run({ 's.json': mcp }, { servers: 's.json' });
    assert.equal(unnamed.status, 2);
    assert.match(unnamed.stdout, /^::error file=s\.json,line=1,.*expected `--env A` for the variable `A`/);
    const named = run({ 's.json': mcp }, { servers: 's.json', env: 'A' }, { env: { A: 'a' } });
    assert.match(named.stdout, /^::error file=s\.json,line=1,.*the server did not list its tools/);
  });
});

/** Returns a repository that tries to have its own code run. Each attempt that succeeds writes a file. */
function poisoned(files) {
  const mark = `require('node:fs').writeFileSync('poisoned', '');`;
  const cwd = place({
    'node_modules/toolwire/package.json': {
      name: 'toolwire',
      version,
      type: 'commonjs',
      bin: { toolwire: 'dist/command.js' },
    },
    'package.json': { name: 'linted', dependencies: { toolwire: version } },
    ...files,
  });
  const write = (name, text) => {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
    chmodSync(join(cwd, name), 0o755);
  };
  write('node_modules/toolwire/dist/command.js', `#!/usr/bin/env node\n${mark}\n`);
  write('node_modules/.bin/toolwire', `#!/usr/bin/env node\n${mark}\n`);
  write(`node_modules/@toolwire/cli-${process.platform}-${process.arch}/bin/toolwire`, '#!/bin/sh\ntouch poisoned\n');
  write('.npmrc', 'registry=http://poisoned.invalid/\nignore-scripts=false\n');
  write('uv.toml', 'index-url = "http://poisoned.invalid/"\n');
  for (const name of ['toolwire/__init__.py', 'toolwire/__main__.py', 'sitecustomize.py', 'json.py']) {
    write(name, 'open("poisoned", "w")\n');
  }
  return cwd;
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Puts replacements for the programs that fetch packages first in `PATH`. Each logs how it was started and which
 * registry npm would use there, and installs the local build. `node` logs its working folder, from which version
 * managers' shims read their configuration.
 */
function fetching() {
  const bin = place({});
  const log = join(bin, 'log');
  const npm = spawnSync('bash', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim();
  const script = `
    const { appendFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync, chmodSync, readFileSync } = require('node:fs');
    const { join } = require('node:path');
    const { spawnSync } = require('node:child_process');
    const [program, ...args] = process.argv.slice(2);
    const prefix = args.includes('--prefix') ? args.slice(args.indexOf('--prefix'), args.indexOf('--prefix') + 2) : [];
    const registry = spawnSync(${JSON.stringify(npm)}, ['config', 'get', 'registry', ...prefix], { encoding: 'utf8' }).stdout.trim();
    const locked = program === 'npm' && JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
    appendFileSync(${JSON.stringify(log)}, JSON.stringify({ program, args, cwd: process.cwd(), registry, locked }) + '\\n');
    if (program === 'npm') {
      const to = join(process.cwd(), 'node_modules');
      cpSync(${JSON.stringify(join(ROOT, 'npm/dist'))}, join(to, 'toolwire/dist'), { recursive: true });
      cpSync(${JSON.stringify(join(ROOT, 'npm/package.json'))}, join(to, 'toolwire/package.json'));
      const bin = join(to, '@toolwire/cli-' + process.platform + '-' + process.arch, 'bin');
      mkdirSync(bin, { recursive: true });
      symlinkSync(${JSON.stringify(PROGRAM)}, join(bin, 'toolwire'));
    } else if (args[0] === 'venv') {
      const python = join(args.at(-1), 'bin/python');
      mkdirSync(join(args.at(-1), 'bin'), { recursive: true });
      writeFileSync(python, '#!/bin/sh\\n[ "$1 $2 $3" = "-I -m toolwire" ] || exit 9\\nshift 3\\nexec ' + ${JSON.stringify(quoted(PROGRAM))} + ' "$@"\\n');
      chmodSync(python, 0o755);
    }`;
  writeFileSync(join(bin, 'fetch.cjs'), script);
  for (const program of ['npm', 'npx', 'uv', 'uvx']) {
    const exec = `exec ${quoted(process.execPath)} ${quoted(join(bin, 'fetch.cjs'))} ${program} "$@"`;
    writeFileSync(join(bin, program), `#!/bin/sh\n${exec}\n`);
    chmodSync(join(bin, program), 0o755);
  }
  const shim = `#!/bin/sh\npwd -P >>${quoted(join(bin, 'nodes'))}\nexec ${quoted(process.execPath)} "$@"\n`;
  writeFileSync(join(bin, 'node'), shim);
  chmodSync(join(bin, 'node'), 0o755);
  const nodes = () =>
    existsSync(join(bin, 'nodes')) ? readFileSync(join(bin, 'nodes'), 'utf8').trim().split('\n') : [];
  const started = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [];
  return { PATH: [bin, process.env.PATH].join(delimiter), started, nodes };
}

/** Returns the programs that were started, after asserting that the repository did not influence them. */
function harmless(cwd, started, nodes) {
  assert.ok(!existsSync(join(cwd, 'poisoned')), 'code of the repository ran');
  for (const where of nodes) assert.ok(relative(realpathSync(cwd), where).startsWith('..'), where);
  for (const { program, args, cwd: where, registry, locked } of started) {
    assert.ok(relative(realpathSync(cwd), where).startsWith('..'), where);
    assert.doesNotMatch(registry, /poisoned/);
    if (program === 'npm') {
      assert.equal(args[0], 'ci');
      assert.ok(args.includes('--ignore-scripts'));
      assert.equal(locked['node_modules/toolwire'].version, version);
      for (const [name, { version: exact, integrity }] of Object.entries(locked)) {
        if (name === '') continue;
        assert.match(exact, /^\d+\.\d+\.\d+/, name);
        if (!/^node_modules\/@?toolwire/.test(name)) assert.match(integrity, /^sha512-/, name);
      }
    } else {
      assert.equal(program, 'uv');
      assert.ok(args.includes('--no-config'));
    }
  }
}

const SERVERS = { mcpServers: { x: { command: 'sh', args: ['-c', 'touch poisoned'] } } };

describe('the pre-commit hooks', { skip }, () => {
  for (const { id, entry, args, language, files, exclude } of read('.pre-commit-hooks.yaml')) {
    const [script, kind, ...none] = entry.split(' ');
    /** Runs the hook as pre-commit does: a script of the hook's repository, with the checked repository as working folder. */
    const hook = (cwd, env, options, names) =>
      spawnSync(join(ROOT, script), [kind, ...options, ...names], { cwd, env, encoding: 'utf8' });

    test(id, () => {
      assert.equal(language, 'script');
      assert.deepEqual([args, none], [['--'], []]);
      const { PATH, started, nodes } = fetching();
      const cache = place({});
      const env = { ...process.env, PATH, XDG_CACHE_HOME: cache };
      const odd = '--servers=x-tools.json';
      const cwd = poisoned({
        'tools.json': CLEAN,
        'my-tools.json': BAD,
        'x-tools.json': SERVERS,
        [odd]: CLEAN,
        '*y-tools.json': CLEAN,
        '.mcp.json': SERVERS,
      });
      const names = ['tools.json', 'my-tools.json', '.mcp.json', '.config/dotnet-tools.json', 'x-tools.json', odd];
      const matching = names.filter((name) => new RegExp(files).test(name) && !new RegExp(exclude).test(name));
      assert.deepEqual(matching, ['tools.json', 'my-tools.json', 'x-tools.json', odd]);
      const done = hook(cwd, env, args, matching);
      assert.equal(done.status, 2, done.stderr);
      assert.match(done.stdout, /my-tools\.json:1:\d+: `bad`/);
      assert.match(done.stderr, /x-tools\.json:\/mcpServers: .*`--servers FILE`/);
      assert.equal(hook(cwd, env, ['-p', 'strict', '--fail-on', 'never', '--'], ['my-tools.json', odd]).status, 0);
      assert.equal(hook(cwd, env, args, ['*y-tools.json']).status, 0, 'a name is not a pattern');
      assert.equal(started().length, kind === 'npm' ? 1 : 2, 'it is installed once');
      harmless(cwd, started(), nodes());
      const open = hook(cwd, env, [], [odd]);
      assert.equal(open.status, 2);
      assert.match(open.stderr, /expected `--` as the last of the `args`/);
      const home = place({});
      const relativeCache = { ...env, XDG_CACHE_HOME: 'cache', HOME: home };
      assert.equal(hook(cwd, relativeCache, args, ['tools.json']).status, 0, 'a relative cache is ignored');
      assert.ok(existsSync(join(home, '.cache/toolwire/hooks')));
      const inside = hook(cwd, { ...env, XDG_CACHE_HOME: join(cwd, 'cache') }, args, ['tools.json']);
      assert.equal(inside.status, 2);
      assert.match(inside.stderr, /expected a cache folder outside the repository that is checked, found one inside/);
      const hooks = join(cache, 'toolwire/hooks');
      const [installed] = readdirSync(hooks);
      renameSync(join(hooks, installed), join(home, 'moved'));
      symlinkSync(join(home, 'moved'), join(hooks, installed));
      const linked = hook(cwd, env, args, ['tools.json']);
      assert.equal(linked.status, 2);
      assert.match(linked.stderr, /expected a cache folder that belongs to the user, found another/);
      harmless(cwd, started(), nodes());
    });
  }
  test('a failed install leaves nothing behind', () => {
    const bin = place({});
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(bin, 'npm'), 0o755);
    const cache = place({});
    const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter), XDG_CACHE_HOME: cache };
    const done = spawnSync(join(ROOT, 'scripts/ci/hook.sh'), ['npm', '--', 'tools.json'], { env, encoding: 'utf8' });
    assert.equal(done.status, 2);
    assert.match(done.stderr, /could not install toolwire/);
    assert.deepEqual(readdirSync(join(cache, 'toolwire/hooks')), []);
  });
});
