import { systemTimers } from '../../../../protocol/client/timers.ts';
import { readDaemonFile } from '../../../home/daemon-file.ts';
import { DRAIN_SIGNAL } from '../../../home/drain-signal.ts';
import { resolveHome, type Surroundings } from '../../../home/home-path.ts';
import { NoDaemonError, StartError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, withClient } from '../../connect.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { isWorkerAt, requireActive } from './standby-at.ts';

/** The flags of `headgate drain`. */
export interface DrainFlags {
  home?: string | undefined;
}

interface DrainCommand {
  flags: DrainFlags;
  around: Surroundings;
  root: URL;
}

/** Lets a standby take over from the daemon of the home, and waits until this daemon serves no more. */
export async function drain({ flags, around, root }: DrainCommand): Promise<void> {
  const home = resolveHome(flags, around);
  const running = await readDaemonFile(home);
  if (running === undefined) throw new NoDaemonError(`No daemon is running in ${home}.`);
  if (await isWorkerAt(running.url)) return drainWorker(running.pid);
  const { environment: _, ...rest } = around; // the daemon of this home, whatever HEADGATE_URL says
  const target = await resolveTarget({ home }, { ...rest, environment: {} });
  await requireActive(running.url);
  const { machines } = await withClient({ target, version: await readVersion(root) }, (client) =>
    client.call('cluster.status', {}),
  );
  if (!machines.some(({ isHere, lease }) => isHere && lease !== undefined))
    throw new StartError(
      'This daemon cannot hand over: its store is a file. Others can take over only with PostgreSQL.',
    );
  const next = machines.filter(({ state }) => state === 'standby');
  if (next.length === 0)
    throw new StartError('No standby is there to take over. Start one on another machine: headgate start --standby');
  process.kill(running.pid, DRAIN_SIGNAL);
  await untilOver(running.url);
  const names = next.map(({ nodeId, serverUrl }) =>
    toSafeText(serverUrl === '' ? nodeId : `${nodeId} at ${serverUrl}`),
  );
  process.stdout.write(
    `Handed over. ${names.length === 1 ? `${names[0]} takes over` : `One of these takes over: ${names.join(', ')}`}.\n`,
  );
}

/** A worker gives its workstreams to the active daemon, and ends. */
async function drainWorker(pid: number): Promise<void> {
  process.kill(pid, DRAIN_SIGNAL);
  for (let waitedMs = 0; isThere(pid); waitedMs += LOOK_MS) {
    if (waitedMs >= LONGEST_WORKER_MS) throw new StartError('The worker has not ended. Its log says why.');
    await new Promise<void>((resolve) => systemTimers.after(LOOK_MS, resolve));
  }
  process.stdout.write('The worker has ended. The active daemon has the workstreams whose folders it has, too.\n');
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // it has ended
  }
}

/** The daemon is a standby, or has ended. */
async function untilOver(url: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < LONGEST_MS; waitedMs += LOOK_MS) {
    const status = await fetch(new URL('/health', url)).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status !== 200) return;
    await new Promise<void>((resolve) => systemTimers.after(LOOK_MS, resolve));
  }
  throw new StartError('The daemon has not handed over. Its log says why.');
}

const LOOK_MS = 100;
const LONGEST_MS = 15_000;
const LONGEST_WORKER_MS = 90_000;
