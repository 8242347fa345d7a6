/** A sentence of toolwire's: what stands in backticks is code. */

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
