/** What a tool policy does with the calls that it matches. */
export const POLICY_ACTIONS = ['allow', 'deny', 'ask'] as const;
/** What a card says about a call before the name of the policy that decided. */
export const POLICY_WORDS: Record<PolicyAction, string> = {
  allow: 'allowed by policy',
  deny: 'blocked by policy',
  ask: 'asked by policy',
};

/** One of POLICY_ACTIONS. */
export type PolicyAction = (typeof POLICY_ACTIONS)[number];
