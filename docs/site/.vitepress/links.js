// Converts links between files of the repository to links of the site: to a page if the target is a page, otherwise to the repository.

import { existsSync, statSync } from 'node:fs';
import { posix } from 'node:path';

import { pages, REPOSITORY, ROOT, sources } from '../pages.js';

/** Returns true if a link leads out of the repository, or to an anchor of the same page. */
const isElsewhere = (href) => /^([a-z][a-z0-9+.-]*:|#|\/\/)/i.test(href);

/** Returns the target of a link of a page, on the site. */
export function onSite(href, page) {
  if (isElsewhere(href)) return href;
  const [path, anchor] = href.split(/(?=#)/);
  const target = posix.normalize(posix.join(posix.dirname(sources.get(page) ?? page), decodeURIComponent(path)));
  const folder = posix.join(target, 'README.md');
  const found = pages.get(target) ?? pages.get(folder);
  if (found !== undefined) return `/${found}${anchor ?? ''}`;
  if (!existsSync(posix.join(ROOT, target)))
    throw new Error(`${sources.get(page)}: expected a file, found none at ${href}`);
  const kind = statSync(posix.join(ROOT, target)).isDirectory() ? 'tree' : 'blob';
  return `${REPOSITORY}/${kind}/main/${target}${anchor ?? ''}`;
}

/** Returns the path of an image on the site, relative to its page. */
function image(src, page) {
  if (isElsewhere(src)) return src;
  const target = posix.join(posix.dirname(sources.get(page) ?? page), src);
  return `./${posix.relative(posix.dirname(page), posix.relative('docs', target))}`;
}

/** A plugin of markdown-it. */
export function repositoryLinks(md) {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        if (token.type === 'link_open') token.attrSet('href', onSite(token.attrGet('href'), env.relativePath));
        if (token.type === 'image') token.attrSet('src', image(token.attrGet('src'), env.relativePath));
      }
    }
  });
}
