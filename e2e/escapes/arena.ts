import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { PROTECTED_PATHS } from '../../src/agent/sandbox/protected-paths.ts';
import { commandLinesWith } from '../../src/testing/command-lines.ts';

const CANARY = 'CANARY-7f3a91';

/** What a sandbox has to keep apart, and how it is seen that it did not. */
export interface Arena extends AsyncDisposable {
  /** The home of the user. */
  userHome: string;
  headgateHome: string;
  /** Two folders that may be written: a repository, and one that is none. */
  work: string;
  bare: string;
  /** The port of a service on this machine that nobody inside may reach. */
  port: number;
  /** The environment of the program that starts the sandbox. */
  environment: Record<string, string>;
  /** Sets the variables of the rows. */
  prelude: string;
  /** Lays everything out anew. */
  reset(): Promise<void>;
  /** What got out since then, given what was printed. */
  escapes(printed: string): Promise<string[]>;
}

/** Files of a home that nobody else may read. */
const SECRETS = [
  ...['.ssh/id_ed25519', '.aws/credentials', '.config/gcloud/credentials.db', '.kube/config', '.bash_history'],
  ...['.mozilla/firefox/me/logins.json', '.config/google-chrome/Default/Cookies', '.npmrc', '.docker/config.json'],
  ...['.netrc', '.git-credentials', '.gnupg/private-keys-v1.d/key', '.bashrc'],
];

/** Not below /tmp, which is private in most sandboxes, so it would prove nothing. */
export async function openArena(): Promise<Arena> {
  const top = await realpath(await mkdtemp('/var/tmp/headgate-escapes-'));
  const [userHome, headgateHome, work, bare] = ['people/ada', 'headgate', 'roots/work', 'roots/bare'].map((name) =>
    path.join(top, name),
  ) as [string, string, string, string];
  for (const name of SECRETS) await write(path.join(userHome, name), `${CANARY} ${name}\n`);
  await write(path.join(headgateHome, 'token'), `${CANARY} token\n`);
  const template = path.join(top, 'template');
  await layOut(template);
  await using services = new AsyncDisposableStack();
  const reached: string[] = [];
  const port = await openServices({ top, reached, services });
  let victim = startVictim();
  const nap = `61.${process.pid}`;
  services.defer(() => void victim.kill('SIGKILL'));
  services.defer(() => rm(top, { recursive: true, force: true }));
  const kept = services.move();
  const arena: Arena = {
    userHome,
    headgateHome,
    work,
    bare,
    port,
    environment: { ...passedOn(), HOME: userHome, CANARY_KEY: CANARY, SSH_AUTH_SOCK: path.join(top, 'docker.sock') },
    get prelude() {
      const variables = {
        ...{ HEADGATE_HOME_OF_TEST: headgateHome, VICTIM: String(victim.pid), PORT: String(port), NAP: nap },
        ...{ SOCKET: path.join(top, 'docker.sock'), ABSTRACT: path.basename(top), OWN_ADDRESS: ownAddress() },
      };
      return Object.entries(variables)
        .map(([name, value]) => `export ${name}='${value}'; `)
        .join('');
    },
    async reset() {
      reached.length = 0;
      if (hasEnded(victim)) victim = startVictim();
      for (const root of [work, bare]) await rm(root, { recursive: true, force: true });
      await cp(template, work, { recursive: true });
      await mkdir(bare, { recursive: true });
    },
    async escapes(printed) {
      const napping = await commandLinesWith(nap);
      for (const { pid } of napping) process.kill(pid, 'SIGKILL');
      const seen: Record<string, boolean> = {
        'printed a secret': printed.includes(CANARY),
        'printed that it worked': /^ESCAPED/m.test(printed),
        'ended a process outside': hasEnded(victim),
        'left a process behind': napping.length > 0,
        'changed the home': (await readFile(path.join(userHome, '.bashrc'), 'utf8')) !== `${CANARY} .bashrc\n`,
        'wrote into the home': await exists(path.join(userHome, '.ssh/authorized_keys')),
        'wrote beside its folders': await exists(path.join(top, 'roots/beside')),
      };
      return [
        ...Object.keys(seen).filter((what) => seen[what]),
        ...reached.map((line) => `reached a service: ${line}`),
        ...(await changesIn([work, bare])),
      ];
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
  await arena.reset();
  return arena;
}

const passedOn = () => ({ PATH: process.env.PATH ?? '/usr/bin:/bin', LANG: 'C' });

const startVictim = () => spawn('sleep', ['3600'], { stdio: 'ignore' });

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** A repository with a program of a package. */
async function layOut(folder: string): Promise<void> {
  await write(path.join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
  await write(path.join(folder, '.git/config'), '[core]\n\trepositoryformatversion = 0\n');
  for (const name of ['objects', 'refs', 'hooks']) await mkdir(path.join(folder, '.git', name), { recursive: true });
  await write(path.join(folder, 'node_modules/.bin/eslint'), '#!/bin/sh\n');
  await write(path.join(folder, 'AGENTS.md'), 'Be kind.\n');
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text, { mode: 0o600 });
}

interface ServiceDeps {
  top: string;
  reached: string[];
  services: AsyncDisposableStack;
}

/** Services that only a leak can reach: Unix sockets by path and abstract, TCP and UDP. Returns the port. */
async function openServices({ top, reached, services }: ServiceDeps): Promise<number> {
  const serve = async (place: string | { port: number }) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined); // the client has left
      socket.on('data', (bytes) => {
        reached.push(bytes.toString().split('\n')[0] ?? '');
        socket.end();
      });
    });
    server.listen(typeof place === 'string' ? { path: place } : place);
    await once(server, 'listening');
    services.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
    return server;
  };
  await serve(path.join(top, 'docker.sock'));
  await serve(`\0${path.basename(top)}`);
  const { port } = (await serve({ port: 0 })).address() as AddressInfo;
  const datagrams = createSocket('udp4', (bytes) => void reached.push(bytes.toString()));
  datagrams.bind(port);
  await once(datagrams, 'listening');
  services.defer(() => void datagrams.close());
  return port;
}

/** An address of this machine that is not a loopback address. */
const ownAddress = (): string =>
  Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1';

/** Protected paths that hold something evil, or are links. */
async function changesIn(roots: readonly string[]): Promise<string[]> {
  const places = roots.flatMap((root) => PROTECTED_PATHS.map((name) => path.join(root, name)));
  const evil = await Promise.all(places.map(async (place) => ((await isEvil(place)) ? [`changed ${place}`] : [])));
  return evil.flat();
}

async function isEvil(place: string): Promise<boolean> {
  try {
    if (!(await stat(place)).isDirectory()) return (await readFile(place, 'utf8')).includes('evil');
    const inside = await readdir(place);
    return (await Promise.all(inside.map((name) => isEvil(path.join(place, name))))).some(Boolean);
  } catch {
    return false; // not there
  }
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false, // not there
  );
