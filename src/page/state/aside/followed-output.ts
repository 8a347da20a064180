import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { Timers } from '../../../../protocol/client/timers.ts';
import type { BackgroundCommand } from '../../../../protocol/events/background-command.ts';
import type { Result } from '../../../../protocol/index.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { PAGE_BYTES } from '../conversation/output-reader.ts';
import type { Reader } from '../reading/reading.ts';

/** The end of the output, as far as it is shown. */
export interface ShownEnd {
  text: string;
  /** In bytes, of the first character of the text. */
  offset: number;
  totalBytes: number;
}

const MOST_BYTES = 2 * PAGE_BYTES;
const PAUSE_MS = 1_000;

interface FollowedOutputDeps {
  client: Reader;
  wsId: string;
  commandId: string;
  timers: Pick<Timers, 'after'>;
}

/**
 * The end of the output of a background command, read again and again while the command runs. Events bring it rarely, so
 * that a log does not grow with the output.
 */
export class FollowedOutput {
  readonly #deps: FollowedOutputDeps;
  readonly #command: Signal<BackgroundCommand | undefined> = signal(undefined);
  readonly #end: Signal<ShownEnd | undefined> = signal(undefined);
  readonly #problem: Signal<string | undefined> = signal(undefined);
  #stopWaiting: (() => void) | undefined;
  /** Changes with each start and stop, so that a reading of before goes no further. */
  #turn = 0;
  #isStarted = false;

  constructor(deps: FollowedOutputDeps) {
    this.#deps = deps;
  }

  /** As of the last reading. */
  get command(): ReadonlySignal<BackgroundCommand | undefined> {
    return this.#command;
  }

  /** Undefined until it was read. */
  get end(): ReadonlySignal<ShownEnd | undefined> {
    return this.#end;
  }

  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  /** Reads until the command has ended, or until `stop`. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#turn += 1;
    void this.#read(this.#turn);
  }

  stop(): void {
    this.#turn += 1;
    this.#isStarted = false;
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
  }

  async #read(turn: number): Promise<void> {
    let pauseMs = PAUSE_MS;
    try {
      await this.#readOnce(turn);
      this.#problem.value = undefined;
    } catch (error) {
      const waitMs = error instanceof RequestError ? error.retryAfterMs : undefined;
      if (waitMs === undefined) this.#problem.value = wordsOf(error);
      else pauseMs = Math.max(PAUSE_MS, waitMs); // the rate limit of the connection
    }
    if (turn !== this.#turn || this.#command.peek()?.state === 'ended') return;
    this.#stopWaiting = this.#deps.timers.after(pauseMs, () => void this.#read(turn));
  }

  async #readOnce(turn: number): Promise<void> {
    const known = this.#end.peek();
    const from = known && canGoOn(known) ? known.totalBytes : undefined;
    const read = await this.#ask(from);
    const isBehind = from !== undefined && read.totalBytes - from > MOST_BYTES;
    const latest = isBehind ? await this.#ask(undefined) : read;
    if (turn !== this.#turn) return;
    this.#command.value = latest.command;
    this.#end.value = from === undefined || isBehind ? latest : append(known, latest);
  }

  /** From a place on, or the last two pages. */
  #ask(offset: number | undefined): Promise<Result<'background.output'>> {
    const { client, wsId, commandId } = this.#deps;
    const place = offset === undefined ? {} : { offset };
    return client.call('background.output', { wsId, commandId, limit: MOST_BYTES, ...place });
  }
}

/** Not if the text has become long, or if it ends within a character, of which the next part would be only the rest. */
const canGoOn = ({ text, offset, totalBytes }: ShownEnd): boolean =>
  totalBytes - offset < 2 * MOST_BYTES && !text.endsWith('\ufffd');

function append(known: ShownEnd | undefined, { text, offset, totalBytes }: ShownEnd): ShownEnd {
  if (!known) return { text, offset, totalBytes };
  return text === '' ? known : { text: known.text + text, offset: known.offset, totalBytes };
}
