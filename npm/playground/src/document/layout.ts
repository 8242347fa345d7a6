/** Formats JSON text for reading. Numbers and strings keep their spelling, and short leaves of a schema stay on one line. */

import type { Node } from 'jsonc-parser';

import { children, read } from './tree.js';

/** Maximum width of a line before its object or array is split. */
const WIDTH = 64;

/** Returns the formatted text; the same text if it is not JSON. */
export function layout(text: string): string {
  const root = read(text);
  return root === undefined ? text : write(text, root, 0);
}

function write(text: string, node: Node, indent: number): string {
  if (node.children === undefined) return source(text, node);
  const [open, close] = node.type === 'array' ? '[]' : '{}';
  if (node.children.length === 0) return `${open}${close}`;
  const short = indent === 0 ? undefined : inline(text, node, WIDTH - indent, 0);
  if (short !== undefined) return short;
  const inner = ' '.repeat(indent + 2);
  const lines = [...children(node)].map(({ value, property }) => {
    const name = property === undefined ? '' : `${source(text, property)}: `;
    return `${inner}${name}${write(text, value, indent + 2)}`;
  });
  return `${open}\n${lines.join(',\n')}\n${' '.repeat(indent)}${close}`;
}

/** Formats a node on one line, if it fits and is not nested deeper than a list of values. */
function inline(text: string, node: Node, width: number, depth: number): string | undefined {
  if (node.children === undefined) return node.length <= width ? source(text, node) : undefined;
  const [open, close] = node.type === 'array' ? '[]' : '{}';
  if (node.children.length === 0) return `${open}${close}`;
  if (depth > 1 || (depth === 1 && node.type === 'object')) return undefined;
  const parts: string[] = [];
  let left = width - 2;
  for (const { value, property } of children(node)) {
    const name = property === undefined ? '' : `${source(text, property)}: `;
    const part = inline(text, value, left - name.length, depth + 1);
    if (part === undefined) return undefined;
    parts.push(name + part);
    left -= name.length + part.length + 2;
    if (left < 0) return undefined;
  }
  return node.type === 'array' ? `[${parts.join(', ')}]` : `{ ${parts.join(', ')} }`;
}

function source(text: string, node: Node): string {
  return text.slice(node.offset, node.offset + node.length);
}
