/** Every tool in every dialect, as a table whose cells open on a click. */

import { signal, useComputed } from '@preact/signals';

import { type Cell, DIALECTS, GRADE_ORDER, GRADES, overall } from '../calls/survey.js';
import { Editor } from '../editor/Editor.js';
import { rove } from '../parts/roving.js';
import { change, doc, shared, survey } from '../state/state.js';
import { HINT, latest, onInput, Pane, textShown } from './pane.js';

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
          <Editor text={textShown.value} label="Input" onInput={onInput} latest={latest} hint={HINT} />
        </div>
      </div>
    </div>
  );
}

function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      {GRADE_ORDER.map((grade) => (
        <li key={grade} title={GRADES[grade].means}>
          <span class={`sign grade-${grade}`} aria-hidden="true">
            {GRADES[grade].sign}
          </span>
          {GRADES[grade].label}
        </li>
      ))}
    </ul>
  );
}

function Table() {
  const found = survey.value;
  const tools = useComputed(() => survey.value?.tools ?? doc.value.tools);
  if (doc.value.kind === 'nothing' || tools.value.length === 0) {
    return (
      <p class="empty">
        {doc.value.text.trim() === '' ? '' : 'This text contains no tools. '}Paste a schema, a tool, or a whole list,
        for example an MCP server’s answer to <code>tools/list</code>.
      </p>
    );
  }
  const { dialect, tool } = shared.value;
  const named = tools.value.length > 1;
  const from = first.value < tools.value.length ? first.value : 0;
  const page = tools.value.slice(from, from + COLUMNS);
  return (
    <>
      {tools.value.length <= COLUMNS ? null : <Pages from={from} count={page.length} of={tools.value.length} />}
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
                <th scope="col" class="overall">
                  Accepted
                </th>
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
              const cells = found?.cells.get(name as typeof dialect);
              const short = overall(cells);
              return (
                <tr key={name} data-current={name === dialect}>
                  <th scope="row" title={surface}>
                    {name}
                  </th>
                  {named ? (
                    <td class="overall">
                      {short === undefined || cells === undefined ? null : (
                        <span class={`through grade-${short.grade}`} title={`At worst: ${GRADES[short.grade].label}`}>
                          {short.through}
                          <span class="of"> of {cells.length}</span>
                        </span>
                      )}
                    </td>
                  ) : null}
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
  const description =
    cell === undefined
      ? 'not computed yet'
      : `${GRADES[cell.grade].label}; ${cell.violations} violations as is, ${cell.changes} changes`;
  return (
    <button
      type="button"
      class={`cell sign ${cell === undefined ? 'sign-none' : `grade-${cell.grade}`}`}
      data-current={current}
      tabIndex={first ? 0 : -1}
      aria-label={`${label}: ${description}`}
      title={`${label}\n${description}`}
      onClick={onOpen}
    >
      {cell === undefined ? '' : GRADES[cell.grade].sign}
    </button>
  );
}
