import { isUnavailable } from '../../../agent/run/record-at-last.ts';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { createSerialKeys } from '../../../timing/serial-keys.ts';
import { type Store, UnitRefused } from '../../store/store.ts';
import { ServiceError } from '../calls/service-error.ts';
import { type Account, ENDED, endUpdate, type InboxRow, readWaiting } from './inbox-rows.ts';

interface InboxDeps {
  store: Pick<Store, 'db' | 'commit'>;
  /** Handles an update and commits its end, together with everything that happens because of it. */
  handle(row: InboxRow): Promise<void>;
  /** Whether an update does not wait for earlier ones of its chat. */
  isUrgent(row: InboxRow): boolean;
  /** An update could not be handled. */
  onFailed(row: InboxRow): Promise<unknown>;
  clock: Clock;
  log: Log;
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
  readonly #stopping = new AbortController();

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  /** How many updates are stored and not handled. */
  get backlog(): number {
    return this.#taken.size;
  }

  /** Updates were stored, or the daemon starts. */
  async look(of: Account): Promise<void> {
    const { store, isUrgent, log } = this.#deps;
    for (const row of await readWaiting(store, of)) {
      const id = `${row.channel} ${row.account} ${row.update_id}`;
      if (this.#taken.has(id)) continue;
      this.#taken.add(id);
      const key = row.chat === '' || isUrgent(row) ? undefined : `${row.channel} ${row.chat}`;
      void this.#serially
        .run(key, () => this.#handle(row))
        .catch((err: unknown) => log.error({ err, update: id }, 'the update of a chat service was not handled'))
        .finally(() => this.#taken.delete(id));
    }
  }

  close(): void {
    this.#stopping.abort(new Error('the daemon stops'));
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

  async #giveUp(row: InboxRow, error: unknown): Promise<void> {
    const { store, clock, log, onFailed } = this.#deps;
    log.error({ err: error, update: row.update_id }, 'gave up handling an update of a chat service');
    const reason = error instanceof Error ? error.message : 'unknown';
    await store.commit({ statements: [endUpdate(row, { state: 'failed', reason, nowMs: clock.now() })] });
    await onFailed(row);
  }
}

function mostAttempts(error: unknown): number {
  if (isUnavailable(error)) return Number.POSITIVE_INFINITY;
  return error instanceof ServiceError && error.kind !== 'unauthorized' ? MAX_ATTEMPTS_UNANSWERED : MAX_ATTEMPTS;
}

const waitMs = (error: unknown, attempt: number): number =>
  Math.max(RETRY_MS * attempt, error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0);

/** The update was handled before. */
const wasEnded = (error: unknown): boolean => error instanceof UnitRefused && error.tag === ENDED;
