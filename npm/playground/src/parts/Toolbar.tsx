/** The choice of the function and its options, and the call as code. */

import { DIALECTS } from '../calls/dialects.js';
import { copy } from '../state/address.js';
import type { FunctionName, Options } from '../state/shared.js';
import { change, doc, fn, functions, outcome, shared } from '../state/state.js';
import { Fold } from './Fold.js';
import { Icon } from './Icon.js';
import { rove } from './roving.js';

const SAYS: Record<FunctionName, string> = {
  sanitize: 'Rewrite for the dialect, with the least loss',
  check: 'Report what the API refuses, reinterprets or ignores',
  normalizeEnvelope: 'Only make the root a valid schema of an object',
  applyDeferredLoading: 'Hide deferred tools until they are loaded',
};

export function Toolbar() {
  const { code } = outcome.value;
  return (
    <div class="toolbar">
      <div
        class="segments"
        role="radiogroup"
        aria-label="Function"
        onKeyDown={(event) => rove(event, '[role=radio]', { click: true })}
      >
        {functions.value.map((each) => (
          // biome-ignore lint/a11y/useSemanticElements: a button in a group with arrow-key navigation
          <button
            key={each}
            type="button"
            role="radio"
            data-fn={each}
            aria-checked={fn.value === each}
            tabIndex={fn.value === each ? 0 : -1}
            title={SAYS[each]}
            onClick={() => change({ fn: each })}
          >
            {each}
          </button>
        ))}
      </div>
      {fn.value === 'sanitize' ? <Choices /> : null}
      <button
        type="button"
        class="call"
        title="Copy this call"
        onClick={() => void copy(code, 'Call copied. You can run it in the console.')}
      >
        <code>{code}</code>
        <Icon name="copy" />
        <span class="sr">Copy this call</span>
      </button>
    </div>
  );
}

const CHOICES: { [Name in keyof Options]-?: { label: string; values: readonly NonNullable<Options[Name]>[] } } = {
  allow: { label: 'Maximum loss', values: ['same', 'encoded', 'closed', 'wider', 'any'] },
  refs: { label: '$ref', values: ['inline', 'keep'] },
  untyped: { label: 'Untyped', values: ['keep', 'any', 'string'] },
  hints: { label: 'Constraints', values: ['describe', 'drop'] },
};

/** The options of the dialect, collapsed at first. */
function Choices() {
  const { options, dialect, shape } = shared.value;
  const known = DIALECTS.find(({ name }) => name === dialect)?.options ?? [];
  const chosen = Object.keys(options).length + (shape === 'api' ? 1 : 0);
  const listed = doc.value.kind === 'tool' || doc.value.kind === 'tools';
  return (
    <Fold name={`Options${chosen === 0 ? '' : ` (${chosen})`}`}>
      <div class="choices-box">
        {(Object.keys(CHOICES) as (keyof Options)[]).map((name) => {
          const { label, values } = CHOICES[name];
          const has = name === 'allow' || known.includes(name);
          return (
            <label key={name} class="choice">
              <span>{label}</span>
              <select
                disabled={!has}
                value={(has ? options[name] : undefined) ?? ''}
                onChange={({ currentTarget: { value } }) => {
                  const { [name]: _, ...rest } = options;
                  change({ options: value === '' ? rest : { ...rest, [name]: value } });
                }}
              >
                <option value="">{has ? 'the dialect’s default' : 'not available in this dialect'}</option>
                {values.map((value) => (
                  <option key={value} value={value}>
                    {value}
                  </option>
                ))}
              </select>
            </label>
          );
        })}
        {listed ? (
          <label class="choice">
            <span>Tool format</span>
            <select
              value={shape}
              onChange={({ currentTarget }) => change({ shape: currentTarget.value as typeof shape })}
            >
              <option value="given">as in the input</option>
              <option value="api">that of the API</option>
            </select>
          </label>
        ) : null}
      </div>
    </Fold>
  );
}
