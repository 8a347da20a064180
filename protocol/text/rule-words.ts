import type { DecidingRule, PastRuling, RuleMatch, RuleTerm, Ruling, SuggestedRule, Taint } from '../events/rules.ts';
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
  always: 'for good, in this folder',
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
  memory: 'memories or conversations from untrusted sources',
  skill: 'a skill that strangers wrote',
};

/** What a conversation has read that nobody vouches for: `files outside its folders (read_file: “/etc/hosts”)`. */
export function toTaintWords({ kind, tool, target }: Taint): string {
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

function toReasonWords({ verdict, reason, rule, taint }: PastRuling): string | undefined {
  switch (reason) {
    case 'rule':
      return rule && `A rule ${PLACES[rule.place]} ${DOES[verdict]} ${toMatched(rule) ?? 'it'}.`;
    case 'unclear':
      return `A rule${rule ? ` ${PLACES[rule.place]}` : ''} blocks ${toMatched(rule) ?? 'something'}, and this might be it: not all of the command is known.`;
    case 'tainted':
      return `It would run unasked, but since your last message the agent has read ${taint ? toTaintWords(taint) : 'untrusted content'}.`;
    case 'mode':
      return verdict === 'block' ? 'This workstream is in the mode “Read only”.' : undefined;
    case 'judge':
      return verdict === 'run' ? undefined : 'The judge did not approve it.';
    case 'hook':
      return 'A hook of the configuration blocks it.';
    default:
      return undefined; // the tool asks as always, or the card has its own line about it
  }
}

const DOES: Record<Ruling['verdict'], string> = { run: 'allows', ask: 'asks about', block: 'blocks' };

const toMatched = (rule: PastRuling['rule']): string | undefined => rule?.match && toMatchWords(rule.match);

const RUNS: Partial<Record<Ruling['reason'], string>> = {
  rule: 'A rule allows it.',
  harmless: 'It only reads the folders of this workstream.',
  mode: 'The mode of this workstream allows it.',
  judge: 'The judge approved it.',
};

/** Why a call ran unasked, needed approval or was blocked, beside its result. Undefined where nothing has to be said. */
export function toDecidedWords(ruling: PastRuling): string | undefined {
  const { verdict, reason, rule } = ruling;
  if (reason === 'policy')
    return `${rule?.name ? `The tool policy ${quote(rule.name)}` : 'A tool policy'} ${DOES[verdict]} it.`;
  const because = verdict === 'ask' ? toNeedWords(ruling) : undefined;
  if (because !== undefined) return `It needs approval because ${because}.`;
  return toReasonWords(ruling) ?? (verdict === 'run' ? UNASKED[reason] : undefined);
}

function toNeedWords({ reason, taint, protected_paths: paths = [], hosts = [] }: PastRuling): string | undefined {
  switch (reason) {
    case 'tainted':
      return `the agent has read ${taint ? toTaintWords(taint) : 'untrusted content'}`;
    case 'protected':
      return `it changes what programs outside the sandbox run or obey${paths.length === 0 ? '' : `: ${toNames(paths)}`}`;
    case 'hosts':
      return `an earlier attempt could not reach ${hosts.length === 0 ? 'hosts that' : `${toNames(hosts)}, which`} the command does not name`;
    case 'repeated':
      return 'the run made the same call before';
    default:
      return undefined;
  }
}

const UNASKED: Partial<Record<Ruling['reason'], string>> = {
  ...RUNS,
  blanket: 'This workstream ran every call without asking.',
  auto_approve_tools: 'The tool is one of those that run unasked in this workstream.',
  job: 'The job allows this tool.',
};

/** Whether it goes without saying: nobody gave a rule for it, and nobody judged it. */
export const isPlainRuling = ({ verdict, reason }: PastRuling): boolean =>
  verdict === 'run' && (reason === 'harmless' || reason === 'blanket');
