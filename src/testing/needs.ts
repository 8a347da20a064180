import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rmdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { SKIP_TAGS } from '../../scripts/skips.js';
import { findInstalled } from '../agent/process/program-fixture.ts';
import { toSystemCallFilter } from '../agent/sandbox/system-call-filter.ts';
import { findPostgres } from './find-postgres.ts';

/** Requirements of some tests in addition to Node and npm. */
export type Need = keyof typeof CHECKS;

/** What this machine lacks: an installable package, something else, or a sandbox, because the kernel refuses it. */
export type Lack = { kind: 'package'; name: string } | { kind: 'missing' | 'refused'; reason: string };

/** The user to run as; undefined: the user who runs the tests. */
type Uid = number | undefined;

/**
 * The options of a test with these needs. If something is missing, the test is skipped, with a reason that says how to get
 * it. The checks do not use the product: if it fails to use something that is installed, the test must fail.
 */
export const needs = (...names: readonly Need[]): Promise<TestNeeds> => needsAs(undefined, ...names);

/** Like `needs`, for a test whose daemon runs as another user. */
export async function needsAs(uid: Uid, ...names: readonly Need[]): Promise<TestNeeds> {
  const lacks = await Promise.all(names.map((name) => CHECKS[name](uid)));
  return toTestNeeds(lacks.filter((lack) => lack !== undefined));
}

/** Names all missing packages at once, so that a person can install them together. */
export function toTestNeeds(lacks: readonly Lack[]): TestNeeds {
  const packages = lacks.flatMap((lack) => (lack.kind === 'package' ? [lack.name] : []));
  if (packages.length > 0) return { skip: toReason(packages), tags: [SKIP_TAGS.missing] };
  const isMissing = (lack: Lack) => lack.kind === 'missing';
  const lack = lacks.find(isMissing) ?? lacks[0]; // CI must not skip a test that lacks more than the sandbox
  return lack?.kind === 'missing' || lack?.kind === 'refused'
    ? { skip: lack.reason, tags: [SKIP_TAGS[lack.kind]] }
    : {};
}

interface TestNeeds {
  skip?: string;
  tags?: string[];
}

const toReason = (packages: readonly string[]): string =>
  `${packages.join(' and ')} ${packages.length === 1 ? 'is' : 'are'} not installed (apt-get install ${packages.join(' ')})`;

const CHECKS = {
  bubblewrap: checkBubblewrap,
  bash: forProgram('bash', 'bash'),
  caddy: forProgram('caddy', 'caddy'),
  curl: forProgram('curl', 'curl'),
  fish: forProgram('fish', 'fish'),
  git: forProgram('git', 'git'),
  'nats-server': forDaemon('/usr/sbin/nats-server', 'nats-server'),
  nginx: forDaemon('/usr/sbin/nginx', 'nginx-light'),
  openssl: forProgram('openssl', 'openssl'),
  perl: forProgram('perl', 'perl'),
  postgresql: checkPostgres,
  ripgrep: forProgram('rg', 'ripgrep'),
  sqlite3: forProgram('sqlite3', 'sqlite3'),
  ssh: forProgram('ssh', 'openssh-client'),
  sshd: forDaemon('/usr/sbin/sshd', 'openssh-server'),
  strace: forProgram('strace', 'strace'),
  'systemd-analyze': forProgram('systemd-analyze', 'systemd'),
  zsh: forProgram('zsh', 'zsh'),
  'network namespaces': checkNetworks,
  'small disks': checkSmallDisks,
  'an open repository': checkRepository,
  IPv6: checkIpv6,
  Linux: async () => (process.platform === 'linux' ? undefined : { kind: 'missing', reason: 'only for Linux' }),
} satisfies Record<string, (uid: Uid) => Promise<Lack | undefined>>;

const run = promisify(execFile);

function forProgram(program: string, name: string) {
  return async (): Promise<Lack | undefined> =>
    (await findInstalled(program)).kind === 'found' ? undefined : { kind: 'package', name };
}

async function checkPostgres(): Promise<Lack | undefined> {
  return (await findPostgres()) === undefined ? { kind: 'package', name: 'postgresql' } : undefined;
}

/** Not among the programs of ordinary users. */
function forDaemon(file: string, name: string) {
  return async (): Promise<Lack | undefined> => {
    const isThere = await stat(file).then(
      (found) => found.isFile(),
      () => false, // not installed
    );
    return isThere ? undefined : { kind: 'package', name };
  };
}

/** Checks that bubblewrap is installed and may create its namespaces, which many containers do not allow. */
async function checkBubblewrap(uid: Uid): Promise<Lack | undefined> {
  const bwrap = await findInstalled('bwrap');
  if (bwrap.kind !== 'found') return { kind: 'package', name: 'bubblewrap' };
  if (toSystemCallFilter(process.arch) === undefined)
    return { kind: 'missing', reason: `there is no sandbox on ${process.arch}` };
  const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'];
  const namespaces = [
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-net',
    '--cap-drop',
    'ALL',
    '--new-session',
  ];
  try {
    await run(bwrap.path, [...mounts, ...namespaces, 'true'], uid === undefined ? {} : { uid, gid: uid });
    return undefined;
  } catch (error) {
    const [last] = String(error).trim().split('\n').slice(-1);
    return { kind: 'refused', reason: `bubblewrap does not work here: ${last}` };
  }
}

/** Makes a network with everything that is used in one, and removes it. Many containers do not allow that. */
async function checkNetworks(): Promise<Lack | undefined> {
  for (const [file, name] of [
    ['/usr/sbin/ip', 'iproute2'],
    ['/usr/sbin/nft', 'nftables'],
  ] as const) {
    const lack = await forDaemon(file, name)();
    if (lack) return lack;
  }
  const script = `
    ip netns add "$0"
    trap 'ip netns delete "$0"' EXIT
    ip -n "$0" link add one type veth peer name other
    ip -n "$0" link add bridge type bridge
    tc -n "$0" qdisc add dev one root tbf rate 1mbit burst 16kb latency 100ms
    ip netns exec "$0" nft 'add table inet t; add chain inet t c { type filter hook input priority 0; }; add rule inet t c tcp dport 1 reject with tcp reset'`;
  try {
    await run('sh', ['-ec', script, `headgate-needs-${process.pid}`]);
    return undefined;
  } catch (error) {
    const [last] = String(error).trim().split('\n').slice(-1);
    return { kind: 'refused', reason: `networks cannot be made here (it takes root): ${last}` };
  }
}

async function checkSmallDisks(): Promise<Lack | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-needs-'));
  try {
    await run('mount', ['-t', 'tmpfs', 'tmpfs', folder]);
    await run('umount', [folder]);
    return undefined;
  } catch {
    return { kind: 'missing', reason: 'no small disk can be mounted (run the tests as root)' };
  } finally {
    await rmdir(folder);
  }
}

/** Another user can start a daemon only if the repository and Node are readable for that user. */
async function checkRepository(uid: Uid): Promise<Lack | undefined> {
  if (uid === undefined) return undefined;
  const isOpen = (await isOpenToOthers(import.meta.dirname)) && (await isOpenToOthers(process.execPath));
  return isOpen ? undefined : { kind: 'missing', reason: 'other users cannot read the repository' };
}

async function isOpenToOthers(place: string): Promise<boolean> {
  const { mode } = await stat(place);
  return (mode & 0o005) === 0o005 && (place === '/' || isOpenToOthers(path.dirname(place)));
}

async function checkIpv6(): Promise<Lack | undefined> {
  const server = createServer();
  try {
    server.listen(0, '::1');
    await once(server, 'listening');
    return undefined;
  } catch {
    return { kind: 'missing', reason: 'this machine has no IPv6' };
  } finally {
    server.close();
  }
}
