import type { Rule } from '../../../protocol/methods/admin/rule.ts';
import type { AuditDetail } from '../audit/audit-record.ts';

/** A rule as the audit trail has it. What it matches in a workstream may be a text of a private conversation. */
export const toRuleRecord = ({
  ruleId,
  action,
  match,
  wsId,
  folder,
  userId,
  priority,
  expiresAtMs,
  given,
}: Rule): AuditDetail => ({
  id: ruleId,
  action,
  ...(wsId === undefined && given === undefined && { match }),
  ...(wsId !== undefined && { wsId }),
  ...(folder !== undefined && { folder }),
  ...(userId !== undefined && { userId }),
  priority,
  ...(expiresAtMs !== undefined && { expiresAtMs }),
});
