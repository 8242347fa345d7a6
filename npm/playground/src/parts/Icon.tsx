/** The page's icons, drawn as lines in the color of the surrounding text. */

const PATHS = {
  share: 'M9 12a3 3 0 0 0 4.2.3l2.6-2.6a3 3 0 0 0-4.3-4.3l-.9.9M11 8a3 3 0 0 0-4.2-.3L4.2 10.3a3 3 0 0 0 4.3 4.3l.9-.9',
  light:
    'M10 3v1.5M10 15.5V17M3 10h1.5M15.5 10H17M5 5l1.1 1.1M13.9 13.9 15 15M5 15l1.1-1.1M13.9 6.1 15 5M10 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6Z',
  dark: 'M16 11.6A6.5 6.5 0 0 1 8.4 4a6.5 6.5 0 1 0 7.6 7.6Z',
  system: 'M3.5 4.5h13v8.5h-13zM7.5 16.5h5M10 13v3.5',
  keyboard: 'M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.5h7',
  copy: 'M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3',
  close: 'M5.5 5.5l9 9M14.5 5.5l-9 9',
  arrow: 'M4.5 10h10M11 6.5l3.5 3.5-3.5 3.5',
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
