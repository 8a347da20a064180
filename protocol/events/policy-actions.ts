/** What a tool policy does with the calls that it matches. */
export const POLICY_ACTIONS = ['allow', 'deny', 'ask'] as const;
/** One of POLICY_ACTIONS. */
export type PolicyAction = (typeof POLICY_ACTIONS)[number];
