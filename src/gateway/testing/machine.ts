import assert from 'node:assert/strict';
import { join } from 'node:path';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import type { NodesConfig } from '../../lending/command-policy.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { storeEngine } from '../../testing/store-engine.ts';
import { recordingLog, tempDir } from '../../testing/temp-store.ts';
import { once } from '../../timing/once.ts';
import { connectGateway, type Gateway } from '../gateway.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { type Nodes, openNodes } from '../nodes/nodes.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import type { Store, Unit } from '../store/store.ts';
import { defaultDeps, type Execute, lookAndTouch } from './default-deps.ts';
import { puppetModels } from './puppet-model.ts';

export interface MachineOptions extends Partial<GatewayDeps> {
  /** The rules for commands of nodes; default: none. */
  nodeRules?(): NodesConfig;
  /** Replaces the gateway's store; `store` is the real one. */
  tap?(store: SqliteStore): SqliteStore;
  /** The parent of its folder. */
  parent?: string;
  /** What the tools `look` and `touch` do instead of answering at once. */
  execute?: Execute;
  /** What polls of watches run with; default: nothing. */
  pollToolbox?: Toolbox;
  /** Tools besides these two. */
  tools?: readonly Tool[];
}

/** The faults of the disk; a crash repairs it. */
interface Disk {
  /** Writes that are refused. */
  fails?: ((unit: Unit) => boolean) | undefined;
  /** The write at which the process dies: neither it nor a later one is stored. */
  diesAt?: ((unit: Unit) => boolean) | undefined;
}

interface Process {
  gateway: Gateway;
  parts: ReturnType<typeof flat>;
  memories: GatewayDeps['memories'];
  skills: GatewayDeps['skills'];
  nodes: Nodes;
  store: SqliteStore;
  background: GatewayDeps['background'];
  /** A killed process writes nothing. */
  killed: AbortController;
}

/** A machine on which the gateway runs as a process that can be restarted or killed; its clock stands still. */
export async function openMachine({ parent, ...options }: MachineOptions) {
  const dir = tempDir(parent);
  const over = new AbortController();
  const disk: Disk = {};
  const [clock, log, puppet] = [fakeClock(1_000_000), recordingLog(), puppetModels()];
  const machine: Machine = { dir: dir.path, clock, log, puppet, disk, over: over.signal };
  await (await emptyDatabase())(databaseIn(dir.path));
  let running = await start(machine, options);
  const stop = async () => {
    await running.gateway.shutdown('test');
    await running.store.close();
  };
  return {
    ...{ dir: dir.path, clock, log, puppet, disk },
    get gateway(): Gateway {
      return running.gateway;
    },
    /** The parts of the gateway, for tests of a single one. */
    get parts() {
      return running.parts;
    },
    get memories() {
      return running.memories;
    },
    get skills() {
      return running.skills;
    },
    get nodes(): Nodes {
      return running.nodes;
    },
    /** What goes on between runs of this process. */
    get background(): GatewayDeps['background'] {
      return running.background;
    },
    get store(): SqliteStore {
      return running.store;
    },
    /** Starts a new process on the same store. */
    async restart(): Promise<void> {
      await stop();
      running = await start(machine, options);
    },
    /** The process is killed, and a new one starts `downMs` later. */
    async crash({ downMs = 0 } = {}): Promise<void> {
      running.killed.abort();
      await running.store.close();
      repair(disk);
      clock.jump(downMs);
      running = await start(machine, options);
    },
    async [Symbol.asyncDispose]() {
      repair(disk);
      const stopped = stop();
      over.abort(new Error('the test is over'));
      await stopped.finally(() => storeEngine().remove(databaseIn(dir.path))).finally(() => dir[Symbol.dispose]());
      assert.equal(log.lines.filter(([, line]) => line === 'a frame does not match its schema').length, 0);
    },
  };
}

function repair(disk: Disk): void {
  disk.fails = undefined;
  disk.diesAt = undefined;
}

/** The parts that survive a process. */
interface Machine {
  dir: string;
  clock: ReturnType<typeof fakeClock>;
  log: ReturnType<typeof recordingLog>;
  puppet: ReturnType<typeof puppetModels>;
  disk: Disk;
  /** Aborts when the test ends. */
  over: AbortSignal;
}

async function start(
  { dir, clock, log, puppet, disk, over }: Machine,
  {
    tap = (store) => store,
    execute,
    tools,
    pollToolbox,
    nodeRules: rules = () => ({}),
    ...options
  }: Omit<MachineOptions, 'parent'>,
): Promise<Process> {
  const store = await openStore({ dir, clock, log });
  const killed = new AbortController();
  const deps = {
    ...(await defaultDeps({ store: tap(onDisk(disk, store, killed)), dir, clock, log })),
    models: puppet.models,
    toolbox: lookAndTouch(execute, over, tools),
    ...options,
  };
  if (pollToolbox) deps.background.watches.toolbox = pollToolbox;
  const nodes = deps.nodes ?? (await openNodes({ ...deps, rules }));
  const { gateway, parts } = connectGateway({ ...deps, nodes });
  await gateway.recover();
  return {
    store,
    gateway,
    parts: flat(parts, deps.store),
    memories: deps.memories,
    skills: deps.skills,
    nodes,
    background: deps.background,
    killed,
  };
}

function flat({ conversations, broadcast, presence }: ReturnType<typeof connectGateway>['parts'], store: Store) {
  const { records, talks, turns } = conversations;
  return { ...records, ...talks, ...turns, broadcast, presence, store };
}

const databaseIn = (dir: string) => join(dir, 'headgate.db');

const openStore = ({ dir, clock, log }: Pick<Machine, 'dir' | 'clock' | 'log'>): Promise<SqliteStore> =>
  storeEngine().open({ path: databaseIn(dir), clock, log, durability: 'normal', bootId: 'boot-1' });

/** Copied for every machine: creating the tables takes longer than most tests. */
const emptyDatabase = once(async () => {
  using dir = tempDir();
  const store = await openStore({ dir: dir.path, clock: fakeClock(1_000_000), log: recordingLog() });
  await store.close();
  return await storeEngine().copierOf(databaseIn(dir.path)); // before the folder is removed
});

function onDisk(disk: Disk, store: SqliteStore, killed: AbortController): SqliteStore {
  const commit = (unit: Unit): Promise<number> => {
    if (disk.diesAt?.(unit)) killed.abort();
    if (killed.signal.aborted) return new Promise(() => undefined);
    if (!disk.fails?.(unit)) return store.commit(unit);
    const failure = new GatewayError('UNAVAILABLE', 'Cannot write to the disk');
    return new Promise((_resolve, reject) => setImmediate(reject, failure)); // at the end of the turn, like a real store
  };
  return { ...store, commit };
}
