/** What is asked of the host beyond the language, as far as it is used here: the types of Node must not be needed to use this package. */

/** Node's globals, which Deno and Bun have, too, and by which Deno is known. */
export interface Host {
  Deno?: object;
  Buffer?: { from(text: string, encoding: 'base64'): Uint8Array<ArrayBuffer> };
  process?: { getBuiltinModule?: <N extends keyof Builtin>(name: N) => Builtin[N] };
}

interface Builtin {
  'node:fs': { readFileSync(path: string): Uint8Array<ArrayBuffer> };
  'node:zlib': { inflateRawSync(bytes: Uint8Array, options: { chunkSize: number }): Uint8Array<ArrayBuffer> };
}

/** Which WebAssembly it is: the text of its section `toolwire`. */
export function stampOf(module: WebAssembly.Module): string | undefined {
  const [section] = WebAssembly.Module.customSections(module, 'toolwire');
  return section && new TextDecoder().decode(section);
}
