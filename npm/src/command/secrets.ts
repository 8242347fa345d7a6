/** Redacts a server's secrets in messages about the server, because an error may repeat them. */

import { hidden } from './hidden.js';

/** Minimum length of a secret. Shorter values are not redacted, because they occur in ordinary words. */
const MIN_LENGTH = 6;
const HIDDEN = '…';
/** Maximum number of characters in an error for one character of a secret, if escapes are escaped again. */
const MAX_ESCAPE = 16;

/**
 * The configuration of a program (its environment) or of a remote server (URL and headers). `secrets` are the values of
 * the variables that were substituted into it.
 */
type ServerConfig = { secrets?: string[] } & (
  | { inherited: string[]; environment: Record<string, string> }
  | { url: string; headers: Record<string, string> }
);

/** Redacts the values of headers and variables in text, and the URL's user, query and fragment. */
export function withoutSecrets(text: string, server: ServerConfig): string {
  return hidden(text, secretsOf(server), HIDDEN);
}

/**
 * Like {@link withoutSecrets}, for the end of a longer text. Its first `longestSecret` characters are omitted, because
 * they may be the rest of a secret.
 */
export function endWithoutSecrets(text: string, server: ServerConfig): string {
  return hidden(text, secretsOf(server), HIDDEN, longestSecret(server));
}

/** Returns the maximum number of characters that a server's secret may have in text. */
export function longestSecret(server: ServerConfig): number {
  return MAX_ESCAPE * Math.max(0, ...[...secretsOf(server)].map((secret) => secret.length));
}

/** Returns the secrets of a server. */
function secretsOf(server: ServerConfig): Set<string> {
  const secrets = new Set<string>();
  const add = (value: string) => {
    if (value.length >= MIN_LENGTH) secrets.add(value);
  };
  for (const value of server.secrets ?? []) add(value);
  if ('environment' in server) {
    for (const value of Object.values(server.environment)) add(value);
    for (const name of server.inherited) add(process.env[name] ?? '');
  } else {
    for (const value of Object.values(server.headers)) {
      add(value);
      // The credentials after a scheme, as in `Bearer …`.
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
