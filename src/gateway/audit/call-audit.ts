import type { Contract } from '../../../protocol/contract.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { AuditOutcome } from '../../../protocol/methods/accounts/audit.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { createTokenBucket } from '../../timing/token-bucket.ts';
import { type Caller, loggedAs } from '../call.ts';
import type { Statement } from '../store/store.ts';
import type { AuditDetail, AuditRecord } from './audit-record.ts';
import type { AuditTrail } from './audit-trail.ts';

/** Calls that are refused, and those of nobody in particular, must not fill the disk. */
const BOUNDED = { burst: 300, perSecond: 2 };
const MAX_ID = 128;

type AuditRow = NonNullable<Contract['audit']>;

/** The record of one call. */
export interface CallRecord {
  /** Records success in the handler's own unit. */
  audited(detail?: AuditDetail): Statement[];
  /** Records success unless the handler did. */
  succeeded(result: unknown): Promise<void> | undefined;
  failed(error: unknown): void;
}

export interface CallAudit {
  begin(row: AuditRow, call: { input: unknown; caller: Caller }): CallRecord;
}

interface CallAuditDeps {
  trail: Pick<AuditTrail, 'statementOf' | 'append'>;
  users: {
    find(userId: string): { username: string } | undefined;
    findLogin(username: string): { username: string } | undefined;
  };
  clock: Pick<Clock, 'now' | 'monotonic'>;
  ids: Pick<Ids, 'id'>;
  log: Log;
}

/** Records the calls whose contract says so. */
export function createCallAudit({ trail, users, clock, ids, log }: CallAuditDeps): CallAudit {
  const bounded = createTokenBucket({ limit: () => BOUNDED, clock });

  return {
    begin(row, { input, caller }) {
      let isTaken = false;
      const isMeant = row.when === undefined || (isRecord(input) && row.when(input));
      const toRecord = (
        outcome: AuditOutcome,
        { id, as: action = row.action, ...detail }: AuditDetail,
      ): AuditRecord => {
        const { principal, address } = caller;
        // Whoever logs in is known only afterwards.
        const userId = principal?.userId ?? principal?.id ?? (outcome === 'ok' ? (id ?? '') : '');
        return {
          eventId: ids.id('aud'),
          atMs: clock.now(),
          userId,
          username: users.find(userId)?.username ?? '',
          principal: principal?.id ?? '',
          action,
          resourceType: row.of ?? action.slice(0, action.indexOf('.')),
          resourceId: id?.slice(0, MAX_ID) ?? '',
          outcome,
          detail: JSON.stringify(detail),
          ipAddress: address,
        };
      };
      return {
        audited(detail = {}) {
          isTaken = true;
          const id = detail.id ?? idIn(row, input);
          return [trail.statementOf(toRecord('ok', { ...detail, ...(id !== undefined && { id }) }))];
        },
        succeeded(result) {
          if (isTaken || row.by === 'handler' || !isMeant) return undefined;
          if (caller.principal === undefined && bounded.take() > 0) return undefined;
          const id = idIn(row, input) ?? idIn(row, result);
          return trail.append(toRecord('ok', id === undefined ? {} : { id }));
        },
        failed(error) {
          const code = error instanceof GatewayError ? error.code : 'INTERNAL';
          if (code === 'INVALID_REQUEST' || !isMeant || bounded.take() > 0) return;
          const outcome = code === 'FORBIDDEN' || code === 'UNAUTHORIZED' ? 'denied' : 'failed';
          const id = idIn(row, input);
          const detail = { ...(id !== undefined && { id }), ...typedIn(row, input, users), code };
          trail.append(toRecord(outcome, detail)).catch((err: unknown) => {
            log.warn({ err, action: row.action, ...loggedAs(caller) }, 'a refused call could not be recorded');
          });
        },
      };
    },
  };
}

/** The user whom somebody tried to be. Other texts are not kept: a password typed into the wrong field is one of them. */
function typedIn({ username }: AuditRow, fields: unknown, users: CallAuditDeps['users']): Record<string, string> {
  const typed = username !== undefined && isRecord(fields) ? fields[username] : undefined;
  if (typeof typed !== 'string' || typed === '') return {};
  const user = users.findLogin(typed);
  return user === undefined ? { reason: 'unknown user' } : { username: user.username };
}

function idIn({ id }: AuditRow, fields: unknown): string | undefined {
  const found = id !== undefined && isRecord(fields) ? fields[id] : undefined;
  return typeof found === 'string' ? found : undefined;
}
