/** Locations in JSON text: the key and the value at a JSON Pointer. Independent of schemas and tools. */

import { type Node, type ParseError, parseTree } from 'jsonc-parser';

/** A location in the text. */
export interface Place {
  from: number;
  to: number;
  /** Start of the property's name, or of the value if it is not a property. */
  nameFrom: number;
  nameTo: number;
}

/** Returns the tree of JSON text; `undefined` if it is not JSON. Toolwire reports what is wrong with it. */
export function read(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const tree = readAsFar(text, errors);
  return errors.length === 0 ? tree : undefined;
}

/** Returns the tree of the part that could be read. */
function readAsFar(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { disallowComments: true });
  } catch {
    // The text is nested deeper than the stack allows. Toolwire refuses it with a pointer.
    return undefined;
  }
}

/** Returns a token of a JSON Pointer with its slash (RFC 6901). */
export function token(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the children of a node with their tokens: properties by name, elements by index. */
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

/** Returns the child of a node by name or index. */
export function child(node: Node | undefined, name: string | number): Node | undefined {
  if (node === undefined) return undefined;
  for (const each of children(node)) if (each.name === name) return each.value;
  return undefined;
}

/** The locations in a text, by pointer. */
export class Places {
  readonly #root: Node | undefined;
  /** Filled on demand. The keys are not pointers, because pointers into a deeply nested text are as long as the text. */
  readonly #members = new Map<Node, Map<string, FoundNode>>();

  constructor(text: string) {
    this.#root = readAsFar(text, []);
  }

  /** Returns the location of a pointer. */
  at(pointer: string): Place | undefined {
    const { found, isWhole } = this.#walk(pointer);
    return isWhole ? found && placeOf(found) : undefined;
  }

  /** Returns the location of a pointer, or of its nearest ancestor that exists in the text. */
  nearest(pointer: string): Place | undefined {
    const { found } = this.#walk(pointer);
    return found && placeOf(found);
  }

  /** Returns the value at a pointer. */
  value(pointer: string): Node | undefined {
    const { found, isWhole } = this.#walk(pointer);
    return isWhole ? found?.value : undefined;
  }

  /** Follows a pointer to its value, or to the nearest ancestor that exists. */
  #walk(pointer: string): { found: FoundNode | undefined; isWhole: boolean } {
    let found: FoundNode | undefined = this.#root && { value: this.#root, property: undefined };
    for (const step of pointer.split('/').slice(1)) {
      const below: FoundNode | undefined =
        found && this.#below(found.value, step.replaceAll('~1', '/').replaceAll('~0', '~'));
      if (below === undefined) return { found, isWhole: false };
      found = below;
    }
    return { found, isWhole: true };
  }

  /** Returns a child. Of several properties with the same name the first is used, as in toolwire. */
  #below(node: Node, name: string): FoundNode | undefined {
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

interface FoundNode {
  value: Node;
  property: Node | undefined;
}

function placeOf({ value, property }: FoundNode): Place {
  const name = property ?? value;
  // An object or array that is not a property is marked at its bracket.
  const isBracket = property === undefined && value.children !== undefined;
  const nameTo = isBracket ? value.offset + 1 : name.offset + name.length;
  return { from: name.offset, to: value.offset + value.length, nameFrom: name.offset, nameTo };
}
