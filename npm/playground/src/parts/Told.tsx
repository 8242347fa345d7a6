/** A short message at the edge of the page, shown for a moment. */

import { useEffect } from 'preact/hooks';

import { told } from '../state/state.js';

export function Told() {
  const text = told.value;
  useEffect(() => {
    if (text === '') return;
    const timer = setTimeout(() => (told.value = ''), 4_000);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="told" role="status" aria-live="polite" data-shown={text !== ''}>
      {text}
    </div>
  );
}
