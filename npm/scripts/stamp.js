// Marks WebAssembly with a label in a custom section, which engines ignore and `WebAssembly.Module.customSections` reads, so that
// the slim entry point can check that a file belongs to it.

import { createHash } from 'node:crypto';

/** Appends a section `toolwire` to the bytes: the label, and a digest that distinguishes two builds of one version. */
export function stamped(wasm, label) {
  const stamp = `${label} ${createHash('sha256').update(wasm).digest('hex').slice(0, 16)}`;
  return {
    stamp,
    bytes: Buffer.concat([wasm, Buffer.of(CUSTOM), sized(Buffer.concat([sized(NAME), Buffer.from(stamp)]))]),
  };
}

/** The identifier of a custom section in WebAssembly's binary format. */
const CUSTOM = 0;
const NAME = Buffer.from('toolwire');

/** Prefixes bytes with their length in LEB128, WebAssembly's encoding, of which one byte suffices here. */
function sized(bytes) {
  if (bytes.length >= 0x80) throw new RangeError(`expected fewer than 128 bytes, found ${bytes.length}`);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}
