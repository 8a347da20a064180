import type { Clock } from '../../../clock.ts';
import type { Ids } from '../../../ids.ts';
import type { Log } from '../../../log.ts';
import type { Store } from '../../store/store.ts';
import { putAccount, readAccount } from '../inbox/inbox-rows.ts';
import type { Bot } from './bots.ts';
import { storeBatch, toNumbered } from './inbound/store-batch.ts';
import { type CalledBot, endOwnCalls, listenForCalls, WANTED } from './listen-for-calls.ts';
import type { PollState } from './poll-state.ts';
import { tellCommands } from './tell-commands.ts';
import { BotApiError } from './wire/bot-api-error.ts';

interface PollerDeps {
  bot(): Bot | undefined;
  /** Whether config.json has a bot. */
  isConfigured(): boolean;
  state: PollState;
  store: Pick<Store, 'db' | 'commit'>;
  /** Updates of this account were stored. */
  onStored(account: string): Promise<void>;
  clock: Clock;
  ids: Pick<Ids, 'secret'>;
  log: Log;
}

const POLL_SECS = 50;
/** How much longer than that an answer may take, before the connection counts as dead. */
const SLACK_MS = 15_000;
const CALL_MS = 30_000;
const LIMIT = 100;
/** Servers that do not wait, such as a proxy with a short limit, are asked no more often than this. */
const SHORTEST_POLL_MS = 1_000;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
/** After a week without updates, Telegram numbers them anew, perhaps below the last number. */
const NUMBERED_ANEW_MS = 6 * 24 * 3_600_000;

/** Asks Telegram for updates: one request at a time, and the next one only when the last updates are stored. */
export class Poller {
  readonly #deps: PollerDeps;
  #changed = new AbortController();
  #serving: Bot | undefined;
  #called: CalledBot | undefined;
  /** The bot whose commands Telegram knows. */
  #told: Bot['api'] | undefined;

  constructor(deps: PollerDeps) {
    this.#deps = deps;
  }

  /** The bot that Telegram calls the daemon for; undefined: it does not. */
  get called(): CalledBot | undefined {
    return this.#called;
  }

  /** The settings may have changed: with another bot, or another way, the request of the former ends first. */
  look(): void {
    const [next, current] = [this.#deps.bot(), this.#serving];
    const isSame = next?.api === current?.api && next?.settings.hookUrl === current?.settings.hookUrl;
    if (current === undefined || !isSame) this.#changed.abort(new Error('the settings have changed'));
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#changed = new AbortController();
      this.#serving = this.#deps.bot();
      const until = AbortSignal.any([signal, this.#changed.signal]);
      if (this.#serving) await this.#serve(this.#serving, until);
      else if (this.#deps.isConfigured()) this.#deps.state.failed('The bot token is missing, or it is not one.');
      else this.#deps.state.off();
      await ended(until);
    }
  }

  /** Polls until the signal aborts, or forever fails. */
  async #serve(bot: Bot, until: AbortSignal): Promise<void> {
    const { state, clock, log } = this.#deps;
    state.connecting();
    for (let failures = 0; !until.aborted; ) {
      try {
        await this.#deps.onStored(bot.account); // those of an earlier process, first
        await this.#poll(bot, until, () => {
          failures = 0;
        });
      } catch (error) {
        if (until.aborted) return;
        failures += 1;
        log.warn({ err: error, failures }, 'telegram could not be polled');
        if (error instanceof BotApiError && error.kind === 'unauthorized') return state.failed(error.message);
        state.troubled(error);
        await clock.sleep(this.#waitMs(error, failures), until).catch(() => undefined); // stopped, or changed
      }
    }
  }

  /** The first answer comes at once, so that it is soon known whether messages can be received. */
  async #poll(bot: Bot, until: AbortSignal, onSuccess: () => void): Promise<void> {
    const { api, account } = bot;
    const { state, store, clock, log, onStored } = this.#deps;
    const { username } = await api.call('getMe', {}, { signal: until, timeoutMs: CALL_MS });
    state.identified({ account, username });
    void this.#tellCommands(bot, until);
    const { hookUrl: url } = bot.settings;
    if (url !== undefined) return this.#listen(bot, { url, username, until, onSuccess });
    await endOwnCalls(bot, until);
    let known = await readAccount(store, { channel: 'telegram', account });
    for (let waitSecs = 0; !until.aborted; waitSecs = POLL_SECS) {
      const isFresh = known !== undefined && clock.now() - known.updated_ms < NUMBERED_ANEW_MS;
      const params = { limit: LIMIT, timeout: waitSecs, allowed_updates: [...WANTED] };
      const beginMs = clock.monotonic();
      const updates = await api.call(
        'getUpdates',
        { ...params, ...(isFresh && known?.next_update != null && { offset: known.next_update }) },
        { signal: until, timeoutMs: waitSecs * 1000 + SLACK_MS },
      );
      const usable = toNumbered(updates).slice(0, LIMIT);
      onSuccess();
      state.polled();
      if (usable.length === 0) {
        const leftMs = waitSecs === 0 ? 0 : beginMs + SHORTEST_POLL_MS - clock.monotonic();
        if (leftMs > 0) await clock.sleep(leftMs, until);
        continue;
      }
      await storeBatch({ account, username }, usable, { store, clock, log });
      known = await readAccount(store, { channel: 'telegram', account });
      await onStored(account);
    }
  }

  /** Each time with another secret: calls with an earlier one are refused, and come again. */
  async #listen(
    bot: Bot,
    { url, username, until, onSuccess }: { url: string; username: string; until: AbortSignal; onSuccess(): void },
  ): Promise<void> {
    const { state, store, clock, ids } = this.#deps;
    const listening = (why: string | undefined) => {
      onSuccess();
      state.listening(why);
    };
    const { account } = bot;
    const secret = ids.secret(32);
    this.#called = { account, username, secret };
    const known = await readAccount(store, { channel: 'telegram', account });
    const put = { username, nextUpdate: known?.next_update ?? null, nowMs: clock.now() };
    await store.commit({ statements: [putAccount({ channel: 'telegram', account }, put)] });
    await listenForCalls(bot, { url, until }, { secret, state: { listening }, clock }).finally(() => {
      this.#called = undefined;
    });
  }

  /** Nothing waits for it, and nothing needs it: it is tried again with the next connection. */
  async #tellCommands(bot: Bot, until: AbortSignal): Promise<void> {
    if (this.#told === bot.api) return;
    try {
      await tellCommands(bot, until);
      this.#told = bot.api;
    } catch (err) {
      if (!until.aborted) this.#deps.log.warn({ err }, 'telegram was not told which commands the bot knows');
    }
  }

  #waitMs(error: unknown, failures: number): number {
    const asked = error instanceof BotApiError ? (error.retryAfterMs ?? 0) : 0;
    const usual = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
    const jitter = Number.parseInt(this.#deps.ids.secret(2), 16) / 0xffff;
    return Math.max(asked, usual * (0.5 + jitter / 2));
  }
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
