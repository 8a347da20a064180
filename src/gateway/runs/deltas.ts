import type { StreamEvent } from '../../../protocol/stream-events.ts';

/** A piece of an answer, with its place among all that were told. */
interface Piece {
  event: StreamEvent;
  place: number;
}

/** Appends pieces of an answer and of tool output to the log. Callers do not wait, and the log never has a gap. */
export class Deltas {
  readonly #store: (event: StreamEvent) => Promise<unknown>;
  /** Nobody knows yet whether they are stored. After a lost connection, that takes longer than the refusal of later ones. */
  readonly #underWay = new Set<Piece>();
  /** Pieces that could not be stored, in the order in which they were told; the next step stores them first. */
  #untold: Piece[] = [];
  #told = 0;
  /** Why the last piece could not be stored. */
  #problem: unknown;
  /** The same, until it is thrown. */
  #failure: unknown;
  /** Calls that lost a chunk of output. */
  readonly #muted = new Set<string>();

  constructor(store: (event: StreamEvent) => Promise<unknown>) {
    this.#store = store;
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

  /**
   * Takes the pieces that could not be stored, for a step that stores them in the same turn. Throws the error that kept them from
   * the log while it is unknown whether others are stored, which may belong before them.
   */
  take(): readonly Piece[] {
    if (this.#untold.length === 0) return [];
    if (this.#underWay.size > 0) throw this.#problem;
    const taken = this.#untold;
    this.#untold = [];
    return taken;
  }

  /** The step that took them was not stored. */
  giveBack(taken: readonly Piece[]): void {
    this.#untold = [...taken, ...this.#untold].sort((one, other) => one.place - other.place);
  }

  #tellAnswer(event: StreamEvent): void {
    this.throwFailure();
    this.#told += 1;
    const piece = { event, place: this.#told };
    if (this.#untold.length > 0) {
      this.#untold.push(piece); // behind those before it
      return;
    }
    this.#underWay.add(piece);
    const settle = () => this.#underWay.delete(piece);
    this.#store(event).then(settle, (error: unknown) => {
      settle();
      this.giveBack([piece]);
      this.#problem = error;
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
