import { toMatcher } from '../../permissions/rules/glob.ts';
import type { BatchCall } from '../batch-call.ts';
import { BLOCKED_BY_MODE, blockedByHook, blockedByPolicy, blockedByRule } from '../result-texts.ts';
import type { CallRuling } from './call-ruling.ts';

/** What the model reads about a blocked call. Without a rule, the mode or a rule that is gone blocked it. */
export function blockedText(item: BatchCall, { reason, rule }: CallRuling): string {
  if (reason === 'mode') return BLOCKED_BY_MODE;
  if (reason === 'hook') return blockedByHook(item.blockedByHook ?? '');
  const tool = toolMeant(item, rule);
  return rule?.source === 'rule' ? blockedByRule(tool) : blockedByPolicy(tool);
}

/** The name of the tool that the rule is about: `use_tool` may have been called, and `watch` would run `bash` later. */
export function toolMeant({ call, prepared, ruled }: BatchCall, rule: CallRuling['rule']): string {
  const pattern = rule?.match.tool;
  const fits = pattern === undefined ? () => false : toMatcher(pattern);
  const later = ruled.names.some(fits) ? undefined : ruled.later?.names.find(fits);
  return later ?? (prepared.kind === 'ready' ? prepared.calls : undefined) ?? call.name;
}
