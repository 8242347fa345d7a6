/** The worker: reads, rewrites and judges text, so that the page stays responsive. */

import { Document } from '../document/document.js';
import { compiled } from '../engine/compile.js';
import { begin, type Modules, readingOf } from '../engine/engine.js';
import { done, type Job } from './jobs.js';

/** A message to the worker. The first message contains the WebAssembly: as text, or compiled if the page has loaded it before. */
export type ToWorker =
  | { sources: { library: string; command: string } }
  | { modules: Modules }
  | { text?: string; job: Job };

/** A message from the worker. */
export type FromWorker = { modules: Modules } | { found: unknown } | { failed: string };

let document: Document | undefined;
let ready: Promise<void> = Promise.resolve();

function answer(message: FromWorker): void {
  postMessage(message);
}

async function start(message: ToWorker): Promise<void> {
  if ('sources' in message) {
    const [library, command] = await Promise.all([
      compiled(message.sources.library),
      compiled(message.sources.command),
    ]);
    begin({ library, command });
    answer({ modules: { library, command } });
  } else if ('modules' in message) begin(message.modules);
}

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  ready = ready.then(async () => {
    try {
      if (!('job' in data)) return await start(data);
      const { text = document === undefined ? '' : undefined } = data;
      if (text !== undefined) document = new Document(text, readingOf(text));
      answer({ found: done(document as Document, data.job) });
    } catch (error) {
      answer({ failed: String(error) });
    }
  });
});
