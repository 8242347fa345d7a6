/** Tools against turns: two bars for each tool, one for each backend, in the turns in which its model sees the tool. */

import type { Conversation, Side } from '../calls/conversation.js';
import { change } from '../state/state.js';
import { rove } from './roving.js';

const SIDES = ['left', 'right'] as const;

export function Timeline({ conversation, at }: { conversation: Conversation; at: number }) {
  const { gists, sides, names } = conversation;
  return (
    <div class="table-scroll">
      <table class="timeline" aria-label="Which tools the model sees at each turn, on both backends">
        <thead>
          <tr onKeyDown={(event) => rove(event, '.turn-button', { click: true })}>
            <th scope="col">Turn</th>
            {gists.map((gist, number) => (
              <th key={number} scope="col" data-current={number === at}>
                <button
                  type="button"
                  class="turn-button"
                  aria-pressed={number === at}
                  tabIndex={number === at ? 0 : -1}
                  title={gist}
                  onClick={() => change({ turn: number })}
                >
                  {number + 1}
                  <span class="gist">{gist}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {gists.map((_, number) => (
                <td key={number} data-current={number === at}>
                  {sides.map((side, which) => (
                    <Bar key={SIDES[which]} side={side} which={SIDES[which] ?? 'left'} name={name} number={number} />
                  ))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          {sides.map((side, which) => (
            <tr key={SIDES[which]}>
              <th scope="row" title={side.backend.name}>
                <span class={`swatch swatch-${SIDES[which]}`} aria-hidden="true" />
                New bytes <span class="sr">on {side.backend.name}</span>
              </th>
              {gists.map((_, number) => {
                const { newBytes = 0, promptBytes = 0, partsAt } = side.turns[number] ?? {};
                const ends = partsAt === undefined ? '' : `: the prefix ends at ${partsAt}`;
                return (
                  <td
                    key={number}
                    data-current={number === at}
                    class={partsAt === undefined ? 'amount' : 'amount parted'}
                    title={`${newBytes} of ${promptBytes} bytes are new${ends}`}
                  >
                    {side.failed === undefined ? newBytes.toLocaleString('en') : '–'}
                    {partsAt === undefined ? null : <span class="sr">, the prefix ends</span>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tfoot>
      </table>
    </div>
  );
}

function Bar({ side, which, name, number }: { side: Side; which: string; name: string; number: number }) {
  const turn = side.turns[number];
  const visible = turn?.tools.some((tool) => tool.name === name) ?? false;
  const state = !visible ? 'hidden' : number > 0 && turn?.came.includes(name) ? 'arrives' : 'visible';
  return (
    <span class={`bar bar-${which} bar-${state}`}>
      <span class="sr">
        {which} {state}
      </span>
    </span>
  );
}
