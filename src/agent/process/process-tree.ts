import type { Clock } from '../../clock.ts';
import type { ProcessIdentity } from '../tools/tool.ts';
import { findProcess, type ProcessRow, readProcessTable } from './process-table.ts';

/** How long a program may take to clean up after SIGTERM before it is killed. */
const GRACE_MS = 500;
/** How long a killed tree may take to vanish before we stop waiting (a process stuck in the kernel). */
const VANISH_MS = 2_000;
const POLL_MS = 20;

/**
 * Ends a process group and everything below it: SIGTERM, 500 ms of grace, SIGKILL. Resolves when all are gone; does
 * nothing when none is left. `spares` says who is not asked by SIGTERM (a supervisor whose death would cut the grace short).
 */
export async function endTree(
  leader: ProcessIdentity,
  { clock, spares = () => false }: { clock: Clock; spares?: (row: ProcessRow) => boolean },
): Promise<void> {
  const first = await findTree(leader);
  if (first.length === 0 && !hasGroup(leader)) return;
  signalAll(leader, { rows: first, signal: 'SIGTERM', spares });
  const started = clock.monotonic();
  for (;;) {
    await clock.sleep(POLL_MS, NEVER);
    const rows = await findTree(leader);
    if (rows.length === 0 && !hasGroup(leader)) return;
    const waitedMs = clock.monotonic() - started;
    // Again in every round: a tree that forks while it is being killed grows new members.
    if (waitedMs >= GRACE_MS) signalAll(leader, { rows, signal: 'SIGKILL', spares: () => false });
    if (waitedMs >= GRACE_MS + VANISH_MS) return;
  }
}

/** Reads what tells this process from a later one with the same pid. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity> {
  return { pid, startTicks: (await findProcess(pid))?.startTicks ?? 0 };
}

/** True if this very process still runs; a process whose start time is unknown is never taken for it. */
export async function isSameProcess({ pid, startTicks }: ProcessIdentity): Promise<boolean> {
  return startTicks !== 0 && (await findProcess(pid))?.startTicks === startTicks;
}

const NEVER = new AbortController().signal;

/** The leader, its descendants, and whoever stayed in its group or session after losing the parent. */
async function findTree(leader: ProcessIdentity): Promise<ProcessRow[]> {
  const rows = await readProcessTable();
  if (rows.some((row) => row.pid === leader.pid && row.startTicks !== leader.startTicks)) return []; // the pid is reused
  const members = new Set([leader.pid]);
  for (let size = 0; size !== members.size; ) {
    size = members.size;
    for (const row of rows) if (belongsTo(row, { leader, members })) members.add(row.pid);
  }
  return rows.filter((row) => members.has(row.pid));
}

function belongsTo(row: ProcessRow, { leader, members }: { leader: ProcessIdentity; members: Set<number> }): boolean {
  return members.has(row.parent) || row.group === leader.pid || row.session === leader.pid;
}

/** Without /proc the group is all we know, and a zombie in it counts as alive. */
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
