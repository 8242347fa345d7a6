/**
 * The page's side of the worker: one job at a time, the newest of each kind, urgent ones first. A superseded job blocks the others only
 * briefly: if it does not end soon, the worker is terminated and replaced by another one.
 */

import { signal } from '@preact/signals';

import type { Modules } from '../engine/engine.js';
import type { Job, JobName, Jobs } from './jobs.js';
import type { FromWorker, ToWorker } from './thread.js';
import PageWorker from './thread.js?worker&inline';

/** Maximum time that a superseded job may continue, in milliseconds. Starting another worker takes about as long. */
const GRACE = 100;

interface Task {
  key: string;
  /** The text that the job processes; missing if the job itself contains the text. */
  text: string | undefined;
  job: Job;
  isUrgent: boolean;
  /** Called with the result; missing if the job was superseded. */
  done: ((found: never) => void) | undefined;
  /** Called if the job is superseded or fails, so there is no result. */
  lost: (() => void) | undefined;
}

const waiting = new Map<string, Task>();
let running: Task | undefined;
let worker: Worker | undefined;
let modules: Modules | undefined;
let sentText: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
/** True if the worker could not be started. */
let isEnded = false;

/** Number of urgent jobs that are not done. The user waits for these. */
export const pending = signal(0);
/** The message of a defect in the worker. */
export const defect = signal('');

/** Starts the worker with the WebAssembly, and returns it compiled. */
export async function start(sources: { library: string; command: string }): Promise<Modules> {
  const first = newWorker();
  first.postMessage({ sources } satisfies ToWorker);
  const found = await new Promise<Modules>((resolve, reject) => {
    first.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if ('modules' in data) resolve(data.modules);
      else reject(new Error('failed' in data ? data.failed : 'unexpected answer'));
    };
    first.onerror = ({ message }) => reject(new Error(message || 'the worker did not start'));
  });
  modules = found;
  use(first);
  next();
  return found;
}

/** Queues a job, which may process text. It supersedes an earlier job with the same key, whose answer is discarded. */
export function ask<Name extends JobName>(
  key: string,
  text: string | undefined,
  name: Name,
  given: Jobs[Name]['given'],
  done: (found: Jobs[Name]['found']) => void,
  isUrgent = true,
  lost?: () => void,
): void {
  if (isEnded) {
    lost?.();
    return;
  }
  supersede(key);
  waiting.set(key, { key, text, job: { name, given } as Job, isUrgent, done, lost });
  count();
  next();
}

/** Cancels the job with a key. */
export function drop(key: string): void {
  supersede(key);
  count();
  next();
}

function supersede(key: string): void {
  waiting.get(key)?.lost?.();
  waiting.delete(key);
  if (running?.key === key) discard(running);
}

/** Discards the answer of a job. */
function discard(task: Task): void {
  const { lost } = task;
  task.done = undefined;
  task.lost = undefined;
  lost?.();
}

function count(): void {
  const tasks = [...waiting.values(), ...(running?.done === undefined ? [] : [running])];
  pending.value = tasks.filter(({ isUrgent }) => isUrgent).length;
}

function next(): void {
  if (worker === undefined || waiting.size === 0) return;
  if (running !== undefined) {
    // The running job blocks the others if it was superseded, or if it is less urgent.
    const blocks = running.done === undefined || (!running.isUrgent && pending.value > 0);
    if (blocks) timer ??= setTimeout(restart, GRACE);
    return;
  }
  const tasks = [...waiting.values()];
  const task = tasks.find(({ isUrgent }) => isUrgent) ?? (tasks[0] as Task);
  waiting.delete(task.key);
  running = task;
  const { text, job } = task;
  const isKnown = text === undefined || text === sentText;
  worker.postMessage({ ...(isKnown ? {} : { text }), job } satisfies ToWorker);
  if (text !== undefined) sentText = text;
}

function restart(): void {
  worker?.terminate();
  const task = running;
  forget();
  if (task?.done !== undefined && !waiting.has(task.key)) waiting.set(task.key, task);
  const another = newWorker();
  another.postMessage({ modules: modules as Modules } satisfies ToWorker);
  use(another);
  count();
  next();
}

/** Forgets the running job. */
function forget(): void {
  clearTimeout(timer);
  timer = undefined;
  running = undefined;
}

function newWorker(): Worker {
  sentText = undefined;
  return new PageWorker();
}

function use(one: Worker): void {
  worker = one;
  one.onerror = ({ message }) => broken(message);
  one.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if ('failed' in data) return broken(data.failed);
    const task = running;
    forget();
    if ('found' in data) task?.done?.(data.found as never);
    // Counted only now, so that the page does not count as idle before it shows the answer.
    count();
    next();
  };
}

/** A defect in toolwire. The job is given up, because it would fail again. */
function broken(message: string): void {
  defect.value = message;
  console.error(`toolwire: internal: ${message}`);
  if (running === undefined) {
    // The worker did not start, and another worker would not start either.
    worker = undefined;
    isEnded = true;
    for (const key of [...waiting.keys()]) drop(key);
    return;
  }
  discard(running);
  restart();
}
