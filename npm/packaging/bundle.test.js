// Checks the bundle for Claude Desktop and the entry of the MCP registry, which `scripts/bundle.mjs` writes, before users and the registry do.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { ROOT, run, tool } from './project.js';

const folder = mkdtempSync(join(tmpdir(), 'toolwire-bundle-'));
const bundle = join(folder, 'bundle');

before(() => {
  const texts = join(folder, 'texts');
  mkdirSync(texts);
  // install.js has compiled the program.
  const programs = join(ROOT, '..', 'target/programs');
  run(process.execPath, [join(ROOT, '..', 'scripts/bundle.mjs'), programs, texts, bundle], ROOT);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('`@anthropic-ai/mcpb` accepts the bundle for Claude Desktop', () => {
  const bundles = readdirSync(bundle).filter((name) => name.endsWith('.mcpb'));
  assert.notEqual(bundles.length, 0);
  for (const name of bundles) {
    const unpacked = join(folder, name);
    run(tool('mcpb'), ['unpack', join(bundle, name), unpacked], folder);
    assert.match(run(tool('mcpb'), ['validate', unpacked], folder), /validation passes/);
  }
});

// What static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json and the registry's own validators require of such an entry (read
// on 2026-11-29; the entry was then valid by the schema).
test('the entry of the MCP registry has what the registry requires', () => {
  const { $schema, name, description, version, repository, packages, ...more } = JSON.parse(
    readFileSync(join(bundle, 'server.json'), 'utf8'),
  );
  assert.deepEqual(more, {});
  assert.equal($schema, 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json');
  assert.match(name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  assert.ok(name.length <= 200 && description.length > 0 && description.length <= 100);
  assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/);
  assert.deepEqual(repository, { url: 'https://github.com/toolwire/toolwire', source: 'github' });
  const kinds = packages.map(({ registryType }) => registryType);
  assert.deepEqual([...new Set(kinds)], ['npm', 'pypi', 'mcpb']);
  for (const { registryType, identifier, transport, ...rest } of packages) {
    assert.deepEqual(transport, { type: 'stdio' });
    if (registryType === 'mcpb') {
      // The registry has refused a `version` here, and accepts entries without it.
      assert.deepEqual(Object.keys(rest), ['fileSha256']);
      assert.match(rest.fileSha256, /^[a-f0-9]{64}$/);
      assert.match(identifier, /^https:\/\/github\.com\/toolwire\/toolwire\/releases\/download\/v[^/]+\/[^/]+\.mcpb$/);
      continue;
    }
    assert.deepEqual(Object.keys(rest), ['version', 'runtimeHint', 'packageArguments']);
    assert.deepEqual([identifier, rest.version], ['toolwire', version]);
    assert.match(rest.runtimeHint, /^(npx|uvx)$/);
    for (const argument of rest.packageArguments) {
      const { type, name, value, description = '', isRequired = false, format = 'string', ...other } = argument;
      assert.deepEqual(other, {});
      assert.ok(type === 'named' ? typeof name === 'string' : type === 'positional' && typeof value === 'string');
      assert.deepEqual([typeof description, typeof isRequired], ['string', 'boolean']);
      assert.match(format, /^(string|number|boolean|filepath)$/);
    }
  }
});
