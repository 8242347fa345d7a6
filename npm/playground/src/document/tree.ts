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

/** A text's places by their pointers. */
export class Places {
  readonly #root: Node | undefined;
  /** Made when they are needed. No pointers as keys: those of a deep text are as long as the text. */
  readonly #members = new Map<Node, Map<string, Found>>();

  constructor(text: string) {
    this.#root = readAsFar(text, []);
  }

  /** The place of a pointer. */
  at(pointer: string): Place | undefined {
    const { found, isWhole } = this.#walk(pointer);
    return isWhole ? found && placeOf(found) : undefined;
  }

  /** The place of a pointer, or of the nearest thing above it that stands in the text. */
  nearest(pointer: string): Place | undefined {
    const { found } = this.#walk(pointer);
    return found && placeOf(found);
  }

  /** Follows a pointer as far as it leads. */
  #walk(pointer: string): { found: Found | undefined; isWhole: boolean } {
    let found: Found | undefined = this.#root && { value: this.#root, property: undefined };
    for (const step of pointer.split('/').slice(1)) {
      const below: Found | undefined =
        found && this.#below(found.value, step.replaceAll('~1', '/').replaceAll('~0', '~'));
      if (below === undefined) return { found, isWhole: false };
      found = below;
    }
    return { found, isWhole: true };
  }

  /** Of several properties with one name the first counts, as with toolwire. */
  #below(node: Node, name: string): Found | undefined {
    if (node.type === 'array') {
      const value = /^(?:0|[1-9]\d*)$/.test(name) ? node.children?.[Number(name)] : undefined;
      return value && { value, property: undefined };
    }
    let members = this.#members.get(node);
    if (members === undefined) {
      members = new Map();
      for (const { name, value, property } of children(node)) {
        if (!members.has(String(name))) members.set(String(name), { value, property });
      }
      this.#members.set(node, members);
    }
    return members.get(name);
  }
}

interface Found {
  value: Node;
  property: Node | undefined;
}

function placeOf({ value, property }: Found): Place {
  const name = property ?? value;
  // Of an object or array that is no property, the bracket.
  const isBracket = property === undefined && value.children !== undefined;
  const nameTo = isBracket ? value.offset + 1 : name.offset + name.length;
  return { from: name.offset, to: value.offset + value.length, nameFrom: name.offset, nameTo };
}
