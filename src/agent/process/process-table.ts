import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** A running process, as read from /proc/<pid>/stat. */
export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  session: number;
  startTicks: number;
  /** Threads of the kernel, and processes that are ending, have no memory of their own, and no environment. */
  hasMemory: boolean;
  /** Memory in use, with what it shares with others. */
  residentBytes: number;
}

/** All running processes; empty where there is no /proc. Zombies are left out, because they have already ended. */
export async function readProcessTable(): Promise<ProcessRow[]> {
  const rows: ProcessRow[] = [];
  for (const [read, pid] of listProcesses().entries()) {
    if (read % AT_ONCE === AT_ONCE - 1) await setImmediate(); // others have their turn
    const row = findProcess(pid);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** So many take a millisecond. Each asynchronous read would take five turns of a thread, and ten times as long. */
const AT_ONCE = 100;

function listProcesses(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return []; // there is no /proc
  }
}

/** One process; undefined when it has ended or there is no /proc. */
export function findProcess(pid: number): ProcessRow | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined; // ended meanwhile
  }
}

/** Of x86_64 and most other machines. Where pages are larger, less is counted. */
const PAGE_BYTES = 4_096;

function parseStat(stat: string): ProcessRow | undefined {
  // The second field is the program's name in parentheses. It may contain spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  if (state === 'Z' || state === 'X') return undefined;
  const field = (n: number) => Number(fields[n - 3]);
  return {
    pid: Number.parseInt(stat, 10),
    parent: field(4),
    group: field(5),
    session: field(6),
    startTicks: field(22),
    hasMemory: field(23) > 0,
    residentBytes: field(24) * PAGE_BYTES,
  };
}
