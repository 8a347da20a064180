import type { StreamEvent } from '../../../../../protocol/stream-events.ts';

/** More than a message can show, with its mark-up. */
const MOST_CHARS = 16_384;

/** The text of a run's turn in progress: the answer, if no tool call follows. */
export class StreamedText {
  #text = '';
  /** The text of an earlier turn stays until the next one has some. */
  #isStale = false;
  #grown = Promise.withResolvers<void>();

  /** Resolves when there is text that was not read. */
  get grown(): Promise<void> {
    return this.#grown.promise;
  }

  /** What was read counts as not read. */
  putBack(): void {
    this.#grown.resolve();
  }

  read(): string {
    this.#grown = Promise.withResolvers();
    return this.#text;
  }

  take(event: StreamEvent): void {
    if (event.type === 'thinking_start' || (event.type === 'stream_end' && event.interrupted)) this.#isStale = true;
    if (event.type !== 'content') return;
    const before = this.#isStale ? '' : this.#text;
    this.#isStale = false;
    this.#text = (before + event.text).slice(0, MOST_CHARS);
    this.#grown.resolve();
  }
}
