// The features that each client in JavaScript uses of the server of `scenario.json`. A feature returns nothing if it works, and throws
// otherwise.

import assert from 'node:assert/strict';

const TIMEOUT = 10_000;
const text = (result) => result.content[0].text;

/**
 * `client` has listTools, callTool(params, options), readResource, listResources, listResourceTemplates, listPrompts, getPrompt, and
 * `task(name)`, if the SDK has tasks.
 */
export const FEATURES = {
  async call(client) {
    const { tools } = await client.listTools();
    const add = tools.find(({ name }) => /add$/.test(name));
    const result = await client.callTool({ name: add.name, arguments: { a: 2, b: 3 } });
    assert.equal(text(result), '5');
    assert.deepEqual(result.structuredContent, { sum: 5 });
  },
  async error(client) {
    const result = await client.callTool({ name: 'broken', arguments: {} });
    assert.equal(result.isError, true);
    assert.equal(text(result), 'out of paper');
    await assert.rejects(client.readResource({ uri: 'test://none' }), ({ code }) => code === -32002 || code === -32602);
  },
  async progress(client) {
    const found = [];
    const onprogress = ({ progress, total }) => found.push([progress, total]);
    const result = await client.callTool({ name: 'count', arguments: {} }, { onprogress });
    assert.equal(text(result), 'counted');
    assert.deepEqual(found, [
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  },
  async cancellation(client) {
    const controller = new AbortController();
    const call = client.callTool({ name: 'wait', arguments: {} }, { signal: controller.signal });
    setTimeout(() => controller.abort('no longer needed'), 300);
    await assert.rejects(call);
    for (let tries = 0; tries < 20; tries += 1) {
      if (text(await client.callTool({ name: 'cancelled', arguments: {} })) === '1') return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.fail('the server was not told');
  },
  async sampling(client) {
    assert.equal(text(await client.callTool({ name: 'sample', arguments: {} })), 'Rome');
  },
  async elicitation(client) {
    assert.equal(text(await client.callTool({ name: 'ask', arguments: {} })), 'accept Ada');
  },
  async tasks(client) {
    assert.equal(text(await client.task('later')), 'done later');
  },
  async resources(client) {
    const { resources } = await client.listResources();
    assert.equal(resources.find(({ name }) => name === 'one').uri, 'test://one');
    assert.equal((await client.readResource({ uri: 'test://one' })).contents[0].text, 'first');
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.equal(resourceTemplates[0].uriTemplate, 'test://items/{id}');
    assert.equal((await client.readResource({ uri: 'test://items/7' })).contents[0].text, 'item 7');
  },
  async prompts(client) {
    const { prompts } = await client.listPrompts();
    assert.equal(prompts[0].arguments[0].name, 'who');
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } });
    assert.equal(messages[0].content.text, 'Hello, Ada');
  },
  async apps(client) {
    const { tools } = await client.listTools();
    const { ui } = tools.find(({ name }) => name === 'view')._meta;
    const { contents } = await client.readResource({ uri: ui.resourceUri });
    assert.equal(contents[0].mimeType, 'text/html;profile=mcp-app');
    assert.equal(contents[0].text, '<p>page</p>');
    assert.deepEqual(contents[0]._meta.ui, { prefersBorder: true });
  },
};

const say = (feature, outcome, why) => process.stdout.write(`${JSON.stringify({ feature, outcome, why })}\n`);

/** Uses every feature of a server, and prints a line of JSON for each. */
export async function use(connect) {
  let client;
  try {
    client = await connect();
  } catch (error) {
    say('connect', 'fails', String(error?.message ?? error));
    process.exit(0);
  }
  say('connect', 'passes');
  for (const [feature, run] of Object.entries(FEATURES)) {
    let timer;
    const patience = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT} ms`)), TIMEOUT);
    });
    try {
      await Promise.race([run(client), patience]);
      say(feature, 'passes');
    } catch (error) {
      say(feature, 'fails', String(error?.message ?? error));
    }
    clearTimeout(timer);
  }
  await Promise.race([client.close(), new Promise((resolve) => setTimeout(resolve, 2000))]);
  process.exit(0);
}
