// The site: navigation, search, and how pages are read.

import GithubSlugger from 'github-slugger';
import { defineConfig } from 'vitepress';

import { pages, REPOSITORY } from '../pages.js';
import { repositoryLinks } from './links.js';
import { options, renderForSearch, searchOptions } from './search.js';

/** Links to the pages of a folder, by name. */
const below = (folder) =>
  [...pages.values()]
    .filter((page) => page.startsWith(`${folder}/`) && !page.endsWith('/index.md'))
    .sort()
    .map((page) => ({ text: page.slice(folder.length + 1, -'.md'.length), link: `/${page}` }));

/** A plugin of markdown-it: Vue leaves code as it is, also doubled braces. (VitePress does this only for blocks of code.) */
function literalCode(md) {
  md.core.ruler.push('literal-code', ({ tokens }) => {
    const code = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'code_inline');
    for (const token of code) token.attrSet('v-pre', '');
  });
}

const group = (text, items) => ({ text, items: items.map(([name, link]) => ({ text: name, link })) });

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
    sidebar: [
      group('Begin', [
        ['toolwire in a minute', '/'],
        ['Examples for SDKs', '/examples'],
        ['Adapters: fetch, transports, Exchange', '/adapters'],
        ['The command line', '/command-line'],
        ['The proxy for MCP', '/proxy'],
        ['The relay for agents', '/relay'],
        ['Setup by client', '/clients/'],
        ['Gateways and clusters', '/deploy/'],
        ['Workers and bundlers', '/bundlers'],
        ['Cookbook: errors and their cure', '/cookbook'],
      ]),
      { text: 'Functions', collapsed: true, items: [{ text: 'Overview', link: '/functions/' }, ...below('functions')] },
      group('Deferred loading', [['By situation', '/deferred-loading']]),
      { text: 'Dialects', collapsed: true, items: [{ text: 'Overview', link: '/dialects/' }, ...below('dialects')] },
      group('Rules', [['All rules', '/rules']]),
      group('Facts and figures', [
        ['Hosts and their rules', '/backends'],
        ['Evidence: recorded answers', '/evidence'],
        ['Chat templates', '/templates'],
        ['Response formats', '/response-formats'],
        ['MCP clients', '/mcp-clients'],
        ['Census: real tools', '/census'],
        ['Other packages', '/comparison'],
        ['Size and entries', '/packages'],
      ]),
      group('Inside', [
        ['Design questions', '/design'],
        ['Architecture', '/architecture'],
        ['The pipeline', '/pipeline'],
        ['The steps of a request', '/steps'],
        ['Messages', '/messages'],
        ['Contributing', '/contributing'],
        ['Security', '/security'],
        ['Changelog', '/changelog'],
      ]),
    ],
  },
});
