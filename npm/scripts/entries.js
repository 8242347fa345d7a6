// The entries of the package, and the files each is made into.

/**
 * Each entry: its module in src/, the module of its slim form if it has one, the folder of its WebAssembly and the cargo features in that,
 * and what the `.wasm` file is called, less `.wasm`.
 */
export const ENTRIES = [
  { name: 'index', slim: 'slim', folder: 'pkg/index', features: ['functions'], wasm: 'toolwire' },
];

/**
 * The program that the package installs: nobody imports it, so it has its WebAssembly from the file beside it, which is compiled for size:
 * what takes a program time is to start.
 */
export const PROGRAM = { name: 'command', folder: 'pkg/command', features: ['command'], wasm: 'command', small: 'z' };

/** Entries without WebAssembly of their own: each takes what it needs from the file of another entry beside it. */
export const COMPANIONS = [
  { name: 'fetch', beside: 'index' },
  { name: 'ai', beside: 'index' },
  { name: 'mastra', beside: 'index' },
  { name: 'langchain', beside: 'index', external: ['@langchain/*'] },
];

/** The files of an entry: which module, from where it has the WebAssembly (src/engine/source/), and as which modules. */
export function filesOf({ name, slim }) {
  if (name === PROGRAM.name) {
    const external = ['node:*', '@modelcontextprotocol/*'];
    return [{ module: 'command/main', file: name, source: 'beside', formats: ['esm'], external }];
  }
  const files = [
    { module: name, file: name, source: 'inlined', formats: ['esm'] },
    { module: name, file: name, source: 'nearby', formats: ['cjs'] },
    // Workers have no CommonJS.
    { module: name, file: `${name}.workerd`, source: 'imported', formats: ['esm'] },
  ];
  return slim ? [...files, { module: slim, file: slim, source: 'given', formats: ['esm', 'cjs'] }] : files;
}
