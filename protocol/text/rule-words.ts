import type { DecidingRule, RuleMatch, RuleTerm, Ruling, SuggestedRule, Taint } from '../events/rules.ts';
import { toVisibleLine } from './visible-text.ts';

/** A person has to see where a text ends, and what is not shown of it. */
const quote = (text: string): string => `“${toVisibleLine(text)}”`;

/** What a rule matches, as the end of a sentence: `commands that begin with “git push”`. */
export function toMatchWords({ tool, node, nodeCommand, host, ...match }: RuleMatch): string {
  const parts = [
    ...commandWords(match),
    ...pathWords(match),
    ...(host === undefined
      ? []
      : [`connections to ${host.startsWith('*.') ? `all hosts below ${quote(host.slice(2))}` : quote(host)}`]),
    ...(nodeCommand === undefined ? [] : [`${quote(nodeCommand)} on a node`]),
    ...(node === undefined ? [] : [`the node ${quote(node)}`]),
    ...(tool === undefined ? [] : [`calls of ${quote(tool)}`]),
  ];
  return parts.join(', with ');
}

function commandWords({ command, program, args, argsStart }: RuleMatch): string[] {
  if (command !== undefined) return [`exactly the command ${quote(command)}`];
  if (program === undefined) return [];
  if (args !== undefined) return [`exactly ${quote([program, ...args].join(' '))}`];
  return [
    argsStart === undefined
      ? `the program ${quote(program)}`
      : `commands that begin with ${quote([program, ...argsStart].join(' '))}`,
  ];
}

const USES = { read: 'reading', write: 'changing', any: 'reading or changing' } as const;

const pathWords = ({ path, access }: RuleMatch): string[] =>
  path === undefined ? [] : [`${USES[access ?? 'any']} ${quote(path)} (of a folder, all that is below it)`];

/** A suggestion in a list of choices. The card above it shows the whole command. */
export const toSuggestionWords = ({ kind, match }: Pick<SuggestedRule, 'kind' | 'match'>): string =>
  kind === 'command' ? 'exactly this command' : toMatchWords(match);

/** How long a rule holds, for people. */
export const TERM_WORDS: Record<RuleTerm, string> = {
  hour: 'for one hour',
  conversation: 'in this conversation',
  always: 'for good, in this workstream',
};

const PLACES: Record<DecidingRule['place'], string> = {
  workstream: 'of this workstream',
  folder: 'of this folder',
  user: 'of the owner',
  everywhere: 'for all workstreams',
};

const TAINTS: Record<Taint['kind'], string> = {
  node: 'the answer of another machine',
  network: 'something from a network',
  unknown: 'the output of a command whose effects are not known',
  outside: 'files outside its folders',
  message: 'a message of somebody who may not approve',
  summary: 'earlier messages, of which only a summary is left',
};

/** What a conversation has read that nobody vouches for: `files outside its folders (read_file: “/etc/hosts”)`. */
function toTaintWords({ kind, tool, target }: Taint): string {
  const by = [...(tool === undefined ? [] : [toVisibleLine(tool)]), ...(target === undefined ? [] : [quote(target)])];
  return `${TAINTS[kind]}${by.length === 0 ? '' : ` (${by.join(': ')})`}`;
}

/** Why a person is asked, or why a call is blocked. Undefined where nothing has to be said, or other words say it. */
export function toRulingWords(ruling: Ruling): string | undefined {
  const { verdict, reason } = ruling;
  if (verdict === 'run') return RUNS[reason];
  const words = [toReasonWords(ruling), ...(verdict === 'ask' ? toGrantWords(ruling) : [])];
  return words.filter((text) => text !== undefined).join(' ') || undefined;
}

const MAX_NAMED = 5;

/** What the call may do if a person allows it, that other calls may not. */
const toGrantWords = ({ protected_paths: paths = [], hosts = [] }: Ruling): string[] => [
  ...(paths.length === 0 ? [] : [`It changes what programs outside the sandbox run or obey: ${toNames(paths)}.`]),
  ...(hosts.length === 0
    ? []
    : [
        `An earlier attempt could not reach ${toNames(hosts)}, which the command does not name; if you approve, this one can.`,
      ]),
];

function toNames(texts: readonly string[]): string {
  const names = texts.slice(0, MAX_NAMED).map(quote).join(', ');
  return texts.length > MAX_NAMED ? `${names} and ${texts.length - MAX_NAMED} more` : names;
}

function toReasonWords({ verdict, reason, rule, taint }: Ruling): string | undefined {
  switch (reason) {
    case 'rule':
      return (
        rule &&
        `A rule ${PLACES[rule.place]} ${verdict === 'ask' ? 'asks about' : 'blocks'} ${toMatchWords(rule.match)}.`
      );
    case 'unclear':
      return `${rule ? `A rule ${PLACES[rule.place]} blocks ${toMatchWords(rule.match)}` : 'A rule blocks something'}, and this might be it: not all of the command is known.`;
    case 'tainted':
      return `It would run unasked, but since your last message the agent has read ${taint ? toTaintWords(taint) : 'untrusted content'}.`;
    case 'mode':
      return verdict === 'block' ? 'This workstream is in the mode “Read only”.' : undefined;
    case 'judge':
      return 'The judge did not approve it.';
    default:
      return undefined; // the tool asks as always, or the card has its own line about it
  }
}

const RUNS: Partial<Record<Ruling['reason'], string>> = {
  rule: 'A rule allows it.',
  harmless: 'It only reads the folders of this workstream.',
  mode: 'The mode of this workstream allows it.',
  judge: 'The judge approved it.',
};
