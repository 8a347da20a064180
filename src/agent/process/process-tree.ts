import type { Clock } from '../../clock.ts';
import type { ProcessIdentity } from '../tools/tool.ts';
import { createMarkFinder, findMarked } from './process-mark.ts';
import { findProcess, type ProcessRow, readProcessTable } from './process-table.ts';

/** How long a program has to clean up after SIGTERM before it is killed. */
const GRACE_MS = 500;
/** How long to wait for killed processes to disappear; one may be stuck in the kernel. */
const VANISH_MS = 2_000;
const POLL_MS = 20;

/**
 * Ends a process group and all its descendants: SIGTERM, 500 ms of grace, SIGKILL. Resolves when all are gone; does
 * nothing if none is left. `spares` excludes processes from SIGTERM, such as a supervisor whose exit would end the
 * others at once.
 */
export async function endTree(
  leader: ProcessIdentity,
  { clock, spares = () => false }: { clock: Clock; spares?: (row: ProcessRow) => boolean },
): Promise<void> {
  const findTree = createTreeFinder(leader);
  const first = await findTree();
  if (first.length === 0 && !hasGroup(leader)) return;
  signalAll(leader, { rows: first, signal: 'SIGTERM', spares });
  const started = clock.monotonic();
  for (;;) {
    await clock.sleep(POLL_MS, NEVER);
    const rows = await findTree();
    if (rows.length === 0 && !hasGroup(leader)) return;
    const waitedMs = clock.monotonic() - started;
    // Repeated in every round, because a tree that forks while it is being killed gains processes.
    if (waitedMs >= GRACE_MS) signalAll(leader, { rows, signal: 'SIGKILL', spares: () => false });
    if (waitedMs >= GRACE_MS + VANISH_MS) return;
  }
}

/** Reads what distinguishes this process from a later one with the same pid. */
export function identifyProcess(pid: number): ProcessIdentity {
  return { pid, startTicks: findProcess(pid)?.startTicks ?? 0 };
}

/**
 * Whether this process still runs, or another one with its mark. A process with an unknown start time never matches.
 */
export async function isLeft(identity: ProcessIdentity): Promise<boolean> {
  const { pid, startTicks } = identity;
  if (startTicks === 0) return false;
  if (findProcess(pid)?.startTicks === startTicks) return true;
  return (await createMarkFinder(identity)(await readProcessTable())).length > 0;
}

/**
 * Ends every process whose mark begins like this, except this process and its ancestors. Only for marks of a daemon
 * that no longer runs.
 */
export async function endMarked(beginning: string, { clock }: { clock: Clock }): Promise<number> {
  const rows = await readProcessTable();
  const ours = withAncestors(rows, process.pid);
  const left = (await findMarked(rows, beginning)).filter(({ pid }) => !ours.has(pid));
  await Promise.all(left.map((row) => endTree(row, { clock })));
  return left.length;
}

function withAncestors(rows: readonly ProcessRow[], pid: number): Set<number> {
  const parents = new Map(rows.map((row) => [row.pid, row.parent]));
  const found = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && !found.has(at); at = parents.get(at)) found.add(at);
  return found;
}

const NEVER = new AbortController().signal;

/**
 * Finds the leader, its descendants, processes that stayed in its group or session after losing their parent, and
 * processes that left all of these but have the mark. A process once found stays in the result even if its parent has
 * ended.
 */
function createTreeFinder(leader: ProcessIdentity): () => Promise<ProcessRow[]> {
  const findMarked = createMarkFinder(leader);
  let before: ProcessRow[] = [];
  return async () => {
    const rows = await readProcessTable();
    const marked = await findMarked(rows);
    const known = rows.filter((row) => before.some((old) => isSame(old, row)));
    before = withDescendants(rows, [...marked, ...known, ...findOfLeader(rows, leader)]);
    return before;
  };
}

const isSame = (a: ProcessIdentity, b: ProcessIdentity): boolean => a.pid === b.pid && a.startTicks === b.startTicks;

function findOfLeader(rows: ProcessRow[], leader: ProcessIdentity): ProcessRow[] {
  if (rows.some((row) => row.pid === leader.pid && !isSame(row, leader))) return []; // the pid was reused
  return rows.filter(({ pid, group, session }) => [pid, group, session].includes(leader.pid));
}

function withDescendants(rows: ProcessRow[], first: ProcessRow[]): ProcessRow[] {
  const members = new Set(first.map(({ pid }) => pid));
  for (let size = -1; size !== members.size; ) {
    size = members.size;
    for (const row of rows) if (members.has(row.parent)) members.add(row.pid);
  }
  return rows.filter(({ pid }) => members.has(pid));
}

/** Without /proc only the group is known, and a zombie in it counts as alive. */
function hasGroup({ pid, startTicks }: ProcessIdentity): boolean {
  return startTicks === 0 && trySignal(-pid, 0);
}

function signalAll(
  leader: ProcessIdentity,
  { rows, signal, spares }: { rows: ProcessRow[]; signal: NodeJS.Signals; spares: (row: ProcessRow) => boolean },
): void {
  if (leader.startTicks === 0) trySignal(-leader.pid, signal);
  for (const row of rows) if (!spares(row)) trySignal(row.pid, signal);
}

function trySignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // ended meanwhile, or not ours
  }
}
