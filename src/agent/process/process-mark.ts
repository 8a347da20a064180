import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { ProcessRow } from './process-table.ts';

export const MARK_VARIABLE = 'HEADGATE_COMMAND';

/**
 * The environment variable that identifies all processes of a command. A process keeps it even if it leaves its parent,
 * group and session.
 */
export const toMarkVariable = (mark: string): Record<string, string> => ({ [MARK_VARIABLE]: mark });

/**
 * Finds the processes with a mark. The environment of each process is read only once, because it does not change after
 * its start.
 */
export function createMarkFinder({ mark, startTicks }: { mark?: string; startTicks: number }) {
  const unmarked = new Set<string>();
  return async (rows: readonly ProcessRow[]): Promise<ProcessRow[]> => {
    if (mark === undefined || startTicks === 0) return [];
    const young = rows.filter((row) => row.startTicks >= startTicks && !unmarked.has(keyOf(row)));
    const marked = await Promise.all(young.map((row) => hasVariable(row.pid, `${MARK_VARIABLE}=${mark}\0`)));
    for (const [i, row] of young.entries()) if (marked[i] === false) unmarked.add(keyOf(row));
    return young.filter((_, i) => marked[i] === true);
  };
}

/**
 * Finds the processes whose mark begins like this. The beginning identifies the home of the daemon. Only for the start, which
 * waits for it anyway: reading them one after the other takes a tenth of the time.
 */
export async function findMarked(rows: readonly ProcessRow[], beginning: string): Promise<ProcessRow[]> {
  const variable = `${MARK_VARIABLE}=${beginning}`;
  const found: ProcessRow[] = [];
  for (const row of rows) if (row.hasMemory && (await hasVariable(row.pid, variable, readNow))) found.push(row);
  return found;
}

/** How often an empty environment is read again: during exec, a process shows none for a moment. */
const READS = 10;

/** Undefined if the process shows no environment. */
async function hasVariable(pid: number, beginning: string, read = readLater): Promise<boolean | undefined> {
  for (let reads = 0; reads < READS; reads += 1) {
    const environ = await read(`/proc/${pid}/environ`);
    if (environ === undefined) return false; // ended meanwhile, or not readable
    if (environ !== '') return `\0${environ}`.includes(`\0${beginning}`);
    await setImmediate();
  }
  return undefined;
}

type Read = (file: string) => Promise<string | undefined> | string | undefined;

const readLater: Read = (file) => readFile(file, 'utf8').catch(() => undefined);

const readNow: Read = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

const keyOf = ({ pid, startTicks }: ProcessRow): string => `${pid} ${startTicks}`;
