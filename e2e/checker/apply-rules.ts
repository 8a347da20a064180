/** What the rules of a table find in the evidence, each finding with the name of its rule. */
export const applyRules = <E, F extends object>(
  rules: Record<string, (evidence: E) => Iterable<F>>,
  evidence: E,
): ({ rule: string } & F)[] =>
  Object.entries(rules).flatMap(([rule, find]) => [...find(evidence)].map((finding) => ({ rule, ...finding })));
