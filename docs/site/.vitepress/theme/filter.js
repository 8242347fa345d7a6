// The filter of the page of rules, without its controls. The sections are read from the page, so that the page needs no other data.

/** Returns the dialects that the text of a section names, among all dialects. */
export function dialectsOf(text, all) {
  const found = new Set();
  const sentences = text.matchAll(
    /(?:Refused|Reinterpreted|Ignored) by (all dialects)?(?: except )?([^.]*)\.|In the fixtures of ([^.]*)\./g,
  );
  for (const [, every, named = '', used = ''] of sentences) {
    const names = new Set(`${named}, ${used}`.split(',').map((name) => name.trim()));
    for (const name of all) if (names.has(name) !== (every !== undefined)) found.add(name);
  }
  return found;
}

/** Returns true if a section of `{ kind, text, dialects }` fits the filter of `{ kind, words, dialect }`, whose members may be empty. */
export function fits(section, { kind, words, dialect }) {
  const text = section.text.toLowerCase();
  const isNamed = words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
  return (kind === '' || section.kind === kind) && (dialect === '' || section.dialects.has(dialect)) && isNamed;
}
