// Checks the Kubernetes files of docs/deploy: their types, and the commands and probes of their relays, which are run.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import yaml from 'js-yaml';

import { deepseek, kimi, served } from '../../../tests/clients/apis.js';
import { environment, relayOf } from '../../../tests/clients/pages.js';
import { PROGRAM } from '../../../tests/program.js';

const run = promisify(execFile);
const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const documents = (name) => yaml.loadAll(readFileSync(file(`../../../docs/deploy/${name}.yaml`), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'toolwire-deploy-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const limits = { skip: process.platform === 'win32' && 'the fakes are shell scripts', timeout: 60_000 };

/** The modules of kubernetes-types. */
const MODULES = { Deployment: 'apps/v1', Service: 'core/v1' };

/** Compiles documents as object literals, in which unknown members are errors. Returns the compiler's messages. */
async function typeErrors(list) {
  const place = join(file('..'), 'dist', 'deploy');
  mkdirSync(place, { recursive: true });
  const lines = list.map(
    (it, at) =>
      `import type { ${it.kind} as T${at} } from 'kubernetes-types/${MODULES[it.kind]}';\nexport const d${at}: T${at} = ${JSON.stringify(it)};\n`,
  );
  writeFileSync(join(place, 'documents.ts'), lines.join(''));
  const tsc = file('../../node_modules/typescript/bin/tsc');
  const options = '--noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --ignoreConfig'.split(
    ' ',
  );
  const { stdout } = await run(process.execPath, [tsc, ...options, 'documents.ts'], { cwd: place }).catch((e) => e);
  return stdout;
}

test('the Kubernetes files match the types of their kinds', async () => {
  const list = ['kubernetes-sidecar', 'kubernetes-service'].flatMap(documents);
  assert.deepEqual(
    list.map(({ kind }) => kind),
    ['Deployment', 'Deployment', 'Service'],
  );
  assert.equal(await typeErrors(list), '');
  list[0].spec.template.spec.initContainers[0].imagee = 'node:22';
  assert.match(await typeErrors(list), /'"imagee"' does not exist/);
});

/** Returns a command as a line for a shell. */
const line = (command) => command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');

/** Returns the command that the image starts. */
const started = (args) => [PROGRAM, ...args];

test('the sidecar runs, and its probe succeeds only while it runs', limits, async (t) => {
  const [{ spec }] = documents('kubernetes-sidecar');
  const [{ args, startupProbe }] = spec.template.spec.initContainers;
  const [agent] = spec.template.spec.containers;
  assert.equal(agent.env[0].value, 'http://127.0.0.1:8787');
  const fake = await served(kimi);
  t.after(fake.close);
  const relay = await relayOf(line(started(args)), environment(folder), fake.url);
  t.after(relay.close);
  const here = (word) => word.replace('127.0.0.1:8787', new URL(relay.url).host).replace('/usr/bin/toolwire', PROGRAM);
  const probe = startupProbe.exec.command.map(here);
  await run('/bin/sh', ['-c', line(probe)]);
  const messages = [{ role: 'user', content: 'Hello' }];
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
  const body = JSON.stringify({ model: 'kimi-k3', max_tokens: 9, messages });
  assert.equal((await fetch(`${relay.url}/v1/messages`, { ...init, body })).status, 200);
  assert.deepEqual([...fake.hosts], ['api.moonshot.ai']);
  await relay.close();
  await assert.rejects(run('/bin/sh', ['-c', line(probe)]));
});

test('the service requires its token, and its probes do not', limits, async (t) => {
  const [deployment, service] = documents('kubernetes-service');
  const [{ args, readinessProbe, livenessProbe, ports }] = deployment.spec.template.spec.containers;
  assert.equal(service.spec.ports[0].targetPort, ports[0].name);
  const at = args.indexOf('0.0.0.0:8787');
  assert.ok(at > 0);
  assert.equal(ports[0].containerPort, 8787);
  const fake = await served(deepseek);
  t.after(fake.close);
  const env = { ...environment(folder), TOOLWIRE_TOKEN: 'secret' };
  const relay = await relayOf(line(started(args.with(at, '0.0.0.0:0'))), env, fake.url);
  t.after(relay.close);
  const url = relay.url.replace('0.0.0.0', '127.0.0.1');
  for (const { httpGet } of [readinessProbe, livenessProbe]) {
    assert.equal(httpGet.port, ports[0].name);
    assert.equal((await fetch(url + httpGet.path)).status, 200);
  }
  const ask = (token) => {
    const headers = { 'Content-Type': 'application/json', ...token };
    const body = JSON.stringify({ model: 'kimi-k3', messages: [{ role: 'user', content: 'Hello' }], stream: true });
    return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  };
  assert.equal((await ask()).status, 401);
  const answered = await ask({ 'X-Toolwire-Token': 'secret' });
  assert.match(await answered.text(), /It is sunny/);
});
