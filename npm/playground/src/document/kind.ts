/** Detects the kind of a text: a schema, a tool, a list of tools, a response format or a request. Locates its tools and their schemas. */

import type { Node } from 'jsonc-parser';
import type { ToolFormat } from 'toolwire';

import { child, children, read, token } from './tree.js';

export type Kind = 'schema' | 'tool' | 'tools' | 'format' | 'request' | 'nothing';

/** A tool in a text. */
export interface ToolPlace {
  name: string;
  /** Pointer to the tool. */
  pointer: string;
  /** Its schema, if it has one. */
  schema: { node: Node; pointer: string } | undefined;
  format: ToolFormat | undefined;
}

/** A text and its contents. */
export interface Document {
  text: string;
  kind: Kind;
  tools: ToolPlace[];
  /** The list that holds the tools: an array, or the text of one. */
  list: Node | undefined;
  /** The schema of a response format. */
  format?: { node: Node; pointer: string };
}

export function documentOf(text: string): Document {
  const root = read(text);
  const nothing: Document = { text, kind: 'nothing', tools: [], list: undefined };
  if (text.trim() === '' || root === undefined) return nothing;
  if (root.type === 'array') return { text, kind: 'tools', tools: toolsIn(root, ''), list: root };
  if (root.type !== 'object') return { ...nothing, kind: 'schema' };
  const list = child(root, 'tools');
  const conversation = ['messages', 'input', 'contents'].some((name) => child(root, name)?.type === 'array');
  if (conversation || (list?.type === 'array' && child(root, 'model') !== undefined)) {
    return { text, kind: 'request', tools: list?.type === 'array' ? toolsIn(list, '/tools') : [], list };
  }
  if (list?.type === 'array') return { text, kind: 'tools', tools: toolsIn(list, '/tools'), list };
  const tool = toolAt(root, '');
  if (tool !== undefined) return { text, kind: 'tool', tools: [tool], list: undefined };
  const format = formatIn(root);
  if (format !== undefined) return { ...nothing, kind: 'format', format };
  return { ...nothing, kind: 'schema' };
}

/** Finds the schema of a response format: of Chat Completions and Responses, of Cohere, and of Bedrock Converse without its text. */
function formatIn(root: Node): Document['format'] {
  if (!['json_schema', 'json_object'].includes(String(child(root, 'type')?.value))) return undefined;
  for (const path of [['json_schema', 'schema'], ['schema'], ['json_schema']]) {
    const node = path.reduce<Node | undefined>((at, name) => child(at, name), root);
    if (node?.type === 'object') return { node, pointer: path.map(token).join('') };
  }
  return undefined;
}

function toolsIn(list: Node, pointer: string): ToolPlace[] {
  return [...children(list)].flatMap(({ name, value }) => {
    const at = pointer + token(name);
    for (const spelled of ['functionDeclarations', 'function_declarations']) {
      const declarations = child(value, spelled);
      if (declarations?.type === 'array') return toolsIn(declarations, at + token(spelled));
    }
    const named = child(value, 'name')?.value ?? child(value, 'type')?.value;
    return [toolAt(value, at) ?? { name: String(named ?? at), pointer: at, schema: undefined, format: undefined }];
  });
}

/** The place of the schema in each API's tools. */
const SHAPES: readonly (readonly [format: ToolFormat, path: readonly string[], nameIn: readonly string[]])[] = [
  ['mcp', ['inputSchema'], []],
  ['anthropic', ['input_schema'], []],
  ['openai-chat', ['function', 'parameters'], ['function']],
  ['bedrock', ['toolSpec', 'inputSchema', 'json'], ['toolSpec']],
  ['gemini-json-schema', ['parametersJsonSchema'], []],
  ['openai-responses', ['parameters'], []],
];

function toolAt(node: Node, pointer: string): ToolPlace | undefined {
  for (const [format, path, nameIn] of SHAPES) {
    const schema = path.reduce<Node | undefined>((at, name) => child(at, name), node);
    const name = child(
      nameIn.reduce<Node | undefined>((at, step) => child(at, step), node),
      'name',
    );
    if (schema === undefined || name === undefined) continue;
    // Gemini's tools look like those of Responses, except that those have a `type`.
    const gemini = format === 'openai-responses' && child(node, 'type')?.value !== 'function';
    return {
      name: String(name.value),
      pointer,
      schema: { node: schema, pointer: pointer + path.map(token).join('') },
      format: gemini ? 'gemini' : format,
    };
  }
  return undefined;
}

/** Returns a function that finds the tool into which a pointer points. */
export function toolFinder(tools: readonly ToolPlace[]): (pointer: string) => ToolPlace | undefined {
  const byPointer = new Map(tools.map((tool) => [tool.pointer, tool]));
  const longest = tools.reduce((length, { pointer }) => Math.max(length, pointer.length), 0);
  return (pointer) => {
    // No tool has a longer pointer.
    for (let at = pointer.slice(0, longest + 1); ; at = at.slice(0, at.lastIndexOf('/'))) {
      const tool = byPointer.get(at);
      if (tool !== undefined || at === '') return tool;
    }
  };
}
