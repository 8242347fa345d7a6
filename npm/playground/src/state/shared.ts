/** What a link to the page holds: everything that was chosen, and the text if it is no example's. */

import type { DeferredOptions, Dialect, SanitizeOptions } from 'toolwire';

import type { BackendId } from '../calls/backends.js';

export const VIEWS = ['rewrite', 'matrix', 'deferred', 'restore'] as const;
export type View = (typeof VIEWS)[number];
export const FUNCTIONS = ['sanitize', 'normalizeEnvelope', 'check', 'applyDeferredLoading'] as const;
export type FunctionName = (typeof FUNCTIONS)[number];
/** Whether tools come out in the shape they had, or in that of the dialect's API. */
export type Shape = 'given' | 'api';
export type Options = Pick<SanitizeOptions, 'allow' | 'refs' | 'untyped' | 'hints'>;
export type DeferredChoice = Pick<
  DeferredOptions,
  'mode' | 'order' | 'announce' | 'serverToolSearch' | 'loadUsedTools'
>;

/** Every option that can be chosen here, and all its values: what a link says beyond that is no choice of this page's. */
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
  /** The example that the text was made from; `null` for a text of one's own. */
  example: string | null;
  text: string;
  fn: FunctionName;
  dialect: Dialect;
  options: Options;
  shape: Shape;
  deferred: DeferredChoice;
  /** The backends that a conversation is played on, side by side. */
  left: BackendId;
  right: BackendId;
  /** The tool that the views speak of, where there are several. */
  tool: string | null;
  turn: number;
  /** The model's arguments; `null`: made up from the schema. */
  args: string | null;
  /** Whether arguments are repaired when they are restored. */
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
