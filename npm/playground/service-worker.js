// Keeps the files of one build, so that the page opens without a network. It never receives the user's text: a link has
// it in its fragment, and the page sends nothing. The build fills in the version and the files (vite.config.js).

// Other playgrounds of the same origin have their own caches. A URL contains no space, so no other playground's prefix
// begins with this one.
const PREFIX = `toolwire-playground ${registration.scope} `;
const CACHE = `${PREFIX}${'VERSION'}`;
const FILES = ['FILES'];

addEventListener('install', (event) => {
  const whole = async () => {
    const cache = await caches.open(CACHE);
    // The name of the HTML file has no hash, so the browser's own cache may contain the file of an earlier build.
    await cache.addAll(FILES.map((file) => (file === './' ? new Request(file, { cache: 'reload' }) : file)));
    await skipWaiting();
  };
  event.waitUntil(whole());
});

addEventListener('activate', (event) => {
  const alone = async () => {
    const names = await caches.keys();
    const earlier = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
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
    // The page is loaded from the network if possible: it may have a newer build, or, on localhost, the address may belong to another
    // program on this port.
    try {
      return await fetch(event.request, { cache: 'no-cache' });
    } catch (error) {
      const page = await kept('./');
      if (page === undefined) throw error;
      return page;
    }
  };
  event.respondWith(answer());
});
