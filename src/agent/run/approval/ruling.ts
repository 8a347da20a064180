import type { RuleMatch } from '../../../../protocol/events/rules.ts';
import type { CallRules } from '../../permissions/rules/call-rules.ts';
import type { RulesVerdict } from '../../permissions/rules/compile-rules.ts';
import type { RuleSource } from '../../permissions/rules/rule-source.ts';
import type { Prepared } from '../../tools/tool.ts';
import { asksForNoSandbox, type BatchCall, whyNotSandboxed } from '../batch-call.ts';
import type { RuledRun } from '../run-context.ts';
import { rulingByJudge } from './by-judge.ts';
import type { CallRuling } from './call-ruling.ts';
import { taintOn } from './taint.ts';
import { isReadOnlyCall, unaskedBecause } from './unasked.ts';

/** Every call is asked about several times, and reading rules takes longer than the rest. */
const VERDICTS = new WeakMap<BatchCall, { rules: CallRules; verdict: RulesVerdict }>();

/** What the rules and tool policies say about a call now. */
export function rulesOn({ rules }: RuledRun, item: BatchCall): RulesVerdict {
  const known = VERDICTS.get(item);
  if (known?.rules === rules) return known.verdict;
  const verdict = rules.judge(item.ruled);
  VERDICTS.set(item, { rules, verdict });
  return verdict;
}

/** The one place where it is decided whether a call runs, asks, or is blocked (decision 74). */
export const rulingOf = (run: RuledRun, item: BatchCall): CallRuling => rulingUnder(run, item, rulesOn(run, item));

function rulingUnder(run: RuledRun, item: BatchCall, verdict: RulesVerdict): CallRuling {
  const blocked = blockedAnyhow(item, verdict);
  if (blocked) return blocked;
  if (item.prepared.kind !== 'ready') return RUNS_AS_TOOL;
  if (isBlockedByMode(run, item)) return { verdict: 'block', reason: 'mode' };
  if (verdict.unclear) return { verdict: 'ask', reason: 'unclear', rule: verdict.unclear };
  // Nothing but a person can answer.
  if (item.prepared.question) return ASKS_AS_TOOL;
  const { needsApproval } = item.prepared;
  if (!needsApproval && !verdict.ask) return RUNS_AS_TOOL;
  const isSandboxed = whyNotSandboxed(run, item) === undefined;
  if (run.settings.autoApprove) return inFull(verdict, isSandboxed);
  if (verdict.ask) return by(verdict.ask, 'ask');
  const asks = asksAnyhow(item.prepared, isSandboxed);
  if (asks) return asks;
  const unasked = unaskedBecause(run, item, verdict);
  return unlessSpecial(
    verdict,
    unasked ? unlessTainted(run, item, unasked) : (rulingByJudge(run, item) ?? ASKS_AS_TOOL),
  );
}

function blockedAnyhow({ blockedByHook }: BatchCall, { deny }: RulesVerdict): CallRuling | undefined {
  if (deny) return by(deny, 'block');
  return blockedByHook === undefined ? undefined : { verdict: 'block', reason: 'hook' };
}

/** What a person said about such calls in general is not enough for this one. */
function asksAnyhow(prepared: Prepared, isSandboxed: boolean): CallRuling | undefined {
  if (!isSandboxed) return NOT_SANDBOXED;
  return prepared.kind === 'ready' && prepared.asksAnyhow ? ASKS_AS_TOOL : undefined;
}

const NOT_SANDBOXED: CallRuling = { verdict: 'ask', reason: 'not_sandboxed' };

/** Outside the sandbox nothing holds a command to what is known of it. */
const isBlockedByMode = ({ settings }: RuledRun, item: BatchCall): boolean =>
  settings.mode === 'read_only' && !settings.autoApprove && !(isReadOnlyCall(item) && !asksForNoSandbox(item));

/** What was said about the command in general is not enough for protected paths, and for hosts that it does not name. */
function unlessSpecial({ special }: RulesVerdict, ruling: CallRuling): CallRuling {
  if (ruling.reason === 'tainted') return ruling;
  if (special.writes.length > 0) return { verdict: 'ask', reason: 'protected' };
  return special.hosts.length > 0 ? { verdict: 'ask', reason: 'hosts' } : ruling;
}

/** After untrusted content, nothing but a person lets calls reach further than the folders of the workstream. */
function unlessTainted(run: RuledRun, item: BatchCall, unasked: CallRuling): CallRuling {
  const taint = taintOn(run, item);
  if (taint === undefined) return unasked;
  return { verdict: 'ask', reason: 'tainted', taint, ...(unasked.rule && { rule: unasked.rule }) };
}

/** Whether the call would run unasked if a rule allowed what it matches. */
export function isEnough(run: RuledRun, item: BatchCall, match: RuleMatch): boolean {
  const rules = run.rules.with({ ...NEW_RULE, match });
  return rulingUnder(run, item, rules.judge(item.ruled)).verdict === 'run';
}

/** As given with a decision. */
const NEW_RULE = {
  ruleId: '',
  source: 'rule',
  action: 'allow',
  place: 'workstream',
  priority: 0,
  createdAtMs: Number.MAX_SAFE_INTEGER,
} as const;

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
