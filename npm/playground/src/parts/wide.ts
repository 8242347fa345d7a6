/** A signal that is true if there is room for two texts side by side. */

import { signal } from '@preact/signals';

const query = matchMedia('(min-width: 880px)');
export const wide = signal(query.matches);
query.addEventListener('change', () => (wide.value = query.matches));
