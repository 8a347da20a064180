import type { RuleSource } from '../../permissions/rules/rule-source.ts';
import type { ToolRule, ToolRules } from './tool-rules.ts';

/** Finds the tool policy that decides about the names of a call, as a rule that holds everywhere. */
export function toPolicyFinder(rules: ToolRules): (names: readonly string[]) => RuleSource | undefined {
  const known = new WeakMap<ToolRule, RuleSource>();
  return (names) => {
    const policy = rules(names);
    if (policy === undefined) return undefined;
    const rule = known.get(policy) ?? toRule(policy);
    known.set(policy, rule);
    return rule;
  };
}

const toRule = ({ policyId, name, action, toolPattern, priority, createdAtMs }: ToolRule): RuleSource => ({
  ruleId: policyId,
  source: 'policy',
  action,
  match: { tool: toolPattern },
  place: 'everywhere',
  name,
  priority,
  createdAtMs,
});
