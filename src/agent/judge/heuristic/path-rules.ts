import type { Effect } from '../../permissions/command-reading.ts';
import { isSecretPath } from '../../tools/files/secret-path.ts';
import type { Around, Finding } from '../assessment.ts';
import { hasOption, type Program } from './judged-program.ts';
import { isLister, readsDeep } from './listing-programs.ts';
import {
  type Area,
  areaOf,
  isAccountFile,
  isDisk,
  isIn,
  isLoginKey,
  isObeyed,
  isProfile,
  isVital,
  type Place,
  toPlace,
} from './places.ts';

interface Context {
  programs: readonly Program[];
  around: Around;
}

/** What reading, writing and deleting these paths means. */
export function* pathFindings(effects: readonly Effect[], context: Context): Generator<Finding> {
  for (const effect of effects) {
    if (effect.isIncidental) continue; // the cache of a program, and the like
    const finding = ofEffect(effect, context);
    if (finding) yield finding;
  }
}

function ofEffect(effect: Effect, context: Context): Finding | undefined {
  switch (effect.kind) {
    case 'delete':
      return ofDelete(effect, context);
    case 'write':
      return ofWrite(effect, context.around);
    case 'read':
      return ofRead(effect, context);
    default:
      return undefined;
  }
}

/** A place with what decides about it. */
interface Spot extends Place {
  area: Area;
  around: Around;
  /** It is outside the working directory, and everything that matters is in it. */
  isVital: boolean;
  /** It is for credentials. */
  isSecret: boolean;
}

/** A rule about places; the first one that fits counts. */
interface PlaceRule {
  rule: string;
  level: Finding['level'];
  fits(spot: Spot): boolean;
  /** Ends with the path. */
  why: string;
}

const toSpot = (place: Place, around: Around): Spot => {
  const area = areaOf(place.path, around);
  return {
    ...place,
    area,
    around,
    isVital: area !== 'roots' && !place.isPart && isVital(place.path, around),
    isSecret: isLoginKey(place.path) || (isSecretPath(place.path) && !isGitConfig(place.path)),
  };
};

const isGitConfig = (path: string): boolean => path.endsWith('/.git/config');

function apply(rules: readonly PlaceRule[], spot: Spot, shown: string): Finding | undefined {
  const found = rules.find(({ fits }) => fits(spot));
  return found && { rule: found.rule, level: found.level, why: `${found.why} ${toSaid(shown)}.` };
}

/** A path before the full stop: `.` would read as the folder above, and `..` as an omission. */
function toSaid(shown: string): string {
  if (shown === '.') return 'the folder it runs in';
  return /(^|\/)\.\.?$/.test(shown) ? `${shown}/` : shown;
}

const isSystem = ({ area }: Spot): boolean => area === 'system' || area === 'device';
const isOutside = ({ area }: Spot): boolean => area === 'home' || area === 'services' || area === 'elsewhere';

const DELETES: readonly PlaceRule[] = [
  { rule: 'disk-wipe', level: 'critical', fits: ({ path }) => isDisk(path), why: 'It removes the disk' },
  {
    rule: 'rm-root',
    level: 'critical',
    fits: ({ path, isPart, around: { folder } }) => isIn(folder, path) && path !== folder && !isPart,
    why: 'It deletes a folder that contains the working directory:',
  },
  { rule: 'rm-root', level: 'critical', fits: (spot) => spot.isVital, why: 'It deletes everything in' },
  { rule: 'rm-root', level: 'critical', fits: isSystem, why: 'It deletes files of the system:' },
  {
    rule: 'delete-secrets',
    level: 'high',
    fits: ({ path, isSecret }) => isSecret || isProfile(path),
    why: 'It deletes credentials:',
  },
  {
    rule: 'delete-project',
    level: 'high',
    fits: ({ path, isPart, around }) => path === around.folder && !isPart,
    why: 'It deletes everything in the working directory:',
  },
  {
    rule: 'delete-history',
    level: 'high',
    fits: ({ path }) => path.endsWith('/.git'),
    why: 'It deletes the history of a repository:',
  },
  {
    rule: 'delete-outside',
    level: 'high',
    fits: isOutside,
    why: 'It deletes files outside the working directory:',
  },
  { rule: 'delete', level: 'medium', fits: () => true, why: 'It deletes' },
];

const isRelative = (shown: string): boolean => !/^["']?[/~$]/.test(shown);

function ofDelete(effect: Effect, { programs, around }: Context): Finding | undefined {
  const shown = effect.target ?? '';
  const leaves = programs.some(({ name, operands }) => /^(cd|pushd)$/.test(name) && leadsAway(operands[0], around));
  if (!effect.certain && leaves && isRelative(shown))
    return { rule: 'rm-root', level: 'critical', why: `It changes to a folder of the system and deletes ${shown}.` };
  const place = toPlace(effect, around);
  if (place !== undefined) {
    // git and others replace files of the working directory; they do not empty it.
    const isReplaced = place.path === around.folder && !programs.some(({ name }) => EMPTIES.test(name));
    return apply(isReplaced ? DELETES.slice(-1) : DELETES, toSpot(place, around), shown);
  }
  const isMany = programs.some((program) => /^(rm|find)$/.test(program.name) && hasOption(program, ...DEEP));
  return isMany
    ? { rule: 'delete-unknown', level: 'high', why: `It deletes whole folders, and which ones depends on ${shown}.` }
    : { rule: 'delete', level: 'medium', why: `What it deletes depends on ${shown}.` };
}

const EMPTIES = /^(rm|find|fd|xargs|mv|shred|srm|rsync|unlink|rmdir|trash|python|perl|node|ruby)$/;
const DEEP = ['-r', '-R', '--recursive', '-delete'];

/** Whether `cd` leads to a folder in which nothing may be deleted. */
function leadsAway(operand: string | undefined, around: Around): boolean {
  const target = operand ?? '~';
  const place = toPlace({ kind: 'read', target, certain: false }, around);
  return place !== undefined && !isIn(place.path, around.folder) && isVital(place.path, around);
}

const WRITES: readonly PlaceRule[] = [
  { rule: 'disk-wipe', level: 'critical', fits: ({ path }) => isDisk(path), why: 'It writes to the disk' },
  {
    rule: 'write-system-path',
    level: 'critical',
    fits: ({ path }) => isLoginKey(path),
    why: 'It changes who may log in:',
  },
  { rule: 'write-system-path', level: 'critical', fits: isSystem, why: 'It changes files of the system:' },
  {
    rule: 'write-system-path',
    level: 'critical',
    fits: (spot) => spot.isVital && spot.area !== 'temporary',
    why: 'It changes everything in',
  },
  {
    rule: 'persistence',
    level: 'critical',
    fits: ({ path }) => /^\/var\/spool\/(cron|at)/.test(path),
    why: 'It changes what the machine runs later:',
  },
  { rule: 'write-secrets', level: 'high', fits: (spot) => spot.isSecret, why: 'It changes a file for credentials:' },
  {
    rule: 'persistence',
    level: 'high',
    fits: ({ path, around }) => isObeyed(path, around),
    why: 'It changes what other programs obey:',
  },
  {
    rule: 'write-outside',
    level: 'high',
    fits: ({ area }) => area === 'services',
    why: 'It changes files of services:',
  },
  {
    rule: 'write-outside',
    level: 'medium',
    fits: isOutside,
    why: 'It writes outside the working directory:',
  },
  { rule: 'write', level: 'medium', fits: () => true, why: 'It writes' },
];

/** Files that programs keep for themselves. */
const SIDE_FILES = /(^|\/)\.(cache(\/|$)|wget-hsts$|ssh\/known_hosts$)/;

function ofWrite(effect: Effect, around: Around): Finding | undefined {
  const shown = effect.target ?? '';
  if (effect.isIncidental === true || (!effect.certain && SIDE_FILES.test(shown))) return undefined;
  const place = toPlace(effect, around);
  return place === undefined
    ? { rule: 'write', level: 'medium', why: `What it writes depends on ${shown}.` }
    : apply(WRITES, toSpot(place, around), shown);
}

const ALWAYS_READ: readonly PlaceRule[] = [
  {
    rule: 'credential-recon',
    level: 'high',
    fits: ({ path }) => isAccountFile(path),
    why: 'It reads accounts or secrets of the machine:',
  },
  {
    rule: 'browser-data-export',
    level: 'high',
    fits: ({ path }) => isProfile(path),
    why: 'It reads the profile of a browser, a wallet or passwords:',
  },
];

const LISTED: readonly PlaceRule[] = [
  {
    rule: 'credential-recon',
    level: 'medium',
    fits: ({ isSecret, area }) => isSecret && area !== 'roots',
    why: 'It lists credentials:',
  },
];

const READS: readonly PlaceRule[] = [
  { rule: 'credential-recon', level: 'high', fits: ({ isSecret }) => isSecret, why: 'It reads credentials:' },
  { rule: 'read-device', level: 'high', fits: ({ area }) => area === 'device', why: 'It reads a device:' },
  {
    rule: 'read-outside',
    level: 'medium',
    fits: ({ area }) => area === 'home' || area === 'elsewhere',
    why: 'It reads outside the working directory:',
  },
];

const DEEP_READS: readonly PlaceRule[] = [
  {
    rule: 'credential-recon',
    level: 'high',
    fits: (spot) => spot.isVital,
    why: 'It reads all files of a folder that may hold credentials:',
  },
  ...READS,
];

function ofRead(effect: Effect, { programs, around }: Context): Finding | undefined {
  const shown = effect.target ?? '';
  const place = toPlace(effect, around);
  const isListed = programs.length > 0 && programs.every(isLister);
  if (place !== undefined) {
    const rules = isListed ? LISTED : programs.some(readsDeep) ? DEEP_READS : READS;
    return apply([...ALWAYS_READ, ...rules], toSpot(place, around), shown);
  }
  // Names that find and xargs pass on are below what find reads.
  const isPassedOn = /^[…{]/.test(shown) && programs.some(({ name }) => /^(find|fd|ls|rg|grep|git)$/.test(name));
  return isPassedOn ? undefined : { rule: 'read-unknown', level: 'medium', why: `What it reads depends on ${shown}.` };
}
