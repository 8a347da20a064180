import type { BatchCall } from '../batch-call.ts';
import { BLOCKED_BY_MODE, blockedByPolicy, blockedByRule } from '../result-texts.ts';
import type { CallRuling } from './call-ruling.ts';

/** What the model reads about a blocked call. Without a rule, the mode or a rule that is gone blocked it. */
export function blockedText({ call }: BatchCall, { reason, rule }: CallRuling): string {
  if (reason === 'mode') return BLOCKED_BY_MODE;
  return rule?.source === 'rule' ? blockedByRule(call.name) : blockedByPolicy(call.name);
}
