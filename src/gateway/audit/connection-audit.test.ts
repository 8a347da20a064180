import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import type { AuditRecord } from './audit-record.ts';
import { createCommandAudit } from './connection-audit.ts';

test('a connection is recorded with its call and how it ended; a failed write is logged', async () => {
  const records: AuditRecord[] = [];
  const log = recordingLog();
  const append = async (record: AuditRecord) => {
    records.push(record);
    if (records.length === 3) throw new Error('the disk is full');
  };
  const { onConnection: record } = createCommandAudit({
    trail: { append },
    clock: fakeClock(7),
    ids: { id: () => 'aud_1' },
    log,
  });
  for (const outcome of ['connected', 'address', 'failed'] as const)
    record({ wsId: 'ws', callId: 'call', host: 'example.com', port: 443, outcome });
  await new Promise(setImmediate);
  assert.deepEqual(
    records.map(({ atMs, action, resourceId, outcome, detail }) => ({
      atMs,
      action,
      resourceId,
      outcome,
      ...JSON.parse(detail),
    })),
    [{ outcome: 'ok' }, { outcome: 'denied', reason: 'private or reserved address' }, { outcome: 'failed' }].map(
      (own) => ({
        atMs: 7,
        action: 'command.connect',
        resourceId: 'example.com:443',
        wsId: 'ws',
        callId: 'call',
        ...own,
      }),
    ),
  );
  assert.match(log.lines.join(), /could not be recorded/);
});
