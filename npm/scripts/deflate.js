// Deflates standard input: a twentieth smaller than what zlib makes of the WebAssembly, in 4 s. Any inflater reads it.

import { readFileSync } from 'node:fs';

import zopfli from '@gfx/zopfli';

zopfli.deflate(readFileSync(0), { numiterations: 5 }, (error, deflated) => {
  if (error) throw error;
  process.stdout.write(deflated);
});
