import { auditEndpoints } from '../../../../protocol/http/accounts/audit.ts';
import { bind, given } from '../../bind.ts';
import { iso, momentOf } from '../../iso.ts';

export const auditRoutes = [
  bind(auditEndpoints.list, 'audit.list', {
    params: ({ action, user_id, since, until, limit, offset }) => ({
      action: given(action),
      userId: given(user_id),
      sinceMs: momentOf(since),
      untilMs: momentOf(until),
      limit,
      offset,
    }),
    fieldNames: { sinceMs: 'since', untilMs: 'until' },
    reply: ({ events, total }) => ({
      events: events.map((event) => ({
        event_id: event.eventId,
        timestamp: iso(event.atMs),
        user_id: event.userId,
        username: event.username,
        action: event.action,
        resource_type: event.resourceType,
        resource_id: event.resourceId,
        detail: event.detail,
        ip_address: event.ipAddress,
        outcome: event.outcome,
        created: iso(event.atMs),
      })),
      total,
    }),
  }),
];
