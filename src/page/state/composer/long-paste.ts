/** A longer text is easier to handle as a file: for the person who writes around it, and for the model. */
const MOST_CHARS = 6_000;

/** The file for a long text that was pasted; undefined if it is short enough for the message. */
export function toPastedFile(text: string, taken: readonly string[]): File | undefined {
  if (text.length <= MOST_CHARS) return undefined;
  const count = taken.filter((name) => name.startsWith('pasted-text')).length;
  return new File([text], `pasted-text${count === 0 ? '' : `-${count + 1}`}.txt`, { type: 'text/plain' });
}
