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
  const kept = async (key) => (await caches.open(CACHE)).match(key, { ignoreVary: true });
  const answer = async () => {
    if (event.request.mode !== 'navigate') return (await kept(event.request.url)) ?? fetch(event.request);
    // The page itself is the newest one, and on a port of this machine possibly that of another program.
    try {
      return await fetch(event.request);
    } catch (error) {
      const page = await kept('./');
      if (page === undefined) throw error;
      return page;
    }
  };
  event.respondWith(answer());
});
