import { GatewayError } from '../../../protocol/errors.ts';
import { taintOf } from '../../agent/run/approval/taint.ts';
import { type BatchCall, grantsOf } from '../../agent/run/batch-call.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { ToolOutcome } from '../../agent/tools/tool.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { until } from '../../timing/until.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { WatchTable } from '../store/schema/watches/watch-schema.ts';
import type { Store } from '../store/store.ts';
import { UnitRefused } from '../store/store.ts';
import { inHosted } from '../workers/elsewhere.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { type PollRulingDeps, rulePoll } from './poll-ruling.ts';
import { afterPoll, conclude, endedBy, LAST_POLL, nextDue, untilDue } from './watch-conclusion.ts';
import { type CreatorDeps, mayStillWatch } from './watch-creator.ts';
import type { WatchRecords } from './watch-records.ts';
import {
  claimPoll,
  endPoll,
  endWatch,
  readWatch,
  STILL,
  type StoredWatch,
  setProcess,
  type WatchEnding,
} from './watch-rows.ts';
import { notAllowedText, revokedText } from './watch-text.ts';

export interface WatchPollsDeps extends PollRulingDeps, Pick<CreatorDeps, 'channels'> {
  store: Store;
  records: Pick<WatchRecords, 'change' | 'end'>;
  workstreams: Pick<Workstreams, 'get'>;
  clock: Clock;
  log: Log;
  /** A watch has a result for its conversation. */
  onResult(wsId: string): void;
}

/** So many polls run at once; others wait. */
const AT_ONCE = 4;
/** The clock may jump, and machines sleep. */
const MAX_NAP_MS = 60_000;
/** Before a poll is tried again that could not begin. */
const RETRY_MS = 15_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

interface Polling {
  stopping: AbortController;
  ended: Promise<void>;
}

/** Polls the active watches when they are due. */
export class WatchPolls {
  readonly #deps: WatchPollsDeps;
  readonly #running = new Map<string, Polling>();
  /** When watches are tried again whose poll could not begin, of the monotonic clock. */
  readonly #notBeforeMs = new Map<string, number>();
  #changed = new AbortController();

  constructor(deps: WatchPollsDeps) {
    this.#deps = deps;
  }

  /** A watch was created or has ended: what is due next is looked up again. */
  wake(): void {
    this.#changed.abort();
    this.#changed = new AbortController();
  }

  /** Ends the poll of a watch, if one runs, and waits for its end. */
  async stop(watchId: string, reason = new StopReason('cancel', 'the watch was cancelled')): Promise<void> {
    const polling = this.#running.get(watchId);
    polling?.stopping.abort(reason);
    await polling?.ended;
  }

  /** Stops all polls; the next start continues with the watches. */
  async close(): Promise<void> {
    const reason = new StopReason('shutdown', 'Headgate is shutting down');
    await Promise.all([...this.#running.keys()].map((watchId) => this.stop(watchId, reason)));
  }

  /** Polls until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const changed = this.#changed.signal;
      const napMs = await this.#startDue(signal).catch((err: unknown) => {
        this.#deps.log.warn({ err }, 'the watches that are due could not be read');
        return RETRY_MS;
      });
      if (!changed.aborted)
        await this.#deps.clock.sleep(napMs, AbortSignal.any([signal, changed])).catch(() => undefined); // woken
    }
    await this.close();
  }

  /** How long nothing more is due. */
  async #startDue(signal: AbortSignal): Promise<number> {
    const { store, clock } = this.#deps;
    const rows = await store.db
      .selectFrom('watches')
      .select(['watch_id', 'next_poll_ms', 'interval_secs'])
      .where('active', '=', 1)
      .where('is_polling', '=', 0)
      .where(inHosted(store))
      .orderBy('next_poll_ms')
      .execute();
    let napMs = MAX_NAP_MS;
    for (const { watch_id: watchId, ...row } of rows) {
      if (this.#running.has(watchId)) continue;
      const pauseMs = (this.#notBeforeMs.get(watchId) ?? 0) - clock.monotonic();
      const inMs = Math.max(untilDue(row, clock.now()), pauseMs);
      if (inMs > 0) napMs = Math.min(napMs, inMs);
      else if (this.#running.size < AT_ONCE && !signal.aborted) this.#start(watchId);
    }
    return napMs;
  }

  #start(watchId: string): void {
    const { log, clock } = this.#deps;
    this.#notBeforeMs.delete(watchId);
    const stopping = new AbortController();
    const ended = this.#poll(watchId, stopping.signal)
      .catch((err: unknown) => {
        if (stopping.signal.aborted) return; // it did not begin
        this.#notBeforeMs.set(watchId, clock.monotonic() + RETRY_MS);
        log.warn({ err, watchId }, 'a watch could not be polled; trying again');
      })
      .finally(() => {
        this.#running.delete(watchId);
        this.wake(); // another may wait for its place
      });
    this.#running.set(watchId, { stopping, ended });
  }

  async #poll(watchId: string, signal: AbortSignal): Promise<void> {
    const { store, workstreams } = this.#deps;
    const watch = await readWatch(store, watchId);
    if (watch?.row.active !== 1) return;
    // A poll of an earlier daemon may have been the last one.
    if (watch.row.poll_count >= watch.row.max_polls) return this.#end(watch, { end: 'max_polls', reason: LAST_POLL });
    // While the workstream is closed, `get` waits for the end of that, which waits for the end of this poll.
    const workstream = await until(workstreams.get(watch.row.ws_id, DAEMON), signal).catch(orGone);
    if (!workstream) return this.#end(watch, { end: 'closed' });
    if (!(await mayStillWatch(watch, workstream, this.#deps)))
      return this.#end(watch, { end: 'rights', reason: 'whoever created it may no longer do so' });
    const ruled = await rulePoll(watch, workstream, { deps: this.#deps, signal }).catch(orInvalid);
    if (ruled.kind === 'runs') return this.#run(watch, ruled, signal);
    if (ruled.kind === 'revoked') return this.#end(watch, { end: 'not_allowed', reason: revokedText(ruled.tool) });
    return ruled.kind === 'invalid'
      ? this.#end(watch, { end: 'failed', reason: ruled.reason })
      : this.#end(watch, { end: 'not_allowed', reason: notAllowedText(ruled.ruling.verdict, ruled.ruling.reason) });
  }

  /** Ends it without a poll. The model hears of it if there is something to hear. */
  async #end({ row }: StoredWatch, ending: WatchEnding): Promise<void> {
    const { records, clock, onResult } = this.#deps;
    const change = endedBy(row, ending, { nowMs: clock.now(), hasOutput: false, taint: undefined });
    await records.change({ ...row, ...change }, { statements: [endWatch(row.watch_id, change)], isTold: true });
    if (change.result_json !== undefined && change.result_json !== null) onResult(row.ws_id);
  }

  async #run(
    { row: before }: StoredWatch,
    { item, isByPerson }: { item: BatchCall; isByPerson: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { records, clock } = this.#deps;
    const claim = { ...nextDue(before, clock.now()), updated_ms: clock.now() };
    // Whatever happens from here on, this poll counts and is not made again.
    if (!(await records.change(before, { statements: [claimPoll(before, claim)], isTold: false, durable: true })))
      return;
    const row: WatchTable = { ...before, ...claim, poll_count: before.poll_count + 1, is_polling: 1 };
    const outcome = await this.#execute(row, { item, isByPerson }, signal);
    await this.#finish(row, { item, outcome }, signal);
  }

  async #execute(
    row: WatchTable,
    { item: { prepared, ruled }, isByPerson }: { item: BatchCall; isByPerson: boolean },
    signal: AbortSignal,
  ): Promise<ToolOutcome | undefined> {
    if (prepared.kind === 'refused') return undefined;
    const { store, log } = this.#deps;
    try {
      return await prepared.execute({
        signal,
        maxOutputBytes: MAX_OUTPUT_BYTES,
        grants: { ...grantsOf(ruled), writesAdded: isByPerson },
        onOutput: () => undefined,
        async onProcess(process) {
          await store.commit({ statements: [setProcess(row, process)], durable: true });
        },
      });
    } catch (error) {
      if (!signal.aborted && !isLost(error))
        log.warn({ err: error, watchId: row.watch_id }, 'a poll of a watch failed unexpectedly');
      return undefined; // it counts, but has found nothing
    }
  }

  /** Stores the end of a poll; again while the store refuses it. */
  async #finish(
    row: WatchTable,
    { item, outcome }: { item: BatchCall; outcome: ToolOutcome | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const { records, clock } = this.#deps;
    const isStopped = signal.aborted;
    const change: Partial<WatchTable> =
      isStopped || !outcome
        ? afterPoll(row, clock.now())
        : conclude(row, outcome, { nowMs: clock.now(), taint: taintOf(item) });
    const isTold = change.active === 0 || (change.last_output ?? row.last_output) !== row.last_output;
    const done = { ...row, ...change, is_polling: 0, process_json: null };
    const store = async () =>
      (await records.change(done, { statements: [endPoll(row, change, true)], isTold: isTold && !isStopped })) ||
      // Cancelled meanwhile: only that nothing runs any more is left to store.
      !(await records.change(row, { statements: [endPoll(row, {}, false)], isTold: false }));
    if ((await this.#again(store, { row, signal })) && change.result_json !== undefined && change.result_json !== null)
      this.#deps.onResult(row.ws_id);
  }

  /** Until the store accepts it, or the daemon stops: then the next start finds the poll. */
  async #again(
    store: () => Promise<boolean>,
    { row, signal }: { row: WatchTable; signal: AbortSignal },
  ): Promise<boolean> {
    const { log } = this.#deps;
    do
      try {
        return await store();
      } catch (err) {
        log.warn({ err, watchId: row.watch_id }, 'the end of a poll could not be stored; trying again');
      }
    while (await this.#pause(signal));
    return false;
  }

  #pause(signal: AbortSignal): Promise<boolean> {
    return this.#deps.clock.sleep(1_000, signal).then(
      () => true,
      () => false, // the daemon stops
    );
  }
}

const isLost = (error: unknown): boolean => error instanceof UnitRefused && error.tag === STILL;

/** Undefined for a workstream that was closed or deleted. */
function orGone(error: unknown): undefined {
  if (error instanceof GatewayError && error.code === 'NOT_FOUND') return undefined;
  throw error;
}

/** A folder that was replaced or cannot be opened is no passing problem. */
function orInvalid(error: unknown): { kind: 'invalid'; reason: string } {
  if (error instanceof GatewayError && !error.retryable) return { kind: 'invalid', reason: error.message };
  throw error;
}
