import { LIMITS } from '../../../protocol/limits.ts';
import type { Defer } from '../../timing/end-of-turn.ts';
import type { Wire } from './wire.ts';

/** Joins several frames into one buffer. */
export type JoinFrames = (frames: readonly Buffer[]) => Buffer;

type OutboxWire = Pick<Wire, 'write' | 'writeTogether' | 'pendingBytes'>;

/** What all clients have in common. */
interface OutboxOptions {
  /** Above this a client counts as slow: the connection skips broadcasts or closes, and stops reading. */
  maxBufferedBytes: number;
  defer: Defer;
  join: JoinFrames;
}

interface OutboxOwner {
  /** Called when a client with a full buffer has room again. */
  onRelief(): void;
}

/** The frames that wait for one client. Frames of one turn of the event loop are sent in one write. */
export class Outbox {
  readonly #wire: OutboxWire;
  readonly #owner: OutboxOwner;
  readonly #options: OutboxOptions;
  #first: Buffer | undefined;
  /** Further frames of the same turn; most turns have one frame per client. */
  #more: Buffer[] | undefined;
  #queuedBytes = 0;
  #queuedAnswerBytes = 0;
  /** Bytes of answers that the system has not taken yet. */
  #answerBytes = 0;
  #isScheduled: boolean = false;
  #isBlocked: boolean = false;
  #isClosed: boolean = false;

  constructor(wire: OutboxWire, owner: OutboxOwner, options: OutboxOptions) {
    this.#wire = wire;
    this.#owner = owner;
    this.#options = options;
  }

  /** Queues an event. */
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

  /** Queues the answer to a request. Its bytes use memory, but do not count as slowness when a broadcast comes. */
  answer(frame: Buffer): void {
    if (this.#isClosed) return;
    this.#queuedAnswerBytes += frame.length;
    this.#answerBytes += frame.length;
    this.push(frame);
  }

  /** Sends an answer at once, as the pieces of one frame. */
  answerAtOnce(pieces: readonly Buffer[]): void {
    if (this.#isClosed) return;
    this.flush();
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#answerBytes += bytes;
    this.#wire.writeTogether(pieces, () => this.#answered(bytes));
  }

  /**
   * Whether an answer fits. Small ones always fit, because reading pauses for a client that does not read. While no
   * other answer waits, any answer fits, because a retry would not make it smaller.
   */
  hasRoomFor(bytes: number): boolean {
    if (bytes < LIMITS.largeAnswerBytes || this.#answerBytes === 0) return true;
    return this.#answerBytes + bytes <= LIMITS.unreadAnswerBytes;
  }

  /** Whether events exceed the budget. Frames that only wait for the end of this turn do not count. */
  isOver(): boolean {
    if (this.#pushedBytes() <= this.#options.maxBufferedBytes) return false;
    this.flush();
    return this.#pushedBytes() > this.#options.maxBufferedBytes;
  }

  /** Whether everything, including answers, exceeds the budget: stop reading requests until `onRelief`. */
  isClogged(): boolean {
    return this.#blockedIf(this.#bufferedBytes() > this.#options.maxBufferedBytes);
  }

  /**
   * Whether there is room for more of a log; if not, `onRelief` follows. The limit is a quarter of the budget, so that
   * catching up on a log never exceeds the budget.
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
    this.#wire.write(bytes, answerBytes === 0 ? this.#relieve : () => this.#answered(answerBytes));
  };

  /** Discards what waits; later frames are ignored. */
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
    this.#owner.onRelief();
  };

  #blockedIf(isTooMuch: boolean): boolean {
    this.#isBlocked ||= isTooMuch;
    return isTooMuch;
  }

  #bufferedBytes(): number {
    return this.#queuedBytes + this.#wire.pendingBytes;
  }

  #pushedBytes(): number {
    return this.#bufferedBytes() - this.#answerBytes;
  }
}

/** Caches the last result, because clients that follow the same workstreams get the same frames in a row. */
export function createFrameJoin(): JoinFrames {
  let last: { frames: readonly Buffer[]; bytes: Buffer } = { frames: [], bytes: Buffer.alloc(0) };
  const isLast = (frames: readonly Buffer[]) =>
    frames.length === last.frames.length && frames.every((frame, index) => frame === last.frames[index]);
  return (frames) => {
    if (!isLast(frames)) last = { frames, bytes: Buffer.concat(frames) };
    return last.bytes;
  };
}
