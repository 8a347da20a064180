import type { AutoApproveReason } from '../../../../protocol/events/approval-item.ts';
import type { Ruling, Taint } from '../../../../protocol/events/rules.ts';
import type { CallRules } from '../../permissions/rules/call-rules.ts';
import type { RulesVerdict } from '../../permissions/rules/compile-rules.ts';
import type { RuleSource } from '../../permissions/rules/rule-source.ts';
import { type BatchCall, whyNotSandboxed } from '../batch-call.ts';
import type { RunContext } from '../run-context.ts';
import { isAllowed } from './unattended-policy.ts';

/** What is decided about a call, and why. */
export interface CallRuling extends Pick<Ruling, 'verdict' | 'reason'> {
  rule?: RuleSource;
  taint?: Taint;
  /** Why a call that needs approval runs unasked. */
  auto?: AutoApproveReason;
}

/** Every call is asked about several times, and reading rules takes longer than the rest. */
const VERDICTS = new WeakMap<BatchCall, { rules: CallRules; verdict: RulesVerdict }>();

/** What the rules and tool policies say about a call now. */
export function rulesOn({ rules }: RunContext, item: BatchCall): RulesVerdict {
  const known = VERDICTS.get(item);
  if (known?.rules === rules) return known.verdict;
  const verdict = rules.judge(item.ruled);
  VERDICTS.set(item, { rules, verdict });
  return verdict;
}

/** The one place where it is decided whether a call runs, asks, or is blocked (decision 74). */
export function rulingOf(run: RunContext, item: BatchCall): CallRuling {
  const verdict = rulesOn(run, item);
  if (verdict.deny) return by(verdict.deny, 'block');
  if (item.prepared.kind !== 'ready') return RUNS_AS_TOOL;
  if (verdict.unclear) return { verdict: 'ask', reason: 'unclear', rule: verdict.unclear };
  const { needsApproval } = item.prepared;
  if (!needsApproval && !verdict.ask) return RUNS_AS_TOOL;
  const isSandboxed = whyNotSandboxed(run, item.call) === undefined;
  if (run.settings.autoApprove) return inFull(verdict, isSandboxed);
  if (verdict.ask) return by(verdict.ask, 'ask');
  return isSandboxed ? (unaskedBecause(run, item, verdict) ?? ASKS_AS_TOOL) : { verdict: 'ask', reason: 'not_sandboxed' };
}

/** Only what denies stands above the mode full. */
function inFull(verdict: RulesVerdict, isSandboxed: boolean): CallRuling {
  const policy = isSandboxed && !verdict.ask ? policyIn(verdict) : undefined;
  return policy ? { ...by(policy, 'run'), auto: 'policy' } : { verdict: 'run', reason: 'blanket', auto: 'blanket' };
}

const RUNS_AS_TOOL: CallRuling = { verdict: 'run', reason: 'tool' };
const ASKS_AS_TOOL: CallRuling = { verdict: 'ask', reason: 'tool' };

const by = (rule: RuleSource, verdict: CallRuling['verdict']): CallRuling => ({ verdict, reason: rule.source, rule });

const policyIn = ({ allow, left }: RulesVerdict): RuleSource | undefined =>
  allow?.source === 'policy' && left === undefined ? allow : undefined;

/** What lets a call run that needs approval; undefined: nothing does. */
function unaskedBecause(run: RunContext, item: BatchCall, { allow, left }: RulesVerdict): CallRuling | undefined {
  const { name } = item.call;
  if (allow && left === undefined)
    return { ...by(allow, 'run'), auto: allow.source === 'policy' ? 'policy' : 'always' };
  if (run.settings.approvedTools?.includes(name))
    return { verdict: 'run', reason: 'auto_approve_tools', auto: 'auto_approve_tools' };
  if (isAllowed(run.policy, name)) return { verdict: 'run', reason: 'job', auto: 'job' };
  return undefined;
}
