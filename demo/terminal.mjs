// Aligned tables and sparing color, independent of the content.

const colors = process.stdout.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
const paint = (code) => (text) => (colors ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
export const green = paint(32);

export const count = (number) => number.toLocaleString('en-US');

/** Returns the change in percent: `-12 %`. */
export function percent(before, after) {
  if (before === after) return '0 %';
  const change = (100 * (after - before)) / before;
  // One decimal if rounding would hide a change, or would show a remainder as zero.
  const digits = Math.abs(change) < 10 || Math.abs(change) > 99 ? 1 : 0;
  return `${change > 0 ? '+' : ''}${change.toFixed(digits)} %`;
}

/** Prints rows below their headings: numbers to the right, words to the left, and zero as a dot, so that other numbers are easier to see. */
export function table(headings, rows) {
  const show = (cell) => (typeof cell === 'number' ? (cell === 0 ? '.' : count(cell)) : cell);
  const right = headings.map((_, column) =>
    rows.some((row) => typeof row[column] === 'number' || /^[-+\d].* %$/.test(row[column])),
  );
  const cells = [headings, ...rows].map((row) => row.map(show));
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  cells.forEach((row, index) => {
    const line = row
      .map((cell, column) => (right[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
      .join('  ')
      .trimEnd();
    console.log(`  ${index === 0 ? dim(line) : line}`);
  });
}

export function heading(text) {
  console.log(`\n${bold(text)}`);
}
