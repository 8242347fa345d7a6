// Builds the site into dist/: the pages at their paths, VitePress, the addresses of earlier pages, and the playground next to them.

import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vitepress';

import { pages, ROOT, SITE } from './pages.js';
import { redirect, redirects } from './redirects.js';

const staged = join(SITE, 'target/pages');
rmSync(staged, { recursive: true, force: true });
for (const [source, page] of pages) {
  const target = join(staged, page);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(ROOT, source), target);
}
for (const folder of ['images', 'performance'])
  cpSync(join(ROOT, 'docs', folder), join(staged, folder), { recursive: true });

await build(SITE);

for (const [from, target] of redirects) {
  const file = join(SITE, 'dist', from);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, redirect(process.env.DOCS_BASE ?? '/', target));
}

const playground = join(ROOT, 'npm/playground/dist');
if (!existsSync(join(playground, 'index.html'))) {
  throw new Error(
    'expected the playground in npm/playground/dist, found none; build it with `scripts/site.sh playground build`',
  );
}
cpSync(playground, join(SITE, 'dist/playground'), { recursive: true });
