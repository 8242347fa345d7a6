// Keeps the files of one build, so that the page opens without a network. It sees no text: a link's is in the fragment, and the page sends
// nothing. The build fills in the version and the files (vite.config.js).

const CACHE = `toolwire-playground-${'VERSION'}`;
const FILES = ['FILES'];

addEventListener('install', (event) => {
  const whole = async () => {
    const cache = await caches.open(CACHE);
    // Past the browser's own cache, which may have a file of an earlier build under a name without a hash.
    await cache.addAll(FILES.map((file) => new Request(file, { cache: 'reload' })));
    await skipWaiting();
  };
  event.waitUntil(whole());
});

addEventListener('activate', (event) => {
  const alone = async () => {
    const names = await caches.keys();
    const earlier = names.filter((name) => name.startsWith('toolwire-playground-') && name !== CACHE);
    await Promise.all(earlier.map((name) => caches.delete(name)));
    await clients.claim();
  };
  event.waitUntil(alone());
});

addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET') return;
  const kept = async () => {
    const cache = await caches.open(CACHE);
    // The page without its query; its path may end in `index.html`.
    const key = event.request.mode === 'navigate' ? './' : event.request.url;
    return (await cache.match(key, { ignoreVary: true })) ?? fetch(event.request);
  };
  event.respondWith(kept());
});
