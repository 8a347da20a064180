import type { BatchCall } from '../batch-call.ts';
import { BLOCKED_BY_MODE, blockedByHook, blockedByPolicy, blockedByRule } from '../result-texts.ts';
import type { CallRuling } from './call-ruling.ts';

/** What the model reads about a blocked call. Without a rule, the mode or a rule that is gone blocked it. */
export function blockedText({ call, blockedByHook: said = '' }: BatchCall, { reason, rule }: CallRuling): string {
  if (reason === 'mode') return BLOCKED_BY_MODE;
  if (reason === 'hook') return blockedByHook(said);
  return rule?.source === 'rule' ? blockedByRule(call.name) : blockedByPolicy(call.name);
}
