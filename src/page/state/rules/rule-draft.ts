import { POLICY_ACTIONS } from '../../../../protocol/events/policy-actions.ts';
import type { RuleMatch } from '../../../../protocol/events/rules.ts';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { toArgumentsText, toArgumentWords } from '../text/argument-words.ts';

/** The fields of the form, as they are typed. */
export interface RuleFields {
  action: string;
  program: string;
  args: string;
  /** `start`: the arguments begin so; `exact`: there are no others. */
  argsHow: string;
  path: string;
  /** `read`, `write`; empty: both. */
  access: string;
  host: string;
  command: string;
  tool: string;
  node: string;
  nodeCommand: string;
  /** Empty: all workstreams. */
  wsId: string;
  /** Empty: any. */
  folder: string;
  /** `all`, or `of:` with a user id. */
  owner: string;
  priority: string;
  /** `keep`, `never`, or milliseconds from now. */
  end: string;
}

/** What a person wants a rule to be. */
export type RuleDraft = Pick<Rule, 'action' | 'match' | 'priority'> &
  Pick<Partial<Rule>, 'wsId' | 'folder' | 'userId'> & {
    /** Undefined: as it is; null: without end. */
    expiresInMs: number | null | undefined;
  };

/** Why a rule cannot be saved, by field. */
export type WrongFields = Partial<Record<keyof RuleFields, string>>;

/** Who writes the rule. */
export interface RuleGiver {
  /** Empty: the operator. */
  userId: string;
  /** May give rules for others, too. */
  isAdmin: boolean;
}

const EMPTY: RuleFields = {
  action: 'allow',
  program: '',
  args: '',
  argsHow: 'start',
  path: '',
  access: '',
  host: '',
  command: '',
  tool: '',
  node: '',
  nodeCommand: '',
  wsId: '',
  folder: '',
  owner: 'all',
  priority: '0',
  end: 'never',
};

/** What the form shows at first; undefined: a new rule. */
export function toFields(rule: Rule | undefined, giver: RuleGiver): RuleFields {
  if (rule === undefined) return { ...EMPTY, owner: toOwner(giver) };
  const { args, argsStart = [], ...match } = rule.match;
  return {
    ...EMPTY,
    ...Object.fromEntries(Object.entries(match).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]))),
    action: rule.action,
    args: toArgumentsText(args ?? argsStart),
    argsHow: args === undefined ? 'start' : 'exact',
    wsId: rule.wsId ?? '',
    folder: rule.folder ?? '',
    owner: toOwner(rule),
    priority: String(rule.priority),
    end: 'keep',
  };
}

const toOwner = ({ userId }: Pick<Rule, 'userId'>): string => (userId === undefined ? 'all' : `of:${userId}`);

/** The rule, or what is wrong with it. What only the daemon can check is its matter. */
export function readFields(fields: RuleFields, giver: RuleGiver): { draft: RuleDraft } | { wrong: WrongFields } {
  const trimmed = { ...fields, ...mapValues(fields, (text) => text.trim()), command: toCommand(fields.command) };
  const wrong = problemsOf(trimmed, giver);
  return Object.keys(wrong).length > 0 ? { wrong } : { draft: toDraft(trimmed) };
}

/** A rule about a command has exactly its text. */
const toCommand = (text: string): string => (text.trim() === '' ? '' : text.replaceAll('\r\n', '\n'));

const mapValues = (fields: RuleFields, change: (text: string) => string): Partial<RuleFields> =>
  Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, change(text)]));

const MATCHING = ['program', 'path', 'host', 'command', 'tool', 'node', 'nodeCommand'] as const;

function problemsOf(fields: RuleFields, { userId, isAdmin }: RuleGiver): WrongFields {
  const { program, args, argsHow, path, host, tool, wsId, folder, owner, priority } = fields;
  const hasArgs = args !== '' || argsHow === 'exact';
  const isForOthers = wsId === '' && owner !== `of:${userId}`;
  const problems: [keyof RuleFields, boolean, string][] = [
    ['args', hasArgs && program === '', 'Arguments belong to a program. Fill in the program, too.'],
    ['program', MATCHING.every((name) => fields[name] === '') && !hasArgs, 'Fill in at least one of these fields.'],
    ['path', path !== '' && !isWhole(path), WHOLE_PATH],
    ['host', host !== '' && !HOST.test(host), 'This is no host. Use a name such as example.org, or *.example.org.'],
    ['tool', /[[\]{}!\\]/.test(tool), 'Only * and ? have a meaning here, and [ ] { } ! \\ cannot be used.'],
    ['folder', folder !== '' && !isWhole(folder), WHOLE_PATH],
    ['owner', isForOthers && !isAdmin, 'You may give rules for your own workstreams, or for one workstream.'],
    ['priority', !/^[+-]?\d{1,7}$/.test(priority), 'Use a whole number from -1000000 to 1000000.'],
  ];
  return Object.fromEntries(problems.filter(([, isWrong]) => isWrong).map(([name, , words]) => [name, words]));
}

const WHOLE_PATH = 'Use the whole path, such as /home/ada/garden.';
const isWhole = (path: string): boolean => /^(\/|[a-z]:[\\/])/i.test(path);
const HOST = /^(\*\.)?[a-z\d_.:-]+$|^\[[a-f\d:.]+\]$/i;

function toDraft({ action, wsId, folder, owner, priority, end, ...match }: RuleFields): RuleDraft {
  return {
    action: POLICY_ACTIONS.find((one) => one === action) ?? 'ask',
    match: toMatch(match),
    ...(wsId !== '' && { wsId }),
    ...(folder !== '' && { folder }),
    ...(owner !== 'all' && { userId: owner.slice('of:'.length) }),
    priority: Number(priority),
    expiresInMs: end === 'keep' ? undefined : end === 'never' ? null : Number(end),
  };
}

type MatchFields = Omit<RuleFields, 'action' | 'wsId' | 'folder' | 'owner' | 'priority' | 'end'>;

function toMatch(fields: MatchFields): RuleMatch {
  const { args, argsHow, access, path } = fields;
  const words = toArgumentWords(args);
  return {
    ...Object.fromEntries(MATCHING.filter((name) => fields[name] !== '').map((name) => [name, fields[name]])),
    ...(path !== '' && (access === 'read' || access === 'write') && { access }),
    ...(argsHow === 'exact' ? { args: words } : words.length > 0 && { argsStart: words }),
  };
}

/** Whether a draft is about the same calls in the same place, so that the rule stays and only changes. */
export const isSameRule = (rule: Rule, draft: RuleDraft): boolean => aboutOf(rule) === aboutOf(draft);

const aboutOf = ({ match, wsId, folder, userId }: Pick<RuleDraft, 'match' | 'wsId' | 'folder' | 'userId'>): string =>
  JSON.stringify([Object.entries(match).sort(([a], [b]) => (a < b ? -1 : 1)), wsId, folder, userId]);
