import type { Message } from '../../agent/message.ts';
import type { Cut } from '../cuts/cut.ts';
import type { ContextPlace } from './messages.ts';

type Read = (pending: Cut | undefined) => Promise<Message[] | undefined>;

/** So many messages take longer to read than a person notices. */
const LONG = 500;

/** What the next run of a workstream begins with. It is read once, and again when it has changed. */
export class NextContext {
  readonly #place: ContextPlace;
  readonly #read: Read;
  #reading: Promise<Message[] | undefined> | undefined;
  /** Also of readings that were forgotten meanwhile: the next one begins after them, so that the newest one is the last. */
  #settled: Promise<unknown> = Promise.resolve();

  /** `read` returns undefined if the context is damaged. */
  constructor(place: ContextPlace, read: Read) {
    this.#place = place;
    this.#read = read;
  }

  /**
   * Undefined if it is damaged, and read again the next time, as after an error. Rejects while the disk cannot be read. The run that takes the list adds its messages to it.
   * `pending`: a cut that will be stored with the run; `forget` first.
   */
  take(pending?: Cut): Promise<Message[] | undefined> {
    this.#reading ??= this.#readAfterOthers(pending);
    return this.#reading;
  }

  /** Somebody looks at the conversation and may soon send a message: a long one is read before that. */
  expectRun(): void {
    const { messageCount, contextAfterSeq } = this.#place;
    if (messageCount - contextAfterSeq >= LONG) this.take().catch(() => undefined); // the run will tell
  }

  /** The messages have changed, not by a run: the next one reads them again. */
  forget(): void {
    this.#reading = undefined;
  }

  #readAfterOthers(pending: Cut | undefined): Promise<Message[] | undefined> {
    const reading = this.#settled.then(() => this.#read(pending));
    const forgetIfCurrent = () => {
      if (this.#reading === reading) this.forget();
    };
    this.#settled = reading.then((messages) => {
      if (messages === undefined) forgetIfCurrent();
    }, forgetIfCurrent);
    return reading;
  }
}
