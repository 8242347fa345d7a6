/** Starts the page: the worker with the WebAssembly, which this thread shares for the console, and then the page itself. */

import './style/index.css';

import { init } from 'toolwire/slim';

import { SERVICE_WORKER } from './trusted.js';
import { start } from './worker/queue.js';

const app = document.getElementById('app') as HTMLElement;
try {
  const [library, command] = await Promise.all([import('page:library'), import('page:command')]);
  const modules = await start({ library: library.deflated, command: command.deflated });
  init(modules.library);
  const { open } = await import('./page.js');
  await open(app);
} catch (error) {
  app.textContent = '';
  app.append(Object.assign(document.createElement('p'), { className: 'loading', textContent: String(error) }));
  throw error;
}

// The development server has no service worker.
if (import.meta.env.PROD && 'serviceWorker' in navigator) {
  // Pages that are not served over HTTPS have no service worker, and a private window may refuse
  // it: the page works without one.
  navigator.serviceWorker.register(SERVICE_WORKER).catch(() => undefined);
}
