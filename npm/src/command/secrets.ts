/** What a server was given in confidence, taken out of what is said about it: an error may repeat it. */

/** What is shorter says nothing, and stands in too many words. */
const SHORTEST = 6;
const HIDDEN = '…';

/** What a server gets: a program by its environment, an address. */
type Given = { secrets: string[] } & (
  | { inherited: string[]; environment: Record<string, string> }
  | { url: string; headers: Record<string, string> }
);

/** A text without the values of headers and variables, wherever these stand, and without query, fragment and user of the address. */
export function withoutSecrets(text: string, server: Given): string {
  const secrets = new Set<string>();
  const add = (value: string) => {
    if (value.length >= SHORTEST) for (const spelt of spelled(value)) secrets.add(spelt);
  };
  for (const value of server.secrets) add(value);
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
  // The longest first: it may have others in it.
  const inOrder = [...secrets].sort((one, other) => other.length - one.length);
  return inOrder.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
}

/** A value as an address may have it, and without what is encoded there. */
function spelled(value: string): string[] {
  try {
    return [value, encodeURIComponent(value), decodeURIComponent(value)];
  } catch {
    return [value];
  }
}
