/** The contents of a link to the page: all choices, and the text unless it is the text of an example. */

import type { DeferredOptions, Dialect, SanitizeOptions } from 'toolwire/slim';

import type { BackendId } from '../calls/backends.js';

export const VIEWS = ['rewrite', 'matrix', 'deferred', 'restore'] as const;
export type View = (typeof VIEWS)[number];
export const FUNCTIONS = ['sanitize', 'normalizeEnvelope', 'check', 'applyDeferredLoading'] as const;
export type FunctionName = (typeof FUNCTIONS)[number];
/** `given` keeps the format of the input's tools; `api` uses the format of the dialect's API. */
export type Shape = 'given' | 'api';
export type Options = Pick<SanitizeOptions, 'allow' | 'refs' | 'untyped' | 'hints'>;
export type DeferredChoice = Pick<
  DeferredOptions,
  'mode' | 'order' | 'announce' | 'serverToolSearch' | 'loadUsedTools'
>;

/** All options of this page with all their values. Anything else in a link is ignored. */
export const OPTIONS: { [name in keyof Options]-?: readonly Exclude<Options[name], undefined>[] } = {
  allow: ['same', 'encoded', 'closed', 'wider', 'any'],
  refs: ['inline', 'keep'],
  untyped: ['keep', 'any', 'string'],
  hints: ['describe', 'drop'],
};
export const DEFERRED: { [name in keyof DeferredChoice]-?: readonly Exclude<DeferredChoice[name], undefined>[] } = {
  mode: ['filter', 'load-all'],
  order: ['catalog', 'append'],
  announce: ['none', 'names'],
  serverToolSearch: ['load-all', 'drop', 'emulate'],
  loadUsedTools: [true, false],
};
export const SHAPES = ['given', 'api'] as const satisfies readonly Shape[];

export interface Shared {
  view: View;
  /** The example that contains the text; `null` for text of the user. */
  example: string | null;
  text: string;
  fn: FunctionName;
  dialect: Dialect;
  options: Options;
  shape: Shape;
  deferred: DeferredChoice;
  /** The backends on which a conversation is replayed, side by side. */
  left: BackendId;
  right: BackendId;
  /** The tool that the views show, if there are several. */
  tool: string | null;
  turn: number;
  /** The model's arguments; `null` if they are generated from the schema. */
  args: string | null;
  /** True if arguments are repaired when they are restored. */
  repair: boolean;
}

export const DEFAULTS: Omit<Shared, 'example' | 'text'> = {
  view: 'rewrite',
  fn: 'sanitize',
  dialect: 'openai-strict',
  options: {},
  shape: 'given',
  deferred: {},
  left: 'same',
  right: 'openai-chat',
  tool: null,
  turn: 0,
  args: null,
  repair: false,
};
