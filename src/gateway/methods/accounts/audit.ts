import type { auditContracts } from '../../../../protocol/methods/accounts/audit.ts';
import type { AuditTrail } from '../../audit/audit-trail.ts';
import type { Handlers } from '../../call.ts';

export const auditMethods = (trail: Pick<AuditTrail, 'list' | 'verify'>): Handlers<keyof typeof auditContracts> => ({
  'audit.list': ({ limit = 50, offset = 0, ...filter }) => trail.list(filter, { limit, offset }),
  'audit.verify': () => trail.verify(),
});
