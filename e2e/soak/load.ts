import { systemClock } from '../../src/clock.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { converse } from './conversing.ts';
import { visit } from './visiting.ts';

/** The shared state of all simulated users. */
export interface Load {
  daemon: DaemonUnderTest;
  random(): number;
  /** Mean time between two turns of a person. */
  pauseMs: number;
  stopping: AbortSignal;
  /** Whether all users are to finish their work and start nothing new. */
  isResting(): boolean;
  /** Resolves after `ms`, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  count(what: string): void;
  /** Workstreams that were closed, oldest first. */
  closed: string[];
}

export interface RunningLoad {
  /** Resolves when all users are idle; they continue after `resume`. */
  rest(): Promise<void>;
  resume(): void;
  /** The number of actions so far, by kind. */
  counts: ReadonlyMap<string, number>;
  /** The failures so far. */
  failures: readonly string[];
  /** Ends the load; resolves when all users have left. */
  stop(): Promise<void>;
}

const PEOPLE = 6;
/** The number of turns for each visit. */
const TURNS_PER_VISIT = 5;

/** Starts people who converse and browsers that visit, `turnsPerSecond` in total. */
export function startLoad(daemon: DaemonUnderTest, { turnsPerSecond }: { turnsPerSecond: number }): RunningLoad {
  const stopping = new AbortController();
  const counts = new Map<string, number>();
  const failures: string[] = [];
  const gate = createGate();
  const load: Load = {
    daemon,
    random: Math.random,
    pauseMs: (1_000 * PEOPLE) / turnsPerSecond,
    stopping: stopping.signal,
    isResting: () => gate.isClosed() || stopping.signal.aborted,
    wait: (ms, signal) => systemClock.sleep(ms, signal).catch(() => undefined), // aborted: the load has ended
    count: (what) => counts.set(what, (counts.get(what) ?? 0) + 1),
    closed: [],
  };
  const repeat = async (act: (load: Load) => Promise<void>) => {
    while (!stopping.signal.aborted) {
      await gate.through(() => act(load)).catch((error: unknown) => failures.push(describe(error)));
      await load.wait(load.random() * 500, stopping.signal);
    }
  };
  const visitNow = async () => {
    await visit(load);
    await load.wait(((TURNS_PER_VISIT * 1_000) / turnsPerSecond) * load.random() * 2, stopping.signal);
  };
  const everybody = [...Array.from({ length: PEOPLE }, () => repeat(converse)), repeat(visitNow)];
  return {
    rest: gate.close,
    resume: gate.open,
    counts,
    failures,
    async stop() {
      stopping.abort();
      gate.open();
      await Promise.all(everybody);
    },
  };
}

/** A gate: while it is closed no one enters; `close` resolves when all inside have left. */
function createGate() {
  let opened: PromiseWithResolvers<void> | undefined;
  let inside = 0;
  let emptied: PromiseWithResolvers<void> | undefined;
  return {
    isClosed: () => opened !== undefined,
    async through(act: () => Promise<void>): Promise<void> {
      await opened?.promise;
      inside += 1;
      try {
        await act();
      } finally {
        inside -= 1;
        if (inside === 0) emptied?.resolve();
      }
    },
    async close(): Promise<void> {
      opened ??= Promise.withResolvers();
      emptied = Promise.withResolvers();
      if (inside > 0) await emptied.promise;
    },
    open(): void {
      opened?.resolve();
      opened = undefined;
    },
  };
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
