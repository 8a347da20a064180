import type { Clock } from '../../../../src/clock.ts';
import { BotFailure } from './bot-failure.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** How often a bot may send; more is refused with 429. */
export interface SendPace {
  /** Telegram: 1. */
  perSecondInChat: number;
  /** Telegram: 20. */
  perMinuteInGroup: number;
  /** Telegram: 30. */
  perSecond: number;
}

export const TELEGRAM_PACE: SendPace = { perSecondInChat: 1, perMinuteInGroup: 20, perSecond: 30 };

/** Counts what was sent, and refuses what is too much. */
export class SendLimits {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #pace: SendPace | undefined;
  readonly #sentMs = new Map<number, number[]>();
  readonly #editedMs = new Map<number, number>();

  constructor(clock: Pick<Clock, 'now'>, pace: SendPace | undefined) {
    this.#clock = clock;
    this.#pace = pace;
  }

  /** Counts a message; throws 429 if it is too much. */
  count(chatId: number): void {
    if (!this.#pace) return;
    const sent = this.#sentMs.get(chatId) ?? [];
    const all = [...this.#sentMs.values()].flat();
    const waitMs = Math.max(
      this.#waitMs(sent, { most: this.#pace.perSecondInChat, inMs: SECOND_MS }),
      this.#waitMs(all, { most: this.#pace.perSecond, inMs: SECOND_MS }),
      chatId < 0 ? this.#waitMs(sent, { most: this.#pace.perMinuteInGroup, inMs: MINUTE_MS }) : 0,
    );
    if (waitMs > 0) throw tooManyRequests(Math.ceil(waitMs / 1000));
    this.#sentMs.set(chatId, [...sent.filter((ms) => ms > this.#clock.now() - MINUTE_MS), this.#clock.now()]);
  }

  /** Counts an edit; throws 429 if it is too much. */
  countEdit(chatId: number): void {
    if (!this.#pace) return;
    const leftMs = (this.#editedMs.get(chatId) ?? 0) + SECOND_MS / this.#pace.perSecondInChat - this.#clock.now();
    if (leftMs > 0) throw tooManyRequests(Math.ceil(leftMs / 1000));
    this.#editedMs.set(chatId, this.#clock.now());
  }

  /** Until the oldest of the last `most` messages is no longer counted. */
  #waitMs(sentMs: readonly number[], { most, inMs }: { most: number; inMs: number }): number {
    const oldest = sentMs.toSorted((a, b) => a - b).at(-most);
    return oldest === undefined ? 0 : Math.max(0, oldest + inMs - this.#clock.now());
  }
}

/** 429 with `retry_after`. */
export const tooManyRequests = (seconds: number): BotFailure =>
  new BotFailure(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
