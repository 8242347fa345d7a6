/** What a server was given in confidence, taken out of what is said about it: an error may repeat it. */

import { hidden } from './hidden.js';

/** What is shorter says nothing, and stands in too many words. */
const SHORTEST = 6;
const HIDDEN = '…';
/** The most characters that an error has for each character of a secret, if escapes are escaped again. */
const LONGEST_ESCAPE = 16;

/** What a server gets: a program by its environment, an address. `secrets` are the values of variables that it contains. */
type Given = { secrets?: string[] } & (
  | { inherited: string[]; environment: Record<string, string> }
  | { url: string; headers: Record<string, string> }
);

/** A text without the values of headers and variables, and without query, fragment and user of the address. */
export function withoutSecrets(text: string, server: Given): string {
  return hidden(text, secretsOf(server), HIDDEN);
}

/** The same for the end of a longer text, whose first `longestSecret` characters may be the rest of a secret: they are left out. */
export function endWithoutSecrets(text: string, server: Given): string {
  return hidden(text, secretsOf(server), HIDDEN, longestSecret(server));
}

/** Maximum number of characters that a secret of a server takes in a text. */
export function longestSecret(server: Given): number {
  return LONGEST_ESCAPE * Math.max(0, ...[...secretsOf(server)].map((secret) => secret.length));
}

/** What is secret of a server. */
function secretsOf(server: Given): Set<string> {
  const secrets = new Set<string>();
  const add = (value: string) => {
    if (value.length >= SHORTEST) secrets.add(value);
  };
  for (const value of server.secrets ?? []) add(value);
  if ('environment' in server) {
    for (const value of Object.values(server.environment)) add(value);
    for (const name of server.inherited) add(process.env[name] ?? '');
  } else {
    for (const value of Object.values(server.headers)) {
      add(value);
      // After the scheme, as in `Bearer …`.
      for (const word of value.split(/\s+/).slice(1)) add(word);
    }
    const [, user = '', rest = ''] = /^[^/]*\/\/(?:([^/?#]*)@)?([\s\S]*)$/.exec(server.url) ?? [];
    if (user !== '') secrets.add(`${user}@`);
    for (const word of [user, ...user.split(':')]) add(word);
    const from = rest.search(/[?#]/);
    if (from >= 0) {
      const behind = rest.slice(from + 1);
      for (const part of behind.split('#')) {
        secrets.add(`?${part}`).add(`#${part}`);
        add(part);
      }
      for (const word of behind.split(/[&#]/)) add(word.slice(word.indexOf('=') + 1));
    }
  }
  for (const mark of ['', '?', '#']) secrets.delete(mark);
  return secrets;
}
