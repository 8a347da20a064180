import type { StreamEvent } from '../../../protocol/stream-events.ts';

/** The pieces of an answer, and of the output of tools, on their way to the log: nobody waits, and it never has a hole. */
export class Deltas {
  readonly #store: (event: StreamEvent) => Promise<unknown>;
  readonly #untold: StreamEvent[] = [];
  #failure: unknown;
  /** Calls of which a chunk of output was lost. */
  readonly #muted = new Set<string>();

  constructor(store: (event: StreamEvent) => Promise<unknown>) {
    this.#store = store;
  }

  /** Those of the answer that could not be stored; the next step tells them first, and `forget`s them then. */
  get untold(): readonly StreamEvent[] {
    return this.#untold;
  }

  forget(count: number): void {
    this.#untold.splice(0, count);
  }

  /** Throws, as `throwFailure`, instead of telling an answer further. */
  tell(event: StreamEvent): void {
    if (event.type === 'tool_output_chunk') this.#tellOutput(event);
    else this.#tellAnswer(event);
  }

  /** Throws, once, what kept a piece of the answer from the log. */
  throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }

  #tellAnswer(event: StreamEvent): void {
    this.throwFailure();
    this.#store(event).catch((error: unknown) => {
      this.#untold.push(event);
      this.#failure ??= error;
    });
  }

  /** After a lost chunk the rest is left out: the call's result has the output whole. */
  #tellOutput(event: StreamEvent & { type: 'tool_output_chunk' }): void {
    const { call_id: callId } = event;
    if (this.#muted.has(callId)) return;
    this.#store(event).catch(() => {
      this.#muted.add(callId);
    });
  }
}
