/** The verdicts of a dialect on the text: `toolwire matrix`, dialect by dialect, because a long list takes seconds. */

import type { Document } from '../document/document.js';
import { run } from '../engine/engine.js';
import type { Cell, Row } from './grades.js';

interface Matrix {
  tools: { dialects: (Omit<Cell, 'reasons' | 'losses'> & { reasons: unknown[]; losses: unknown[] })[] }[];
}

export function rowOf({ text }: Document, dialect: string): Row {
  const { stdout, stderr } = run(['matrix', '--json', '--dialect', dialect], text);
  if (stdout === '') return { refused: stderr.trim() };
  const { tools } = JSON.parse(stdout) as Matrix;
  const cells = tools.flatMap(({ dialects }) =>
    dialects.map(({ outcome, accepted, reinterpreted, ignored, reasons, losses }) => ({
      outcome,
      accepted,
      reinterpreted,
      ignored,
      reasons: reasons.length,
      losses: losses.length,
    })),
  );
  return { cells };
}
