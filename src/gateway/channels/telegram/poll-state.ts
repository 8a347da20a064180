import type { Clock } from '../../../clock.ts';
import type { ChannelReport, ChannelState } from '../channel-report.ts';
import { BotApiError } from './wire/bot-api-error.ts';

/** The state of the connection to Telegram, as the poller sees it. */
export class PollState {
  readonly #clock: Pick<Clock, 'now'>;
  #report: ChannelReport;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#report = { state: 'off', sinceMs: clock.now() };
  }

  get report(): ChannelReport {
    return this.#report;
  }

  /** The bot that Telegram knows by the token. */
  get bot(): ChannelReport['bot'] {
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
