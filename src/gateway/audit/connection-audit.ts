import type { CommandConnection, OutsideCommand } from '../../agent/tools/shell/bash-arguments.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { AuditRecord } from './audit-record.ts';
import type { AuditTrail } from './audit-trail.ts';

interface ConnectionAuditDeps {
  trail: Pick<AuditTrail, 'append'>;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  log: Log;
}

const OUTCOMES = { connected: 'ok', refused: 'denied', address: 'denied', failed: 'failed' } as const;

/** Records what commands connect to, each host of a command once with how it ended, and which commands leave the sandbox. */
export function createCommandAudit({ trail, clock, ids, log }: ConnectionAuditDeps) {
  const append = ({ wsId, callId }: OutsideCommand, what: What): void => {
    const { action, resourceType, resourceId, outcome, detail } = what;
    const record = {
      eventId: ids.id('aud'),
      atMs: clock.now(),
      userId: 'daemon',
      username: '',
      principal: 'daemon',
      action,
      resourceType,
      resourceId,
      outcome,
      detail: JSON.stringify({ wsId, callId, ...detail }),
      ipAddress: '',
    };
    trail.append(record).catch((err: unknown) => {
      log.warn({ err, action, resourceId }, 'what a command did could not be recorded');
    });
  };
  return {
    onConnection(connection: CommandConnection): void {
      const { host, port, outcome, rule } = connection;
      append(connection, {
        action: 'command.connect',
        resourceType: 'host',
        resourceId: `${host}:${port}`,
        outcome: OUTCOMES[outcome],
        detail: {
          ...(outcome === 'address' && { reason: 'private or reserved address' }),
          ...(rule !== undefined && { ruleId: rule }),
        },
      });
    },
    onOutside(command: OutsideCommand): void {
      append(command, {
        action: 'command.outside',
        resourceType: 'workstream',
        resourceId: command.wsId,
        outcome: 'ok',
        detail: {},
      });
    },
  };
}

type What = Pick<AuditRecord, 'action' | 'resourceType' | 'resourceId' | 'outcome'> & {
  detail: Readonly<Record<string, string>>;
};
