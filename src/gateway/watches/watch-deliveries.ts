import { GatewayError } from '../../../protocol/errors.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { until } from '../../timing/until.ts';
import type { RunRequest } from '../runs/run-record.ts';
import type { Runs } from '../runs/runs.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { Elsewhere } from '../workers/elsewhere.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { type CreatorDeps, mayStillWatch } from './watch-creator.ts';
import { dropResults, readNextResult, type StoredWatch, takeResult } from './watch-rows.ts';

interface DeliveriesDeps extends Pick<CreatorDeps, 'authenticator' | 'channels'> {
  store: Store;
  workstreams: Pick<Workstreams, 'get'>;
  runs: Pick<Runs, 'accept'>;
  clock: Clock;
  log: Log;
}

/** So many results start runs one after the other; then others get a chance. */
const CHAINED = 5;
const PAUSE_MS = 15_000;

/** Brings the results of watches into their conversations: each starts a run, or waits for the current one like a message. */
export class WatchDeliveries {
  readonly #deps: DeliveriesDeps;
  /** The workstreams whose results are on their way. */
  readonly #busy = new Set<string>();
  readonly #missed = new Set<string>();
  readonly #stopping = new AbortController();

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
  }

  /** A workstream has a result. */
  wake(wsId: string): void {
    if (this.#busy.has(wsId)) {
      this.#missed.add(wsId);
      return;
    }
    this.#busy.add(wsId);
    void this.#deliver(wsId).finally(() => {
      this.#busy.delete(wsId);
      if (this.#missed.delete(wsId)) this.wake(wsId);
    });
  }

  /** What waits stays stored; the next start delivers it. */
  close(): void {
    this.#stopping.abort(new Error('the daemon stops'));
  }

  async #deliver(wsId: string): Promise<void> {
    const { signal } = this.#stopping;
    for (let chained = 0; !signal.aborted; ) {
      try {
        const next = await readNextResult(this.#deps.store, wsId);
        if (!next) return;
        await this.#deliverOne(next);
        chained += 1;
      } catch (err) {
        if (signal.aborted || err instanceof Elsewhere) return; // the other machine delivers it
        this.#deps.log.warn({ err, wsId }, 'the result of a watch could not be delivered; trying again');
        chained = CHAINED;
      }
      if (chained < CHAINED) continue;
      chained = 0;
      await this.#deps.clock.sleep(PAUSE_MS, signal).catch(() => undefined); // the daemon stops
    }
  }

  async #deliverOne(watch: StoredWatch): Promise<void> {
    const { store, workstreams, runs } = this.#deps;
    const { row, rights, result, chat } = watch;
    const workstream = await workstreams.get(row.ws_id, DAEMON).catch(orGone);
    if (!workstream || !result) return void (await store.commit({ statements: [dropResults(row.ws_id)] }));
    if (!(await mayStillWatch(watch, workstream, this.#deps)))
      return void (await store.commit({ statements: [takeResult(row.watch_id)] }));
    const { text, taint } = result;
    const handle = await runs.accept(workstream, {
      message: text,
      principal: row.created_by,
      rights,
      ...(row.sender !== null && { sender: row.sender }),
      source: 'agent',
      request: { unattended: true, watch: { id: row.watch_id, ...(taint && { taint }) }, ...answeredIn(chat) },
      also: () => [takeResult(row.watch_id)],
    });
    await until(handle.ended, this.#stopping.signal);
  }
}

/** Where a person asked for the watch, the answer, failures and questions go. */
const answeredIn = (chat: StoredWatch['chat']): Pick<RunRequest, 'deliver' | 'fromChat'> =>
  chat ? { deliver: chat, fromChat: true } : {};

/** Undefined for a workstream that was closed or deleted. */
function orGone(error: unknown): undefined {
  if (error instanceof GatewayError && error.code === 'NOT_FOUND') return undefined;
  throw error;
}
