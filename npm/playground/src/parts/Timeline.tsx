/** Tools against turns: a bar for each tool, from the turn in which the model sees it. */

import type { Conversation } from '../calls/conversation.js';
import { change } from '../state/state.js';
import { rove } from './roving.js';

export function Timeline({ conversation: { tools, turns }, at }: { conversation: Conversation; at: number }) {
  const most = Math.max(1, ...turns.map(({ toolBytes, savedBytes }) => toolBytes + savedBytes));
  return (
    <div class="table-scroll">
      <table class="timeline" aria-label="Which tools the model sees at each turn">
        <thead>
          <tr onKeyDown={(event) => rove(event, '.turn-button', { click: true })}>
            <th scope="col">Turn</th>
            {turns.map((turn, number) => (
              <th key={number} scope="col" data-current={number === at}>
                <button
                  type="button"
                  class="turn-button"
                  aria-pressed={number === at}
                  tabIndex={number === at ? 0 : -1}
                  title={turn.said.map(({ text }) => text).join('\n')}
                  onClick={() => change({ turn: number })}
                >
                  {number + 1}
                  <span class="gist">{turn.gist}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tools.map(({ name, deferred }) => (
            <tr key={name}>
              <th scope="row" class={deferred ? '' : 'always'}>
                {name}
              </th>
              {turns.map(({ hidden, arrived }, number) => {
                const state = hidden.has(name) ? 'hidden' : arrived.includes(name) ? 'arrives' : 'visible';
                return (
                  <td key={number} data-current={number === at}>
                    <span class={`bar bar-${state}${deferred ? '' : ' bar-always'}`}>
                      <span class="sr">{state}</span>
                    </span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Bytes of tools sent</th>
            {turns.map(({ toolBytes, savedBytes }, number) => (
              <td key={number} data-current={number === at} title={`${toolBytes} bytes sent, ${savedBytes} saved`}>
                <svg class="column" viewBox="0 0 10 40" preserveAspectRatio="none" aria-hidden="true" focusable="false">
                  <rect
                    class="column-all"
                    x="0"
                    width="10"
                    y={40 - (40 * (toolBytes + savedBytes)) / most}
                    height={(40 * (toolBytes + savedBytes)) / most}
                  />
                  <rect
                    class="column-sent"
                    x="0"
                    width="10"
                    y={40 - (40 * toolBytes) / most}
                    height={(40 * toolBytes) / most}
                  />
                </svg>
                <span class="amount">{toolBytes.toLocaleString('en')}</span>
              </td>
            ))}
          </tr>
          <tr>
            <th scope="row">Bytes saved</th>
            {turns.map(({ savedBytes }, number) => (
              <td key={number} data-current={number === at} class="amount">
                {savedBytes.toLocaleString('en')}
              </td>
            ))}
          </tr>
          <tr>
            <th scope="row">Prompt cache</th>
            {turns.map(({ cachedBytes, promptBytes }, number) => (
              <td key={number} data-current={number === at} class="amount">
                {number === 0 ? '–' : `${Math.round((100 * cachedBytes) / promptBytes)} %`}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
