/** A table of tools and turns: two bars for each tool, one for each backend, in the turns in which its model sees the tool. */

import { type Conversation, describeGrowth, describeVisibility, type Side, sightOf } from '../calls/conversation.js';
import { change } from '../state/state.js';
import { rove } from './roving.js';

const SIDES = ['left', 'right'] as const;

export function Timeline({ conversation, at }: { conversation: Conversation; at: number }) {
  const { gists, sides, names, skipped } = conversation;
  return (
    <div class="table-scroll">
      <table class="timeline" aria-label="Tools that the model sees in each turn, on both backends">
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
                  <span class="sr">Turn </span>
                  {number + 1 + skipped}
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
                const turn = side.turns[number];
                const growth = turn === undefined ? 'not available' : describeGrowth(turn);
                return (
                  <td
                    key={number}
                    data-current={number === at}
                    class={turn?.partsAt === undefined ? 'amount' : 'amount parted'}
                    title={turn === undefined ? growth : `${turn.newBytes.toLocaleString('en')} ${growth}`}
                  >
                    {turn === undefined ? <span aria-hidden="true">–</span> : turn.newBytes.toLocaleString('en')}
                    <span class="sr"> {growth}</span>
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
  return (
    <span class={`bar bar-${which} bar-${sightOf(side, name, number)}`}>
      <span class="sr">
        {which}, {describeVisibility(side, name, number)};{' '}
      </span>
    </span>
  );
}
