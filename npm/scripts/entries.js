// The entries of the package, and the files each is made into.

/**
 * Each entry: its module in src/, the module of its slim form, the folder of its WebAssembly and the cargo features in that,
 * and what the `.wasm` file is called, less `.wasm`.
 */
export const ENTRIES = [
  { name: 'index', slim: 'slim', folder: 'pkg/index', features: [], wasm: 'toolwire' },
  { name: 'search', slim: 'search-slim', folder: 'pkg/search', features: ['search'], wasm: 'search' },
];

/** The files of an entry: which module, from where it has the WebAssembly (src/engine/source/), and as which modules. */
export function filesOf({ name, slim }) {
  return [
    { module: name, file: name, source: 'inlined', formats: ['esm', 'cjs'] },
    // Workers have no CommonJS.
    { module: name, file: `${name}.workerd`, source: 'imported', formats: ['esm'] },
    { module: slim, file: slim, source: 'given', formats: ['esm', 'cjs'] },
  ];
}
