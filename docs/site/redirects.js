// Addresses of earlier pages, and where they lead now. The build writes a small page for each.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from './pages.js';

const rules = readFileSync(join(ROOT, 'docs/rules.md'), 'utf8').matchAll(/^### (.+)$/gm);

/** Pages of one function each, and their sections. */
const functions = [
  ['functions/adapt-request', 'functions/requests.html#adaptrequest'],
  ['functions/apply-deferred-loading', 'functions/deferred.html#applydeferredloading'],
  ['functions/check', 'functions/tools.html#check'],
  ['functions/check-request', 'functions/requests.html#checkrequest'],
  ['functions/check-tools', 'functions/tools.html#checktools'],
  ['functions/deferral-for', 'functions/deferred.html#deferralfor'],
  ['functions/dialect-for', 'functions/tools.html#dialectfor'],
  ['functions/dialects', 'functions/tools.html#dialects'],
  ['functions/exchange', 'functions/requests.html#exchange'],
  ['functions/fit-result', 'functions/arguments.html#fitresult'],
  ['functions/normalize-envelope', 'functions/tools.html#normalizeenvelope'],
  ['functions/repair-arguments', 'functions/arguments.html#repairarguments'],
  ['functions/restore', 'functions/arguments.html#restore'],
  ['functions/restore-arguments', 'functions/arguments.html#restorearguments'],
  ['functions/sanitize', 'functions/tools.html#sanitize'],
  ['functions/sanitize-tools', 'functions/tools.html#sanitizetools'],
  ['functions/search-tools', 'functions/deferred.html#searchtools'],
  ['functions/strip-deferral-betas', 'functions/deferred.html#stripdeferralbetas'],
  ['functions/tool-set', 'functions/tools.html#toolset'],
  ['functions/validate-arguments', 'functions/arguments.html#validatearguments'],
  ['functions/validate-result', 'functions/arguments.html#validateresult'],
];

/** Pages that were merged into others. */
const moved = [
  ['bundlers', 'typescript.html'],
  ['packages', 'typescript.html#entries-and-sizes'],
  ['examples', 'adapters.html#with-an-sdk'],
  ['run', 'relay.html#toolwire-run'],
  ['clients/index', 'without-code.html'],
];

/** From the path of an earlier page on the site to a path with an anchor. */
export const redirects = new Map([
  ['rules/index.html', 'rules.html'],
  ...[...moved, ...functions].map(([from, target]) => [`${from}.html`, target]),
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
