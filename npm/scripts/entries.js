// The entry points of the package, and the files that are built for each.

/**
 * The entry points: the module in src/, the module of its slim form if it has one, the folder and the cargo features of
 * its WebAssembly, and the name of the `.wasm` file without `.wasm`.
 */
export const ENTRIES = [
  { name: 'index', slim: 'slim', folder: 'pkg/index', features: ['functions'], wasm: 'toolwire' },
];

/**
 * The command line for the playground, which is not part of the package. A quick build has the features of the package, too, so that the core
 * is compiled once for both.
 */
export const COMMAND = { folder: 'pkg/command', features: ['command'], quick: ['functions', 'command'], small: 'z' };

/** Entry points without their own WebAssembly. Each imports the file of another entry point next to it. */
export const COMPANIONS = [
  { name: 'fetch', beside: 'index' },
  { name: 'ai', beside: 'index' },
  { name: 'mastra', beside: 'index' },
  { name: 'mcp', beside: 'index' },
  { name: 'langchain', beside: 'index', external: ['@langchain/*'] },
];

/** Returns the files of an entry point: the module, the source of its WebAssembly (src/engine/source/), and the module systems. */
export function filesOf({ name, slim }) {
  const files = [
    { module: name, file: name, source: 'inlined', formats: ['esm'] },
    { module: name, file: name, source: 'nearby', formats: ['cjs'] },
    // Workers do not support CommonJS.
    { module: name, file: `${name}.workerd`, source: 'imported', formats: ['esm'] },
  ];
  return slim ? [...files, { module: slim, file: slim, source: 'given', formats: ['esm', 'cjs'] }] : files;
}
