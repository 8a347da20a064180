import { LIMITS } from '../../../protocol/limits.ts';
import type { CancelReceipt } from '../../../protocol/methods/workstream.ts';
import { newProgress } from '../../agent/run/journal.ts';
import { RunWaits } from '../../agent/run/model/run-waits.ts';
import { endBackgroundIn } from '../background/background-records.ts';
import type { NewCut } from '../cuts/new-cut.ts';
import { NextContext } from '../history/next-context.ts';
import { readContext, unreadable } from '../history/read-context.ts';
import { QueueHold } from '../queue/queue-hold.ts';
import { receiptOf } from '../runs/cancel-receipt.ts';
import { driveRun } from '../runs/drive-run.ts';
import { dropQueued } from '../runs/drop-queued.ts';
import { LiveRun } from '../runs/live-run.ts';
import { type Holder, Place } from '../runs/place.ts';
import { type QueuedRun, queueFull, RunQueue } from '../runs/run-queue.ts';
import type { AdoptedRun, NewRun, RunHandle, RunRecord, RunResult } from '../runs/run-record.ts';
import { insertJournal, insertRun, startRun } from '../runs/run-rows.ts';
import { byClient, type StopOptions, stopWork } from '../runs/stop-run.ts';
import { nameAfter } from '../runs/title.ts';
import type { Statement } from '../store/store.ts';
import { type Closing, closed, pause, shuttingDown, stoppedInTime, type Unloading } from './closing.ts';
import type { WorkstreamData } from './workstream-data.ts';
import type { WorkstreamDeps } from './workstream-deps.ts';

/** A loaded workstream: one run at a time, at most ten queued. */
export class Workstream {
  readonly data: WorkstreamData;
  readonly #deps: WorkstreamDeps;
  /** The runs that wait. */
  readonly queue: RunQueue;
  readonly hold: QueueHold;
  readonly context: NextContext;
  #live: LiveRun | undefined;
  /** Waits for a model between runs. */
  readonly waits = new RunWaits();
  /** Taken while no run is in memory but none may start: one is being started, or the context is being changed. */
  readonly place = new Place();
  /** Why nothing is accepted any more. */
  #closing: Closing | undefined;
  #driving: Promise<unknown> = Promise.resolve();

  constructor(data: WorkstreamData, deps: WorkstreamDeps) {
    this.data = data;
    this.#deps = deps;
    this.queue = new RunQueue((queue) => deps.observer.onQueue(data, queue));
    this.hold = new QueueHold(this, deps, () => this.#wake());
    this.context = new NextContext(data, (pending) => readContext(data, deps, pending));
  }

  /** The run in progress. */
  get current(): LiveRun | undefined {
    return this.#live;
  }

  /** Whether a run is in progress, starting or queued. Held messages do not count. */
  get busy(): boolean {
    return this.heldBy !== undefined;
  }

  /** What keeps a run from starting now; undefined: nothing. */
  get heldBy(): Holder | undefined {
    if (this.#live) return 'answer';
    return this.place.holder ?? (this.queue.length > 0 && !this.hold.isOn ? 'answer' : undefined);
  }

  /** Undefined when busy. */
  async acceptIfIdle(asked: NewRun): Promise<RunHandle | undefined> {
    const mayWait = asked.source === 'person' || !this.hold.isOn;
    return (this.busy || !mayWait) && this.#closing === undefined ? undefined : this.accept(asked);
  }

  /** Resolves when the message is stored. Queues the run while busy; throws BUSY for more than ten queued runs. */
  async accept({ also, cut, ...fields }: NewRun): Promise<RunHandle> {
    if (this.#closing !== undefined) throw closed(this.#closing);
    const { wsId, epoch } = this.data;
    const run: RunRecord = { ...fields, wsId, epoch, acceptedMs: this.#deps.clock.now() };
    if (this.busy || (!cut && this.queue.length > 0)) return this.#enqueue(run, also);
    run.startedMs = run.acceptedMs;
    try {
      const live = await this.#start(run, () => [...also, insertRun(run, 'running')], cut);
      return { run, ended: live.ended };
    } catch (error) {
      this.#wake();
      throw error;
    }
  }

  /**
   * Takes over the runs of the previous process: the first continues, the others are queued. Its pending approval can
   * be answered afterwards.
   */
  async adopt(runs: AdoptedRun[]): Promise<RunHandle[]> {
    const [first, ...rest] = runs;
    if (!first) return [];
    const waiting = first.progress.phase === 'queued' ? runs : rest;
    const handles = waiting.map(({ run }) => ({ run, ended: this.queue.add(run, { isStored: true }).ended.promise }));
    if (first.progress.phase === 'queued') {
      await this.hold.restore();
      this.#driving = this.#startNext();
      return handles;
    }
    const ended = Promise.withResolvers<RunResult>();
    await this.#resume(first, ended);
    return [{ run: first.run, ended: ended.promise }, ...handles];
  }

  /** Stops the current run and drops queued ones. Resolves when that is recorded, or has happened and will be recorded. */
  async cancel({ force }: { force: boolean }): Promise<CancelReceipt> {
    this.place.stop(byClient());
    await this.place.settled();
    const waiting = this.queue.all();
    const toReceipt = receiptOf(this.#live, waiting, this.#deps.background.commands.runningIn(this.data.wsId));
    // In parallel, because a run must stop even while the store cannot drop the queued ones.
    await Promise.all([this.#drop(waiting), this.#stopCurrent({ force })]);
    return toReceipt();
  }

  /** Stops one run, current or queued; false when it is neither. */
  async cancelRun(runId: string, reason?: StopOptions['reason']): Promise<boolean> {
    if (!this.queue.find(runId)) await this.place.settled();
    const waiting = this.queue.find(runId);
    if (waiting) await this.#drop([waiting]);
    else if (this.#live?.run.runId === runId) await this.#stopCurrent({ force: false, reason });
    else return false;
    return true;
  }

  /**
   * Prevents runs from starting while `work` changes their context. False, without calling `work`, while a run is in
   * progress. The signal aborts when a client cancels, or the daemon stops.
   */
  async whileIdle(holder: Holder, work: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    if (this.isUnloaded) throw closed('unload');
    if (this.busy) return false;
    const { free, signal } = this.place.take(holder);
    try {
      await work(signal);
    } finally {
      free();
      this.#wake();
      this.#deps.observer.onFree();
    }
    return true;
  }

  /** Accepts nothing and starts no queued runs from now on, until `reopen`. */
  retire(reason: Unloading): void {
    this.#closing ??= reason === 'closed' ? 'close' : 'unload';
  }

  /** Whether it makes room for others, or has done so. Messages belong to the instance that `Workstreams.get` returns then. */
  get isUnloaded(): boolean {
    return this.#closing === 'unload';
  }

  reopen(): void {
    this.#closing = undefined;
    this.#wake();
  }

  /**
   * Stops the current run in a way that a restart can continue it. Does not wait long for a worker that does not stop,
   * such as one that a cancel has abandoned.
   */
  async shutdown(): Promise<void> {
    this.#closing = 'shutdown';
    this.#live?.stop(shuttingDown());
    this.place.stop(shuttingDown());
    const stopped = this.place.settled().then(() => this.#driving);
    await stoppedInTime(stopped, { wsId: this.data.wsId, clock: this.#deps.clock, log: this.#deps.log });
  }

  async #enqueue(run: RunRecord, also: Statement[]): Promise<RunHandle> {
    if (this.queue.length >= LIMITS.queuedRunsPerWorkstream) throw queueFull();
    const item = this.queue.add(run, { isStored: false });
    try {
      const accepted = insertJournal(run, { kind: 'accepted' }, run.acceptedMs);
      await this.#deps.store.commit({ statements: [...also, insertRun(run, 'queued'), accepted] });
    } catch (error) {
      this.queue.refused(item);
      this.#wake(); // the next one may be of no person
      throw error;
    }
    this.queue.accepted(item);
    if (run.source === 'person') this.hold.release();
    this.#deps.observer.onQueued(this.data, run);
    this.#wake();
    return { run, ended: item.ended.promise };
  }

  /** Records a run as running and starts the agent. Frees the place on failure. */
  async #start(run: RunRecord, statements: () => Statement[], cut?: NewCut): Promise<LiveRun> {
    const { free } = this.place.take('answer');
    if (cut) this.context.forget();
    try {
      const live = await this.#makeLive({ run, progress: newProgress() }, cut);
      const { title, naming } = nameAfter(this.data, run.request, cut);
      await live.begin([...(cut?.statements ?? []), ...statements(), ...naming], cut && [cut.event]);
      cut?.apply();
      if (run.source === 'person') this.hold.release();
      this.data.title = title;
      if (naming.length > 0) this.data.isTitleDue = true;
      this.#deps.observer.onMessage();
      this.#drive(live);
      return live;
    } catch (error) {
      if (cut) this.context.forget(); // it was read as if the cut were stored
      throw error;
    } finally {
      free();
    }
  }

  async #resume(adopted: AdoptedRun, ended: PromiseWithResolvers<RunResult>): Promise<void> {
    const { free } = this.place.take('answer');
    try {
      const live = await this.#makeLive(adopted);
      live.ended.then(ended.resolve, ended.reject);
      this.#drive(live);
    } catch (error) {
      this.#deps.log.warn({ err: error, runId: adopted.run.runId }, 'a run could not be continued; trying again');
      if (await pause(this.#deps)) await this.#resume(adopted, ended);
    } finally {
      free();
    }
  }

  async #makeLive(adopted: AdoptedRun, pending?: NewCut): Promise<LiveRun> {
    const { store, always, budgets, live: settings, ids, clock, observer, loadContext } = this.#deps;
    const context = adopted.isUnreadable ? undefined : await this.context.take(pending?.cut);
    const live = new LiveRun(adopted, {
      data: this.data,
      messages: context ?? [],
      loadContext,
      store,
      questions: budgets.questions,
      always,
      live: settings,
      ids,
      clock,
      observer,
      onEnded: (result) => {
        if (result.failed) this.context.forget(); // so that the next run reads the context without this message
        this.hold.runEnded(result);
        this.#live = undefined; // before clients learn of it, so that their next send does not find it busy
        observer.onEnded(this.data, adopted.run, result);
        observer.onFree();
      },
    });
    if (!context) live.stop(unreadable());
    return live;
  }

  #drive(live: LiveRun): void {
    this.#live = live;
    this.#deps.observer.onRunning(this.data, live.run);
    if (this.#closing === 'shutdown') live.stop(shuttingDown());
    this.#driving = driveRun(live, this, this.#deps).then((outcome) =>
      outcome === 'suspended' ? live.suspend() : this.#startNext(),
    );
  }

  /** Starts the next queued run if possible. */
  #wake(): void {
    if (this.queue.length > 0 && this.#mayStart()) this.#driving = this.#startNext();
  }

  #mayStart(): boolean {
    return (
      !this.hold.isOn &&
      !this.#live &&
      !this.place.isTaken &&
      this.#closing === undefined &&
      !this.#deps.stopping.aborted
    );
  }

  async #startNext(): Promise<void> {
    const next = this.queue.first;
    if (!next || !this.#mayStart()) return;
    const { clock, log, observer } = this.#deps;
    Object.assign(next.run, { epoch: this.data.epoch, startedMs: clock.now() });
    this.queue.leave(next);
    try {
      const live = await this.#start(next.run, () => [startRun(next.run, clock.now())]);
      this.queue.left(next);
      live.ended.then(next.ended.resolve, next.ended.reject);
      observer.onDispatched(this.data, next.run);
    } catch (error) {
      log.warn({ err: error, runId: next.run.runId }, 'a waiting run could not be started; trying again');
      this.queue.putBack(next);
      if (await pause(this.#deps)) await this.#startNext();
    }
  }

  #drop(items: QueuedRun[]): Promise<void> {
    return dropQueued(items, this, { deps: this.#deps, wake: () => this.#wake(), pause: () => pause(this.#deps) });
  }

  /** Ends the commands that the agent has left running. `reset`: a new conversation begins, which knows nothing of them. */
  endBackground(end: 'reset' | 'cancelled' = 'cancelled'): Promise<void> {
    return endBackgroundIn(this.data.wsId, this.#closing === 'close' ? 'closed' : end, this.#deps.background);
  }

  async #stopCurrent({ force, reason }: Omit<StopOptions, 'clock'>): Promise<void> {
    const { clock } = this.#deps;
    if (await stopWork(this.#live, this.endBackground(), { force, reason, clock })) this.#wake(); // not its worker
  }
}
