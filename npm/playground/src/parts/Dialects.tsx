/** A row of dialects to choose from, each with the result for the text. */

import { useEffect, useRef } from 'preact/hooks';

import { DIALECTS } from '../calls/dialects.js';
import { OUTCOMES, overall, TAKEN } from '../calls/grades.js';
import { change, shared, survey } from '../state/state.js';
import { rove } from './roving.js';

export function Dialects() {
  const { dialect } = shared.value;
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
        const found = overall(survey.value.get(name));
        const grade = found?.worst;
        const taken = found?.taken;
        const words = [
          ...(grade === undefined ? [] : [OUTCOMES[grade]]),
          ...(taken === undefined ? [] : [TAKEN[taken]]),
        ];
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
            title={[surface, ...words.map(({ label, means }) => `${label}: ${means}`)].join('\n')}
            onClick={() => change({ dialect: name as typeof dialect })}
          >
            <span class={`sign ${grade === undefined ? 'sign-none' : `grade-${grade}`}`} aria-hidden="true">
              {grade === undefined ? '' : OUTCOMES[grade].sign}
            </span>
            {name}
            {taken === undefined ? null : (
              <span class={`taken grade-${taken}`} aria-hidden="true">
                {TAKEN[taken].sign}
              </span>
            )}
            {words.length === 0 ? null : <span class="sr">, {words.map(({ label }) => label).join(', ')}</span>}
          </button>
        );
      })}
    </div>
  );
}
