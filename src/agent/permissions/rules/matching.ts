import path from 'node:path';
import type { RuleMatch } from '../../../../protocol/events/rules.ts';
import { parseTarget } from '../../../egress/proxy/proxy-target.ts';
import type { CommandReading, Effect, ProtectedWrite, ReadCommand } from '../command-reading.ts';
import { toMatcher } from './glob.ts';

/** What rules match of a call. */
export interface RuledCall {
  /** The tool, and the approval label if it is another one. */
  names: readonly string[];
  /** The exact text of a shell command. */
  command?: string;
  /** The node and its command. */
  node?: string;
  nodeCommand?: string;
  /** What it does. Its paths are real ones. Absent if that is not known for the tool. */
  reading?: CommandReading;
  /** The working directory, if it is a command. */
  folder?: string;
  /** The call that is made later because of it: what denies that one or asks about it counts for this one, too. */
  later?: Pick<RuledCall, 'names' | 'command' | 'folder'>;
  /** What it changes that programs outside the sandbox run or obey. */
  protectedWrites?: readonly ProtectedWrite[];
}

/** Whether something matches; `maybe`: that depends on what is not known before it runs. */
export type Fit = 'yes' | 'maybe' | 'no';

/** The match of a rule, prepared once per change of the rules. */
export interface Matcher {
  /** Whether the fields about the call as a whole fit; true without any. */
  fitsCall(call: RuledCall): boolean;
  /** It has no fields about parts of a command. */
  isWhole: boolean;
  /** It names a program or the exact command: whoever gave it knew what runs. */
  namesCommand: boolean;
  fitsCommand(command: ReadCommand): Fit;
  /** Whether it allows the program of a command of the call: what a person thought of, where they thought of it. */
  allowsCommand(command: ReadCommand, call: RuledCall): boolean;
  /** Without the fields about the program, which belong to its command. */
  fitsEffect(effect: Effect): Fit;
  /** It has fields about effects. */
  hasEffect: boolean;
  hasProgram: boolean;
}

/** Prepares the match of a rule. */
export function compileMatch(match: RuleMatch): Matcher {
  const fitsTool = match.tool === undefined ? undefined : toMatcher(match.tool);
  const hasProgram = match.program !== undefined;
  const hasEffect = match.path !== undefined || match.access !== undefined || match.host !== undefined;
  return {
    fitsCall: ({ names, command, node, nodeCommand }) =>
      (fitsTool === undefined || names.some(fitsTool)) &&
      (match.command === undefined || match.command === command) &&
      (match.node === undefined || match.node === node) &&
      (match.nodeCommand === undefined || match.nodeCommand === nodeCommand),
    isWhole: !hasProgram && !hasEffect,
    namesCommand: hasProgram || match.command !== undefined,
    fitsCommand: (command) => fitsProgram(match, command),
    allowsCommand: (command, { folder }) =>
      fitsProgram(match, command) === 'yes' &&
      (!hasProgram || (isSameProgram(match, command) && isThere(command, folder))),
    fitsEffect: (effect) => strictest([fitsPath(match, effect), fitsHost(match, effect)]),
    hasEffect,
    hasProgram,
  };
}

/** All must fit. */
export const strictest = (fits: readonly Fit[]): Fit =>
  fits.includes('no') ? 'no' : fits.includes('maybe') ? 'maybe' : 'yes';

/** One is enough. */
export const widest = (fits: readonly Fit[]): Fit =>
  fits.includes('yes') ? 'yes' : fits.includes('maybe') ? 'maybe' : 'no';

/** A command whose program is unknown has a gap, which counts for itself. */
function fitsProgram({ program, args, argsStart }: RuleMatch, { words }: ReadCommand): Fit {
  if (program === undefined) return 'yes';
  const [first, ...rest] = words;
  if (first?.value === undefined || nameIn(first.value, program) !== program) return 'no';
  if (args !== undefined) return fitsWords(args, rest, true);
  return argsStart === undefined ? 'yes' : fitsWords(argsStart, rest, false);
}

/** A name stands for the program that the shell finds, or one of the system: not for any file that is called so. */
function isSameProgram({ program }: RuleMatch, { words: [first] }: ReadCommand): boolean {
  const value = first?.value ?? '';
  return value === program || /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/.test(value);
}

/** In another folder, the same words run what somebody else wrote there. */
const isThere = (command: ReadCommand, folder: string | undefined): boolean =>
  folder === undefined || (command.folder !== undefined && isBelow(folder, command.folder));

const nameIn = (value: string, program: string): string => (program.includes('/') ? value : path.basename(value));

function fitsWords(wanted: readonly string[], words: ReadCommand['words'], isAll: boolean): Fit {
  const seen = words.slice(0, wanted.length);
  // A word that may become several shifts all that follow.
  const firstOpen = words.findIndex(({ value, splits }) => value === undefined || splits);
  const known = firstOpen === -1 ? words.length : firstOpen;
  for (const [index, text] of wanted.entries()) {
    if (index >= known) return firstOpen === -1 ? 'no' : 'maybe';
    if (seen[index]?.value !== text) return 'no';
  }
  if (!isAll) return 'yes';
  if (firstOpen !== -1) return 'maybe';
  return words.length === wanted.length ? 'yes' : 'no';
}

const USES = {
  read: ['read'],
  write: ['write', 'delete'],
} as const;

function fitsPath({ path: wanted, access }: RuleMatch, effect: Effect): Fit {
  if (wanted === undefined && access === undefined) return 'yes';
  const kinds: readonly string[] = access === undefined ? [...USES.read, ...USES.write] : USES[access];
  if (!kinds.includes(effect.kind)) return 'no';
  return wanted === undefined ? 'yes' : fitsPlace(wanted, effect);
}

function fitsPlace(wanted: string, { kind, path: found, glob, repositoryOf, isIncidental }: Effect): Fit {
  const place = found ?? (glob === undefined ? repositoryOf : folderOf(glob));
  // What a program does besides, such as filling its cache, is in its own places.
  if (place === undefined) return isIncidental ? 'no' : 'maybe';
  if (isBelow(wanted, place)) return 'yes';
  // A folder stands for everything in it.
  if (isBelow(place, wanted)) return kind === 'delete' && found !== undefined ? 'yes' : 'maybe';
  return 'no';
}

/** The folder before the first part that is a pattern. */
function folderOf(glob: string): string {
  const special = glob.search(/[*?[\\]/);
  return (special < 0 ? glob : glob.slice(0, Math.max(0, glob.lastIndexOf('/', special)))) || '/';
}

/** The folder itself, or anything below it. */
export const isBelow = (folder: string, found: string): boolean =>
  found === folder || found.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

function fitsHost({ host }: RuleMatch, { kind, target, certain }: Effect): Fit {
  if (host === undefined) return 'yes';
  if (kind !== 'network') return 'no';
  if (!certain || target === undefined) return 'maybe';
  const found = toUsualHost(target);
  const fits = host.startsWith('*.') ? found.endsWith(host.slice(1).toLowerCase()) : found === toUsualHost(host);
  return fits ? 'yes' : 'no';
}

/** An address has many spellings, and a name may end with a dot. */
function toUsualHost(text: string): string {
  const isBare = text.split(':').length > 2 && !text.startsWith('[');
  return parseTarget(isBare ? `[${text}]` : text, ANY_PORT)?.host ?? text.toLowerCase();
}

const ANY_PORT = 443;
