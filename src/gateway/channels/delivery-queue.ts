import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { OutboxTable } from '../store/schema/schema.ts';
import type { Statement, Store } from '../store/store.ts';
import { type Delivered, DeliveryError, NotNow } from './channel.ts';
import type { Channels } from './channels.ts';
import { endDelivery, type Head, putOff, readPending, readPrincipal } from './delivery-rows.ts';
import { placeOf, WaitingHeads } from './waiting-heads.ts';

/** With the waits between them, about a day. */
const MAX_ATTEMPTS = 20;
const MAX_WAIT_MS = 2 * 3_600_000;
/** Destinations that are served in parallel; each gets one message at a time. */
const MAX_CONCURRENT = 8;
const GRACE_MS = 3_000;

interface OutboxDeps {
  channels: Channels;
  viewerOf(principalId: string): Viewer;
  store: Pick<Store, 'db' | 'commit'>;
  clock: Clock;
  log: Log;
}

/** Delivers accepted messages, in order per destination, until they are taken or given up. */
export class DeliveryQueue {
  readonly #deps: OutboxDeps;
  /** The destinations to which a message is on its way, with its id. */
  readonly #busy = new Map<string, string>();
  /** Destinations that are temporarily busy, and when to try again, on the steady clock. */
  readonly #pausedMs = new Map<string, number>();
  #woken = Promise.withResolvers<void>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #heads: WaitingHeads;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    const { store, clock } = deps;
    this.#heads = new WaitingHeads({
      store,
      clock,
      leftMs: (head) => this.#leftMs(head),
      isBusy: (head) => this.#isBusy(head),
    });
  }

  /** A message was accepted: checks at once. */
  wake(): void {
    this.#heads.change();
    this.#woken.resolve();
  }

  /** Delivers until the signal aborts. Deliveries in progress continue at the next start. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const stop = () => this.#woken.resolve();
    signal.addEventListener('abort', stop, { once: true });
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers();
      const napMs = await this.#start(signal);
      const nap = new AbortController();
      const slept = clock.sleep(napMs, nap.signal).catch(() => undefined); // woken early
      await Promise.race([this.#woken.promise, slept]);
      nap.abort();
    }
    signal.removeEventListener('abort', stop);
  }

  /** Starts due deliveries; returns how long there is nothing more to do. */
  async #start(signal: AbortSignal): Promise<number> {
    const { log } = this.#deps;
    try {
      const due = await this.#heads.take(MAX_CONCURRENT - this.#busy.size);
      for (const head of due) this.#begin(head, signal);
      return this.#heads.napMs();
    } catch (error) {
      log.warn({ err: error }, 'the outbox could not be read; trying again');
      this.#heads.change();
      return 1_000;
    }
  }

  /** A chat that has another id now is another destination, and its message may be on its way to the former one. */
  #isBusy(head: Head): 'place' | 'message' | undefined {
    if (this.#busy.has(placeOf(head))) return 'place';
    return [...this.#busy.values()].includes(head.message_id) ? 'message' : undefined;
  }

  #begin(head: Head, signal: AbortSignal): void {
    const delivery = this.#deliver(head, signal);
    this.#underWay.add(delivery);
    void delivery.finally(() => this.#underWay.delete(delivery));
  }

  /** Messages that are on their way when the daemon stops get a moment to arrive, so that their ends are known. */
  async close(): Promise<void> {
    const over = new AbortController();
    const late = this.#deps.clock.sleep(GRACE_MS, over.signal).catch(() => undefined); // all have arrived
    await Promise.race([Promise.allSettled(this.#underWay), late]);
    over.abort();
  }

  /** Milliseconds until the next attempt. */
  #leftMs(head: Head): number {
    const { clock } = this.#deps;
    const pausedMs = Math.max(0, (this.#pausedMs.get(placeOf(head)) ?? 0) - clock.monotonic());
    return Math.max(pausedMs, leftMs(head.next_ms, clock.now()));
  }

  async #deliver(head: Head, signal: AbortSignal): Promise<void> {
    const { message_id: messageId } = head;
    const place = placeOf(head);
    this.#busy.set(place, messageId);
    let isOver = false;
    try {
      const row = await readPending(this.#deps.store, messageId);
      isOver = row === undefined;
      // It has ended, goes elsewhere now, or was put off since it was found.
      if (row === undefined || placeOf(row) !== place || this.#leftMs(row) > 0) return;
      this.#pausedMs.delete(place);
      const outcome = await this.#attempt(row, signal);
      isOver = !(outcome instanceof NotNow);
      if (outcome instanceof NotNow) this.#pausedMs.set(place, this.#deps.clock.monotonic() + outcome.againInMs);
      else if (outcome === 'taken' || (outcome !== 'recorded' && !signal.aborted)) await this.#record(row, outcome);
    } catch (error) {
      // It will be sent again: delivery is guaranteed at least once.
      this.#deps.log.warn({ err: error, messageId }, 'a delivery, or its end, could not be recorded');
      await this.#deps.clock.sleep(1_000, signal).catch(() => undefined); // the daemon is stopping
    } finally {
      this.#busy.delete(place);
      this.#heads.free(head, isOver);
      this.#woken.resolve();
    }
  }

  async #attempt(row: OutboxTable, signal: AbortSignal): Promise<Delivered | DeliveryError | NotNow> {
    const channel = this.#deps.channels.byName(row.provider);
    if (!channel) return new DeliveryError(`the channel ${row.provider} no longer exists`, { retryable: false });
    try {
      return await channel.deliver(toDelivery(row), {
        signal,
        delivered: () => this.#delivered(row),
        viewer: () => this.#senderOf(row),
      });
    } catch (error) {
      if (error instanceof DeliveryError || error instanceof NotNow) return error;
      const message = wordsOf(error);
      return new DeliveryError(message, { retryable: true, cause: error });
    }
  }

  /** The answer of a run is sent for whoever asked for the run. */
  async #senderOf({ sender, ws_id }: OutboxTable): Promise<Viewer> {
    const { store, viewerOf } = this.#deps;
    return viewerOf((ws_id === null ? sender : await readPrincipal(store, sender)) ?? 'unknown');
  }

  async #record(row: OutboxTable, outcome: 'taken' | DeliveryError): Promise<void> {
    const statement = outcome === 'taken' ? this.#delivered(row) : this.#failed(row, outcome);
    await this.#deps.store.commit({ statements: [statement] });
  }

  #delivered(row: OutboxTable): Statement {
    const end = { status: 'delivered', attempts: row.attempts + 1, error: null } as const;
    return endDelivery(row.message_id, { ...end, nowMs: this.#deps.clock.now() });
  }

  /** Records a failed attempt: schedules a retry, or gives up. */
  #failed(row: OutboxTable, failure: DeliveryError): Statement {
    const { clock, log } = this.#deps;
    const nowMs = clock.now();
    const attempts = row.attempts + 1;
    const error = failure.message.slice(0, 500);
    if (failure.retryable && attempts < MAX_ATTEMPTS) {
      // A destination that asks for short waits does not get more attempts.
      const waitMs = Math.max(failure.retryAfterMs ?? 0, 1_000 * 2 ** row.attempts);
      return putOff(row.message_id, {
        attempts,
        error,
        nextMs: nowMs + Math.min(MAX_WAIT_MS, waitMs),
      });
    }
    log.warn({ messageId: row.message_id, to: placeOf(row), error }, 'gave up delivering a message');
    return endDelivery(row.message_id, { status: 'dead', attempts, error, nowMs });
  }
}

/** A remaining wait above the maximum means that the clock was set back. */
const leftMs = (nextMs: number, nowMs: number): number =>
  nextMs - nowMs > MAX_WAIT_MS ? 0 : Math.max(0, nextMs - nowMs);

const toDelivery = (row: OutboxTable) => ({
  messageId: row.message_id,
  to: row.destination,
  message: row.message,
  ...(row.media_url !== null && { mediaUrl: row.media_url }),
  from: row.sender,
  acceptedMs: row.accepted_ms,
});
