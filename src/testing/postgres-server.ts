import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { findPostgres } from './find-postgres.ts';

/** A PostgreSQL server for tests, with its own folder and port. */
export interface PostgresServer {
  /** Makes an empty database, or a copy of one that nobody uses, and returns its address, with a password. */
  createDatabase(from?: string): Promise<string>;
  /** Kills the server with all its sessions (SIGKILL). */
  kill(): Promise<void>;
  /** Stops the server in order, which ends all sessions ("fast"). */
  stop(): Promise<void>;
  /** Starts it after `kill` or `stop`. */
  start(): Promise<void>;
  /** Kills it and removes its folder. */
  close(): Promise<void>;
}

/** The password in the addresses, which no output may contain. */
export const POSTGRES_PASSWORD = 'p%55w-of-tests/9';

let shared: Promise<PostgresServer> | undefined;

/** One server for all tests of a process; it ends with the process. */
export const sharedPostgres = (): Promise<PostgresServer> => {
  shared ??= startPostgres();
  return shared;
};

/** Runs SQL in a database. */
export async function queryPostgres(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows;
  } finally {
    await client.end();
  }
}

/**
 * Starts a server that nobody else uses. When this process ends, in whatever way, the server ends and its folder is removed.
 * `isSynced`: commits wait for the disk, as for everybody; tests kill processes, and no machines. `parent`: where its folder is.
 */
export async function startPostgres({ isSynced = false, parent = tmpdir() } = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(path.join(parent, 'headgate-postgres-'));
  const programs = await findPostgres();
  if (programs === undefined) throw new Error('PostgreSQL is not installed');
  const user = ordinaryUser();
  const data = path.join(folder, 'data');
  const passwords = path.join(folder, 'password');
  await writeFile(passwords, POSTGRES_PASSWORD);
  if (user) for (const place of [folder, passwords]) await chown(place, user.uid, user.gid);
  const initial = ['-D', data, '-U', 'headgate', '-A', 'scram-sha-256', `--pwfile=${passwords}`];
  await promisify(execFile)(path.join(programs, 'initdb'), [...initial, '-E', 'UTF8', '--locale=C', '--no-sync'], {
    ...user,
    cwd: folder,
  });
  const port = await freePort();
  const urlOf = (database: string) =>
    `postgresql://headgate:${encodeURIComponent(POSTGRES_PASSWORD)}@127.0.0.1:${port}/${database}`;
  const running = { process: await run({ programs, folder, data, port, user, isSynced }) };
  await untilReady(urlOf('postgres'));
  let databases = 0;
  const endWith = async (end: (data: string) => Promise<void>) => {
    running.process.ref(); // as long as this waits for it
    const ended = once(running.process, 'close');
    await end(data);
    running.process.stdin?.end('keep\n');
    await ended;
  };
  const kill = () => endWith(killAll);
  return {
    async createDatabase(from) {
      databases += 1;
      const name = `test_${databases}`;
      const template = from === undefined ? '' : ` template ${new URL(from).pathname.slice(1)}`;
      await queryPostgres(urlOf('postgres'), `create database ${name}${template}`);
      return urlOf(name);
    },
    kill,
    stop: () => endWith(stopAll),
    async start() {
      for (let starts = 1; ; starts += 1) {
        running.process = await run({ programs, folder, data, port, user, isSynced });
        try {
          return await untilReady(urlOf('postgres'));
        } catch (error) {
          if (starts === MOST_STARTS) throw error;
        }
        await endWith(async () => undefined); // a connection of somebody may have had its port
      }
    },
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const MOST_STARTS = 4;

interface Place {
  programs: string;
  folder: string;
  data: string;
  port: number;
  user: User | undefined;
  isSynced: boolean;
}

interface User {
  uid: number;
  gid: number;
}

/**
 * The shell waits for its input to end, which happens when this process ends. It stops the server, and removes its folder unless
 * it is told to keep it. Neither of them keeps this process running.
 */
async function run({ programs, folder, data, port, user, isSynced }: Place): Promise<ChildProcess> {
  const server = `'${programs}/postgres' -D '${data}' -p ${port} -k '${folder}' -h 127.0.0.1 -c max_connections=200 -c fsync=${isSynced ? 'on' : 'off'}`;
  const script = `${server} >>'${folder}/log' 2>&1 & read -r end; kill -QUIT $! 2>/dev/null; wait $!; [ "$end" = keep ] || rm -rf '${folder}'`;
  const shell = spawn('sh', ['-c', script], {
    ...user,
    cwd: folder,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  await once(shell, 'spawn');
  shell.unref();
  if (shell.stdin !== null && 'unref' in shell.stdin && typeof shell.stdin.unref === 'function') shell.stdin.unref();
  return shell;
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await queryPostgres(url, 'select 1');
      return;
    } catch (error) {
      if (tries === 200) throw error;
      await sleep(50);
    }
  }
}

/** The server, and its sessions, which the server starts as separate processes. */
async function killAll(data: string): Promise<void> {
  const [first = ''] = (await readFile(path.join(data, 'postmaster.pid'), 'utf8')).split('\n');
  const pid = Number(first);
  process.kill(pid, 'SIGSTOP'); // clients connect at any time, and a session that is left keeps the next server from starting
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  for (const each of [pid, ...children.split(' ').filter(Boolean).map(Number)]) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // it has ended
    }
  }
}

/** Ends all sessions, and waits for the end of the server, which removes the file. */
async function stopAll(data: string): Promise<void> {
  const file = path.join(data, 'postmaster.pid');
  const [first = ''] = (await readFile(file, 'utf8')).split('\n');
  process.kill(Number(first), 'SIGINT');
  while ((await readFile(file, 'utf8').catch(() => '')) !== '') await sleep(10);
}

/** PostgreSQL refuses to run as root. */
function ordinaryUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
