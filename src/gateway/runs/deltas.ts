import type { StreamEvent } from '../../../protocol/stream-events.ts';

/** Appends pieces of an answer and of tool output to the log. Callers do not wait, and the log never has a gap. */
export class Deltas {
  readonly #store: (event: StreamEvent) => Promise<unknown>;
  readonly #untold: StreamEvent[] = [];
  #failure: unknown;
  /** Calls that lost a chunk of output. */
  readonly #muted = new Set<string>();

  constructor(store: (event: StreamEvent) => Promise<unknown>) {
    this.#store = store;
  }

  /** Deltas of the answer that could not be stored; the next step stores them first and then calls `forget`. */
  get untold(): readonly StreamEvent[] {
    return this.#untold;
  }

  forget(count: number): void {
    this.#untold.splice(0, count);
  }

  /** Appends a delta. Throws like `throwFailure` if an earlier one was lost. */
  tell(event: StreamEvent): void {
    if (event.type === 'tool_output_chunk') this.#tellOutput(event);
    else this.#tellAnswer(event);
  }

  /** Throws, once, the error that kept a piece of the answer from the log. */
  throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }

  #tellAnswer(event: StreamEvent): void {
    this.throwFailure();
    if (this.#untold.length > 0) {
      this.#untold.push(event); // behind those before it, which the next step stores
      return;
    }
    this.#store(event).catch((error: unknown) => {
      this.#untold.push(event);
      this.#failure ??= error;
    });
  }

  /** Drops the rest of the output after a lost chunk; the call's result has the whole output. */
  #tellOutput(event: StreamEvent & { type: 'tool_output_chunk' }): void {
    const { call_id: callId } = event;
    if (this.#muted.has(callId)) return;
    this.#store(event).catch(() => {
      this.#muted.add(callId);
    });
  }
}
