import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StreamEventOf } from '../../../../protocol/stream-events.ts';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { nextLog } from '../next-log.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { type StoredEvent, UnitRefused } from '../store.ts';
import { type BlockStore, blockStep } from './block-step.ts';
import { type CompactedStore, compactStep } from './compact-log.ts';

/** Packs the deltas of ended runs into few rows, in the background and in small steps (decision 53). */
export interface Compaction {
  /** Compacts the logs of earlier daemons, and each log after a run has ended, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface CompactionDeps {
  store: CompactedStore & BlockStore & Pick<SqliteStore, 'db' | 'bounds' | 'onCommitted'>;
  clock: Pick<Clock, 'sleep'>;
  log: Log;
}

/** How long earlier logs wait after a start, an ended run for others that end with it, and everything for a disk that is full. */
const WAIT_MS = { start: 3_000, run: 250, disk: 30_000 };
/** The pause between two steps, and while runs write. */
const PAUSE_MS = { idle: 20, busy: 200 };

export const createCompaction = (deps: CompactionDeps): Compaction => ({
  run: (signal) => new Compactor(deps, signal).run(),
});

/** Returns the offset to continue after. */
type Step = (store: CompactedStore & BlockStore, range: Range) => Promise<number>;

interface Range {
  wsId: string;
  after: number;
  through: number;
}

class Compactor {
  readonly #deps: CompactionDeps;
  readonly #signal: AbortSignal;
  /** Where the newest run of a log ended. */
  readonly #ended = new Map<string, number>();
  #wake = Promise.withResolvers<void>();
  #hasWrites = false;

  constructor(deps: CompactionDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    deps.store.onCommitted((appended) => this.#note(appended));
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
  }

  async run(): Promise<void> {
    await Promise.all([this.#compactEarlier(), this.#compactEnded()]);
  }

  #note(appended: ReadonlyMap<string, readonly StoredEvent[]>): void {
    if (appended.size > 0) this.#hasWrites = true;
    for (const [wsId, events] of appended) {
      const end = events.findLast(({ json }) => endsRun(json));
      if (!end) continue;
      this.#ended.set(wsId, end.offset);
      this.#wake.resolve();
    }
  }

  async #compactEnded(): Promise<void> {
    for (;;) {
      await this.#wake.promise;
      if (!(await this.#slept(WAIT_MS.run))) return;
      this.#wake = Promise.withResolvers();
      for (const [wsId, through] of this.#ended) {
        this.#ended.delete(wsId);
        await this.#compact(wsId, through);
        if (this.#signal.aborted) return;
      }
    }
  }

  async #compactEarlier(): Promise<void> {
    if (!(await this.#slept(WAIT_MS.start))) return;
    const { store } = this.#deps;
    const { db, bounds } = store;
    for (let wsId = await nextLog(store, ''); wsId !== undefined; wsId = await nextLog(store, wsId)) {
      const unfinished = await db
        .selectFrom('runs')
        .select('run_id')
        .where('ws_id', '=', wsId)
        .where('status', 'in', ['queued', 'running'])
        .limit(1)
        .executeTakeFirst();
      if (!unfinished) await this.#compact(wsId, bounds(wsId).last); // otherwise at the end of the run
      if (this.#signal.aborted) return;
      await nextTurn(); // a step that finds nothing does not pause
    }
  }

  /** Never rejects: what could not be compacted is compacted after the next run or the next start. */
  async #compact(wsId: string, through: number): Promise<void> {
    try {
      const { compacted, blocked } = await this.#marksOf(wsId);
      await this.#steps(compactStep, { wsId, after: compacted, through });
      await this.#steps(blockStep, { wsId, after: blocked, through });
    } catch (err) {
      if (err instanceof UnitRefused) return; // its old events or the whole log were removed meanwhile
      this.#deps.log.warn({ err, wsId }, 'a log could not be compacted');
      await this.#slept(WAIT_MS.disk);
    }
  }

  async #steps(step: Step, { wsId, after, through }: Range): Promise<void> {
    for (let next = after; next < through && !this.#signal.aborted; ) {
      next = await step(this.#deps.store, { wsId, after: next, through });
      await this.#pause();
    }
  }

  async #marksOf(wsId: string): Promise<{ compacted: number; blocked: number }> {
    const row = await this.#deps.store.db
      .selectFrom('log_heads')
      .select(['compacted', 'blocked'])
      .where('ws_id', '=', wsId)
      .executeTakeFirst();
    return row ?? { compacted: 0, blocked: 0 };
  }

  async #pause(): Promise<void> {
    this.#hasWrites = false;
    if ((await this.#slept(PAUSE_MS.idle)) && this.#hasWrites) await this.#slept(PAUSE_MS.busy);
  }

  /** False when the signal aborted. */
  async #slept(ms: number): Promise<boolean> {
    await this.#deps.clock.sleep(ms, this.#signal).catch(() => undefined); // aborted
    return !this.#signal.aborted;
  }
}

/** The state after a run has the run's outcome. Only states are parsed, because most events are deltas. */
function endsRun(json: string): boolean {
  if (!json.startsWith(STATE)) return false;
  const { run }: StreamEventOf<'ws_state'> = JSON.parse(json);
  return run !== undefined;
}

const STATE = '{"type":"ws_state"';
