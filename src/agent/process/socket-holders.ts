import { readdir, readFile, readlink } from 'node:fs/promises';
import { type ProcessRow, readProcessTable } from './process-table.ts';

interface HolderDeps {
  /** The root processes of commands. */
  leaders: ReadonlySet<number>;
  /** The user of the daemon. */
  uid: number;
}

/**
 * Returns whether a process that does not belong to a command has this socket open. A command can hide a socket, for
 * example by sending it to itself, so a socket that no process seems to have counts as a command's.
 */
export function createHolderSearch({ leaders, uid }: HolderDeps): (inode: number) => Promise<boolean> {
  /** Processes that recently held a socket are checked first, because clients reconnect. */
  const known: number[] = [];

  async function search(inode: number): Promise<boolean> {
    const rows = await readProcessTable();
    const outside = findOutside(rows, leaders);
    let isUnclear = false;
    for (const pid of [...known.filter((other) => outside.includes(other)), ...outside.toReversed()]) {
      const sockets = await findSockets(`/proc/${pid}`);
      if (sockets?.has(inode)) {
        known.splice(0, known.length, ...[pid, ...known.filter((other) => other !== pid)].slice(0, MAX_KNOWN));
        return true;
      }
      if (sockets === undefined) isUnclear ||= await isOf(uid, pid);
    }
    // Some processes, such as the sshd of a tunnel, cannot be inspected even by their own user.
    return isUnclear && !(await mayCommandHave(inode, { leaders, uid }));
  }

  // Tried twice, because a process whose parent is just ending seems to have no parent.
  return async (inode) => (await search(inode)) || (await search(inode));
}

const MAX_KNOWN = 8;

/**
 * The processes whose chain of parents is complete and contains no command. A process whose parent has just ended may
 * belong to anything.
 */
function findOutside(rows: readonly ProcessRow[], leaders: ReadonlySet<number>): number[] {
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const isOutside = (row: ProcessRow): boolean => {
    const seen = new Set<number>();
    for (let at: ProcessRow | undefined = row; at !== undefined && !seen.has(at.pid); at = byPid.get(at.parent)) {
      if (leaders.has(at.pid)) return false;
      if (at.parent === 0) return true;
      seen.add(at.pid);
    }
    return false;
  };
  return rows.filter(isOutside).map(({ pid }) => pid);
}

const LOOKS = 3;

/** Looks several times, because sockets can be passed on meanwhile. */
async function mayCommandHave(inode: number, { leaders, uid }: HolderDeps): Promise<boolean> {
  for (let look = 0; look < LOOKS; look += 1) {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    // Read after the names, so that a process just started outside is not suspected.
    const outside = new Set(findOutside(await readProcessTable(), leaders));
    const suspects = pids.filter((pid) => !outside.has(Number(pid)));
    for (const pid of suspects) if ((await isOf(uid, Number(pid))) && (await mayHave(pid, inode))) return true;
  }
  return false;
}

async function mayHave(pid: string, inode: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []); // ended meanwhile
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  if (threads.length === 0 || (/^State:\tZ/m.test(status) && threads.length === 1)) return false;
  for (const thread of threads) {
    const folder = `/proc/${pid}/task/${thread}`;
    const sockets = await findSockets(folder);
    if (sockets === undefined || sockets.has(inode) || (await hasSocketsOnTheWay(folder))) return true;
  }
  return false;
}

/** A socket that was sent over a pair of sockets and not yet received is open in no process. */
async function hasSocketsOnTheWay(folder: string): Promise<boolean> {
  const names = await readdir(`${folder}/fdinfo`).catch(() => []);
  const infos = await Promise.all(names.map((name) => readFile(`${folder}/fdinfo/${name}`, 'utf8').catch(() => '')));
  return infos.some((info) => /^scm_fds:\s*[1-9]/m.test(info));
}

/** Inodes of the sockets that a process has open; undefined if it cannot be inspected. */
async function findSockets(folder: string): Promise<Set<number> | undefined> {
  try {
    const names = await readdir(`${folder}/fd`);
    const targets = await Promise.all(names.map((name) => readlink(`${folder}/fd/${name}`).catch(() => ''))); // closed
    return new Set(targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.slice(1).map(Number) ?? []));
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');
    return isGone ? new Set() : undefined;
  }
}

async function isOf(uid: number, pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''); // ended meanwhile
  return (/^Uid:\s*(.*)$/m.exec(status)?.[1] ?? '').split(/\s+/).includes(String(uid));
}
