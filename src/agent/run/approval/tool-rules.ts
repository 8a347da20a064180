import type { PolicyAction } from '../../../../protocol/events/policy-actions.ts';
import type { ToolPolicy } from '../../../../protocol/methods/admin/policy.ts';
import { toMatcher } from '../../permissions/rules/glob.ts';

/** As much of a tool policy as decides about calls. */
export type RuleSource = Pick<
  ToolPolicy,
  'policyId' | 'name' | 'toolPattern' | 'action' | 'priority' | 'enabled' | 'createdAtMs'
>;

/** The tool policy that decides about a call. */
export type ToolRule = Readonly<
  Pick<ToolPolicy, 'policyId' | 'name' | 'action' | 'toolPattern' | 'priority' | 'createdAtMs'>
>;

/** Finds the first rule that matches one of the names of a call: its tool and its approval label. */
export type ToolRules = (names: readonly string[]) => ToolRule | undefined;

const NO_RULES: ToolRules = () => undefined;

/** So many answers are kept: there are few tools, and every call asks several times. */
const MOST_KNOWN = 500;

/** At equal priority, the strictest one decides. */
const STRICTNESS: Record<PolicyAction, number> = { deny: 0, ask: 1, allow: 2 };

/** In the order in which they decide: by priority, then the strictest, then the oldest. */
export const inOrder = <P extends Pick<RuleSource, 'action' | 'priority' | 'createdAtMs'>>(
  policies: readonly P[],
): P[] =>
  policies.toSorted(
    (a, b) => b.priority - a.priority || STRICTNESS[a.action] - STRICTNESS[b.action] || a.createdAtMs - b.createdAtMs,
  );

/** Prepares policies once per change, because every call of every run asks. */
export function compileRules(policies: readonly RuleSource[]): ToolRules {
  const rules = inOrder(policies.filter(({ enabled }) => enabled)).map(({ enabled: _, ...rule }) => ({
    rule,
    fits: toMatcher(rule.toolPattern),
  }));
  if (rules.length === 0) return NO_RULES;
  const known = new Map<string, ToolRule | undefined>();
  return (names) => {
    const key = names.join('\n');
    if (known.has(key)) return known.get(key);
    if (known.size >= MOST_KNOWN) known.clear(); // models make up names
    const rule = rules.find(({ fits }) => names.some(fits))?.rule;
    known.set(key, rule);
    return rule;
  };
}
