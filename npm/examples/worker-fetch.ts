// `toolwireFetch` in a worker thread, so that a request of 10 MB does not hold the event loop of a gateway. The worker adapts
// requests, sends them, and restores replies; bodies move between the threads and are not copied.

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type FetchOptions, toolwireFetch } from 'toolwire/fetch';

/** A request; functions cannot be sent to a worker. */
interface Sent {
  id: number;
  url: string;
  method: string;
  headers: [string, string][];
  body: Uint8Array<ArrayBuffer> | undefined;
}

/** The end of a request: a response, or an error. */
type Received =
  | { id: number; status: number; headers: [string, string][]; body: ReadableStream<Uint8Array> | null }
  | { id: number; error: unknown };

/** Options without functions. */
export type WorkerOptions = Omit<FetchOptions, 'fetch' | 'onReport' | 'onRepair' | 'onSetAside'>;

/** Returns a `fetch` that works in a separate thread, and a function that ends the thread. */
export function workerFetch(options: WorkerOptions): { fetch: typeof fetch; close: () => Promise<number> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  // The thread does not keep the program running if no request is open.
  worker.unref();
  const open = new Map<number, { resolve: (response: Response) => void; reject: (error: unknown) => void }>();
  let last = 0;
  const failed = (error: unknown) => {
    for (const { reject } of open.values()) reject(error);
    open.clear();
  };
  worker.on('error', failed);
  worker.on('exit', (code) => failed(new Error(`the worker has ended with exit code ${code}`)));
  worker.on('message', (received: Received) => {
    const waiting = open.get(received.id);
    open.delete(received.id);
    if (open.size === 0) worker.unref();
    if ('error' in received) return waiting?.reject(received.error);
    const { status, headers, body } = received;
    // A caller that gave up does not read the body.
    if (waiting === undefined) return void body?.cancel();
    waiting.resolve(new Response(body, { status, headers }));
  });
  const send = async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input, init);
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    const id = ++last;
    const sent: Sent = { id, url: request.url, method: request.method, headers: [...request.headers], body };
    return new Promise<Response>((resolve, reject) => {
      const { signal } = request;
      const aborted = () => {
        open.delete(id);
        worker.postMessage({ id, aborted: true });
        reject(signal.reason);
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', aborted, { once: true });
      open.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage(sent, body === undefined ? [] : [body.buffer]);
    });
  };
  return { fetch: send, close: () => worker.terminate() };
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const adapted = toolwireFetch(workerData as WorkerOptions);
  const running = new Map<number, AbortController>();
  port.on('message', async (message: Sent | { id: number; aborted: true }) => {
    const { id } = message;
    if ('aborted' in message) return running.get(id)?.abort();
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const { url, method, headers, body } = message;
      const init = { method, headers, redirect: 'error' as const, signal: controller.signal };
      const response = await adapted(url, body === undefined ? init : { ...init, body });
      // A stream moves as a whole: the main thread reads from it as pieces arrive, and its `cancel` ends the request.
      const moved =
        response.body === null ? [] : [response.body as unknown as import('node:worker_threads').Transferable];
      const decoded = [...response.headers].filter(
        ([name]) => name !== 'content-encoding' && name !== 'content-length',
      );
      port.postMessage({ id, status: response.status, headers: decoded, body: response.body }, moved);
    } catch (error) {
      port.postMessage({ id, error });
    } finally {
      running.delete(id);
    }
  });
}
