// Makes the same calls in Rust, Node and Python, each through the package that users install, and compares the results.
//
// A call is `{ function, options, input }` with the input as JSON text. An answer is `{ text, report, value }`: the result and the report
// for text, and the result for an object; or `{ error: { code, pointer, message } }`.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyDeferredLoading, normalizeEnvelope, sanitize, ToolwireError } from 'toolwire';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

const PROGRAMS = {
  // `scripts/build.sh` builds it.
  Rust: [join(process.env.CARGO_TARGET_DIR ?? path('../target'), 'debug/toolwire-demo'), []],
  Python: [path('../python/.venv/bin/python'), [path('calls.py')]],
};

const FUNCTIONS = {
  sanitize: { onValue: (value, options) => sanitize(value, options).schema, onText: sanitize, result: 'schema' },
  normalizeEnvelope: {
    onValue: (value, options) => normalizeEnvelope(value, options).schema,
    onText: normalizeEnvelope,
    result: 'schema',
  },
  applyDeferredLoading: {
    onValue: (value, options) => applyDeferredLoading(value, options).request,
    onText: applyDeferredLoading,
    result: 'request',
  },
};

/** Returns the answers of each language: `{ Rust, Node, Python }`. */
export async function answers(calls) {
  const [rust, python] = await Promise.all(Object.keys(PROGRAMS).map((language) => elsewhere(language, calls)));
  return { Rust: rust, Node: calls.map(inNode), Python: python };
}

function inNode({ function: name, options, input }) {
  const { onValue, onText, result } = FUNCTIONS[name];
  try {
    const { [result]: text, ...report } = onText(input, options);
    return { text, report, value: onValue(JSON.parse(input), options) };
  } catch (error) {
    if (!(error instanceof ToolwireError)) throw error;
    const { code, pointer, message } = error;
    return { error: { code, pointer, message } };
  }
}

/** Sends one JSON line per call to the language's program and reads one per answer. */
function elsewhere(language, calls) {
  const [command, args] = PROGRAMS[language];
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: path('..'), stdio: ['pipe', 'pipe', 'inherit'] });
    const fail = (reason) => reject(new Error(`the ${language} part of the demo ${reason}`));
    process.once('exit', () => child.kill());
    child.once('error', (error) => fail(`did not start: ${error.message}`));
    // A child that ends early is reported by its exit status; the broken pipe adds no information.
    child.stdin.on('error', () => {});
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    child.once('close', (status) => {
      if (status !== 0) return fail(`ended with exit status ${status}`);
      const lines = output.split('\n').filter(Boolean);
      if (lines.length !== calls.length) return fail(`gave ${lines.length} answers to ${calls.length} calls`);
      resolve(lines.map((line) => JSON.parse(line)));
    });
    child.stdin.end(calls.map((call) => `${JSON.stringify(call)}\n`).join(''));
  });
}

/** Returns the differences between languages: `[{ call, part, found: { Rust, Node, Python } }]`. Text is compared byte for byte. */
export function disagreements(calls, byLanguage) {
  const languages = Object.keys(byLanguage);
  return calls.flatMap((call, index) =>
    ['text', 'value', 'report', 'error'].flatMap((part) => {
      const found = Object.fromEntries(
        languages.map((language) => {
          const answer = byLanguage[language][index];
          // Messages of errors spell options as each language does.
          const shown = part === 'error' ? answer.error && [answer.error.code, answer.error.pointer] : answer[part];
          return [language, typeof shown === 'string' ? shown : JSON.stringify(shown)];
        }),
      );
      return new Set(Object.values(found)).size > 1 ? [{ call, part, found }] : [];
    }),
  );
}
