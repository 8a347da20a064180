import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { toDistance } from '../text/moment.ts';

/**
 * When a rule ends. What a person allows in a workstream ends with its conversation, even if it has another end; what is
 * blocked or asked about there stays as long as the workstream.
 */
export function toEndWords(
  { action, wsId, expiresAtMs }: Pick<Rule, 'action' | 'wsId' | 'expiresAtMs'>,
  nowMs: number,
) {
  const end = expiresAtMs === undefined ? undefined : `ends ${toDistance(expiresAtMs, nowMs)}`;
  if (wsId === undefined) return end ?? 'no end';
  if (action === 'allow') return end === undefined ? 'ends with the conversation' : `${end}, or with the conversation`;
  return end ?? 'ends when the workstream is deleted';
}
