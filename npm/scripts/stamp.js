// Marks WebAssembly with what it is, in a section that engines ignore and `WebAssembly.Module.customSections` reads, so that
// who is given a file from elsewhere can tell whether it fits.

import { createHash } from 'node:crypto';

/** The bytes with a section `toolwire` at the end: the label, and a digest that tells two builds of one version apart. */
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

/** Bytes after their number, as WebAssembly writes it: in LEB128, of which one byte is enough here. */
function sized(bytes) {
  if (bytes.length >= 0x80) throw new RangeError(`expected fewer than 128 bytes, found ${bytes.length}`);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}
