/** Every tool in every dialect, as a table whose cells open on a click: the verdicts of `toolwire matrix`. */

import { signal } from '@preact/signals';

import { DIALECTS } from '../calls/dialects.js';
import { type Cell, describe, OUTCOME_ORDER, OUTCOMES, overall, type Row, TAKEN, takenOf } from '../calls/grades.js';
import { Editor } from '../editor/Editor.js';
import { Prose } from '../parts/Prose.js';
import { rove } from '../parts/roving.js';
import { change, doc, shared, survey } from '../state/state.js';
import { HINT, latest, onInput, onPaste, Pane, textShown } from './pane.js';

/** Maximum number of columns on one page of the table, because a list may have thousands of tools. */
const COLUMNS = 40;
const first = signal(0);

export function Matrix() {
  return (
    <div class="view view-matrix">
      <div class="panes panes-matrix">
        <section class="pane table-pane" aria-label="Tools and dialects">
          <Legend />
          <Table />
        </section>
        <div class="pane">
          <Pane.Input />
          <Editor
            text={textShown.value}
            label="Input"
            onInput={onInput}
            onPaste={onPaste}
            latest={latest}
            hint={HINT}
          />
        </div>
      </div>
    </div>
  );
}

function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      {OUTCOME_ORDER.map((outcome) => (
        <li key={outcome} title={OUTCOMES[outcome].means}>
          <span class={`sign grade-${outcome}`} aria-hidden="true">
            {OUTCOMES[outcome].sign}
          </span>
          {OUTCOMES[outcome].label}
        </li>
      ))}
      {(['reinterpreted', 'ignored'] as const).map((taken) => (
        <li key={taken} title={TAKEN[taken].means}>
          <span class={`taken grade-${taken}`} aria-hidden="true">
            {TAKEN[taken].sign}
          </span>
          {TAKEN[taken].label}
        </li>
      ))}
    </ul>
  );
}

/** Returns the reason why no dialect has a verdict, in the words of the command line. */
function refusal(rows: ReadonlyMap<string, Row>): string | undefined {
  for (const row of rows.values()) if ('refused' in row) return row.refused;
  return undefined;
}

function Table() {
  const { tools, text } = doc.value;
  const refused = refusal(survey.value);
  if (refused !== undefined || tools.length === 0) {
    return (
      <div class="empty">
        {refused === undefined ? null : (
          <p class="refusal" role="alert">
            <Prose text={refused} />
          </p>
        )}
        <p>
          {text.trim() === '' || refused !== undefined ? '' : 'This text contains no tools. '}Paste a schema, a tool, or
          a whole list, for example an MCP server’s answer to <code>tools/list</code>.
        </p>
      </div>
    );
  }
  const { dialect, tool } = shared.value;
  const named = tools.length > 1;
  const from = first.value < tools.length ? first.value : 0;
  const page = tools.slice(from, from + COLUMNS);
  return (
    <>
      {tools.length <= COLUMNS ? null : <Pages from={from} count={page.length} of={tools.length} />}
      <div class="table-scroll">
        <table
          class="matrix"
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table with arrow-key navigation is a grid
          role="grid"
          aria-label="Result for each tool in each dialect"
          onKeyDown={(event) => rove(event, '.cell', { columns: page.length })}
        >
          <thead>
            <tr>
              <th scope="col">Dialect</th>
              {named ? (
                <>
                  <th scope="col" class="overall" title="Tools that the API accepts as they are">
                    As is
                  </th>
                  <th scope="col" class="overall" title="Tools that can be rewritten for the API">
                    Rewritten
                  </th>
                </>
              ) : null}
              {page.map(({ name, pointer }) => (
                <th key={pointer} scope="col" class="tool-name" title={name}>
                  <span>{name}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {DIALECTS.map(({ name, surface }, row) => {
              const found = survey.value.get(name);
              const cells = found !== undefined && 'cells' in found ? found.cells : undefined;
              return (
                <tr key={name} data-current={name === dialect}>
                  <th scope="row" title={surface}>
                    {name}
                  </th>
                  {named ? <Counts row={found} of={tools.length} /> : null}
                  {page.map((each, column) => (
                    <td key={each.pointer}>
                      <CellButton
                        cell={cells?.[from + column]}
                        label={`${each.name} in ${name}`}
                        first={row === 0 && column === 0}
                        current={name === dialect && each.name === tool}
                        onOpen={() =>
                          change({
                            view: 'rewrite',
                            fn: 'sanitize',
                            dialect: name as typeof dialect,
                            tool: named ? each.name : null,
                          })
                        }
                      />
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** The numbers of tools that the API accepts unchanged, and after rewriting. */
function Counts({ row, of }: { row: Row | undefined; of: number }) {
  const found = overall(row);
  if (found === undefined) {
    return (
      <>
        <td class="overall" />
        <td class="overall" />
      </>
    );
  }
  const { accepted, rewritten, worst, taken } = found;
  const asIs = accepted === 0 ? 'refused' : (taken ?? (accepted < of ? 'narrower' : 'unchanged'));
  return (
    <>
      <td class="overall">
        <span class={`through grade-${asIs}`}>
          {accepted}
          <span class="of"> of {of}</span>
        </span>
      </td>
      <td class="overall">
        <span class={`through grade-${worst}`} title={`At worst: ${OUTCOMES[worst].label}`}>
          {rewritten}
          <span class="of"> of {of}</span>
        </span>
      </td>
    </>
  );
}

function Pages({ from, count, of }: { from: number; count: number; of: number }) {
  return (
    <p class="pages">
      Tools {from + 1} to {from + count} of {of}
      <button type="button" class="link" disabled={from === 0} onClick={() => (first.value = from - COLUMNS)}>
        Previous
      </button>
      <button type="button" class="link" disabled={from + count >= of} onClick={() => (first.value = from + COLUMNS)}>
        Next
      </button>
    </p>
  );
}

interface CellProps {
  cell: Cell | undefined;
  label: string;
  first: boolean;
  current: boolean;
  onOpen: () => void;
}

function CellButton({ cell, label, first, current, onOpen }: CellProps) {
  const description = cell === undefined ? 'not computed yet' : describe(cell);
  const taken = cell === undefined ? undefined : takenOf(cell);
  return (
    <button
      type="button"
      class={`cell sign ${cell === undefined ? 'sign-none' : `grade-${cell.outcome}`}`}
      data-current={current}
      tabIndex={first ? 0 : -1}
      aria-label={`${label}: ${description}`}
      title={`${label}\n${description}`}
      onClick={onOpen}
    >
      {cell === undefined ? '' : OUTCOMES[cell.outcome].sign}
      {taken === undefined ? null : (
        <span class={`taken grade-${taken}`} aria-hidden="true">
          {TAKEN[taken].sign}
        </span>
      )}
    </button>
  );
}
