/** Dark or light mode: the system's setting until the user chooses. */

import { signal } from '@preact/signals';

type Theme = 'system' | 'light' | 'dark';
const KEY = 'toolwire-theme';

export const theme = signal<Theme>(stored());

const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };

export function switchTheme(): void {
  const next = NEXT[theme.peek()];
  theme.value = next;
  show();
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Some private windows have no storage: the choice lasts as long as the page.
  }
}

export function show(): void {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}
