import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import path from 'node:path';

/** The figures of a process from /proc. */
export interface ProcessFigures {
  rssBytes: number;
  /** Its proportional share of shared memory. */
  pssBytes: number;
  cpuSeconds: number;
  threads: number;
  files: number;
  sockets: number;
  children: number;
}

const TICKS_PER_SECOND = 100;

export async function readProcess(pid: number): Promise<ProcessFigures> {
  const [status, rollup, statLine, links, children] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/smaps_rollup`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
    openFiles(pid),
    childrenOf(pid),
  ]);
  // After the program's name in parentheses, which may contain anything.
  const fields = statLine.slice(statLine.lastIndexOf(')') + 2).split(' ');
  return {
    rssBytes: kibibytes(status, 'VmRSS'),
    pssBytes: kibibytes(rollup, 'Pss'),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    threads: numberAfter(status, 'Threads'),
    files: links.length,
    sockets: links.filter((link) => link.startsWith('socket:')).length,
    children,
  };
}

/** Bytes of a database with its side files. */
export async function databaseBytes(home: string): Promise<number> {
  const names = (await readdir(home)).filter((name) => name.startsWith('headgate.db'));
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(home, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function openFiles(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(
    names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => undefined)), // closed meanwhile
  );
  return links.filter((link) => link !== undefined);
}

async function childrenOf(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')), // ended meanwhile
  );
  return lists.join(' ').split(' ').filter(Boolean).length;
}

const kibibytes = (text: string, name: string): number => numberAfter(text, name) * 1024;
const numberAfter = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]);
