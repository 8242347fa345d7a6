/** Arrow-key navigation in tabs, radio groups and grids, with one element in the Tab order (ARIA practices). */

/** Moves the focus to the next or previous element in the event's group that matches the selector, and clicks it if `click` is set. */
export function rove(event: KeyboardEvent, selector: string, { click = false, columns = 1 } = {}): void {
  const group = event.currentTarget as HTMLElement;
  const all = [...group.querySelectorAll<HTMLElement>(selector)];
  const at = all.indexOf((event.target as HTMLElement).closest<HTMLElement>(selector) as HTMLElement);
  if (at < 0) return;
  const to = target(event.key, at, all.length, columns);
  const next = all[to ?? -1];
  if (next === undefined) return;
  event.preventDefault();
  if (columns > 1) {
    for (const each of all) each.tabIndex = each === next ? 0 : -1;
  }
  next.focus();
  if (click) next.click();
}

function target(key: string, at: number, length: number, columns: number): number | undefined {
  const grid = columns > 1;
  switch (key) {
    case 'ArrowRight':
      return grid ? Math.min(at + 1, length - 1) : (at + 1) % length;
    case 'ArrowLeft':
      return grid ? Math.max(at - 1, 0) : (at - 1 + length) % length;
    case 'ArrowDown':
      return grid ? (at + columns < length ? at + columns : at) : (at + 1) % length;
    case 'ArrowUp':
      return grid ? (at - columns >= 0 ? at - columns : at) : (at - 1 + length) % length;
    case 'Home':
      return grid ? at - (at % columns) : 0;
    case 'End':
      return grid ? at - (at % columns) + columns - 1 : length - 1;
    default:
      return undefined;
  }
}
