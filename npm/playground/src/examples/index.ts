/** The examples. They were written for this page, in the style of tools that real servers publish. */

import { layout } from '../document/layout.js';
import type { Shared, View } from '../state/shared.js';
import claudeCode from './claude-code.json?raw';
import codex from './codex.json?raw';
import conversation from './conversation.json?raw';
import filter from './filter.json?raw';
import kimi from './kimi.json?raw';
import oldDrafts from './old-drafts.json?raw';
import repair from './repair.json?raw';
import request from './request.json?raw';
import ticket from './ticket.json?raw';
import workspace from './workspace.json?raw';

export interface Example {
  id: string;
  title: string;
  /** The subject of the example. */
  shows: string;
  text: string;
  /** The views that it illustrates, the most suitable first. */
  views: readonly View[];
  choice: Partial<Shared>;
}

/** Arguments that a model might write for `find_tickets`, although it saw the schema. */
const ANSWERED = layout(
  JSON.stringify({
    Projects: '["web", "docs"]',
    state: 'Open',
    limit: '20',
    assignee: null,
    sort: 'newest',
  }),
);

export const EXAMPLES: readonly Example[] = [
  {
    id: 'ticket',
    title: 'A tool: create_ticket',
    shows: 'const, formats, a map, a union, optional properties',
    text: layout(ticket),
    views: ['rewrite', 'matrix', 'restore'],
    choice: { dialect: 'openai-strict' },
  },
  {
    id: 'workspace',
    title: 'An MCP server: six tools',
    shows: 'a root union, recursion, a tuple, an invalid name, a tool that no API accepts',
    text: layout(workspace),
    views: ['matrix', 'rewrite', 'restore'],
    choice: { dialect: 'moonshot' },
  },
  {
    id: 'filter',
    title: 'A recursive schema',
    shows: 'recursive $ref, schemas that accept anything, patterns',
    text: layout(filter),
    views: ['rewrite', 'matrix', 'restore'],
    choice: { dialect: 'gemini' },
  },
  {
    id: 'old-drafts',
    title: 'A schema in an old draft',
    shows: 'definitions, tuples, nullable, no type, numbers as spelled',
    text: layout(oldDrafts),
    views: ['rewrite', 'matrix', 'restore'],
    choice: { dialect: 'moonshot' },
  },
  {
    id: 'request',
    title: 'A whole request, with history',
    shows: 'names and arguments in tool_choice and in past calls',
    text: layout(request),
    views: ['rewrite', 'matrix', 'restore'],
    choice: { dialect: 'openai-strict' },
  },
  {
    id: 'repair',
    title: 'A call that needs repair',
    shows: 'a list in a string, a number in quotes, null for an optional member, names with different capitalization',
    text: layout(repair),
    views: ['restore'],
    choice: { dialect: 'openai-chat', repair: true, args: ANSWERED },
  },
  {
    id: 'conversation',
    title: 'A conversation with deferred tools',
    shows: 'twelve deferred tools, three searches, nine requests',
    text: layout(conversation),
    views: ['deferred'],
    choice: {
      dialect: 'openai-chat',
      deferred: { serverToolSearch: 'emulate' },
      left: 'same',
      right: 'openai-tool-search',
    },
  },
  {
    id: 'claude-code',
    title: 'Claude Code: tools found, added, removed',
    shows: 'references, an addition with its definition, a removal',
    text: layout(claudeCode),
    views: ['deferred'],
    choice: { dialect: 'openai-chat', deferred: {}, left: 'anthropic-inline', right: 'openai-tool-search' },
  },
  {
    id: 'codex',
    title: 'Codex Lite: all tools in the history',
    shows: 'additional_tools, namespaces, a custom tool, a client-side search',
    text: layout(codex),
    views: ['deferred'],
    choice: { dialect: 'moonshot', deferred: {}, left: 'openai-tool-search', right: 'kimi' },
  },
  {
    id: 'kimi',
    title: 'Kimi K3: tools in messages',
    shows: 'system messages that add tools',
    text: layout(kimi),
    views: ['deferred'],
    choice: { dialect: 'moonshot', deferred: {}, left: 'kimi', right: 'anthropic-inline' },
  },
];

export const FIRST = EXAMPLES[0] as Example;

export function exampleOf(id: string): Example | undefined {
  return EXAMPLES.find((example) => example.id === id);
}
