/** A box that opens below its name, and closes on Escape or on a click elsewhere. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export function Fold({ name, children }: { name: ComponentChildren; children: ComponentChildren }) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const elsewhere = (event: Event) => {
      const { current } = details;
      if (current !== null && !event.composedPath().includes(current)) current.open = false;
    };
    addEventListener('pointerdown', elsewhere);
    return () => removeEventListener('pointerdown', elsewhere);
  }, []);
  return (
    <details
      ref={details}
      class="choices"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !event.currentTarget.open) return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector('summary')?.focus();
      }}
    >
      <summary>{name}</summary>
      {children}
    </details>
  );
}
