/** A recording that somebody sent. */
export interface Speech {
  fileName: string | undefined;
  /** Ends the program. */
  signal: AbortSignal;
  /** Begins to load it. */
  open(): Promise<{ bytes: AsyncIterable<Uint8Array> }>;
}

/** What was said in a recording, or why nobody knows. */
export type Heard = { kind: 'text'; text: string } | { kind: 'unheard'; why: string };
