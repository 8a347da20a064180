import type { CallAudit } from '../audit/call-audit.ts';
import type { Caller } from '../call.ts';

/** The callers whose calls were recorded by their handlers. */
const recorded = new WeakSet<object>();

/** Whether the handler of this caller's call recorded it. */
export const wasRecorded = (caller: Caller): boolean => recorded.has(caller);

/** For calls that the active daemon forwards: it records them itself, except those that their handlers record with their effect. */
export const auditOfHandlers = (audit: CallAudit): CallAudit => ({
  begin(row, call) {
    const record = audit.begin(row, call);
    return {
      audited(detail) {
        recorded.add(call.caller);
        return record.audited(detail);
      },
      succeeded: () => undefined,
      failed: () => undefined,
    };
  },
});
