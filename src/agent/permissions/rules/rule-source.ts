import type { PolicyAction } from '../../../../protocol/events/policy-actions.ts';
import type { DecidingRule, RuleMatch } from '../../../../protocol/events/rules.ts';

/** As much of a permission rule, or of a tool policy, as decides about calls. */
export interface RuleSource {
  ruleId: string;
  source: DecidingRule['source'];
  action: PolicyAction;
  match: RuleMatch;
  place: DecidingRule['place'];
  /** The name of a tool policy. */
  name?: string;
  priority: number;
  createdAtMs: number;
}

/** At equal priority, the strictest one decides. */
const STRICTNESS: Record<PolicyAction, number> = { deny: 0, ask: 1, allow: 2 };
/** Then the one with the narrowest place. */
const NARROWNESS: Record<RuleSource['place'], number> = { workstream: 0, folder: 1, user: 2, everywhere: 3 };

/**
 * In the order in which they decide (decision 74): what denies, then by priority, strictness and narrowness of the place, then
 * the oldest.
 */
export const inRuleOrder = <R extends Pick<RuleSource, 'action' | 'priority' | 'place' | 'createdAtMs'>>(
  rules: readonly R[],
): R[] =>
  rules.toSorted(
    (a, b) =>
      Number(b.action === 'deny') - Number(a.action === 'deny') ||
      b.priority - a.priority ||
      STRICTNESS[a.action] - STRICTNESS[b.action] ||
      NARROWNESS[a.place] - NARROWNESS[b.place] ||
      a.createdAtMs - b.createdAtMs,
  );

/** The rule as items and results show it. */
export const toDecidingRule = ({ ruleId, source, action, match, place, name }: RuleSource): DecidingRule => ({
  rule_id: ruleId,
  source,
  action,
  place,
  ...(name !== undefined && { name }),
  match,
});
