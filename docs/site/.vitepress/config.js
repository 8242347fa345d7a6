// The site: navigation, search, and how pages are read.

import { basename } from 'node:path';
import GithubSlugger from 'github-slugger';
import { defineConfig } from 'vitepress';

import { navigation } from '../navigation.js';
import { dialects, pages, REPOSITORY } from '../pages.js';
import { repositoryLinks } from './links.js';
import { options, renderForSearch, searchOptions } from './search.js';

/** A plugin of markdown-it: Vue leaves code as it is, also doubled braces. (VitePress does this only for blocks of code.) */
function literalCode(md) {
  md.core.ruler.push('literal-code', ({ tokens }) => {
    const code = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'code_inline');
    for (const token of code) token.attrSet('v-pre', '');
  });
}

const item = ([text, path]) => ({ text, link: `/${pages.get(path)}` });

/** The dialects below their overview, by name. */
const withDialects = ([text, path]) =>
  path === 'docs/dialects/README.md'
    ? { ...item([text, path]), collapsed: true, items: dialects.map((page) => item([basename(page, '.md'), page])) }
    : item([text, path]);

export default defineConfig({
  title: 'toolwire',
  description: 'Any tool schema, any model. Nothing is lost silently.',
  lang: 'en',
  base: process.env.DOCS_BASE ?? '/',
  srcDir: 'target/pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  // Builds of the same commit are identical, byte for byte.
  lastUpdated: false,
  markdown: {
    anchor: { slugify: (text) => new GithubSlugger().slug(text) },
    config: (md) => md.use(repositoryLinks).use(literalCode),
    // Generated tables hold code of many kinds; two themes for each would double the pages.
    theme: 'github-light',
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: { _render: renderForSearch, miniSearch: { options, searchOptions } },
    },
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    nav: [
      { text: 'Functions', link: '/functions/' },
      { text: 'Command line', link: '/command-line' },
      { text: 'Dialects', link: '/dialects/' },
      { text: 'Rules', link: '/rules' },
      // Another program than this page: the browser has to load it.
      { text: 'Playground', link: '/playground/index.html', target: '_self' },
    ],
    sidebar: navigation.map(([text, items]) => ({ text, collapsed: false, items: items.map(withDialects) })),
  },
});
