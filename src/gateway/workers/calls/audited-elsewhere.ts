import type { Contract } from '../../../../protocol/contract.ts';
import { CONTRACTS, isMethodName } from '../../../../protocol/index.ts';
import type { CallAudit } from '../../audit/call-audit.ts';
import type { Caller } from '../../call.ts';

/** The callers of forwarded calls whose records have not begun, with what their contracts say of these. */
const expected = new WeakMap<object, Contract['audit']>();
/** The callers whose calls were recorded by their handlers. */
const recorded = new WeakSet<object>();

/** The active daemon forwards this call and records it itself, unless the handler does with its effect. */
export function leaveRecord(caller: Caller, method: string): void {
  if (isMethodName(method)) expected.set(caller, CONTRACTS[method].audit);
}

/** Whether the handler of this caller's call recorded it. */
export const wasRecorded = (caller: Caller): boolean => recorded.has(caller);

/** The audit of a worker. Calls that handlers of forwarded calls make are recorded here like any other. */
export const auditOfWorker = (audit: CallAudit): CallAudit => ({
  begin(row, call) {
    const record = audit.begin(row, call);
    const { caller } = call;
    if (expected.get(caller) !== row) return record;
    expected.delete(caller);
    return {
      audited(detail) {
        recorded.add(caller);
        return record.audited(detail);
      },
      succeeded: () => undefined,
      failed: () => undefined,
    };
  },
});
