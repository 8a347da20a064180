import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { Verdict } from '../../../../protocol/events/verdict.ts';
import type { BatchCall } from '../batch-call.ts';
import type { NewVerdict } from '../recorder.ts';
import type { RunContext } from '../run-context.ts';
import { argumentsOf, assessmentOf } from './by-judge.ts';
import { clearedBy, isForbidden } from './call-need.ts';

type Rated = Pick<ApprovalItem, 'verdict' | 'heuristic_verdict'>;

/** The verdict of the rules about a call, as a question shows it. */
export function rated(run: RunContext, item: BatchCall): Rated {
  const verdict = verdictOn(run, item);
  return verdict ? { verdict, heuristic_verdict: verdict } : {};
}

/** The verdicts that a question shows, with what decides about each call. */
export const verdictsOf = (items: readonly ApprovalItem[]): NewVerdict[] =>
  items.flatMap(({ verdict, auto_approve_reason: auto }) => (verdict ? [{ verdict, ...(auto && { auto }) }] : []));

/** The verdict about a call that runs unasked although it needs approval; undefined for others. */
export function unaskedVerdict(run: RunContext, item: BatchCall): NewVerdict | undefined {
  const auto = clearedBy(run, item);
  const verdict = auto && verdictOn(run, item);
  return verdict && { verdict, auto };
}

function verdictOn(run: RunContext, item: BatchCall): Verdict | undefined {
  const { call, prepared } = item;
  const assessment = isForbidden(run, item) ? undefined : assessmentOf(run, item);
  if (assessment === undefined) return undefined;
  const { level, confidence, recommendation, summary, reasoning, evidence } = assessment;
  return {
    verdict_id: run.ids.id('vrd'),
    call_id: call.id,
    func_name: call.name,
    func_args: toShortJson(argumentsOf(prepared.canonicalArguments)),
    intent_summary: summary,
    risk_level: level,
    confidence,
    recommendation,
    reasoning,
    evidence,
    tier: 'heuristic',
    judge_model: '',
    latency_ms: 0,
  };
}

/** A verdict is stored and sent several times, so texts in it are shortened; the question has them whole. */
const MOST_TEXT = 2_000;
const MOST_JSON = 16_000;

/** Stays JSON. */
function toShortJson(args: Record<string, unknown>): string {
  const json = JSON.stringify(args, (_, value: unknown) => (typeof value === 'string' ? toShort(value) : value));
  return json.length <= MOST_JSON ? json : JSON.stringify({ '…': toShort(json) });
}

const toShort = (text: string): string =>
  text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}… (${text.length - MOST_TEXT} more characters)`;
