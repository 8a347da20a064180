import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../testing/temp-store.ts';
import { type AuditHead, createAuditHeadFile } from './audit-head.ts';
import type { AuditRecord } from './audit-record.ts';
import { AuditTrail } from './audit-trail.ts';
import { SignedEnd } from './signed-end.ts';

test('a key that was lost before the first record is no attack; one that was lost after it is reported', async () => {
  const clock = fakeClock(Date.UTC(2030, 0, 1));
  using home = tempDir();
  const path = join(home.path, 'audit-head.json');
  let marked: AuditHead | undefined;
  const mark = {
    read: async () => marked,
    async write(head: AuditHead) {
      marked = head;
    },
  };
  /** A start whose database and key are new; records so many things, and returns what it reports. */
  const start = async (secret: string, records: number) => {
    await using store = await tempStore({ clock });
    const end = new SignedEnd({ file: createAuditHeadFile({ path, secret: secret.repeat(32) }), mark });
    const trail = new AuditTrail({ store, end, isKeyNew: true, clock, log: recordingLog() });
    const codes: string[] = [];
    await trail.recover(({ code }) => codes.push(code));
    for (let n = 0; n < records; n += 1) await trail.append({ ...RECORD, eventId: `aud_${n}`, atMs: clock.now() });
    await trail.run(AbortSignal.abort());
    return [codes, (await trail.verify()).ok];
  };
  assert.deepEqual(await start('5a', 0), [[], true]);
  assert.deepEqual(await start('6b', 2), [[], true]);
  assert.deepEqual(await start('7c', 0), [['audit_damaged'], false]);
});

const RECORD: Omit<AuditRecord, 'eventId' | 'atMs'> = {
  ...{ userId: '', username: '', principal: 'operator', action: 'token.create', resourceType: 'token', resourceId: '' },
  outcome: 'ok',
  ...{ detail: '{}', ipAddress: '' },
};
