/** The jobs of the worker, and their results. */

import type { Dialect } from 'toolwire/slim';

import type { BackendId } from '../calls/backends.js';
import type { Choices } from '../calls/code.js';
import { type Conversation, conversationOf } from '../calls/conversation.js';
import type { Row } from '../calls/grades.js';
import { type Note, noteOfError } from '../calls/note.js';
import { type Choice, type Shown, shownOf } from '../calls/restored.js';
import { type Outcome, outcomeOf } from '../calls/rewrite.js';
import { rowOf } from '../calls/row.js';
import type { Document, Kind } from '../document/document.js';
import { layout } from '../document/layout.js';
import type { DeferredChoice } from '../state/shared.js';

/** A text, its kind and its tools, without the positions in the text. */
export interface Facts {
  text: string;
  kind: Kind;
  tools: readonly { name: string; pointer: string }[];
  /** True if each line is a tool or a schema. */
  hasLines: boolean;
  /** True if the text is JSON, so that it can be formatted. */
  isJson: boolean;
}

/** The jobs by name, with the input and the result of each. */
export interface Jobs {
  facts: { given: object; found: Facts };
  rewrite: { given: Choices; found: Outcome };
  row: { given: { dialect: Dialect }; found: Row };
  restore: { given: Choice & { tool: string | null }; found: Shown | undefined };
  conversation: {
    given: { backends: readonly [BackendId, BackendId]; deferred: DeferredChoice };
    found: Conversation | { failed: Note } | undefined;
  };
  layout: { given: { other: string }; found: string };
}

export type JobName = keyof Jobs;
export type Job = { [Name in JobName]: { name: Name; given: Jobs[Name]['given'] } }[JobName];

/** Runs a job for a document. */
export function done(document: Document, job: Job): Jobs[JobName]['found'] {
  switch (job.name) {
    case 'facts':
      return factsOf(document);
    case 'rewrite':
      return outcomeOf(document, job.given);
    case 'row':
      return rowOf(document, job.given.dialect);
    case 'restore':
      return shownOf(document, job.given.tool, job.given);
    case 'conversation':
      return conversationIn(document, job.given);
    case 'layout':
      return layout(job.given.other);
  }
}

function factsOf(document: Document): Facts {
  const { text, kind, entries, hasLines } = document;
  const tools = entries.map((entry, at) => ({
    name: document.labelOf(entry),
    pointer: entry.line === undefined ? entry.pointer : `/${at}`,
  }));
  return { text, kind, tools, hasLines, isJson: !hasLines && document.places.value('') !== undefined };
}

function conversationIn({ text, kind }: Document, { backends, deferred }: Jobs['conversation']['given']) {
  if (kind !== 'request') return undefined;
  try {
    return conversationOf(text, backends, deferred);
  } catch (error) {
    return { failed: noteOfError(error) };
  }
}
