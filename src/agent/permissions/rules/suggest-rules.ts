import path from 'node:path';
import type { RuleMatch, RuleTerm, SuggestedRule } from '../../../../protocol/events/rules.ts';
import type { CommandReading, Effect, ReadCommand } from '../command-reading.ts';
import type { RuledCall } from './matching.ts';

const TERMS: RuleTerm[] = ['hour', 'conversation', 'always'];
/** Longer commands are not repeated word for word. */
const MAX_COMMAND = 4_096;
const MAX_SUGGESTED = 4;

/**
 * Narrow rules that a person may give with the decision about a call, the narrowest first. `isEnough`: whether the call would
 * run unasked with such a rule; only those are suggested, and rules for hosts that the command does not name, which nothing
 * else allows.
 */
export function suggestRules(call: RuledCall, isEnough: (match: RuleMatch) => boolean): SuggestedRule[] {
  return candidatesFor(call)
    .filter(({ match, isAlone }) => isAlone === true || isEnough(match))
    .slice(0, MAX_SUGGESTED)
    .map(({ kind, match }, index, all) => ({ id: idOf(kind, index, all), kind, match, terms: TERMS }));
}

/** The second of a kind has a number, so that an id is always the same for the same call. */
function idOf(kind: SuggestedRule['kind'], index: number, all: readonly Candidate[]): string {
  const before = all.slice(0, index).filter((one) => one.kind === kind).length;
  return before === 0 ? kind : `${kind}-${before + 1}`;
}

interface Candidate extends Pick<SuggestedRule, 'kind' | 'match'> {
  /** It answers one of several questions about the call. */
  isAlone?: true;
}

function candidatesFor(call: RuledCall): Candidate[] {
  const { names, command, node, nodeCommand, reading, protectedWrites } = call;
  if (command !== undefined) return command.length > MAX_COMMAND ? [] : forCommand(command, call);
  if (node !== undefined && nodeCommand !== undefined) return [{ kind: 'node', match: { node, nodeCommand } }];
  const tool = names.at(-1);
  return [
    ...(reading
      ? distinct([...forFile(reading), ...forProtected(protectedWrites), ...forHost(reading), ...forFolder(reading)])
      : []),
    ...(tool !== undefined && !/[*?]/.test(tool) ? [{ kind: 'tool' as const, match: { tool } }] : []),
  ];
}

const forCommand = (
  command: string,
  { reading, protectedWrites }: Pick<RuledCall, 'reading' | 'protectedWrites'>,
): Candidate[] => [
  { kind: 'command', match: { command } },
  ...(reading
    ? distinct([
        ...[...forUnreached(reading), ...forProtected(protectedWrites), ...forPrefix(reading)],
        ...[...forHost(reading), ...forFolder(reading)],
      ])
    : []),
];

const distinct = (all: readonly Candidate[]): Candidate[] =>
  [...new Map(all.toReversed().map((one) => [JSON.stringify(one.match), one])).values()].toReversed();

/** The protected path that is changed, if it is one. */
function forProtected(writes: RuledCall['protectedWrites'] = []): Candidate[] {
  const [place, ...more] = new Set(writes.map((write) => write.place));
  return place === undefined || more.length > 0 ? [] : [{ kind: 'path', match: { path: place, access: 'write' } }];
}

/** The names of subcommands and scripts; options and files follow them. */
const SUBCOMMAND = /^[a-z][a-z\d:_.-]*$/i;
/** Their first argument is code, or another program: "everything that begins so" would be anything. */
const RUNS_OTHERS =
  /^(ba|da|z|k|fi)?sh$|^(sudo|doas|su|env|xargs|nohup|nice|timeout|time|exec|eval|command|python[\d.]*|node|deno|bun|perl|ruby|php|awk|sed|find|ssh|docker|podman|kubectl|npx|bunx|uvx)$/;

/** Subcommands whose next argument is a program or a file of code: `go run`, `npm exec`. */
const STARTS_NEXT = /^(run|exec|dlx|shell|eval)$/;

/** The one program that asks, with its first arguments. */
function forPrefix({ commands, effects }: CommandReading): Candidate[] {
  const asking = [...new Set(effects.flatMap(({ by }) => by ?? []))];
  const found = asking.flatMap((by) => {
    const [command, targets] = [
      commands[by],
      effects.flatMap((effect) => (effect.by === by ? (effect.target ?? []) : [])),
    ];
    return command === undefined ? [] : prefixOf(command, targets);
  });
  const prefixes = [...new Map(found.map((match) => [JSON.stringify(match), match])).values()];
  return prefixes.map((match) => ({ kind: 'prefix', match }));
}

/** None if its first arguments are files or hosts: those that follow, such as the next file of `rm`, would be any. */
function prefixOf({ words, startedBy }: ReadCommand, targets: readonly string[]): RuleMatch[] {
  const [first, ...rest] = words;
  if (first?.value === undefined || startedBy !== undefined || RUNS_OTHERS.test(path.basename(first.value))) return [];
  const begin = rest.findIndex(({ value }) => value === undefined || !SUBCOMMAND.test(value));
  const known = rest.slice(0, begin === -1 ? 2 : Math.min(begin, 2)).flatMap(({ value }) => value ?? []);
  if (known.some((text) => targets.includes(text))) return [];
  if (known.some((text) => RUNS_OTHERS.test(text)) || STARTS_NEXT.test(known.at(-1) ?? '')) return [];
  return known.length > 0 ? [{ program: first.value, argsStart: known }] : [];
}

function forUnreached({ effects }: CommandReading): Candidate[] {
  const hosts = effects.flatMap(({ isUnreached, target }) => (isUnreached ? (target ?? []) : []));
  return hosts.map((host) => ({ kind: 'host', match: { host }, isAlone: true }));
}

/** The only host, if the command names one. */
function forHost({ effects }: CommandReading): Candidate[] {
  const named = effects.filter(({ kind, certain, isUnreached }) => kind === 'network' && certain && !isUnreached);
  const hosts = [...new Set(named.flatMap(({ target }) => target ?? []))];
  const [host] = hosts;
  return host !== undefined && hosts.length === 1 ? [{ kind: 'host', match: { host } }] : [];
}

const isChange = ({ kind }: Effect): boolean => kind === 'write' || kind === 'delete';
const isFileUse = (effect: Effect): boolean => effect.kind === 'read' || isChange(effect);

/** This very file. */
function forFile({ effects }: CommandReading): Candidate[] {
  const [only, ...more] = effects;
  if (only?.path === undefined || more.length > 0 || !isFileUse(only)) return [];
  return [{ kind: 'path', match: { path: only.path, access: isChange(only) ? 'write' : 'read' } }];
}

/** The folder that has everything that the call changes, or reads. Not a folder near the root of the file system. */
function forFolder({ effects }: CommandReading): Candidate[] {
  const changes = effects.filter(isChange);
  const used = changes.length > 0 ? changes : effects.filter(isFileUse);
  const paths = used.flatMap((effect) => effect.path ?? []);
  if (paths.length === 0 || paths.length < used.length) return [];
  const folder = paths.map((each) => path.dirname(each)).reduce(commonFolder);
  if (folder.split('/').length < 4) return [];
  return [{ kind: 'path', match: { path: folder, access: changes.length > 0 ? 'write' : 'read' } }];
}

function commonFolder(a: string, b: string): string {
  const [left, right] = [a.split('/'), b.split('/')];
  const length = left.findIndex((part, index) => part !== right[index]);
  return length === -1 ? a : left.slice(0, length).join('/') || '/';
}
