import { readFile } from 'node:fs/promises';
import type { ProcessRow } from './process-table.ts';

const NAME = 'HEADGATE_COMMAND';

/** The variable by which every process of a command is known: whoever leaves parent, group and session takes it along. */
export const toMarkVariable = (mark: string): Record<string, string> => ({ [NAME]: mark });

/**
 * Finds the processes that carry a mark. What was looked at once is not read again: a process has its environment from its
 * first moment.
 */
export function createMarkFinder({ mark, startTicks }: { mark?: string; startTicks: number }) {
  const unmarked = new Set<string>();
  return async (rows: readonly ProcessRow[]): Promise<ProcessRow[]> => {
    if (mark === undefined || startTicks === 0) return [];
    const young = rows.filter((row) => row.startTicks >= startTicks && !unmarked.has(keyOf(row)));
    const marked = await Promise.all(young.map((row) => hasMark(row.pid, mark)));
    for (const [i, row] of young.entries()) if (!marked[i]) unmarked.add(keyOf(row));
    return young.filter((_, i) => marked[i]);
  };
}

async function hasMark(pid: number, mark: string): Promise<boolean> {
  const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''); // ended meanwhile, or not ours
  return `\0${environ}`.includes(`\0${NAME}=${mark}\0`);
}

const keyOf = ({ pid, startTicks }: ProcessRow): string => `${pid} ${startTicks}`;
