/** Takes secrets out of a text, also where others have escaped their characters. */

/** Escapes of escapes are read up to this depth: JSON in a string of JSON is 2. */
const DEPTH = 4;
/** A character as JSON, addresses and HTML write it. */
const ESCAPE =
  /\\u([\da-f]{4})|\\(["'\\/bfnrt])|((?:%[0-7]|%[cd][\da-f]%[89ab]|%e[\da-f](?:%[89ab][\da-f])%[89ab]|%f[0-7](?:%[89ab][\da-f]){2}%[89ab])[\da-f])|&#(\d{1,7});|&#x([\da-f]{1,6});|&(amp|lt|gt|quot|apos);/gi;
const CONTROLS: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * A text with something else in place of secrets. Secrets that overlap are hidden as one.
 *
 * @param from - What stands before this place is left out.
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

/** The beginnings and ends of a secret in a text. */
function* found(text: string, secret: string): Generator<[number, number]> {
  if (secret === '') return;
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
    yield [at, at + secret.length];
  }
}

/** A text without escapes, with the place in the given text of each of its characters and of its end. */
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

/** The character that an escape stands for. */
function meant([whole, unit, letter, bytes, decimal, hexadecimal, name]: RegExpMatchArray): string {
  if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
  if (letter !== undefined) return CONTROLS[letter] ?? letter;
  if (bytes !== undefined) return Buffer.from(bytes.replaceAll('%', ''), 'hex').toString();
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
  const point = Number.parseInt(decimal ?? hexadecimal ?? '', decimal === undefined ? 16 : 10);
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
}
