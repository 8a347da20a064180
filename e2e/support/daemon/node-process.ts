import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { within } from '../deadline.ts';
import type { DaemonUnderTest } from './daemon.ts';
import { type DaemonProcess, spawnHeadgate } from './daemon-process.ts';

export interface NodeUnderTest extends AsyncDisposable {
  readonly home: string;
  /** A folder that the node allows to use. */
  readonly folder: string;
  /** The current process. */
  readonly child: DaemonProcess;
  nodeId(): string;
  /** The pairing code that it prints. */
  code(): Promise<string>;
  /** Ends the process and starts a new one on the same home. */
  restart(signal: NodeJS.Signals, args?: readonly string[]): Promise<void>;
}

/** Runs `headgate node run` in a separate process for the gateway of `daemon`. */
export async function startNode(
  daemon: DaemonUnderTest,
  args: readonly string[] = [],
  envOf: (folder: string) => Record<string, string> = () => ({}),
): Promise<NodeUnderTest> {
  const root = await mkdtemp(path.join(tmpdir(), 'headgate-node-'));
  const [home, folder] = [path.join(root, 'home'), await mkdtemp(path.join(root, 'lent-'))];
  const start = async (more: readonly string[]) => {
    const standard = ['--gateway', daemon.url, '--home', home, '--name', 'box', '--folder', folder];
    const child = await spawnHeadgate({
      args: ['node', 'run', ...standard, ...more],
      env: { HOME: root, ...envOf(folder) },
    });
    await child.printed(/^Lends .*\n/m);
    return child;
  };
  let child = await start(args);
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return within(child.exited, 60_000, () => `an end of the node after ${signal}`);
  };
  return {
    home,
    folder,
    get child() {
      return child;
    },
    nodeId: () => /\(([0-9a-f]{32})\)/.exec(child.stdout())?.[1] ?? '',
    async code() {
      const CODE = /Pairing code: ([0-9A-F]{4}-[0-9A-F]{4})/;
      await child.printed(CODE);
      return CODE.exec(child.stdout())?.[1] ?? '';
    },
    async restart(signal, more = args) {
      await stop(signal);
      child = await start(more);
    },
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
      await rm(root, { recursive: true, force: true });
    },
  };
}
