/** A row of dialects to choose from, each with the result for the text. */

import { useEffect, useRef } from 'preact/hooks';

import { DIALECTS, GRADES, overall } from '../calls/survey.js';
import { change, shared, survey } from '../state/state.js';
import { rove } from './roving.js';

export function Dialects() {
  const { dialect } = shared.value;
  const cells = survey.value?.cells;
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a narrow page the row scrolls to the selected dialect.
    const chosen = row.current?.querySelector<HTMLElement>('[aria-checked=true]');
    if (row.current && chosen) row.current.scrollLeft = chosen.offsetLeft - row.current.clientWidth / 3;
  }, [dialect]);
  return (
    <div
      ref={row}
      class="dialects"
      role="radiogroup"
      aria-label="Dialect"
      onKeyDown={(event) => rove(event, '[role=radio]', { click: true })}
    >
      {DIALECTS.map(({ name, surface }) => {
        const grades = cells?.get(name as typeof dialect);
        const grade = overall(grades)?.grade;
        return (
          // biome-ignore lint/a11y/useSemanticElements: a button with a mark, in a group with arrow-key navigation
          <button
            key={name}
            type="button"
            role="radio"
            class="dialect"
            data-dialect={name}
            aria-checked={name === dialect}
            tabIndex={name === dialect ? 0 : -1}
            title={`${surface}${grade === undefined ? '' : `\n${GRADES[grade].label}: ${GRADES[grade].means}`}`}
            onClick={() => change({ dialect: name as typeof dialect })}
          >
            <span class={`sign ${grade === undefined ? 'sign-none' : `grade-${grade}`}`} aria-hidden="true">
              {grade === undefined ? '' : GRADES[grade].sign}
            </span>
            {name}
            {grade === undefined ? null : <span class="sr">, {GRADES[grade].label}</span>}
          </button>
        );
      })}
    </div>
  );
}
