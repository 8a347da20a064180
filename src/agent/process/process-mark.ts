import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { ProcessRow } from './process-table.ts';

const NAME = 'HEADGATE_COMMAND';

/** The variable by which every process of a command is known: whoever leaves parent, group and session takes it along. */
export const toMarkVariable = (mark: string): Record<string, string> => ({ [NAME]: mark });

/**
 * Finds the processes that carry a mark. A process whose environment was read once is not read again: it has it from its
 * first moment.
 */
export function createMarkFinder({ mark, startTicks }: { mark?: string; startTicks: number }) {
  const unmarked = new Set<string>();
  return async (rows: readonly ProcessRow[]): Promise<ProcessRow[]> => {
    if (mark === undefined || startTicks === 0) return [];
    const young = rows.filter((row) => row.startTicks >= startTicks && !unmarked.has(keyOf(row)));
    const marked = await Promise.all(young.map((row) => hasVariable(row.pid, `${NAME}=${mark}\0`)));
    for (const [i, row] of young.entries()) if (marked[i] === false) unmarked.add(keyOf(row));
    return young.filter((_, i) => marked[i] === true);
  };
}

/** Processes whose mark begins like this: whose commands are told apart by the beginnings of their marks. */
export async function findMarked(rows: readonly ProcessRow[], beginning: string): Promise<ProcessRow[]> {
  const found = await Promise.all(rows.map(({ pid }) => hasVariable(pid, `${NAME}=${beginning}`)));
  return rows.filter((_, i) => found[i] === true);
}

/** How often an empty environment is read again: a process shows none for the moment in which it becomes another program. */
const READS = 10;

/** Undefined if the process shows no environment at all. */
async function hasVariable(pid: number, beginning: string): Promise<boolean | undefined> {
  for (let reads = 0; reads < READS; reads += 1) {
    const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => undefined);
    if (environ === undefined) return false; // ended meanwhile, or not ours
    if (environ !== '') return `\0${environ}`.includes(`\0${beginning}`);
    await setImmediate();
  }
  return undefined;
}

const keyOf = ({ pid, startTicks }: ProcessRow): string => `${pid} ${startTicks}`;
