/** Goes through the earlier messages of a conversation in the message field, as in a shell. */
export class MessageHistory {
  /** What was put into the field last, and where it stands among the messages. */
  #recalled: { at: number; text: string } | undefined;

  /**
   * The text to show after a step back (-1) or forward (1); undefined if the field stays as it is. A text that a person has written
   * or changed is never replaced.
   */
  step(draft: string, asked: readonly string[], by: -1 | 1): string | undefined {
    const here = this.#recalled?.text === draft ? this.#recalled.at : undefined;
    if (here === undefined && (draft !== '' || by === 1)) return undefined;
    const at = nextOther(asked, { from: here ?? asked.length, by });
    if (at < 0) return undefined;
    const text = asked[at] ?? '';
    this.#recalled = at === asked.length ? undefined : { at, text };
    return text;
  }
}

/** Skips messages that say the same; the length of the list stands for the empty field. */
function nextOther(asked: readonly string[], { from, by }: { from: number; by: -1 | 1 }): number {
  let at = from + by;
  while (at >= 0 && at < asked.length && (asked[at] === asked[from] || asked[at] === '')) at += by;
  return Math.min(at, asked.length);
}

/** Whether an arrow key would leave the text: the cursor is in its first line, or in its last one. */
export function isAtEdge(
  { value, selectionStart, selectionEnd }: Pick<HTMLTextAreaElement, 'value' | 'selectionStart' | 'selectionEnd'>,
  by: -1 | 1,
): boolean {
  if (selectionStart !== selectionEnd) return false;
  return by === -1 ? !value.slice(0, selectionStart).includes('\n') : !value.slice(selectionEnd).includes('\n');
}
