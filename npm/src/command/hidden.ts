/** Redacts secrets in text, even if their characters are escaped. */

/** Maximum depth of nested escapes that are decoded: JSON in a JSON string has depth 2. */
const DEPTH = 4;
/** An escaped character in JSON, in a URL or in HTML. */
const ESCAPE =
  /\\u([\da-f]{4})|\\(["'\\/bfnrt])|((?:%[0-7]|%[cd][\da-f]%[89ab]|%e[\da-f](?:%[89ab][\da-f])%[89ab]|%f[0-7](?:%[89ab][\da-f]){2}%[89ab])[\da-f])|&#(\d{1,7});|&#x([\da-f]{1,6});|&(amp|lt|gt|quot|apos);/gi;
const CONTROLS: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Returns the text in which `instead` replaces each secret. Overlapping secrets are replaced as one.
 *
 * @param from - Offset at which the returned part of the text begins.
 */
export function hidden(text: string, secrets: Iterable<string>, instead: string, from = 0): string {
  const plain = unescaped(text);
  const places: [number, number][] = [];
  for (const secret of secrets) {
    places.push(...found(text, secret));
    for (const [start, end] of found(plain.text, unescaped(secret).text)) {
      places.push([plain.places[start] as number, plain.places[end] as number]);
    }
  }
  places.sort(([one], [other]) => one - other);
  let shown = '';
  let done = 0;
  for (const [start, end] of places) {
    if (start >= done) shown += text.slice(Math.max(done, from), Math.max(start, from)) + (end > from ? instead : '');
    done = Math.max(done, end);
  }
  return shown + text.slice(Math.max(done, from));
}

/** Yields the start and end of each occurrence of a secret in the text. */
function* found(text: string, secret: string): Generator<[number, number]> {
  if (secret === '') return;
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
    yield [at, at + secret.length];
  }
}

/** Decodes the escapes in the text. `places` maps each offset in the decoded text, end included, to the given text. */
function unescaped(text: string): { text: string; places: Uint32Array } {
  let plain = text;
  let places = Uint32Array.from({ length: text.length + 1 }, (_, at) => at);
  for (let depth = 0; depth < DEPTH; depth++) {
    let next = '';
    const kept = new Uint32Array(plain.length + 1);
    let done = 0;
    for (const match of plain.matchAll(ESCAPE)) {
      const character = meant(match);
      kept.set(places.subarray(done, match.index), next.length);
      next += plain.slice(done, match.index);
      kept.fill(places[match.index] as number, next.length, next.length + character.length);
      next += character;
      done = match.index + match[0].length;
    }
    if (done === 0) break;
    kept.set(places.subarray(done), next.length);
    plain = next + plain.slice(done);
    places = kept.subarray(0, plain.length + 1);
  }
  return { text: plain, places };
}

/** Returns the character that an escape represents. */
function meant([whole, unit, letter, bytes, decimal, hexadecimal, name]: RegExpMatchArray): string {
  if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
  if (letter !== undefined) return CONTROLS[letter] ?? letter;
  if (bytes !== undefined) return Buffer.from(bytes.replaceAll('%', ''), 'hex').toString();
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
  const point = Number.parseInt(decimal ?? hexadecimal ?? '', decimal === undefined ? 16 : 10);
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
}
