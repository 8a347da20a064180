import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../../src/clock.ts';
import type { MachineState, Recovery } from '../checker/cluster/cluster-evidence.ts';
import { MOST_ATTEMPTS } from '../checker/cluster/cluster-rules.ts';
import { copyKeys } from '../cluster/copy-keys.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { type MachineClock, openClock } from './clocks.ts';
import type { Network, Services, Site } from './network.ts';

/** A daemon of the service, with the links to it. */
export interface Machine {
  name: string;
  /** It runs workstreams beside the active daemon; the others can become active. */
  isWorker: boolean;
  daemon: DaemonUnderTest;
  nodeId: string;
  links: Site['links'];
  clock: MachineClock;
  isUp: boolean;
  isFrozen: boolean;
}

export interface MachineOptions extends Services {
  network: Network;
  folder: string;
  env: Record<string, string>;
  config: object;
}

/** A client asks so often. */
export const ASK_MS = 200;
/** How long a client waits for an answer. */
const CLIENT_MS = 5_000;

/** `keys`: the home of another daemon of the service. */
export async function startMachine(
  { folder, env, config, network, ...services }: MachineOptions,
  { name, isWorker, keys }: Pick<Machine, 'name' | 'isWorker'> & { keys: string | undefined },
): Promise<Machine> {
  const { links, start, storeUrl, busUrl, model } = await network.site(services);
  const home = path.join(folder, name);
  const clock = openClock(`${home}.clock`);
  await mkdir(home, { mode: 0o700 });
  await writeFile(path.join(home, 'config.json'), JSON.stringify(config));
  if (keys !== undefined) await copyKeys(keys, home);
  const daemon = await startDaemon({
    ...{ home, model, through: start.through, args: [isWorker ? '--worker' : '--standby', ...start.args] },
    env: {
      ...{ ...env, ...start.env, ...clock.env },
      HEADGATE_WORKDIR: path.join(folder, 'workspace'), // shared, so that each can take over from another
      HEADGATE_STORE_URL: storeUrl,
      HEADGATE_STORE_BUS: busUrl,
    },
  });
  links.inbound.leadTo(daemon.port);
  const { node_id: nodeId } = (await daemon.get('/health')).body;
  return { name, isWorker, daemon, nodeId, links, clock, isUp: true, isFrozen: false };
}

type Asked = Pick<Recovery, 'attempts' | 'tookMs' | 'isServed'>;

/** Asks as a client does, until it gets what it wants. */
export async function askUntil(isServed: () => Promise<boolean>): Promise<Asked> {
  const fromMs = performance.now();
  const tookMs = () => Math.round(performance.now() - fromMs);
  for (let attempts = 1; attempts <= MOST_ATTEMPTS; attempts += 1) {
    const isDone = await isServed().catch(() => false); // it cannot be reached, or does not answer in time
    if (isDone) return { attempts, tookMs: tookMs(), isServed: true };
    await systemClock.sleep(ASK_MS, new AbortController().signal);
  }
  return { attempts: MOST_ATTEMPTS, tookMs: tookMs(), isServed: false };
}

/** Asks any daemon; a worker has to have joined, too. `bringUp` is the service manager of the machine. */
export const untilServed = (machine: Machine, bringUp: () => Promise<void>): Promise<Asked> =>
  askUntil(async () => {
    await bringUp();
    const found = await askFor(machine, machine.isWorker ? '/v1/api/cluster/nodes' : '/v1/api/workstreams?limit=1');
    if (!machine.isWorker) return true;
    const nodes: { node_id: string; health: unknown }[] = found.nodes;
    return nodes.some(({ node_id, health }) => node_id === machine.nodeId && health !== null);
  });

/** Whether a daemon answers for a workstream, wherever that is. */
export const hasWorkstream = async (machine: Machine, wsId: string): Promise<boolean> =>
  (await askFor(machine, `/v1/api/workstreams/${wsId}/history?limit=1`)) !== undefined;

/** Asks a daemon to move a workstream to another one. Whether it did, nobody asks. */
export async function askToMove(machine: Machine, wsId: string, to: Machine): Promise<void> {
  await machine.daemon.fetch('/v1/api/route/workstreams/move', {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ ws_id: wsId, target_node: to.nodeId }),
    signal: AbortSignal.timeout(CLIENT_MS),
  });
}

async function askFor({ daemon }: Machine, route: string) {
  const answer = await daemon.fetch(route, { signal: AbortSignal.timeout(CLIENT_MS) });
  const body = await answer.json();
  if (answer.status !== 200) throw new Error(`status ${answer.status}`);
  return body;
}

export async function stateOf({ name: machine, isWorker, daemon }: Machine): Promise<MachineState> {
  const answer = await daemon.get('/health').catch(() => undefined);
  const status = answer?.body.status;
  const about = { machine, isWorker };
  if (status === 'standby' || status === 'worker') return { ...about, state: status };
  return { ...about, state: answer?.status === 200 ? 'active' : 'none' };
}
