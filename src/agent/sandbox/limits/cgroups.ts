import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../clock.ts';
import type { Ids } from '../../../ids.ts';
import type { ExceededLimit, LimitedCommand, Limiter, Limits, LimitWay } from './limits.ts';

/** The files of control groups. */
export interface CgroupFiles {
  /** `/proc/self/cgroup` and `/proc/self/mountinfo`. */
  self(file: 'cgroup' | 'mountinfo'): Promise<string>;
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  make(folder: string): Promise<void>;
  remove(folder: string): Promise<void>;
  list(folder: string): Promise<string[]>;
}

/** The control groups of this process. */
export const systemCgroupFiles: CgroupFiles = {
  self: (file) => readFile(`/proc/self/${file}`, 'utf8').catch(() => ''), // not Linux
  read: (path) => readFile(path, 'utf8'),
  write: (path, text) => writeFile(path, text),
  make: async (folder) => void (await mkdir(folder)),
  remove: rmdir,
  list: readdir,
};

/** Where groups of commands are made. */
export interface Cgroups {
  way: Exclude<LimitWay, 'watcher'>;
  /** The parents of the groups: one in version 2, one for each controller in version 1. */
  memory: string;
  processes: string;
  /**
   * Undefined where processor time cannot be shared out. Otherwise a command gets no more of it than the daemon does,
   * however many processes it has.
   */
  cpu: string | undefined;
  /** Whether this kernel counts swap apart from memory, as it may do in version 2. */
  limitsSwap: boolean;
  /** The beginning of the groups' names. */
  name: string;
}

interface Search {
  name: string;
  files: CgroupFiles;
  without: readonly LimitWay[];
}

/** Finds a way that works, by making a group. Undefined without one. */
export async function findCgroups({ name, files, without }: Search): Promise<Cgroups | undefined> {
  const ways = [
    ...(without.includes('cgroup v2') ? [] : [findVersion2]),
    ...(without.includes('cgroup v1') ? [] : [findVersion1]),
  ];
  for (const find of ways) {
    const groups = await find(name, files).catch(() => undefined); // not delegated to this user
    if (groups !== undefined) return groups;
  }
  return undefined;
}

/** This process's folder in a hierarchy: where it is mounted, and the path within. */
async function folderOf(
  files: CgroupFiles,
  hierarchy: (controllers: string[]) => boolean,
): Promise<string | undefined> {
  const line = (await files.self('cgroup')).split('\n').find((row) => hierarchy((row.split(':')[1] ?? '').split(',')));
  const [, controllers = '', own = '/'] = line?.split(':') ?? [];
  if (line === undefined) return undefined;
  for (const row of (await files.self('mountinfo')).split('\n')) {
    const [front = '', back = ''] = row.split(' - ');
    const [type = '', , options = ''] = back.split(' ');
    const isIt = controllers === '' ? type === 'cgroup2' : type === 'cgroup' && has(options.split(','), controllers);
    const [, , , root = '/', at = ''] = front.split(' ');
    if (isIt) return join(at, root !== '/' && own.startsWith(root) ? own.slice(root.length) : own);
  }
  return undefined;
}

const has = (options: readonly string[], controllers: string): boolean =>
  controllers.split(',').every((one) => options.includes(one));

/** The leaf into which this process moves, because a group with groups below it holds no processes of its own. */
const OWN_LEAF = 'headgate-daemon';

async function findVersion2(name: string, files: CgroupFiles): Promise<Cgroups | undefined> {
  const own = await folderOf(files, ([first, ...more]) => first === '' && more.length === 0);
  if (own === undefined) return undefined;
  const parent = own.endsWith(`/${OWN_LEAF}`) ? own.slice(0, -OWN_LEAF.length - 1) : own;
  const controllers = (await files.read(join(parent, 'cgroup.controllers'))).trim().split(' ');
  if (!controllers.includes('memory') || !controllers.includes('pids')) return undefined;
  const hasCpu = controllers.includes('cpu');
  const wanted = `+memory +pids${hasCpu ? ' +cpu' : ''}`;
  if (parent === own) await moveInto({ parent, leaf: join(parent, OWN_LEAF), wanted }, files);
  await removeLeft(parent, name, files);
  const limitsSwap = await canLimitSwap(parent, name, files);
  return { way: 'cgroup v2', memory: parent, processes: parent, cpu: hasCpu ? parent : undefined, limitsSwap, name };
}

/** Moves this process down. Fails, and undoes it, where other processes share the group: it is not ours then. */
async function moveInto(
  { parent, leaf, wanted }: { parent: string; leaf: string; wanted: string },
  files: CgroupFiles,
): Promise<void> {
  const pids = (await files.read(join(parent, 'cgroup.procs'))).trim().split('\n');
  if (pids.length > 1) throw new Error('the group holds other processes');
  await files.make(leaf).catch(() => undefined); // of an earlier daemon
  await files.write(join(leaf, 'cgroup.procs'), pids[0] ?? '');
  try {
    await files.write(join(parent, 'cgroup.subtree_control'), wanted);
  } catch (error) {
    await files.write(join(parent, 'cgroup.procs'), pids[0] ?? '');
    await files.remove(leaf);
    throw error;
  }
}

async function findVersion1(name: string, files: CgroupFiles): Promise<Cgroups | undefined> {
  const find = (controller: string) => folderOf(files, (controllers) => controllers.includes(controller));
  const [memory, processes, cpu] = await Promise.all([find('memory'), find('pids'), find('cpu')]);
  if (memory === undefined || processes === undefined) return undefined;
  for (const parent of [memory, processes]) await tryOut(parent, name, files);
  const hasCpu =
    cpu !== undefined &&
    (await tryOut(cpu, name, files).then(
      () => true,
      () => false, // only this controller is not ours
    ));
  return { way: 'cgroup v1', memory, processes, cpu: hasCpu ? cpu : undefined, limitsSwap: false, name };
}

async function tryOut(parent: string, name: string, files: CgroupFiles): Promise<void> {
  await removeLeft(parent, name, files);
  const trial = join(parent, `${name}-trial`);
  await files.make(trial);
  await files.remove(trial);
}

/** Kernels without swap accounting have no file for it. */
async function canLimitSwap(parent: string, name: string, files: CgroupFiles): Promise<boolean> {
  const trial = join(parent, `${name}-trial`);
  await files.make(trial);
  const canWrite = await files.write(join(trial, 'memory.swap.max'), '0').then(
    () => true,
    () => false,
  );
  await files.remove(trial);
  return canWrite;
}

/** Groups of a daemon that was killed. Their processes have been ended. */
async function removeLeft(parent: string, name: string, files: CgroupFiles): Promise<void> {
  const left = (await files.list(parent)).filter((entry) => entry.startsWith(`${name}-`));
  for (const entry of left) await files.remove(join(parent, entry)).catch(() => undefined); // still has a process
}

interface CgroupDeps {
  groups: Cgroups;
  limits: Limits;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  files: CgroupFiles;
}

/** Keeps limits by one group per command. */
export function createCgroups({ groups, limits, clock, ids, files }: CgroupDeps): Limiter {
  return {
    way: groups.way,
    limits,
    async begin(pid) {
      // Groups of a daemon that was killed may still hold processes.
      const group = `${groups.name}-${ids.id('cmd')}`;
      const parents = [...new Set([groups.memory, groups.processes, groups.cpu].filter((one) => one !== undefined))];
      const folders = parents.map((parent) => join(parent, group));
      try {
        await Promise.all(folders.map((folder) => files.make(folder)));
        await Promise.all(toSettings(groups, group, limits).map(([file, text]) => files.write(file, text)));
        await Promise.all(folders.map((folder) => files.write(join(folder, 'cgroup.procs'), String(pid))));
      } catch (error) {
        // Not awaited: one may hold the command, which ends only when this has failed.
        for (const folder of folders) void removeSoon(folder, { clock, files });
        throw error;
      }
      return follow({ groups, group, parents }, { clock, files });
    },
  };
}

function toSettings(
  { way, memory, processes, limitsSwap }: Cgroups,
  group: string,
  limits: Limits,
): [string, string][] {
  const { memoryBytes, processes: most } = limits;
  const pids: [string, string] = [join(processes, group, 'pids.max'), String(most)];
  if (way === 'cgroup v1') return [pids, [join(memory, group, 'memory.limit_in_bytes'), String(memoryBytes)]];
  const ofMemory: [string, string] = [join(memory, group, 'memory.max'), String(memoryBytes)];
  return limitsSwap ? [pids, ofMemory, [join(memory, group, 'memory.swap.max'), '0']] : [pids, ofMemory];
}

interface Group {
  groups: Cgroups;
  group: string;
  parents: readonly string[];
}

const LOOK_MS = 250;
/** A program that was refused so many processes is out of control, and would keep the processor busy. */
const MAX_REFUSED = 100;

function follow(
  { groups, group, parents }: Group,
  { clock, files }: Pick<CgroupDeps, 'clock' | 'files'>,
): LimitedCommand {
  const over = new AbortController();
  const exceeded = Promise.withResolvers<ExceededLimit>();
  const refused = () => countIn(files, join(groups.processes, group, 'pids.events'), 'max');
  const killed = () =>
    countIn(
      files,
      join(groups.memory, group, groups.way === 'cgroup v1' ? 'memory.oom_control' : 'memory.events'),
      'oom_kill',
    );
  const watch = async () => {
    for (;;) {
      await clock.sleep(LOOK_MS, over.signal);
      if ((await refused()) > MAX_REFUSED) exceeded.resolve('processes');
    }
  };
  watch().catch(() => undefined); // the command is over
  return {
    exceeded: exceeded.promise,
    async end() {
      over.abort();
      const [oom, pids] = await Promise.all([killed(), refused()]);
      await Promise.all(parents.map((parent) => removeSoon(join(parent, group), { clock, files })));
      if (oom > 0) return 'memory';
      return pids > 0 ? 'processes' : undefined;
    },
  };
}

/** A group can be removed once the kernel has cleared away its last process. */
async function removeSoon(folder: string, { clock, files }: Pick<CgroupDeps, 'clock' | 'files'>): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    const isGone = await files.remove(folder).then(
      () => true,
      () => false,
    );
    if (isGone) return;
    await clock.sleep(10, new AbortController().signal);
  }
}

/** The number after a word in a file of counters; 0 if it is not there. */
async function countIn(files: CgroupFiles, path: string, word: string): Promise<number> {
  const text = await files.read(path).catch(() => '');
  return Number(new RegExp(`^${word} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
