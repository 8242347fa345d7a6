/** A short message at the edge of the page, shown for a moment. */

import { useEffect } from 'preact/hooks';

import { toast } from '../state/state.js';

export function Toast() {
  const text = toast.value;
  useEffect(() => {
    if (text === '') return;
    const timer = setTimeout(() => (toast.value = ''), 4_000);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="toast" role="status" aria-live="polite" data-shown={text !== ''}>
      {text}
    </div>
  );
}
