import type { Update, WebhookInfo } from '@grammyjs/types';
import type { Clock } from '../../../../src/clock.ts';
import { BotFailure, badRequest } from './bot-failure.ts';
import type { Params } from './params.ts';

type Content = Omit<Update, 'update_id'>;
interface Waiting {
  update: Update;
  atMs: number;
}

const KEPT_MS = 24 * 3_600_000;
/** A failed delivery to a webhook is repeated after this time. */
const WEBHOOK_RETRY_MS = 1_000;
/** Not delivered unless asked for. */
const UNUSUAL = new Set(['chat_member', 'message_reaction', 'message_reaction_count']);

/** The updates of a bot: kept until an offset acknowledges them, or delivered to a webhook. */
export class UpdateQueue {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #closed = new AbortController();
  #nextId = 1_000;
  #waiting: Waiting[] = [];
  #delivered: Waiting[] = [];
  #allowed: readonly string[] = [];
  #poll: { end(error: BotFailure): void; wake(): void } | undefined;
  #isHeld = false;
  #webhook: { url: string; secret: string | undefined } | undefined;
  #webhookWake = Promise.withResolvers<void>();
  #lastError: { message: string; atMs: number } | undefined;
  /** The most polls that were open at the same time. */
  mostPolls = 0;
  /** How many polls ended with 409. */
  conflicts = 0;

  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Updates that nothing has acknowledged. */
  get pending(): Update[] {
    return this.#waiting.map(({ update }) => update);
  }

  /** Adds an update; undefined if the bot did not ask for its type. */
  add(content: Content): Update | undefined {
    const type = Object.keys(content)[0] ?? '';
    const isWanted = this.#allowed.length === 0 ? !UNUSUAL.has(type) : this.#allowed.includes(type);
    if (!isWanted) return undefined;
    const update: Update = { update_id: this.#nextId++, ...content };
    this.#waiting.push({ update, atMs: this.#clock.now() });
    this.#wake();
    return update;
  }

  /** From now on, updates are collected without being delivered. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Delivers what was held, in this order of its positions; otherwise as it came. */
  release(order?: readonly number[]): void {
    const held = this.#waiting;
    if (order) this.#waiting = order.flatMap((index) => held[index] ?? []);
    this.#isHeld = false;
    this.#wake();
  }

  /** The last `count` acknowledged updates come again, with their ids. */
  repeat(count = 1): void {
    this.#waiting = [...this.#delivered.slice(-count), ...this.#waiting];
    this.#delivered = this.#delivered.slice(0, -count);
    this.#wake();
  }

  /** A long poll. Ends early when `gone` aborts, because the caller hung up. */
  async poll(params: Params, gone: AbortSignal): Promise<Update[]> {
    if (this.#webhook) throw this.#conflict("can't use getUpdates method while webhook is active");
    this.#acknowledge(params.integer('offset'));
    this.#allow(params.json('allowed_updates'));
    this.mostPolls = Math.max(this.mostPolls, this.#poll ? 2 : 1);
    this.#poll?.end(
      this.#conflict('terminated by other getUpdates request; make sure that only one bot instance is running'),
    );
    const limit = Math.min(100, Math.max(1, params.integer('limit') ?? 100));
    const over = AbortSignal.any([gone, this.#closed.signal]);
    const timeoutMs = Math.min(50, params.integer('timeout') ?? 0) * 1000;
    if (this.#ready(limit).length === 0 && timeoutMs > 0) await this.#wait(timeoutMs, over);
    return over.aborted ? [] : this.#ready(limit);
  }

  setWebhook(params: Params): true {
    const url = params.text('url') ?? '';
    if (url !== '' && !/^https:|^http:\/\/127\.0\.0\.1:/.test(url))
      throw badRequest('bad webhook: An HTTPS URL must be provided for webhook');
    this.#allow(params.json('allowed_updates'));
    this.#webhook = url === '' ? undefined : { url, secret: params.text('secret_token') };
    if (params.flag('drop_pending_updates')) this.#waiting = [];
    this.#poll?.end(this.#conflict('terminated by setWebhook request'));
    if (this.#webhook) void this.#deliver(this.#webhook);
    return true;
  }

  deleteWebhook(params: Params): true {
    this.#webhook = undefined;
    if (params.flag('drop_pending_updates')) this.#waiting = [];
    this.#wake();
    return true;
  }

  webhookInfo(): WebhookInfo {
    const failed = this.#lastError && {
      last_error_message: this.#lastError.message,
      last_error_date: Math.floor(this.#lastError.atMs / 1000),
    };
    const allowed = this.#allowed.length > 0 && { allowed_updates: toNames(this.#allowed) };
    const pending = { pending_update_count: this.#waiting.length };
    return { url: this.#webhook?.url ?? '', has_custom_certificate: false, ...pending, ...failed, ...allowed };
  }

  close(): void {
    this.#closed.abort();
    this.#wake();
  }

  #conflict(reason: string): BotFailure {
    this.conflicts++;
    return new BotFailure(409, `Conflict: ${reason}`);
  }

  #ready(limit: number): Update[] {
    const oldestMs = this.#clock.now() - KEPT_MS;
    this.#waiting = this.#waiting.filter(({ atMs }) => atMs >= oldestMs);
    return this.#isHeld ? [] : this.pending.slice(0, limit);
  }

  #acknowledge(offset = 0): void {
    const keep = ({ update }: Waiting) => update.update_id >= offset;
    const kept = offset < 0 ? this.#waiting.slice(offset) : this.#waiting.filter(keep);
    this.#delivered.push(...this.#waiting.filter((waiting) => !kept.includes(waiting)));
    this.#waiting = kept;
    this.#onChange();
  }

  #allow(types: unknown): void {
    if (Array.isArray(types)) this.#allowed = types.map(String);
  }

  async #wait(timeoutMs: number, over: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const poll = { end: reject, wake: () => resolve() };
    this.#poll = poll;
    const nap = new AbortController();
    over.addEventListener('abort', poll.wake, { once: true });
    this.#clock.sleep(timeoutMs, nap.signal).then(resolve, () => undefined); // it ended before
    try {
      await promise;
    } finally {
      nap.abort();
      over.removeEventListener('abort', poll.wake);
      if (this.#poll === poll) this.#poll = undefined;
    }
  }

  #wake(): void {
    if (this.#isHeld) return;
    this.#poll?.wake();
    this.#webhookWake.resolve();
  }

  /** One update at a time, repeated until the webhook accepts it. */
  async #deliver(webhook: { url: string; secret: string | undefined }): Promise<void> {
    const isOver = () => this.#webhook !== webhook || this.#closed.signal.aborted;
    while (!isOver()) {
      this.#webhookWake = Promise.withResolvers();
      const [next] = this.#ready(1);
      if (!next) await this.#webhookWake.promise;
      else if (await this.#post(webhook, next)) this.#acknowledge(next.update_id + 1);
      else await this.#clock.sleep(WEBHOOK_RETRY_MS, this.#closed.signal).catch(() => undefined); // it is closing
    }
  }

  async #post({ url, secret }: { url: string; secret: string | undefined }, update: Update): Promise<boolean> {
    const headers = {
      'content-type': 'application/json',
      ...(secret !== undefined && { 'x-telegram-bot-api-secret-token': secret }),
    };
    try {
      const sent = { method: 'POST', headers, body: JSON.stringify(update), signal: this.#closed.signal };
      const response = await fetch(url, sent);
      await response.body?.cancel();
      if (response.ok) return true;
      this.#lastError = { message: `Wrong response from the webhook: ${response.status}`, atMs: this.#clock.now() };
    } catch (error) {
      this.#lastError = { message: `Connection failed: ${String(error)}`, atMs: this.#clock.now() };
    }
    this.#onChange();
    return false;
  }
}

const NAMES = [
  'message',
  'edited_message',
  'callback_query',
  'message_reaction',
  'my_chat_member',
  'channel_post',
] as const;
const toNames = (allowed: readonly string[]) => NAMES.filter((name) => allowed.includes(name));
