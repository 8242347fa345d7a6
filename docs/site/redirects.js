// Addresses of earlier pages, and where they lead now. The build writes a small page for each.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from './pages.js';

const rules = readFileSync(join(ROOT, 'docs/rules.md'), 'utf8').matchAll(/^### (.+)$/gm);

/** From the path of an earlier page on the site to a path with an anchor. */
export const redirects = new Map([
  ['rules/index.html', 'rules.html'],
  ...[...rules].map(([, rule]) => [`rules/${rule}.html`, `rules.html#${rule}`]),
]);

/** Returns the page that leads to the new address. An anchor of the old address is kept if the new one has none. */
export function redirect(base, target) {
  const address = `${base}${target}`;
  const script = target.includes('#')
    ? ''
    : `<script>location.replace(${JSON.stringify(address)} + location.hash)</script>`;
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Moved</title><meta name="robots" content="noindex">${script}
<meta http-equiv="refresh" content="0; url=${address}"><link rel="canonical" href="${address}"></head>
<body><a href="${address}">This page has moved.</a></body></html>
`;
}
