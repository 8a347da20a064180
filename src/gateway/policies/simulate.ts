import type { Result } from '../../../protocol/index.ts';
import type { PolicyVerdict, SimulatedCall, SimulatedPolicy } from '../../../protocol/methods/admin/policy.ts';
import type { ToolMessage } from '../../agent/message.ts';
import { compileRules, type ToolRule } from '../../agent/run/approval/tool-rules.ts';
import type { Viewer } from '../sharing/perception.ts';
import { subjectOf } from './call-subject.ts';
import { type CallsDeps, latestCalls, type StoredCall } from './latest-calls.ts';

interface Asked {
  /** The oldest first. */
  policies: readonly SimulatedPolicy[];
  /** How many of the latest calls. */
  limit: number;
  viewer: Viewer;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** Compares what was decided about the latest calls with what other tool policies would have decided. */
export async function simulate(
  deps: CallsDeps,
  { policies, limit, viewer, signal }: Asked,
): Promise<Result<'policy.simulate'>> {
  const rules = compileRules(
    policies.map((policy, index) => ({ ...policy, policyId: String(index), name: '', createdAtMs: index })),
  );
  const stored = await latestCalls(deps, { limit, viewer, signal });
  const calls = stored.map((call) => judged(call, rules([call.message.name, labelOf(call.message)])));
  return { total: calls.length, changed: calls.filter(({ was, would }) => was !== would).length, calls };
}

const labelOf = ({ name, decision }: ToolMessage): string => decision?.label ?? name;

function judged(call: StoredCall, rule: ToolRule | undefined): SimulatedCall {
  const { wsId, message, atMs } = call;
  const subject = subjectOf(call);
  return {
    wsId,
    callId: message.callId,
    tool: message.name,
    label: labelOf(message),
    ...(subject !== undefined && { subject }),
    atMs,
    was: verdictOn(call),
    would: verdictBy(rule, call),
    ...(rule && { policy: Number(rule.policyId) }),
  };
}

/** What was decided. */
export function verdictOn({ message, asked }: StoredCall): PolicyVerdict {
  if (isForbidden(message)) return 'deny';
  if (asked !== undefined) return 'ask';
  return message.outcome === 'blocked' ? 'deny' : 'run';
}

/** By a tool policy. An interrupted call keeps the outcome that it is unknown. */
const isForbidden = ({ decision, outcome }: ToolMessage): boolean =>
  decision?.action === 'deny' && (outcome === 'blocked' || outcome === 'unknown');

function verdictBy(rule: ToolRule | undefined, call: StoredCall): PolicyVerdict {
  const { message, asked } = call;
  const without = verdictWithout(call);
  switch (rule?.action) {
    case 'deny':
      return 'deny';
    case 'ask':
      return without === 'run' && message.decision?.auto !== 'blanket' ? 'ask' : without;
    case 'allow': // not what asks for other reasons
      return without === 'ask' && asked !== 'again' && message.notSandboxed === undefined ? 'run' : without;
    case undefined:
      return without;
  }
}

/** What would have been decided without any tool policy. */
function verdictWithout(call: StoredCall): PolicyVerdict {
  const { decision } = call.message;
  if (decision?.policy === undefined) return verdictOn(call);
  if (call.asked === 'again') return 'ask';
  const isAuto = decision.auto !== undefined && decision.auto !== 'policy';
  return decision.wanted && !isAuto ? 'ask' : 'run';
}
