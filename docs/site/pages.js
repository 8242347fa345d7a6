// The files of the repository that are pages of the site, and their paths on it.

import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SITE = dirname(fileURLToPath(import.meta.url));
export const ROOT = join(SITE, '..', '..');
export const REPOSITORY = 'https://github.com/toolwire/toolwire';

/** Pages at the root of the repository, by their names on the site. */
const AT_ROOT = {
  'README.md': 'index.md',
  'ARCHITECTURE.md': 'architecture.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
};

/** All files that git tracks or would add. */
export const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: 1 << 26,
})
  .split('\n')
  .filter(Boolean);

/** The pages: from the path in the repository to the path on the site. */
export const pages = new Map(
  tracked
    .filter(
      (path) => path in AT_ROOT || (path.startsWith('docs/') && path.endsWith('.md') && !path.startsWith('docs/site/')),
    )
    .map((path) => [path, AT_ROOT[path] ?? path.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md')]),
);

/** The inverse of `pages`: from the path on the site to the path in the repository. */
export const sources = new Map([...pages].map(([source, page]) => [page, source]));
