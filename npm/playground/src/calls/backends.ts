/** The backends on which a conversation can be replayed, with their display names. */

import type { DeferredOptions } from 'toolwire/slim';

export type BackendOptions = Pick<DeferredOptions, 'target' | 'native' | 'customTools'>;

export interface Backend {
  id: string;
  name: string;
  /** How the backend receives deferred tools. */
  description: string;
  options: BackendOptions;
}

/** How a backend without support for deferred tools receives them. */
const EMULATED = 'text in the history, definitions in tools';

export const BACKENDS = [
  {
    id: 'same',
    name: 'The same API (emulated)',
    description: `unchanged format; ${EMULATED}`,
    options: {},
  },
  {
    id: 'anthropic-inline',
    name: 'Anthropic (inline)',
    description: 'additions with definitions, removals, references',
    options: { target: 'anthropic', native: 'inline' },
  },
  {
    id: 'anthropic-changes',
    name: 'Anthropic on Bedrock or Google Cloud (changes)',
    description: 'additions and removals by name, references',
    options: { target: 'anthropic', native: 'changes' },
  },
  {
    id: 'anthropic-references',
    name: 'Anthropic, earlier models (references)',
    description: 'references only',
    options: { target: 'anthropic', native: 'references' },
  },
  {
    id: 'anthropic',
    name: 'Anthropic’s format (emulated)',
    description: EMULATED,
    options: { target: 'anthropic' },
  },
  {
    id: 'openai-tool-search',
    name: 'OpenAI Responses (tool search)',
    description: 'tool_search_call, tool_search_output, additional_tools',
    options: { target: 'openai-responses', native: 'tool-search' },
  },
  {
    id: 'openai-additional-tools',
    name: 'OpenAI Responses (additional tools)',
    description: 'additional_tools',
    options: { target: 'openai-responses', native: 'additional-tools' },
  },
  {
    id: 'openai-responses',
    name: 'OpenAI Responses (emulated)',
    description: 'text in the history, plain functions in tools',
    options: { target: 'openai-responses', customTools: 'function' },
  },
  {
    id: 'kimi',
    name: 'Kimi K3',
    description: 'system messages with tools',
    options: { target: 'openai-chat', native: 'kimi' },
  },
  {
    id: 'openai-chat',
    name: 'OpenAI Chat (emulated)',
    description: EMULATED,
    options: { target: 'openai-chat' },
  },
] as const satisfies readonly Backend[];

export type BackendId = (typeof BACKENDS)[number]['id'];
export const BACKEND_IDS: readonly BackendId[] = BACKENDS.map(({ id }) => id);

export function backendOf(id: BackendId): Backend {
  return BACKENDS.find((backend) => backend.id === id) ?? BACKENDS[0];
}
