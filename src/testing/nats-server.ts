import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A NATS server for tests. */
export interface NatsServer {
  /** With a user and a password. */
  url: string;
  /** Kills it (SIGKILL). */
  kill(): Promise<void>;
  /** Starts it after `kill`, at the same address. */
  start(): Promise<void>;
  /** Kills it and removes its folder. */
  close(): Promise<void>;
}

/** The password in the address, which no output may contain. */
export const NATS_PASSWORD = 'nats-p4ssw-of-tests';

/** The only user. */
const LOGIN = ['--user', 'headgate', '--pass', NATS_PASSWORD];

/**
 * Starts a server that nobody else uses. It ends when this process ends in order. `config`: its configuration file, in place of
 * the only user.
 */
export async function startNats({ config }: { config?: string } = {}): Promise<NatsServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-nats-'));
  let port = -1; // any free one
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const settings = config === undefined ? LOGIN : ['--config', config];
    const place = ['--addr', '127.0.0.1', '--port', String(port), '--ports_file_dir', folder];
    server = spawn('/usr/sbin/nats-server', [...place, ...settings], { stdio: 'ignore' });
    port = await portIn(folder, server);
  };
  const kill = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'close');
    for (const name of await readdir(folder)) await rm(path.join(folder, name));
  };
  process.on('exit', () => server?.kill('SIGKILL'));
  await start();
  return {
    url: `nats://headgate:${NATS_PASSWORD}@127.0.0.1:${port}`,
    kill,
    start,
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The server writes its ports into a file once it listens. */
async function portIn(folder: string, server: ChildProcess): Promise<number> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`nats-server ended with ${server.exitCode}`);
    const [name] = await readdir(folder);
    const text = name === undefined ? '' : await readFile(path.join(folder, name), 'utf8');
    const [, port] = /(?:nats|tls):\/\/[^":]*:(\d+)/.exec(text) ?? [];
    if (port !== undefined) return Number(port);
    await sleep(20);
  }
}
