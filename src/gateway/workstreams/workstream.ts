import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { CancelReceipt } from '../../../protocol/methods/workstream.ts';
import type { Message } from '../../agent/message.ts';
import { newProgress, type Progress } from '../../agent/run/journal.ts';
import { type NewApproval, RunSuperseded } from '../../agent/run/recorder.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { Statement } from '../store/store.ts';
import { lastWord, receiptOf } from './cancel-receipt.ts';
import { driveRun } from './drive-run.ts';
import { LiveRun } from './live-run.ts';
import { type QueuedRun, RunQueue } from './run-queue.ts';
import type { RunRecord, RunRequest, RunResult } from './run-record.ts';
import { cancelQueuedRun, insertJournal, insertRun, setWorkstream, startRun } from './run-rows.ts';
import { titleOf, type WorkstreamData } from './workstream-data.ts';
import type { WorkstreamDeps } from './workstream-deps.ts';

/** A run as whoever asked for it holds it. */
export interface RunHandle {
  run: RunRecord;
  /** Resolves with the terminal record; never rejects. */
  ended: Promise<RunResult>;
}

export interface NewRun {
  runId: string;
  principal: string;
  runKey?: string;
  source: RunRecord['source'];
  request: RunRequest;
  /** Committed together with the acceptance. */
  also: Statement[];
  /** What to do while another run is in progress. */
  whenBusy: 'refuse' | 'queue';
}

/** A run that the last process left unfinished. */
export interface AdoptedRun {
  run: RunRecord;
  progress: Progress;
  pending?: NewApproval;
}

/** A cancel that the worker does not follow within this time becomes a forced one. */
const CANCEL_MS = 5_000;
const RETRY_MS = 1_000;

/** A loaded workstream: one run at a time, at most ten that wait. */
export class Workstream {
  readonly data: WorkstreamData;
  readonly #deps: WorkstreamDeps;
  readonly #queue = new RunQueue();
  #live: LiveRun | undefined;
  /** A run is being started: the place is taken, though nothing is in memory yet. */
  #starting = false;
  #closing = false;
  #driving: Promise<unknown> = Promise.resolve();
  #context: Message[] | undefined;

  constructor(data: WorkstreamData, deps: WorkstreamDeps) {
    this.data = data;
    this.#deps = deps;
  }

  /** The run in progress. */
  get current(): LiveRun | undefined {
    return this.#live;
  }

  /** Something runs, starts or waits. */
  get busy(): boolean {
    return this.#live !== undefined || this.#starting || this.#queue.length > 0;
  }

  /** The message is on disk when this resolves; undefined when busy and not to be queued. BUSY beyond ten. */
  async accept(asked: NewRun): Promise<RunHandle | undefined> {
    if (this.#closing) throw new GatewayError('UNAVAILABLE', 'Headgate is shutting down', { retryAfterMs: 2_000 });
    if (this.busy && asked.whenBusy === 'refuse') return undefined;
    const { also, whenBusy: _, ...fields } = asked;
    const run: RunRecord = {
      ...fields,
      wsId: this.data.wsId,
      epoch: this.data.epoch,
      acceptedMs: this.#deps.clock.now(),
    };
    if (this.busy) return this.#enqueue(run, also);
    run.startedMs = run.acceptedMs;
    try {
      const live = await this.#start(run, () => [insertRun(run, 'running', run.acceptedMs), ...also]);
      return { run, ended: live.ended };
    } catch (error) {
      this.#wake();
      throw error;
    }
  }

  /** Takes up what the last process left: the first may be in progress, the others wait. */
  adopt(runs: AdoptedRun[]): RunHandle[] {
    const [first, ...rest] = runs;
    if (!first) return [];
    const waiting = first.progress.phase === 'queued' ? runs : rest;
    const queued = waiting.map(({ run }) => this.#queue.add(run));
    const handles = queued.map(({ run, ended }): RunHandle => ({ run, ended: ended.promise }));
    if (first.progress.phase === 'queued') {
      this.#driving = this.#startNext();
      return handles;
    }
    const ended = Promise.withResolvers<RunResult>();
    this.#starting = true;
    this.#driving = this.#resume(first, ended);
    return [{ run: first.run, ended: ended.promise }, ...handles];
  }

  /** Stops the run in progress and drops what waits; resolves when that is on record. */
  async cancel({ force }: { force: boolean }): Promise<CancelReceipt> {
    const receipt = receiptOf(this.#live, this.#queue.all());
    for (const item of this.#queue.all()) await this.#drop(item);
    await this.#stopCurrent(force);
    return receipt;
  }

  /** Stops one run, in progress or waiting; false when it is neither. */
  async cancelRun(runId: string): Promise<boolean> {
    const waiting = this.#queue.find(runId);
    if (waiting) await this.#drop(waiting);
    else if (this.#live?.run.runId === runId) await this.#stopCurrent(false);
    else return false;
    return true;
  }

  /** The context changed (/clear, /resume): the next run reads it anew. */
  forgetContext(): void {
    this.#context = undefined;
  }

  /** Stops what runs so that a restart continues it. */
  async shutdown(): Promise<void> {
    this.#closing = true;
    this.#live?.stop(new StopReason('shutdown', 'Headgate is shutting down'));
    await this.#driving;
  }

  async #enqueue(run: RunRecord, also: Statement[]): Promise<RunHandle> {
    if (this.#queue.length >= LIMITS.queuedRunsPerWorkstream) {
      throw new GatewayError('BUSY', 'Too many messages are waiting in this workstream', { retryAfterMs: 5_000 });
    }
    const { store, clock } = this.#deps;
    const item = this.#queue.add(run);
    const nowMs = clock.now();
    try {
      await store.commit({
        statements: [insertRun(run, 'queued', nowMs), insertJournal(run, { kind: 'accepted' }, nowMs), ...also],
      });
    } catch (error) {
      this.#queue.remove(item);
      throw error;
    }
    this.#wake();
    return { run, ended: item.ended.promise };
  }

  /** Puts a run on record as running and lets the agent go. The place is free again when that fails. */
  async #start(run: RunRecord, statements: () => Statement[]): Promise<LiveRun> {
    this.#starting = true;
    try {
      const live = await this.#makeLive({ run, progress: newProgress() });
      const title = this.data.title ?? titleOf(run.request.message);
      const naming = this.data.title === null ? [setWorkstream(this.data.wsId, { title })] : [];
      await live.begin([...statements(), ...naming]);
      this.data.title = title;
      this.#deps.observer.onMessage();
      this.#drive(live);
      return live;
    } finally {
      this.#starting = false;
    }
  }

  async #resume(adopted: AdoptedRun, ended: PromiseWithResolvers<RunResult>): Promise<void> {
    try {
      const live = await this.#makeLive(adopted);
      live.ended.then(ended.resolve, ended.reject);
      this.#drive(live);
    } finally {
      this.#starting = false;
    }
  }

  async #makeLive(adopted: AdoptedRun): Promise<LiveRun> {
    const { store, clock, observer } = this.#deps;
    this.#context ??= await this.#deps.loadContext(this.data);
    const { data } = this;
    return new LiveRun({
      ...adopted,
      data,
      messages: this.#context,
      store,
      clock,
      observer: {
        ...observer,
        onEnded: (result) => {
          this.#live = undefined; // before anybody can answer the news: the next send must not find it busy
          observer.onEnded(data, adopted.run, result);
        },
      },
    });
  }

  #drive(live: LiveRun): void {
    this.#live = live;
    this.#deps.observer.onRunning(this.data, live.run);
    this.#driving = driveRun(live, this.data, this.#deps).then((outcome) =>
      outcome === 'suspended' ? undefined : this.#startNext(),
    );
  }

  /** Starts the next waiting run if nothing else does. */
  #wake(): void {
    if (this.#queue.length > 0 && !this.#live && !this.#starting) this.#driving = this.#startNext();
  }

  async #startNext(): Promise<void> {
    const next = this.#queue.first;
    if (!next || this.#closing || this.#live || this.#starting) return;
    const { clock, log, stopping } = this.#deps;
    next.run.epoch = this.data.epoch;
    next.run.startedMs = clock.now();
    this.#queue.remove(next);
    try {
      const live = await this.#start(next.run, () => [startRun(next.run, clock.now())]);
      live.ended.then(next.ended.resolve, next.ended.reject);
    } catch (error) {
      log.warn({ err: error, runId: next.run.runId }, 'a waiting run could not be started; trying again');
      this.#queue.putBack(next);
      await clock.sleep(RETRY_MS, stopping).catch(() => undefined); // the daemon stops: a restart starts it
      return this.#startNext();
    }
  }

  async #drop(item: QueuedRun): Promise<void> {
    const { store, clock, observer } = this.#deps;
    const endedMs = clock.now();
    this.#queue.remove(item);
    try {
      await store.commit({ statements: cancelQueuedRun(item.run, endedMs) });
    } catch (error) {
      this.#queue.putBack(item);
      throw error;
    }
    observer.onDropped(this.data, item.run);
    item.ended.resolve({ run_id: item.run.runId, status: 'cancelled', summary: 'cancelled', endedMs });
  }

  async #stopCurrent(force: boolean): Promise<void> {
    const live = this.#live;
    if (!live) return;
    live.stop(new StopReason('cancel', 'Cancelled by user'));
    if (force) return this.#abandon(live);
    const inTime = new AbortController();
    const late = this.#deps.clock.sleep(CANCEL_MS, inTime.signal).then(
      () => this.#abandon(live),
      () => undefined, // it ended in time
    );
    await Promise.race([live.ended, late]);
    inTime.abort();
  }

  async #abandon(live: LiveRun): Promise<void> {
    try {
      await live.supersede(lastWord(live));
    } catch (error) {
      if (!(error instanceof RunSuperseded)) throw error; // it ended by itself meanwhile
    }
    this.#wake();
  }
}
