import { isSecretPath } from '../tools/files/secret-path.ts';
import type { CommandReading, Effect, Gap } from './command-reading.ts';
import { HIDDEN_OBEYED, HIDDEN_SECRETS, isObeyedPath } from './obeyed-paths.ts';
import { toNameMatcher } from './reading/globs.ts';

/** Where a command may do something unasked. */
export interface Places {
  /** Real paths of the folders of a workstream. */
  roots: readonly string[];
}

/** Why a command is not harmless, or no edit. */
export type Obstacle = { kind: 'gap'; gap: Gap } | { kind: 'effect'; effect: Effect };

/**
 * Whether a command does nothing but read the roots and files of the system that hold no secrets. It must run in a
 * sandbox without network all the same. Links must have been resolved: see resolveLinks.
 */
export const isHarmless = (reading: Pick<CommandReading, 'effects' | 'gaps'>, places: Places): boolean =>
  findObstacle(reading, 'harmless', places) === undefined;

/** Whether a command also changes only files of the roots that nothing else obeys, builds or tests. */
export const isEdit = (reading: Pick<CommandReading, 'effects' | 'gaps'>, places: Places): boolean =>
  findObstacle(reading, 'edit', places) === undefined;

/** What stands in the way of running a command unasked, if anything. */
export function findObstacle(
  { effects, gaps }: Pick<CommandReading, 'effects' | 'gaps'>,
  level: 'harmless' | 'edit',
  places: Places,
): Obstacle | undefined {
  // What words depend on is in the effects.
  const gap = gaps.find(({ reason }) => reason !== 'unknown_words');
  if (gap) return { kind: 'gap', gap };
  const isAllowed = level === 'harmless' ? isHarmlessEffect : isEditEffect;
  const effect = effects.find((each) => !isAllowed(each, places));
  return effect && { kind: 'effect', effect };
}

function isHarmlessEffect(effect: Effect, places: Places): boolean {
  const { kind, repositoryOf, isIncidental } = effect;
  if (repositoryOf !== undefined) return (kind === 'read' || isIncidental === true) && isInRoots(repositoryOf, places);
  if (isIncidental) return true;
  return kind === 'read' && mayRead(effect, places);
}

function isEditEffect(effect: Effect, places: Places): boolean {
  const { kind, repositoryOf, isProject } = effect;
  if (isHarmlessEffect(effect, places)) return true;
  if (repositoryOf !== undefined) return kind === 'write' && isInRoots(repositoryOf, places);
  if (kind === 'unknown') return isProject === true;
  if (kind === 'write') return mayChange(effect, places);
  return kind === 'delete' && mayDelete(effect, places);
}

function mayRead({ path, glob, isListing }: Effect, places: Places): boolean {
  const place = path ?? glob;
  if (place === undefined) return false;
  const relative = toRelative(place, places);
  if (relative !== undefined) return isListing === true || !isSecretPattern(relative);
  return isListing === true ? isSystemFile(place) : isSystemFile(place) && !isSystemSecret(place);
}

function mayChange({ path, glob }: Effect, places: Places): boolean {
  const relative = toRelative(path ?? glob ?? '', places);
  return relative !== undefined && !isObeyedPattern(relative);
}

/** Not a root itself, nor everything in it. */
function mayDelete(effect: Effect, places: Places): boolean {
  const relative = toRelative(effect.path ?? effect.glob ?? '', places);
  return relative !== undefined && !/^(\.?|[*?[\]]+)$/.test(relative) && mayChange(effect, places);
}

const isInRoots = (path: string, places: Places): boolean => toRelative(path, places) !== undefined;

/** The path below the root that has it; empty for the root itself. */
function toRelative(path: string, { roots }: Places): string | undefined {
  for (const root of roots) {
    if (path === root) return '';
    const start = root.endsWith('/') ? root : `${root}/`;
    if (path.startsWith(start)) return path.slice(start.length);
  }
  return undefined;
}

/** No system has longer ones. */
const LONGEST_PATH = 4_096;

/** Patterns are meant for a secret if the rest of their text names one: `.env*`, `*.pem`. */
const isSecretPattern = (relative: string): boolean =>
  relative.length > LONGEST_PATH ||
  isSecretPath(relative) ||
  isSecretPath(relative.replace(/[*?]|\[[^\]]{0,1000}\]/g, 'x')) ||
  isSecretPath(relative.replace(/[*?]/g, '')) ||
  matchesAny(relative, HIDDEN_SECRETS);

const isObeyedPattern = (relative: string): boolean =>
  isObeyedPath(relative) || isSecretPattern(relative) || matchesAny(relative, HIDDEN_OBEYED);

/** Whether a pattern for hidden files in the path matches one of these. */
const matchesAny = (relative: string, names: readonly string[]): boolean =>
  relative
    .split('/')
    .filter((part) => /^\..*[*?[]/.test(part))
    .some((part) => names.some((name) => toNameMatcher(part.toLowerCase())(name)));

const SYSTEM =
  /^\/(usr|bin|sbin|lib|lib32|lib64|etc)(\/|$)|^\/proc\/(cpuinfo|meminfo|version|uptime|loadavg|filesystems)$/;
const SYSTEM_SECRETS = [
  ...[
    'shadow',
    'gshadow',
    'shadow-',
    'gshadow-',
    'sudoers',
    'sudoers.d',
    'security',
    'ssl/private',
    'ssh',
    'wireguard',
  ],
  ...[
    'NetworkManager',
    'openvpn',
    'ppp',
    'apt/auth.conf',
    'apt/auth.conf.d',
    'letsencrypt',
    'ipsec.secrets',
    'ipsec.d',
  ],
  ...['mysql', 'samba', 'kubernetes', 'rancher', 'docker', 'cups', 'wpa_supplicant', 'pki/tls/private', 'pki/private'],
  ...['credstore', 'credstore.encrypted', 'exim4', 'postfix', 'dovecot', 'cloud', 'kerberos', 'ldap', 'rsyncd.secrets'],
].map((each) => `/etc/${each}`.split('/'));

const isSystemFile = (path: string): boolean => SYSTEM.test(path) && !/^\/usr\/local\/(etc|var)(\/|$)/.test(path);

/** Whether it is a secret of the system, is below one, or is a folder with one, because all of it may be read. */
function isSystemSecret(path: string): boolean {
  const parts = path.replace(/\/$/, '').split('/');
  const leadsTo = (secret: readonly string[]) =>
    parts.every((part, index) => secret[index] === undefined || toNameMatcher(part)(secret[index]));
  return isSecretPattern(path) || SYSTEM_SECRETS.some(leadsTo);
}
