import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { POLICY_ACTIONS, type PolicyAction } from '../../../../protocol/events/policy-actions.ts';
import type { RuleMatch } from '../../../../protocol/events/rules.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { toMatchWords } from '../../../../protocol/text/rule-words.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { findHostTimeZone } from '../../../host-time-zone.ts';
import { NotFoundError, UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { toLocal } from '../../local-time.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';
import { readUserNames } from '../accounts/user-names.ts';
import type { JsonFlags } from './policy.ts';

interface RuleCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

interface MatchFlags {
  tool?: string;
  command?: string;
  program?: string;
  args?: string[];
  argsStart?: string[];
  path?: string;
  access?: string;
  host?: string;
  node?: string;
  nodeCommand?: string;
}

interface PlaceFlags {
  workstream?: string;
  folder?: string;
  user?: string;
  priority?: string;
}

export interface AddRuleFlags extends JsonFlags, MatchFlags, PlaceFlags {
  hours?: string;
}

export interface ChangeRuleFlags extends JsonFlags {
  action?: string;
  priority?: string;
  hours?: string;
  /** False: the rule gets no end. */
  end?: boolean;
}

export interface SimulateRulesFlags extends JsonFlags, MatchFlags, PlaceFlags {
  without?: string[];
  limit: string;
}

/** Lists the permission rules in the order in which they decide. */
export async function listRules(command: RuleCommand<JsonFlags>): Promise<void> {
  const { rules, nameOf } = await ask(command, async (client) => {
    const listed = await client.call('rule.list', {});
    return {
      ...listed,
      nameOf: await readUserNames(
        client,
        listed.rules.map(({ userId }) => userId),
      ),
    };
  });
  if (command.flags.json) process.stdout.write(toJson(rules));
  else if (rules.length === 0) process.stderr.write('No permission rules. See: headgate rule add --help\n');
  else
    process.stdout.write(
      toTextTable([
        ['ID', 'ACTION', 'MATCHES', 'WHERE', 'UNTIL', 'USES', 'LAST USED'],
        ...rules.map((rule) => toCells(rule, nameOf)),
      ]),
    );
}

function toCells(rule: Rule, nameOf: (userId: string) => string): string[] {
  const tz = findHostTimeZone();
  const at = (ms: number | undefined) => (ms === undefined ? '' : toLocal(ms, { tz }));
  return [
    rule.ruleId,
    rule.action,
    toSafeText(toMatchWords(rule.match)).replaceAll('\n', ' '),
    toSafeText(whereOf(rule, nameOf)),
    at(rule.expiresAtMs),
    String(rule.uses),
    at(rule.usedAtMs),
  ];
}

function whereOf({ wsId, folder, userId }: Rule, nameOf: (userId: string) => string): string {
  const parts = [
    ...(wsId === undefined ? [] : [`workstream ${wsId}`]),
    ...(folder === undefined ? [] : [folder]),
    ...(userId === undefined ? [] : [userId === '' ? 'operator' : `user ${nameOf(userId)}`]),
  ];
  return parts.length === 0 ? 'everywhere' : parts.join(', ');
}

/** Adds a rule and prints its id. */
export async function addRule(word: string, command: RuleCommand<AddRuleFlags>): Promise<void> {
  if (Object.values(matchIn(command.flags)).every((value) => value === undefined))
    throw new UsageError(
      'say what the rule is about: --program, --command, --path, --host, --tool, --node or --node-command',
    );
  const fields = { ...ruleIn(word, command.flags), expiresInMs: toLength(command.flags.hours) };
  const rule = await ask(command, (client) => client.call('rule.create', fields));
  process.stdout.write(command.flags.json ? toJson(rule) : `${rule.ruleId}\n`);
}

/** Changes the action, the priority or the end of a rule. */
export async function changeRule(ruleId: string, command: RuleCommand<ChangeRuleFlags>): Promise<void> {
  const { action, priority, hours, end } = command.flags;
  if (hours !== undefined && end === false) throw new UsageError('--hours and --no-end exclude each other');
  const change = {
    action: action === undefined ? undefined : toAction(action),
    priority: toNumber('--priority', priority),
    expiresInMs: end === false ? null : toLength(hours),
  };
  if (Object.values(change).every((value) => value === undefined))
    throw new UsageError('nothing to change: use --action, --priority, --hours or --no-end');
  const rule = await ask(command, (client) =>
    client.call('rule.update', { ruleId, ...change }).catch(withName(ruleId)),
  );
  if (command.flags.json) process.stdout.write(toJson(rule));
  else process.stderr.write('Changed; it counts for the next call of every run.\n');
}

/** Shows which of the latest calls would have been decided otherwise with a rule more, or with some left out. */
export async function simulateRules(word: string | undefined, command: RuleCommand<SimulateRulesFlags>): Promise<void> {
  const { flags } = command;
  const { without = [], limit, json } = flags;
  if (word === undefined && Object.values(matchIn(flags)).some((value) => value !== undefined))
    throw new UsageError('a rule to try begins with its action: headgate rule simulate deny --program curl');
  if (word === undefined && without.length === 0)
    throw new UsageError('nothing to try: give an action with what it matches, or --without a rule');
  const add = word === undefined ? [] : [ruleIn(word, flags)];
  const params = { add, without, limit: toNumber('--limit', limit) };
  const { result, rules } = await ask(command, async (client) => ({
    rules: (await client.call('rule.list', {})).rules,
    result: await client.call('rule.simulate', params),
  }));
  const unknown = without.filter((id) => rules.every(({ ruleId }) => ruleId !== id));
  if (unknown[0] !== undefined) throw new NotFoundError(noRule(unknown[0]));
  if (json) process.stdout.write(toJson(result));
  else printSimulation(result, rules);
}

function printSimulation({ total, changed, calls }: Result<'rule.simulate'>, rules: readonly Rule[]): void {
  process.stderr.write(`${changed} of the latest ${total} calls would have been decided otherwise.\n`);
  if (changed === 0) return;
  const tz = findHostTimeZone();
  const ruleOf = (id: string | undefined) => {
    const rule = rules.find(({ ruleId }) => ruleId === id);
    if (rule === undefined) return id === undefined ? 'no rule' : 'the new rule';
    return `${rule.action} ${toMatchWords(rule.match)}`;
  };
  const rows = calls
    .filter(({ was, would }) => was !== would)
    .map(({ atMs, wsId, tool, subject = '', was, would, ruleId }) => [
      toLocal(atMs, { tz }),
      wsId,
      oneLine(`${tool} ${subject}`),
      was,
      would,
      oneLine(ruleOf(ruleId)),
    ]);
  process.stdout.write(toTextTable([['TIME', 'WORKSTREAM', 'CALL', 'WAS', 'WOULD', 'BY'], ...rows]));
}

const MOST_CHARS = 80;

function oneLine(text: string): string {
  const line = toSafeText(text.trim()).replaceAll('\n', ' ');
  return line.length <= MOST_CHARS ? line : `${line.slice(0, MOST_CHARS - 1)}…`;
}

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** A rule as it is typed. */
const ruleIn = (word: string, flags: MatchFlags & PlaceFlags) => ({
  action: toAction(word),
  match: matchIn(flags),
  wsId: flags.workstream,
  folder: flags.folder,
  userId: flags.user,
  priority: toNumber('--priority', flags.priority),
});

function toAction(word: string): PolicyAction {
  const action = POLICY_ACTIONS.find((one) => one === word);
  if (action !== undefined) return action;
  throw new UsageError(`the action must be one of ${POLICY_ACTIONS.join(', ')}, not "${word}"`);
}

const toLength = (hours: string | undefined): number | undefined =>
  hours === undefined ? undefined : Math.round((toNumber('--hours', hours) ?? 0) * 3_600_000);

function matchIn({
  tool,
  command,
  program,
  args,
  argsStart,
  path,
  access,
  host,
  node,
  nodeCommand,
}: MatchFlags): RuleMatch {
  if (access !== undefined && access !== 'read' && access !== 'write')
    throw new UsageError(`--access must be read or write, not "${access}"`);
  return { tool, command, program, args, argsStart, path, access, host, node, nodeCommand };
}

function toNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new UsageError(`${flag} must be a number, not "${text}"`);
  return number;
}

export async function removeRule(ruleId: string, command: RuleCommand): Promise<void> {
  await ask(command, async (client) => {
    await client.call('rule.delete', { ruleId }).catch(withName(ruleId));
  });
  process.stderr.write('Removed.\n');
}

/** Says which rule is missing, and how to find those that exist. */
const withName =
  (ruleId: string) =>
  (error: unknown): never => {
    if (error instanceof RequestError && error.code === 'NOT_FOUND') throw new NotFoundError(noRule(ruleId));
    throw error;
  };

const noRule = (ruleId: string): string => `No rule "${ruleId}". List them with: headgate rule list`;

async function ask<T>({ flags, around, root }: RuleCommand, use: (client: GatewayClient) => Promise<T>): Promise<T> {
  const target = await resolveTarget(flags, around);
  return withClient({ target, version: await readVersion(root) }, use);
}
