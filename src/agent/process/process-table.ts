import { readdir, readFile } from 'node:fs/promises';

/** A running process, as read from /proc/<pid>/stat. */
export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  session: number;
  startTicks: number;
  /** Memory in use, with what it shares with others. */
  residentBytes: number;
}

/** All running processes; empty where there is no /proc. Zombies are left out, because they have already ended. */
export async function readProcessTable(): Promise<ProcessRow[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const rows = await Promise.all(pids.map((pid) => findProcess(Number(pid))));
  return rows.filter((row) => row !== undefined);
}

/** One process; undefined when it has ended or there is no /proc. */
export async function findProcess(pid: number): Promise<ProcessRow | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined); // ended meanwhile
  return stat === undefined ? undefined : parseStat(stat);
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
    residentBytes: field(24) * PAGE_BYTES,
  };
}
