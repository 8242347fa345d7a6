// Code that must compile, and code that must not. Copied into an ES module and a CommonJS project before it is compiled.
import {
  answerToolSearch,
  applyDeferredLoading,
  type CallRepairOptions,
  type Change,
  type ChangeRule,
  type Constraint,
  check,
  type DeferralChoice,
  type Dialect,
  type DialectChoice,
  deferralFor,
  dialectFor,
  dialects,
  Exchange,
  type JsonSchema,
  normalizeEnvelope,
  type ObjectSchema,
  type RepairedCall,
  sanitize,
  sanitizeTools,
  searchTools,
  ToolwireError,
  type ToolwireErrorCode,
} from 'toolwire';
import { type Fetch, type FetchOptions, toolwireFetch } from 'toolwire/fetch';
import { init, ToolwireError as SlimError, sanitize as slimSanitize, type WasmModule } from 'toolwire/slim';

const schema: JsonSchema = sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema;
const object: ObjectSchema = normalizeEnvelope({}).schema;
const tool: { type: 'object'; properties?: unknown; [keyword: string]: unknown } = object;
const parameters: Record<string, unknown> = object;
const text: string = sanitize('{}', { dialect: 'codex' }).schema;
const bytes: Uint8Array = sanitize(new Uint8Array([0x7b, 0x7d]), { dialect: 'codex' }).schema;
const changes: readonly Change[] = sanitize({}, { dialect: 'codex-wire', maxBytes: null }).changes;
const request: { model: string; messages: never[] } = applyDeferredLoading(
  { model: 'm', messages: [] },
  { mode: 'filter' },
).request;
const translated: { [name: string]: unknown } = applyDeferredLoading(request, { target: 'openai-responses' }).request;
const code: ToolwireErrorCode = new ToolwireError('invalid-json', '', 'message').code;
const rules: Constraint[] = check(schema, { dialect: 'codex' }).map(({ constraint }) => constraint);
const known: Dialect[] = dialects().map(({ name }) => name);
const changed: ChangeRule[] = changes.map(({ rule }) => rule);
// @ts-expect-error: no such rule
export const ruled = () => changes.filter(({ rule }) => rule === 'no-such-rule');
// Tools have the dialect's format, or the format that is requested.
export const chat: string[] = sanitizeTools([], { dialect: 'moonshot' }).tools.map((tool) => tool.function.name);
export const flat: boolean[] = sanitizeTools([], { dialect: 'xai', format: 'openai-responses' }).tools.map(
  ({ strict }) => strict,
);
// @ts-expect-error: Anthropic's tools have no `parameters`
export const other = () => sanitizeTools([], { dialect: 'anthropic' }).tools.map(({ parameters }) => parameters);
// The dialect is only known at run time.
export const some: unknown[] = sanitizeTools([], { dialect: dialectFor({ host: 'api.x.ai' }).dialect }).tools.map(
  (tool) => tool.anything,
);
export const sure = (): DialectChoice['confidence'] => dialectFor({ host: 'api.x.ai', exact: true }).confidence;
const deferral: DeferralChoice = deferralFor({ host: 'api.moonshot.ai', model: 'kimi-k3' });
const { target, native } = deferral;
export const handedOn: unknown = applyDeferredLoading({ messages: [] }, { target, native }).request;
// @ts-expect-error: the dialect is required
export const undialected = () => sanitize({}, {}).schema;
// @ts-expect-error: no such dialect
export const unknown = () => sanitize({}, { dialect: 'codec' }).schema;
// @ts-expect-error: no such option
export const misspelt = () => normalizeEnvelope({}, { shared: true }).schema;
// @ts-expect-error: the result for a value is a value, not text
export const untexted = (): string => sanitize({}, { dialect: 'codex' }).schema;
const names: string[] = searchTools([], 'mail', { limit: 3 });
const answer: string | null = answerToolSearch('{}', '[]');
export const patterned = (): string[] => searchTools([], '^mail', { mode: 'regex' });
// @ts-expect-error: no such mode
export const fuzzy = () => searchTools([], 'mail', { mode: 'fuzzy' });

// The options of `toolwireFetch`, and an exchange without it.
const fetching: FetchOptions = {
  dialect: 'moonshot',
  deferred: { order: 'append' },
  onReport: (report) => report.changes,
};
export const adapting = (): Fetch => toolwireFetch(fetching);
export const replied = (body: Uint8Array): Uint8Array | null | undefined =>
  Exchange.open('/v1/messages', body)?.reply(body);
export const naming = (): Fetch => toolwireFetch({ deferred: { target: 'openai-chat' } });
// @ts-expect-error: not a target format
export const translating = () => toolwireFetch({ deferred: { target: 'openai' } });

// Repaired calls: the option, and the results in every form.
const repairing: CallRepairOptions = { confidence: 'exact', disable: ['wrap-array'] };
const { restore } = sanitizeTools([], { dialect: 'moonshot', repair: repairing });
export const repaired: RepairedCall[] = restore.reply({ content: [] }).calls;
export const valid: boolean | null | undefined = restore.call('read', { path: 'a' }).valid;
export const listening = (): Fetch =>
  toolwireFetch({ repair: true, onRepair: (calls) => calls.map(({ id, retryMessage }) => [id, retryMessage]) });
// @ts-expect-error: a list's tools have names, so the option has no `name`
export const alreadyNamed = () => sanitizeTools([], { dialect: 'moonshot', repair: { name: 'read' } });

// Errors of every entry point have one type.
export function codeOf(error: unknown): ToolwireErrorCode | undefined {
  return error instanceof SlimError ? error.code : undefined;
}
const same: ToolwireError = new SlimError('invalid-json', '', 'message');

// The slim entry point accepts bytes or a module.
export function start(given: ArrayBuffer, view: Uint8Array, module: WasmModule): void {
  init(given);
  init(view);
  init(module);
}
// @ts-expect-error: a promise has to be awaited
export const unawaited = () => init(Promise.resolve(new ArrayBuffer(0)));
// @ts-expect-error: a string is not a source
export const named = () => init('toolwire.wasm');
const slim: (() => JsonSchema)[] = [slimSanitize, sanitize].map((f) => () => f({}, { dialect: 'codex' }).schema);

export const all = {
  known,
  changed,
  names,
  answer,
  tool,
  parameters,
  text,
  bytes,
  changes,
  translated,
  code,
  rules,
  same,
  slim,
};
console.log(JSON.stringify(schema));
