/**
 * A compiled `WebAssembly.Module`. That type is not used, because only TypeScript's DOM library
 * declares it, as an empty interface, to which a promise would be assignable.
 */
export type WasmModule = object & { then?: never };

/** The argument of `init`: the bytes of the `.wasm` file, or the module compiled from them. */
export type WasmSource = WasmModule | ArrayBuffer | ArrayBufferView;
