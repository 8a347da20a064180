import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { POLICY_ACTIONS } from '../../../../protocol/events/policy-actions.ts';
import type { RuleMatch } from '../../../../protocol/events/rules.ts';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { toMatchWords } from '../../../../protocol/text/rule-words.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { toLocal } from '../../local-time.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';
import type { JsonFlags } from './policy.ts';

interface RuleCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export interface AddRuleFlags extends TargetFlags {
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
  workstream?: string;
  folder?: string;
  user?: string;
  priority?: string;
  hours?: string;
}

/** Lists the permission rules in the order in which they decide. */
export async function listRules(command: RuleCommand<JsonFlags>): Promise<void> {
  const { rules } = await ask(command, (client) => client.call('rule.list', {}));
  if (command.flags.json) process.stdout.write(`${JSON.stringify(rules, null, 2)}\n`);
  else if (rules.length === 0) process.stderr.write('No permission rules. See: headgate rule add --help\n');
  else
    process.stdout.write(
      toTextTable([['ID', 'ACTION', 'MATCHES', 'WHERE', 'UNTIL', 'USES', 'LAST USED'], ...rules.map(toCells)]),
    );
}

function toCells(rule: Rule): string[] {
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const at = (ms: number | undefined) => (ms === undefined ? '' : toLocal(ms, { tz }));
  return [
    rule.ruleId,
    rule.action,
    toSafeText(toMatchWords(rule.match)).replaceAll('\n', ' '),
    toSafeText(whereOf(rule)),
    at(rule.expiresAtMs),
    String(rule.uses),
    at(rule.usedAtMs),
  ];
}

function whereOf({ wsId, folder, userId }: Rule): string {
  const parts = [
    ...(wsId === undefined ? [] : [`workstream ${wsId}`]),
    ...(folder === undefined ? [] : [folder]),
    ...(userId === undefined ? [] : [userId === '' ? 'operator' : `user ${userId}`]),
  ];
  return parts.length === 0 ? 'everywhere' : parts.join(', ');
}

/** Adds a rule and prints its id. */
export async function addRule(word: string, command: RuleCommand<AddRuleFlags>): Promise<void> {
  const action = POLICY_ACTIONS.find((one) => one === word);
  if (action === undefined)
    throw new UsageError(`the action must be one of ${POLICY_ACTIONS.join(', ')}, not "${word}"`);
  const { workstream, folder, user, priority, hours } = command.flags;
  const { ruleId } = await ask(command, (client) =>
    client.call('rule.create', {
      action,
      match: matchIn(command.flags),
      wsId: workstream,
      folder,
      userId: user,
      priority: toNumber('--priority', priority),
      expiresInMs: hours === undefined ? undefined : Math.round((toNumber('--hours', hours) ?? 0) * 3_600_000),
    }),
  );
  process.stdout.write(`${ruleId}\n`);
}

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
}: AddRuleFlags): RuleMatch {
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
  await ask(command, (client) => client.call('rule.delete', { ruleId }));
  process.stderr.write('Removed.\n');
}

async function ask<T>({ flags, around, root }: RuleCommand, use: (client: GatewayClient) => Promise<T>): Promise<T> {
  const target = await resolveTarget(flags, around);
  return withClient({ target, version: await readVersion(root) }, use);
}
