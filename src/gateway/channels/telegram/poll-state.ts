import type { Clock } from '../../../clock.ts';
import { BotApiError } from './wire/bot-api-error.ts';

/** `conflict`: another program receives the updates of the bot; `error`: nothing is tried until the settings change. */
export type PollStatus = 'off' | 'connecting' | 'polling' | 'conflict' | 'error';

/** What is known of the connection to Telegram. */
export interface PollReport {
  state: PollStatus;
  /** Why it does not poll. */
  why?: string;
  sinceMs: number;
  /** The bot; undefined: Telegram has not answered yet. */
  bot?: { account: string; username: string };
  lastPollMs?: number;
}

/** The state of the connection to Telegram, as the poller sees it. */
export class PollState {
  readonly #clock: Pick<Clock, 'now'>;
  #report: PollReport;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#report = { state: 'off', sinceMs: clock.now() };
  }

  get report(): PollReport {
    return this.#report;
  }

  /** The bot that Telegram knows by the token. */
  get bot(): PollReport['bot'] {
    return this.#report.bot;
  }

  off(): void {
    this.#report = { state: 'off', sinceMs: this.#clock.now() };
  }

  connecting(): void {
    this.#report = { state: 'connecting', sinceMs: this.#clock.now() };
  }

  identified(bot: { account: string; username: string }): void {
    this.#report = { ...this.#report, bot };
  }

  polled(): void {
    this.#become('polling');
    this.#report.lastPollMs = this.#clock.now();
  }

  failed(why: string): void {
    this.#become('error', why);
  }

  /** It goes on trying. */
  troubled(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    const isConflict = error instanceof BotApiError && error.kind === 'conflict';
    if (isConflict) this.#become('conflict', `${why} ${CONFLICT_ADVICE}`);
    else this.#become('connecting', why);
  }

  #become(state: PollStatus, why?: string): void {
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
