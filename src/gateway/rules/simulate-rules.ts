import type { Result } from '../../../protocol/index.ts';
import type { Rule, RuledCall, SimulatedRule } from '../../../protocol/methods/admin/rule.ts';
import {
  type CompiledRules,
  compileCallRules,
  type RulesVerdict,
} from '../../agent/permissions/rules/compile-rules.ts';
import { subjectOf } from '../policies/call-subject.ts';
import { type CallsDeps, latestCalls, type StoredCall } from '../policies/latest-calls.ts';
import { verdictOn } from '../policies/simulate.ts';
import type { Viewer } from '../sharing/perception.ts';
import { toSource } from './rule-rows.ts';
import { holdsIn } from './rules.ts';
import { toStoredRuled } from './stored-ruled-call.ts';

interface Asked {
  rules: readonly Rule[];
  added: readonly SimulatedRule[];
  limit: number;
  viewer: Viewer;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/**
 * Compares what was decided about the latest calls with what these rules would have decided. Commands are read again; links in
 * their paths are not resolved, because they may lead elsewhere by now.
 */
export async function simulateRules(
  deps: CallsDeps,
  { rules, added, limit, viewer, signal }: Asked,
): Promise<Result<'rule.simulate'>> {
  const all = [...rules, ...added.map(toRule)];
  const prepared = new Map<string, CompiledRules>();
  const stored = await latestCalls(deps, { limit, viewer, signal });
  const calls = stored.map((call) => {
    const known =
      prepared.get(call.wsId) ?? compileCallRules(all.filter((rule) => holdsIn(rule, call)).map(toSource), NONE);
    prepared.set(call.wsId, known);
    return judged(call, known.judge(toStoredRuled(call)));
  });
  return { total: calls.length, changed: calls.filter(({ was, would }) => was !== would).length, calls };
}

/** The tool policies have a simulation of their own. */
const NONE = () => undefined;

const toRule = ({ action, match, wsId, folder, userId, priority = 0 }: SimulatedRule, index: number): Rule => ({
  ruleId: `new:${index}`,
  action,
  match,
  ...(wsId !== undefined && { wsId }),
  ...(folder !== undefined && { folder }),
  ...(userId !== undefined && { userId }),
  priority,
  createdBy: '',
  createdAtMs: Number.MAX_SAFE_INTEGER,
  updatedAtMs: Number.MAX_SAFE_INTEGER,
  uses: 0,
});

function judged(call: StoredCall, verdict: RulesVerdict): RuledCall {
  const { wsId, message, atMs } = call;
  const subject = subjectOf(call);
  const rule = verdict.deny ?? verdict.unclear ?? verdict.ask ?? verdict.allow;
  return {
    wsId,
    callId: message.callId,
    tool: message.name,
    ...(subject !== undefined && { subject }),
    atMs,
    was: verdictOn(call),
    would: verdictBy(verdict, call),
    ...(rule && { ruleId: rule.ruleId }),
  };
}

function verdictBy({ deny, unclear, ask, allow, left, special }: RulesVerdict, call: StoredCall): RuledCall['would'] {
  const without = verdictWithout(call);
  if (deny) return 'deny';
  if (unclear) return 'ask';
  if (ask) return without === 'run' && call.message.decision?.auto !== 'blanket' ? 'ask' : without;
  const isAllowed = allow !== undefined && left === undefined && special.writes.length === 0;
  // Not what asks for other reasons.
  return isAllowed && call.asked !== 'again' && call.message.notSandboxed === undefined && without === 'ask'
    ? 'run'
    : without;
}

/** What would have been decided without any permission rule. */
function verdictWithout(call: StoredCall): RuledCall['would'] {
  const { decision } = call.message;
  if (decision?.rule === undefined) return verdictOn(call);
  return decision.wanted ? 'ask' : 'run';
}
