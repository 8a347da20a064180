import { accessSync, constants, lstatSync, realpathSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Environment } from '../../environment.ts';
import { isInside } from '../tools/files/confinement.ts';

/** What commands do not see of this machine, and what they see of it nevertheless. Real paths that exist. */
export interface MachinePlaces {
  /** Empty and private inside: homes, and folders with secrets. */
  emptied: string[];
  /** Files that cannot be read inside. */
  unreadable: string[];
  /** Read-only, although they lie in a place that is emptied. */
  shown: string[];
}

interface FoundPlaces extends MachinePlaces {
  /** Asked for, but they hold a place that is emptied, such as a whole home. */
  keptHidden: string[];
}

interface Machine {
  environment: Environment;
  /** Real paths of people's homes. */
  homes: readonly string[];
  /** `tools.homePaths`: further paths that are shown, relative to the user's home. */
  homePaths?: readonly string[];
}

/**
 * Looks once, at startup: homes and secrets do not move while a daemon runs. The start waits for it, so it looks
 * synchronously, which takes a tenth of the time.
 */
export async function findMachinePlaces({ environment, homes, homePaths = [] }: Machine): Promise<FoundPlaces> {
  const userHome = environment.HOME ?? '';
  const hosts = await listKeys('/etc/ssh');
  const emptied = existing([...homes, '/root', '/home', ...(isHome(userHome) ? [userHome] : []), ...SECRET_FOLDERS]);
  const unreadable = existing([...SECRET_FILES, ...hosts]);
  const asked = existing(await toShown({ environment, homePaths, userHome })).filter(isHidden(emptied));
  // Shown, it would bring back everything that is hidden below it.
  const keptHidden = asked.filter((path) => emptied.some((folder) => isInside(path, folder)));
  const shown = asked.filter((path) => !keptHidden.includes(path));
  return { emptied: withoutNested(emptied), unreadable, shown: withoutNested(shown), keptHidden };
}

/** Any other home at the top, such as `/`, is the system itself. */
const isHome = (path: string): boolean =>
  isAbsolute(path) && (path === '/root' || path.split('/').filter(Boolean).length > 1);

/** Readable for root or careless installations: keys, passwords, and the state of services that keep them. */
const SECRET_FOLDERS = [
  ...['/etc/ssl/private', '/etc/sudoers.d', '/etc/wireguard', '/etc/openvpn', '/etc/NetworkManager/system-connections'],
  ...[
    '/etc/kubernetes',
    '/etc/rancher',
    '/etc/letsencrypt',
    '/etc/docker',
    '/etc/credstore',
    '/etc/credstore.encrypted',
  ],
  ...['/var/lib/docker', '/var/lib/containerd', '/var/lib/kubelet', '/var/lib/mysql', '/var/lib/postgresql'],
  ...['/var/lib/redis', '/var/lib/private', '/var/spool/cron', '/var/mail', '/var/backups', '/mnt', '/media'],
];
const SECRET_FILES = [
  ...['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/krb5.keytab'],
];

async function listKeys(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []); // no ssh server
  return names.filter((name) => name.endsWith('_key')).map((name) => join(folder, name));
}

/** Toolchains that people install into their home. They are programs, not secrets. */
const TOOLCHAINS = [
  ...['.nvm', '.volta', '.fnm', '.local/share/fnm', '.asdf', '.local/share/mise', '.pyenv', '.rbenv', '.sdkman'],
  ...['.rustup', '.cargo/bin', '.cargo/env', 'go/bin', '.go/bin', '.deno/bin', '.bun/bin', '.local/bin', '.local/lib'],
  ...['.local/share/uv', '.local/share/pnpm', '.dotnet', '.ghcup/bin', '.juliaup', 'bin'],
];
/** Variables that name certificates, which are public. */
const CERTIFICATES = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'];

interface ShownDeps extends Required<Pick<Machine, 'environment' | 'homePaths'>> {
  userHome: string;
}

async function toShown({ environment, homePaths, userHome }: ShownDeps): Promise<string[]> {
  const programs = (environment.PATH ?? '').split(delimiter).filter(isAbsolute);
  const certificates = CERTIFICATES.flatMap((name) => environment[name] ?? []);
  if (!isHome(userHome)) return [...programs, ...certificates];
  const gitConfig = join(userHome, '.gitconfig');
  return [
    ...programs,
    ...certificates,
    ...[...TOOLCHAINS, ...homePaths].map((name) => join(userHome, name)),
    ...((await holdsNoSecret(gitConfig)) ? [gitConfig] : []),
  ];
}

/** Whether git's settings hold names and preferences only. Some people put tokens into headers or addresses. */
async function holdsNoSecret(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text !== undefined && !/extraheader|password|token|cookie|:\/\/[^/\s]*@/i.test(text);
}

/** The real paths of those that exist and can be read by this user; others are out of reach anyway. */
function existing(paths: readonly string[]): string[] {
  const found = paths.map(realIfReadable);
  return [...new Set(found.filter((path) => path !== undefined))];
}

function realIfReadable(path: string): string | undefined {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    const real = realpathSync.native(path);
    accessSync(real, constants.R_OK);
    const stats = lstatSync(real);
    return stats.isDirectory() || stats.isFile() ? real : undefined;
  } catch {
    return undefined; // missing or not accessible
  }
}

const isHidden = (hidden: readonly string[]) => (path: string) => hidden.some((folder) => isInside(folder, path));

/** Only the outermost folders: what lies in them needs no mount of its own. */
const withoutNested = (paths: readonly string[]): string[] =>
  paths.filter((path) => !paths.some((other) => other !== path && isInside(other, path)));
