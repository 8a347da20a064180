import { LIMITS } from '../../../protocol/limits.ts';
import type { Defer } from '../../end-of-turn.ts';
import type { Wire } from './wire.ts';

/** Several frames as one piece of bytes. */
export type JoinFrames = (frames: readonly Buffer[]) => Buffer;

interface OutboxOptions {
  wire: Pick<Wire, 'write' | 'pendingBytes'>;
  /** Above it, broadcasts are skipped or close the connection, and nothing more is read from it. */
  maxBufferedBytes: number;
  /** A client that had too much waiting has taken enough to go on. */
  onRelief(): void;
  defer: Defer;
  join: JoinFrames;
}

/** What waits to be written to one client. All that one turn of the event loop produces goes out in one write. */
export class Outbox {
  readonly #options: OutboxOptions;
  #first: Buffer | undefined;
  /** What came after it in the same turn; most turns bring one frame to a client. */
  #more: Buffer[] | undefined;
  #queuedBytes = 0;
  #queuedAnswerBytes = 0;
  /** Of answers, until the system has taken them. */
  #answerBytes = 0;
  #isScheduled: boolean = false;
  #isBlocked: boolean = false;
  #isClosed: boolean = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Something the client did not ask for. */
  push(frame: Buffer): void {
    if (this.#isClosed) return;
    this.#queuedBytes += frame.length;
    if (this.#first === undefined) this.#first = frame;
    else if (this.#more) this.#more.push(frame);
    else this.#more = [frame];
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.defer(this.flush);
  }

  /** The answer to a request: it counts as memory, but is not held against the client when a broadcast comes. */
  answer(frame: Buffer): void {
    if (this.#isClosed) return;
    this.#queuedAnswerBytes += frame.length;
    this.#answerBytes += frame.length;
    this.push(frame);
  }

  /**
   * Room for an answer. A small one always has it, as a client that reads nothing is not read from either, and so has
   * any answer while no other waits: asking again later would not make it smaller.
   */
  hasRoomFor(bytes: number): boolean {
    if (bytes < LIMITS.largeAnswerBytes || this.#answerBytes === 0) return true;
    return this.#answerBytes + bytes <= LIMITS.unreadAnswerBytes;
  }

  /** Over the budget with what was pushed. What only waits for the end of this turn is no sign of a slow client. */
  isOver(): boolean {
    if (this.#pushedBytes() <= this.#options.maxBufferedBytes) return false;
    this.flush();
    return this.#pushedBytes() > this.#options.maxBufferedBytes;
  }

  /** Over the budget, answers included: time to stop reading requests until `onRelief`. */
  isClogged(): boolean {
    return this.#blockedIf(this.#bufferedBytes() > this.#options.maxBufferedBytes);
  }

  /**
   * Room for more of a log; when not, `onRelief` comes. A quarter of the budget, so that a client that is caught up from
   * the log is never over it.
   */
  isReady(): boolean {
    return !this.#isClosed && !this.#blockedIf(this.#bufferedBytes() >= this.#options.maxBufferedBytes / 4);
  }

  flush = (): void => {
    this.#isScheduled = false;
    const first = this.#first;
    if (!first) return;
    const bytes = this.#more ? this.#options.join([first, ...this.#more]) : first;
    const answerBytes = this.#queuedAnswerBytes;
    this.#forgetQueue();
    this.#options.wire.write(bytes, answerBytes === 0 ? this.#relieve : () => this.#answered(answerBytes));
  };

  /** Forgets what waits; later frames go nowhere. */
  close(): void {
    this.#isClosed = true;
    this.#forgetQueue();
  }

  #forgetQueue(): void {
    this.#first = undefined;
    this.#more = undefined;
    this.#queuedBytes = 0;
    this.#queuedAnswerBytes = 0;
  }

  #answered(bytes: number): void {
    this.#answerBytes -= bytes;
    this.#relieve();
  }

  #relieve = (): void => {
    if (!this.#isBlocked || this.#isClosed) return;
    if (this.#bufferedBytes() >= this.#options.maxBufferedBytes / 4) return;
    this.#isBlocked = false;
    this.#options.onRelief();
  };

  #blockedIf(isTooMuch: boolean): boolean {
    this.#isBlocked ||= isTooMuch;
    return isTooMuch;
  }

  #bufferedBytes(): number {
    return this.#queuedBytes + this.#options.wire.pendingBytes;
  }

  #pushedBytes(): number {
    return this.#bufferedBytes() - this.#answerBytes;
  }
}

/** Remembers the last one: clients that follow the same workstreams get the same frames, one client after the other. */
export function createFrameJoin(): JoinFrames {
  let last: { frames: readonly Buffer[]; bytes: Buffer } = { frames: [], bytes: Buffer.alloc(0) };
  const isLast = (frames: readonly Buffer[]) =>
    frames.length === last.frames.length && frames.every((frame, index) => frame === last.frames[index]);
  return (frames) => {
    if (!isLast(frames)) last = { frames, bytes: Buffer.concat(frames) };
    return last.bytes;
  };
}
