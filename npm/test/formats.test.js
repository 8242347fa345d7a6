// Checks the output of `check --format …` in the cases of tests/command with other readers: SARIF's own schema, a Markdown parser, the
// grammar of GitHub's workflow commands. (Python's tests read JUnit.)

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';

import { Ajv } from 'ajv';
import { marked } from 'marked';

const FOLDER = new URL('../../tests/command/', import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json') && name !== 'count.json');
const cases = files.flatMap((name) => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')));

/** Returns the outputs in a format, and the number of findings for the same input as JSON. */
function written(format) {
  const found = cases.filter(
    ({ arguments: args }) => args[args.indexOf('--format') + 1] === format && args[0] === 'check',
  );
  assert.ok(found.length > 2, format);
  return found.map((it) => ({ name: it.name, text: (it.stdout ?? []).map((line) => `${line}\n`).join('') }));
}

const SCHEMA = createRequire(import.meta.url)('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');

describe('sarif', () => {
  // The schema is draft 4, whose identifying keywords Ajv does not know.
  const { $schema: _, id: __, ...schema } = SCHEMA;
  const valid = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);
  for (const { name, text } of written('sarif')) {
    test(name, () => {
      const log = JSON.parse(text);
      assert.ok(valid(log), JSON.stringify(valid.errors));
      const [{ tool, results }] = log.runs;
      for (const { ruleId, ruleIndex, locations, relatedLocations, partialFingerprints } of results) {
        assert.equal(tool.driver.rules[ruleIndex].id, ruleId);
        assert.match(partialFingerprints['toolwire/v1'], /^[0-9a-f]{16}$/);
        // GitHub's requirements: "SARIF support for code scanning", as copies of its documentation quote it (read on
        // 2026-11-27). GitHub refuses the whole upload if a result has no file ("expected a physical location").
        assert.ok(locations.length > 0);
        for (const { physicalLocation } of [...locations, ...relatedLocations]) {
          const { artifactLocation, region } = physicalLocation;
          assert.ok(URL.canParse(artifactLocation.uri, 'file:///') && artifactLocation.uri !== '');
          for (const name of ['startLine', 'startColumn', 'endLine', 'endColumn']) assert.ok(region[name] >= 1, name);
        }
      }
      for (const { id, shortDescription, fullDescription, help } of tool.driver.rules) {
        assert.ok(id.length <= 255);
        for (const it of [shortDescription, fullDescription, help])
          assert.ok(it.text.length > 0 && it.text.length <= 1024);
      }
    });
  }
  test('the schema refuses an unknown level', () => {
    const log = JSON.parse(written('sarif')[0].text);
    log.runs[0].results[0].level = 'fatal';
    assert.equal(valid(log), false);
  });
});

describe('markdown', () => {
  for (const { name, text } of written('markdown')) {
    test(name, () => {
      const tokens = marked.lexer(text, { gfm: true });
      const kinds = new Set(tokens.map(({ type }) => type));
      for (const kind of kinds)
        assert.ok(['heading', 'paragraph', 'table', 'space', 'blockquote'].includes(kind), kind);
      const tables = tokens.filter(({ type }) => type === 'table');
      assert.equal(tables.length, tokens.filter(({ type, depth }) => type === 'heading' && depth === 3).length);
      for (const { header, rows } of tables) {
        assert.equal(header.length, 4);
        for (const row of rows) {
          // Text from a server must not become markup; it is written as code.
          for (const cell of row) {
            assert.ok(
              cell.tokens.every(({ type }) => ['text', 'escape', 'codespan'].includes(type)),
              JSON.stringify(cell.tokens),
            );
          }
        }
      }
    });
  }
});

describe('github', () => {
  // The inverse of https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts.
  const data = (text) => text.replaceAll('%0A', '\n').replaceAll('%0D', '\r').replaceAll('%25', '%');
  const property = (text) => data(text.replaceAll('%3A', ':').replaceAll('%2C', ','));
  for (const { name, text } of written('github')) {
    test(name, () => {
      for (const line of text.split('\n').slice(0, -1)) {
        const [, command, properties, message] = /^::(error|warning|notice) ([^:]*)::(.*)$/.exec(line) ?? [];
        assert.ok(command, line);
        const named = Object.fromEntries(properties.split(',').map((one) => one.split('=').map(property)));
        for (const key of Object.keys(named)) assert.ok(['file', 'line', 'col', 'title'].includes(key), line);
        assert.match(named.title, /^toolwire/);
        assert.ok(data(message).length > 0);
      }
    });
  }
});
