import type { CommandConnection } from '../../agent/tools/bash.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { AuditTrail } from './audit-trail.ts';

interface ConnectionAuditDeps {
  trail: Pick<AuditTrail, 'append'>;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  log: Log;
}

const OUTCOMES = { connected: 'ok', refused: 'denied', address: 'denied', failed: 'failed' } as const;

/** Records what commands connect to: each host of a command once, with how it ended. */
export function createConnectionAudit({ trail, clock, ids, log }: ConnectionAuditDeps) {
  return ({ wsId, callId, host, port, outcome }: CommandConnection): void => {
    const record = {
      eventId: ids.id('aud'),
      atMs: clock.now(),
      userId: 'daemon',
      username: '',
      principal: 'daemon',
      action: 'command.connect',
      resourceType: 'host',
      resourceId: `${host}:${port}`,
      outcome: OUTCOMES[outcome],
      detail: JSON.stringify({ wsId, callId, ...(outcome === 'address' && { reason: 'private or reserved address' }) }),
      ipAddress: '',
    };
    trail.append(record).catch((err: unknown) => {
      log.warn({ err, host, port }, 'a connection of a command could not be recorded');
    });
  };
}
