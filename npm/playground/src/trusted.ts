/** The page's only Trusted Types policy: the two workers' URLs, and nothing else, may become a script. */

interface Trusted {
  createPolicy(name: 'default', rules: { createScriptURL: (url: string) => string | null }): unknown;
}

/** Path of the service worker, relative to the page. */
export const SERVICE_WORKER = './service-worker.js';

// Before any worker is started. Browsers without Trusted Types need no policy.
(globalThis as { trustedTypes?: Trusted }).trustedTypes?.createPolicy('default', {
  createScriptURL: (url) => (url === SERVICE_WORKER || url.startsWith(`blob:${location.origin}/`) ? url : null),
});
