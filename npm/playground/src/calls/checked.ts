/** The findings of `toolwire check` as notes. */

import type { Document } from '../document/document.js';
import { run } from '../engine/engine.js';
import type { Effect, Note } from './note.js';

interface Place {
  line: number | null;
  pointer: string;
  tool?: string | null;
}

interface Report {
  errors: (Place & { message: string })[];
  findings: (Place & {
    rule: string;
    severity: Effect;
    message: string;
    dialects: { confidence?: 'A' | 'B' | 'C'; source?: string }[];
    fix: string;
    copies: Place[];
  })[];
}

/** Returns a note for each location of each finding, in the order of the text. */
export function checkedBy(document: Document, dialect: string): { notes: Note[]; failed: boolean } {
  const { stdout } = run(['check', '--json', '--show', 'ignored', '--dialect', dialect], document.text);
  const { errors, findings } = JSON.parse(stdout) as Report;
  // For inputs other than JSON Lines, `line` is the line of the location in the text.
  const spot = ({ line, pointer }: Place) => (document.hasLines && line !== null ? { line, pointer } : { pointer });
  if (errors.length > 0) {
    const notes = errors.map((error) => ({ ...noteOfRefusal(error.message), ...spot(error) }));
    return { notes, failed: true };
  }
  const notes = findings.flatMap(({ rule, severity, message, dialects: [by], fix, copies, ...place }) =>
    [place, ...copies].map((each) => ({
      effect: severity,
      ...spot(each),
      outputPointer: undefined,
      rule,
      message,
      ...(each.tool == null ? {} : { tool: each.tool }),
      reason: { fact: fix, confidence: by?.confidence, source: by?.source },
    })),
  );
  return { notes, failed: false };
}

/** Returns the note for an input that the command line refuses. */
export function noteOfRefusal(message: string, code: string | null = null): Note {
  return { effect: 'refused', pointer: '', outputPointer: undefined, rule: code ?? 'unusable-input', message };
}
