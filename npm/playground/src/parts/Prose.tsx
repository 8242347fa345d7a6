/** A message of toolwire, with text in backticks shown as code. */

export function Prose({ text }: { text: string }) {
  return (
    <>
      {text
        .split(/(`[^`]*`)/)
        .map((part) =>
          part.length > 1 && part.startsWith('`') && part.endsWith('`') ? <code>{part.slice(1, -1)}</code> : part,
        )}
    </>
  );
}
