/** The host's globals that are used here, declared so that this package does not require the types of Node. */

/** Node's globals, which Deno and Bun also have, and the one that identifies Deno. */
export interface Host {
  Deno?: object;
  Buffer?: { from(text: string, encoding: 'base64'): Uint8Array<ArrayBuffer> };
  process?: { getBuiltinModule?: <N extends keyof Builtin>(name: N) => Builtin[N] };
}

interface Builtin {
  'node:fs': { readFileSync(path: string): Uint8Array<ArrayBuffer> };
  'node:zlib': { inflateRawSync(bytes: Uint8Array, options: { chunkSize: number }): Uint8Array<ArrayBuffer> };
}

/** Identifies a module: returns the text of its custom section `toolwire`. */
export function stampOf(module: WebAssembly.Module): string | undefined {
  const [section] = WebAssembly.Module.customSections(module, 'toolwire');
  return section && new TextDecoder().decode(section);
}
