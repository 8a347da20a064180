import type { Clock } from '../../../clock.ts';
import { isUnavailable } from '../../../is-unavailable.ts';
import type { Log } from '../../../log.ts';
import { createSerialKeys } from '../../../timing/serial-keys.ts';
import type { UpdateOutcome } from '../../metrics/channel-metrics.ts';
import { type Store, UnitRefused } from '../../store/store.ts';
import { ServiceError } from '../calls/service-error.ts';
import { type Account, ENDED, endUpdate, type InboxRow, readState, readWaiting } from './inbox-rows.ts';

export interface InboxDeps {
  store: Pick<Store, 'db' | 'commit'>;
  /** Handles an update and commits its end, together with everything that happens because of it. */
  handle(row: InboxRow): Promise<void>;
  /** Whether an update does not wait for earlier ones of its chat. */
  isUrgent(row: InboxRow): boolean;
  /** An update has ended. */
  onEnded(outcome: UpdateOutcome): void;
  /** How services split messages; undefined: every update is a whole message. */
  parts?: PartsRule | undefined;
  /** An update could not be handled. */
  onFailed(row: InboxRow): Promise<unknown>;
  clock: Clock;
  log: Log;
}

/** How a service splits what a person sees as one message. */
export interface PartsRule {
  /** How long after this update a further part may come; 0: none comes. */
  followMs(last: InboxRow): number;
  /** Whether an update is a further part of the message that these are parts of. */
  continues(parts: readonly InboxRow[], next: InboxRow): boolean;
}

const MAX_ATTEMPTS = 4;
/** While the service does not answer: for about five minutes. */
const MAX_ATTEMPTS_UNANSWERED = 24;
const RETRY_MS = 1_000;

/** Handles stored updates: those of a chat in order, those of several chats at once. What is not handled stays stored. */
export class Inbox {
  readonly #deps: InboxDeps;
  readonly #serially = createSerialKeys();
  /** Updates that are being handled, or wait for earlier ones. */
  readonly #taken = new Set<string>();
  /** Those of them that were joined to an earlier update. */
  readonly #joined = new Set<string>();
  readonly #stopping = new AbortController();
  /** Resolves when updates were stored. */
  #stored = Promise.withResolvers<void>();
  /** When this process began to look. */
  #begunMs: number | undefined;

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  /** How many updates are stored and not handled. */
  get backlog(): number {
    return this.#taken.size;
  }

  /** Updates were stored, or the daemon starts. */
  async look(of: Account): Promise<void> {
    const { store, isUrgent, clock, log } = this.#deps;
    this.#begunMs ??= clock.now();
    this.#stored.resolve();
    this.#stored = Promise.withResolvers();
    for (const row of await readWaiting(store, of)) {
      const id = idOf(row);
      if (this.#taken.has(id)) continue;
      this.#taken.add(id);
      const key = row.chat === '' || isUrgent(row) ? undefined : `${row.channel} ${row.chat}`;
      void this.#serially
        .run(key, () => (key === undefined ? this.#handle(row) : this.#handleInOrder(row)))
        .then(() => this.#tellEnd(row))
        .catch((err: unknown) => log.error({ err, update: id }, 'the update of a chat service was not handled'))
        .finally(() => this.#taken.delete(id));
    }
  }

  close(): void {
    this.#stopping.abort(new Error('the daemon stops'));
  }

  async #handleInOrder(row: InboxRow): Promise<void> {
    if (this.#joined.delete(idOf(row))) return;
    const rule = this.#deps.parts;
    const whole = rule ? await this.#wholeOf(row, rule) : row;
    if (this.#stopping.signal.aborted) return;
    // Those that nobody has taken yet are taken from here on, so that they are not handled again.
    const own = (whole.joined ?? []).map(idOf).filter((id) => !this.#joined.has(id));
    await this.#handle(whole);
    for (const id of own) this.#taken.delete(id);
  }

  /**
   * The update with the further parts of its message, once no more of them can come. Without the database it waits, because
   * nobody else would look for the update again.
   */
  async #wholeOf(row: InboxRow, rule: PartsRule): Promise<InboxRow> {
    const { clock, log } = this.#deps;
    const { signal } = this.#stopping;
    const joined: InboxRow[] = [];
    for (let isJoined = false; !isJoined && !signal.aborted; ) {
      try {
        await this.#join(row, { joined, rule });
        isJoined = true;
      } catch (err) {
        log.warn({ err, update: row.update_id }, 'the parts of an update could not be read; trying again');
        await clock.sleep(RETRY_MS, signal).catch(() => undefined); // the daemon stops
      }
    }
    return joined.length === 0 ? row : { ...row, joined };
  }

  /** Takes the further parts. */
  async #join(row: InboxRow, { joined, rule }: { joined: InboxRow[]; rule: PartsRule }): Promise<void> {
    const { store } = this.#deps;
    for (let last = joined.at(-1) ?? row; rule.followMs(last) > 0 && !this.#stopping.signal.aborted; ) {
      const { promise: stored } = this.#stored;
      const later = (await readWaiting(store, row)).filter(
        ({ chat, position }) => chat === row.chat && position > last.position,
      );
      const next = later.find((one) => rule.continues([row, ...joined], one));
      if (next) {
        joined.push(next);
        last = next;
        this.#take(next);
      } else if (!(await this.#mayFollow(last, { stored, followMs: rule.followMs(last) }))) break;
    }
  }

  /** Its own turn does nothing, if it has one. */
  #take(part: InboxRow): void {
    const id = idOf(part);
    if (this.#taken.has(id)) this.#joined.add(id);
    else this.#taken.add(id);
  }

  /** Waits for further updates; false: the time for further parts is over. */
  async #mayFollow(
    last: InboxRow,
    { stored, followMs }: { stored: Promise<void>; followMs: number },
  ): Promise<boolean> {
    const { clock } = this.#deps;
    // After a restart, the parts that came meanwhile are fetched first.
    const sinceMs = Math.max(last.received_ms, this.#begunMs ?? 0);
    const leftMs = Math.min(followMs, followMs - (clock.now() - sinceMs));
    if (leftMs <= 0) return false;
    const nap = new AbortController();
    const until = AbortSignal.any([this.#stopping.signal, nap.signal]);
    await Promise.race([stored, clock.sleep(leftMs, until).catch(() => undefined)]); // the daemon stops
    nap.abort();
    return true;
  }

  async #handle(row: InboxRow): Promise<void> {
    const { signal } = this.#stopping;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        return await this.#deps.handle(row);
      } catch (error) {
        if (signal.aborted || wasEnded(error)) return;
        if (attempt >= mostAttempts(error)) return this.#giveUp(row, error);
        this.#deps.log.warn({ err: error, update: row.update_id }, 'an update could not be handled; trying again');
        await this.#deps.clock.sleep(waitMs(error, attempt), signal).catch(() => undefined); // the daemon stops
      }
    }
  }

  async #tellEnd(row: InboxRow): Promise<void> {
    const state = await readState(this.#deps.store, row);
    if (state !== 'waiting') this.#deps.onEnded(state ?? 'ignored');
  }

  async #giveUp(row: InboxRow, error: unknown): Promise<void> {
    const { store, clock, log, onFailed } = this.#deps;
    log.error({ err: error, update: row.update_id }, 'gave up handling an update of a chat service');
    const reason = error instanceof Error ? error.message : 'unknown';
    await store.commit({ statements: [endUpdate(row, { state: 'failed', reason, nowMs: clock.now() })] });
    await onFailed(row);
  }
}

const idOf = ({ channel, account, update_id: id }: InboxRow): string => `${channel} ${account} ${id}`;

function mostAttempts(error: unknown): number {
  if (isUnavailable(error)) return Number.POSITIVE_INFINITY;
  return error instanceof ServiceError && error.kind !== 'unauthorized' ? MAX_ATTEMPTS_UNANSWERED : MAX_ATTEMPTS;
}

const waitMs = (error: unknown, attempt: number): number =>
  Math.max(RETRY_MS * attempt, error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0);

/** The update was handled before. */
const wasEnded = (error: unknown): boolean => error instanceof UnitRefused && error.tag === ENDED;
