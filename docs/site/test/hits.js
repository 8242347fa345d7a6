// The search of the built site, as the page of the site runs it.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';

import { options, searchOptions } from '../.vitepress/search.js';
import { SITE } from '../pages.js';

const chunks = join(SITE, 'dist/assets/chunks');

/** Returns a function from a query to the addresses of its hits, best first, such as `/cookbook.html#kimi-refuses-my-tool`. */
export async function searching() {
  const [name, ...others] = readdirSync(chunks).filter((file) => file.startsWith('@localSearchIndex'));
  if (name === undefined || others.length > 0) throw new Error(`expected one index in ${chunks}`);
  const { default: json } = await import(join(chunks, name));
  const fields = ['title', 'titles', 'text'];
  const index = MiniSearch.loadJSON(json, { fields, storeFields: ['title', 'titles'], searchOptions, ...options });
  return (query) => index.search(query).map(({ id }) => id);
}
