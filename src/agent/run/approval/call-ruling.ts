import type { AutoApproveReason } from '../../../../protocol/events/approval-item.ts';
import type { Ruling, Taint } from '../../../../protocol/events/rules.ts';
import type { RuleSource } from '../../permissions/rules/rule-source.ts';

/** What is decided about a call, and why. */
export interface CallRuling extends Pick<Ruling, 'verdict' | 'reason'> {
  rule?: RuleSource;
  taint?: Taint;
  /** Why a call that needs approval runs unasked. */
  auto?: AutoApproveReason;
  /** The verdict of the judge's model may answer the question about it. */
  awaitsJudge?: true;
}
