import { setPriority } from 'node:os';
import type { Clock } from '../../../clock.ts';
import { type ProcessRow, readProcessTable } from '../../process/process-table.ts';
import type { ExceededLimit, Limiter, Limits } from './limits.ts';

interface WatcherDeps {
  limits: Limits;
  clock: Clock;
  /** For tests. */
  readProcesses?: () => Promise<ProcessRow[]>;
}

const LOOK_MS = 100;
/** Lower than the daemon's, so that it answers while a command works. */
const PRIORITY = 5;

/**
 * Keeps limits where control groups cannot be made: looks at the processes of a command ten times a second. Orphans in
 * the sandbox become children of its first process, so all of them descend from the command.
 */
export function createWatcher({ limits, clock, readProcesses = readProcessTable }: WatcherDeps): Limiter {
  return {
    way: 'watcher',
    limits,
    async begin(pid) {
      setPriority(pid, PRIORITY);
      const over = new AbortController();
      const exceeded = Promise.withResolvers<ExceededLimit>();
      let limit: ExceededLimit | undefined;
      const watch = async () => {
        for (;;) {
          await clock.sleep(LOOK_MS, over.signal);
          limit ??= exceededBy(descendantsOf(await readProcesses(), pid), limits);
          if (limit !== undefined) exceeded.resolve(limit);
        }
      };
      watch().catch(() => undefined); // the command is over
      return {
        exceeded: exceeded.promise,
        async end() {
          over.abort();
          return limit;
        },
      };
    },
  };
}

function descendantsOf(rows: readonly ProcessRow[], pid: number): ProcessRow[] {
  const members = new Set([pid]);
  for (let size = -1; size !== members.size; ) {
    size = members.size;
    for (const row of rows) if (members.has(row.parent)) members.add(row.pid);
  }
  return rows.filter((row) => members.has(row.pid));
}

function exceededBy(rows: readonly ProcessRow[], { processes, memoryBytes }: Limits): ExceededLimit | undefined {
  if (rows.length > processes) return 'processes';
  const used = rows.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  return used > memoryBytes ? 'memory' : undefined;
}
