import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { POLICY_ACTIONS } from '../../../../protocol/events/policy-actions.ts';
import type { SimulatedPolicy, ToolPolicy } from '../../../../protocol/methods/admin/policy.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { findHostTimeZone } from '../../../host-time-zone.ts';
import { NotFoundError, UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { toLocal } from '../../local-time.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';

interface PolicyCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export interface JsonFlags extends TargetFlags {
  json?: boolean;
}

export interface AddPolicyFlags extends TargetFlags {
  name?: string;
  priority?: string;
  disabled?: boolean;
}

export interface ChangePolicyFlags extends TargetFlags {
  name?: string;
  pattern?: string;
  action?: string;
  priority?: string;
  enable?: boolean;
  disable?: boolean;
}

export interface SimulateFlags extends JsonFlags {
  add?: string[];
  without?: string[];
  limit: string;
}

/** Lists the tool policies in the order in which they decide. */
export async function listPolicies(command: PolicyCommand<JsonFlags>): Promise<void> {
  const { policies } = await ask(command, (client) => client.call('policy.list', {}));
  if (command.flags.json) process.stdout.write(`${JSON.stringify(policies, null, 2)}\n`);
  else if (policies.length === 0)
    process.stderr.write('No tool policies. Add one with: headgate policy add deny PATTERN\n');
  else
    process.stdout.write(
      toTextTable([
        ['ID', 'PRIORITY', 'ACTION', 'TOOLS', 'NAME', ''],
        ...policies.map(({ policyId, priority, action, toolPattern, name, enabled }) => [
          policyId,
          String(priority),
          action,
          toSafeText(toolPattern),
          toSafeText(name),
          enabled ? '' : 'disabled',
        ]),
      ]),
    );
}

export async function addPolicy(
  { action, pattern }: { action: string; pattern: string },
  command: PolicyCommand<AddPolicyFlags>,
): Promise<void> {
  const { name = `${action} ${pattern}`, priority, disabled } = command.flags;
  const fields = { name, toolPattern: pattern, action, priority: toPriority(priority), enabled: !disabled };
  const { policyId } = await ask(command, (client) => client.call('policy.create', fields));
  process.stdout.write(`${policyId}\n`);
}

export async function changePolicy(which: string, command: PolicyCommand<ChangePolicyFlags>): Promise<void> {
  const { name, pattern, action, priority, enable, disable } = command.flags;
  if (enable && disable) throw new UsageError('--enable and --disable exclude each other');
  await ask(command, async (client) => {
    const { policyId } = policyNamed(which, await policiesOf(client));
    await client.call('policy.update', {
      policyId,
      name,
      toolPattern: pattern,
      action,
      priority: toPriority(priority),
      enabled: enable ? true : disable ? false : undefined,
    });
  });
  process.stderr.write('Changed; it counts for the next call of every run.\n');
}

export async function removePolicy(which: string, command: PolicyCommand): Promise<void> {
  await ask(command, async (client) => {
    const { policyId, name } = policyNamed(which, await policiesOf(client));
    await client.call('policy.delete', { policyId });
    process.stderr.write(`Removed "${toSafeText(name)}".\n`);
  });
}

/** Shows which of the latest calls a change would have decided otherwise. */
export async function simulatePolicies(command: PolicyCommand<SimulateFlags>): Promise<void> {
  const { add = [], without = [], limit, json } = command.flags;
  const added = add.map(toRule);
  const { result, rules } = await ask(command, async (client) => {
    const now = await policiesOf(client);
    const gone = without.map((which) => policyNamed(which, now).policyId);
    const kept = now.filter(({ policyId }) => !gone.includes(policyId));
    const rules = [...kept.toSorted((a, b) => a.createdAtMs - b.createdAtMs).map(toSimulated), ...added];
    return { rules, result: await client.call('policy.simulate', { policies: rules, limit: toLimit(limit) }) };
  });
  if (json) {
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    return;
  }
  process.stderr.write(`${result.changed} of the latest ${result.total} calls would have been decided otherwise.\n`);
  const tz = findHostTimeZone();
  const changed = result.calls.filter(({ was, would }) => was !== would);
  if (changed.length === 0) return;
  process.stdout.write(
    toTextTable([
      ['TIME', 'WORKSTREAM', 'CALL', 'WAS', 'WOULD', 'BY'],
      ...changed.map(({ atMs, wsId, label, was, would, policy }) => {
        const by = policy === undefined ? undefined : rules[policy];
        return [
          toLocal(atMs, { tz }),
          wsId,
          toSafeText(label),
          was,
          would,
          by ? toSafeText(`${by.action} ${by.toolPattern}`) : 'no policy',
        ];
      }),
    ]),
  );
}

const toSimulated = ({ toolPattern, action, priority, enabled }: ToolPolicy): SimulatedPolicy => ({
  toolPattern,
  action,
  priority,
  enabled,
});

/** A rule on the command line: `deny:node*`, or with its priority `deny:node*:10`. */
function toRule(text: string): SimulatedPolicy {
  const [word, toolPattern = '', priority] = text.split(':');
  const action = POLICY_ACTIONS.find((one) => one === word);
  if (action === undefined || toolPattern === '')
    throw new UsageError(`--add ${text}: use ACTION:PATTERN or ACTION:PATTERN:PRIORITY, such as deny:node*`);
  return { toolPattern, action, priority: toPriority(priority) ?? 0, enabled: true };
}

function toPriority(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const priority = Number(text);
  if (text.trim() === '' || !Number.isInteger(priority))
    throw new UsageError(`the priority must be a whole number, not "${text}"`);
  return priority;
}

function toLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit)) throw new UsageError(`--limit must be a whole number, not "${text}"`);
  return limit;
}

const policiesOf = async (client: GatewayClient): Promise<readonly ToolPolicy[]> =>
  (await client.call('policy.list', {})).policies;

/** By id, or by a name that only one has. */
function policyNamed(which: string, policies: readonly ToolPolicy[]): ToolPolicy {
  const found = policies.filter(({ policyId, name }) => policyId === which || name === which);
  const [policy, ...more] = found;
  if (policy === undefined) throw new NotFoundError(`No tool policy "${which}". List them with: headgate policy list`);
  if (more.length > 0) {
    const ids = found.map(({ policyId }) => policyId).join(', ');
    throw new UsageError(`Several tool policies are named "${which}"; use the id: ${ids}`);
  }
  return policy;
}

async function ask<T>({ flags, around, root }: PolicyCommand, use: (client: GatewayClient) => Promise<T>): Promise<T> {
  const target = await resolveTarget(flags, around);
  return withClient({ target, version: await readVersion(root) }, use);
}
