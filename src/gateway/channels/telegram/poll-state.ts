import type { Clock } from '../../../clock.ts';
import type { ChannelReport, ChannelState } from '../channel-report.ts';
import { BotApiError } from './wire/bot-api-error.ts';

/** Conflicts that are farther apart are different ones. */
const CALM_MS = 5 * 60_000;

/** The state of the connection to Telegram, as the poller sees it. */
export class PollState {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  #report: ChannelReport;
  /** When a poll last succeeded, or the first one began, on the steady clock. */
  #heardMs: number | undefined;
  /**
   * The first and the last conflict of a series, on the steady clock. Polls between them may succeed: the other program
   * waits after its own conflicts, too.
   */
  #conflicts: { firstMs: number; lastMs: number } | undefined;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
    this.#report = { state: 'off', sinceMs: clock.now() };
  }

  get report(): ChannelReport {
    const nowMs = this.#clock.monotonic();
    const conflicts = this.#conflicts;
    const isGoingOn = conflicts !== undefined && nowMs - conflicts.lastMs <= CALM_MS;
    return {
      ...this.#report,
      ...(this.#heardMs !== undefined && { silentMs: nowMs - this.#heardMs }),
      ...(isGoingOn && { conflictMs: conflicts.lastMs - conflicts.firstMs }),
    };
  }

  /** The bot that Telegram knows by the token. */
  get bot(): ChannelReport['bot'] {
    return this.#report.bot;
  }

  off(): void {
    this.#begin('off');
  }

  connecting(): void {
    this.#begin('connecting');
    this.#heardMs = this.#clock.monotonic();
  }

  identified(bot: { account: string; username: string }): void {
    this.#report = { ...this.#report, bot };
  }

  polled(): void {
    this.#become('polling');
    this.#report.lastPollMs = this.#clock.now();
    this.#heardMs = this.#clock.monotonic();
  }

  /** Telegram knows where to call. */
  listening(why: string | undefined): void {
    this.#become('listening', why);
    this.#heardMs = this.#clock.monotonic();
  }

  failed(why: string): void {
    this.#become('error', why);
  }

  /** It goes on trying. */
  troubled(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    const isConflict = error instanceof BotApiError && error.kind === 'conflict';
    if (isConflict) this.#noteConflict(why);
    else this.#become('connecting', why);
  }

  #noteConflict(why: string): void {
    this.#become('conflict', `${why} ${CONFLICT_ADVICE}`);
    const nowMs = this.#clock.monotonic();
    const before = this.#conflicts;
    const isSame = before !== undefined && nowMs - before.lastMs <= CALM_MS;
    this.#conflicts = { firstMs: isSame ? before.firstMs : nowMs, lastMs: nowMs };
  }

  /** With these settings, nothing has happened yet. */
  #begin(state: ChannelState): void {
    this.#report = { state, sinceMs: this.#clock.now() };
    this.#heardMs = undefined;
    this.#conflicts = undefined;
  }

  #become(state: ChannelState, why?: string): void {
    const { state: before, sinceMs, bot, lastPollMs } = this.#report;
    this.#report = {
      state,
      sinceMs: state === before ? sinceMs : this.#clock.now(),
      ...(why !== undefined && { why }),
      ...(bot && { bot }),
      ...(lastPollMs !== undefined && { lastPollMs }),
    };
  }
}

const CONFLICT_ADVICE =
  'Only one program can receive the messages of a bot: stop the other one, or remove its webhook.';
