// The files of the repository that are pages of the site, and their paths on it.

import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { navigation } from './navigation.js';

export const SITE = dirname(fileURLToPath(import.meta.url));
export const ROOT = join(SITE, '..', '..');
export const REPOSITORY = 'https://github.com/toolwire/toolwire';

/** Pages at the root of the repository, by their names on the site. */
const AT_ROOT = { 'README.md': 'index.md', 'SECURITY.md': 'security.md' };

/** All files that git tracks or would add. */
export const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: 1 << 26,
})
  .split('\n')
  .filter(Boolean);

/** The path on the site of a file of the repository. */
const onSite = (path) => AT_ROOT[path] ?? path.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md');

/** The page of each dialect, which the navigation lists below the dialects. */
export const dialects = tracked.filter((path) => /^docs\/dialects\/(?!README).*\.md$/.test(path)).sort();

/** The pages: from the path in the repository to the path on the site. */
export const pages = new Map(
  [...navigation.flatMap(([, items]) => items.map(([, path]) => path)), ...dialects].map((path) => [
    path,
    onSite(path),
  ]),
);

/** The inverse of `pages`: from the path on the site to the path in the repository. */
export const sources = new Map([...pages].map(([source, page]) => [page, source]));
