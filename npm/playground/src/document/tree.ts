/** JSON text as places: where in the text a JSON Pointer's key and value stand. Knows nothing of schemas or tools. */

import { type Node, type ParseError, parseTree } from 'jsonc-parser';

/** Where something stands in a text. */
export interface Place {
  from: number;
  to: number;
  /** Where the property's name stands; the value itself for what is no property. */
  nameFrom: number;
  nameTo: number;
}

/** The tree of a text; `undefined` if it is not JSON. What is wrong with it is toolwire's to say. */
export function read(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const tree = readAsFar(text, errors);
  return errors.length === 0 ? tree : undefined;
}

/** The tree of what could be read. */
function readAsFar(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { disallowComments: true });
  } catch {
    // Nested deeper than the stack: toolwire refuses that with a pointer.
    return undefined;
  }
}

/** A JSON Pointer's next token (RFC 6901). */
export function token(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The children of a node with their tokens: properties by their names, elements by their numbers. */
export function* children(node: Node): Generator<{ name: string | number; value: Node; property: Node | undefined }> {
  let index = 0;
  for (const child of node.children ?? []) {
    if (node.type === 'array') yield { name: index++, value: child, property: undefined };
    else {
      const [name, value] = child.children ?? [];
      if (name !== undefined && value !== undefined) yield { name: String(name.value), value, property: name };
    }
  }
}

/** The child of a node by its name or number. */
export function child(node: Node | undefined, name: string | number): Node | undefined {
  if (node === undefined) return undefined;
  for (const each of children(node)) if (each.name === name) return each.value;
  return undefined;
}

/** Every place in a text by its pointer. Of several properties with one name the first counts, as with toolwire. */
export function places(text: string): Map<string, Place> {
  const found = new Map<string, Place>();
  const root = readAsFar(text, []);
  if (root === undefined) return found;
  const open: { node: Node; pointer: string; property: Node | undefined }[] = [
    { node: root, pointer: '', property: undefined },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, pointer, property } = next;
    if (found.has(pointer)) continue;
    const name = property ?? node;
    const to = node.offset + node.length;
    // Of an object or array that is no property, the bracket.
    const nameTo = property === undefined && node.children !== undefined ? node.offset + 1 : name.offset + name.length;
    found.set(pointer, { from: name.offset, to, nameFrom: name.offset, nameTo });
    const below = [...children(node)].map(({ name, value, property }) => ({
      node: value,
      pointer: pointer + token(name),
      property,
    }));
    open.push(...below.reverse());
  }
  return found;
}

/** The place of a pointer, or of the nearest thing above it that stands in the text. */
export function nearest(found: Map<string, Place>, pointer: string): Place | undefined {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = found.get(at);
    if (place !== undefined || at === '') return place;
  }
}
