import type { Timers } from '../../../../protocol/client/timers.ts';
import { type DrawRequest, MAX_SOURCE_CHARS, type NoPicture, type Picture, toDrawAnswer } from './diagram-messages.ts';

export type Drawn = Picture | NoPicture;

/** A frame that draws. What it is sent before it is ready is lost. */
export interface DrawFrame {
  send(request: DrawRequest): void;
  /** Removes it, and with it whatever it is doing. */
  close(): void;
}

interface Port {
  /** `tell` gets what the frame answers, whatever that is. */
  open(tell: (message: unknown) => void): DrawFrame;
  timers: Pick<Timers, 'after'>;
}

interface Job {
  source: string;
  isDark: boolean;
  end(drawn: Drawn): void;
}

/** Its code comes over the network. */
const READY_MS = 20_000;
const DRAW_MS = 8_000;
/** A frame without work is removed. */
const IDLE_MS = 30_000;
/** Diagrams that wait, so that an answer with thousands of them does not keep the browser busy. */
const MAX_WAITING = 20;
/** Pictures that are kept, for diagrams that come back into view. */
const MAX_KEPT = 20;

const refusal = (reason: string): NoPicture => ({ kind: 'none', reason });
const passing = (reason: string): NoPicture => ({ kind: 'none', reason, isPassing: true });

/** Draws diagrams one after the other in a frame. A frame that does not answer is removed. */
export class DiagramDrawer {
  readonly #port: Port;
  readonly #waiting: Job[] = [];
  readonly #kept = new Map<string, Picture>();
  #frame: DrawFrame | undefined;
  #isReady = false;
  #current: Job | undefined;
  #stopTimer: () => void = () => undefined;
  #lastId = 0;

  constructor(port: Port) {
    this.#port = port;
  }

  /** Never rejects. `signal` ends the wait of a diagram that nobody sees any more. */
  draw(source: string, isDark: boolean, signal?: AbortSignal): Promise<Drawn> {
    const kept = this.#kept.get(keyOf(source, isDark));
    if (kept !== undefined) return Promise.resolve(kept);
    if (source.trim() === '') return Promise.resolve(refusal('The diagram is empty.'));
    if (source.length > MAX_SOURCE_CHARS)
      return Promise.resolve(refusal(`Diagrams with more than ${MAX_SOURCE_CHARS} characters are not drawn.`));
    if (this.#waiting.length >= MAX_WAITING) return Promise.resolve(passing('Too many diagrams at once.'));
    const { promise, resolve } = Promise.withResolvers<Drawn>();
    const job: Job = { source, isDark, end: resolve };
    this.#waiting.push(job);
    signal?.addEventListener('abort', () => this.#drop(job));
    this.#next();
    return promise;
  }

  #drop(job: Job): void {
    const place = this.#waiting.indexOf(job);
    if (place < 0) return; // it is being drawn, or done
    this.#waiting.splice(place, 1);
    job.end(passing('Nobody looked any more.'));
  }

  #next(): void {
    if (this.#current !== undefined) return;
    if (this.#frame === undefined) this.#open();
    else if (this.#isReady) this.#begin(this.#frame, this.#waiting.shift());
  }

  #begin(frame: DrawFrame, job: Job | undefined): void {
    if (job === undefined) {
      this.#wait(IDLE_MS, () => this.#close());
      return;
    }
    this.#current = job;
    this.#lastId += 1;
    this.#wait(DRAW_MS, () => this.#fail('Drawing it takes too long.'));
    frame.send({ id: this.#lastId, source: job.source, isDark: job.isDark });
  }

  #open(): void {
    if (this.#waiting.length === 0) return;
    this.#wait(READY_MS, () => this.#fail('The code that draws it could not be loaded.'));
    const frame: DrawFrame = this.#port.open((message) => {
      if (frame === this.#frame) this.#onMessage(message);
    });
    this.#frame = frame;
  }

  #onMessage(message: unknown): void {
    const answer = toDrawAnswer(message);
    if (answer === undefined) this.#fail('It was drawn, but the picture is unusable.');
    else if (answer.kind !== 'ready') {
      if (answer.id === this.#lastId) this.#finish(answer);
    } else if (!this.#isReady) {
      this.#isReady = true;
      this.#next();
    }
  }

  /** Ends the frame, and the diagram that it was about; those that only wait for a frame end, too, if it never became ready. */
  #fail(reason: string): void {
    const waited = this.#isReady ? [] : this.#waiting.splice(0);
    this.#close();
    for (const job of waited) job.end(passing(reason));
    this.#finish(passing(reason));
  }

  #finish(drawn: Drawn): void {
    const job = this.#current;
    this.#current = undefined;
    if (job !== undefined) {
      if (drawn.kind === 'picture') this.#keep(keyOf(job.source, job.isDark), drawn);
      job.end(drawn);
    }
    this.#next();
  }

  #keep(key: string, picture: Picture): void {
    this.#kept.set(key, picture);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }

  #close(): void {
    this.#stopTimer();
    this.#frame?.close();
    this.#frame = undefined;
    this.#isReady = false;
  }

  #wait(ms: number, then: () => void): void {
    this.#stopTimer();
    this.#stopTimer = this.#port.timers.after(ms, then);
  }
}

const keyOf = (source: string, isDark: boolean): string => `${isDark ? 'dark' : 'light'} ${source}`;
