/** Controls for replaying turns: a slider, steps in both directions, and automatic playback. */

import { useEffect, useState } from 'preact/hooks';

import { change } from '../state/state.js';

/** Pause between turns in milliseconds, long enough to read which tools are added and removed. */
const PAUSE = 1800;

export function Stepper({ gists, at, skipped }: { gists: readonly string[]; at: number; skipped: number }) {
  const [playing, setPlaying] = useState(false);
  const last = gists.length - 1;
  const ended = at >= last;
  const position = `Turn ${at + 1 + skipped} of ${gists.length + skipped}`;
  useEffect(() => {
    if (!playing) return;
    if (ended) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => change({ turn: at + 1 }), PAUSE);
    return () => clearTimeout(timer);
  }, [playing, ended, at]);
  const step = (by: number) => {
    setPlaying(false);
    change({ turn: Math.min(Math.max(at + by, 0), last) });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div class="stepper" role="group" aria-label="Replay the turns">
      {/* Not disabled at the ends, so that a button that was just pressed keeps the focus. */}
      <button type="button" class="plain" aria-disabled={at === 0} onClick={() => step(-1)}>
        Previous<span class="sr"> turn</span>
      </button>
      <button
        type="button"
        class="plain"
        onClick={() => {
          if (!playing && at >= last && last > 0) change({ turn: 0 });
          setPlaying(!playing && last > 0);
        }}
      >
        {playing ? 'Pause' : 'Play'}
      </button>
      <button type="button" class="plain" aria-disabled={ended} onClick={() => step(1)}>
        Next<span class="sr"> turn</span>
      </button>
      <input
        type="range"
        min={1}
        max={gists.length}
        value={at + 1}
        aria-label="Turn"
        aria-valuetext={`${position}: ${gists[at] ?? ''}`}
        onInput={({ currentTarget }) => {
          setPlaying(false);
          change({ turn: currentTarget.valueAsNumber - 1 });
        }}
      />
      <output>{position}</output>
    </div>
  );
}
