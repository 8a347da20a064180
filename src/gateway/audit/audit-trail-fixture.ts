import { join } from 'node:path';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../testing/temp-store.ts';
import { type AuditHead, createAuditHeadFile } from './audit-head.ts';
import type { AuditRecord } from './audit-record.ts';
import { AuditTrail } from './audit-trail.ts';
import { type AuditMark, SignedEnd } from './signed-end.ts';

const SECRET = '5a'.repeat(32);

/** A trail over a real store, its home and its clock. */
export async function openTrail() {
  const clock = fakeClock(Date.UTC(2030, 0, 1));
  const home = tempDir();
  const store = await tempStore({ clock });
  const path = join(home.path, 'audit-head.json');
  const log = recordingLog();
  let marked: AuditHead | undefined;
  const mark: AuditMark = {
    read: async () => marked,
    write: async (head) => {
      marked = head;
    },
  };
  /** As a new process does. */
  const open = ({ isKeyNew = false } = {}) => {
    const end = new SignedEnd({ file: createAuditHeadFile({ path, secret: SECRET }), mark });
    return new AuditTrail({ store, end, isKeyNew, clock, log });
  };
  const trail = open();
  /** Signs what was recorded so far, as the daemon does in the background. */
  const sign = async (of = trail) => {
    const ended = new AbortController();
    const done = of.run(ended.signal);
    ended.abort();
    await done;
  };
  return {
    ...{ clock, store, path, log, open, trail, sign },
    /** Runs until old records were removed. */
    async tidy() {
      const ended = new AbortController();
      const done = trail.run(ended.signal);
      await clock.advance(16 * 60_000);
      ended.abort();
      await done;
    },
    async kept() {
      const { events } = await trail.list({}, { limit: 100, offset: 0 });
      return events.map(({ seq }) => seq);
    },
    /** As a home of an earlier version, which had no mark. */
    forgetMark: () => {
      marked = undefined;
    },
    marked: () => marked?.seq,
    add: (n: number, given: Partial<AuditRecord> = {}) => trail.append(recordOf(n, { atMs: clock.now(), ...given })),
    async [Symbol.asyncDispose]() {
      await store.close();
      home[Symbol.dispose]();
    },
  };
}

/** A record; most of its fields follow from its number. */
export const recordOf = (n: number, given: Partial<AuditRecord> = {}): AuditRecord => ({
  eventId: `aud_${n}`,
  atMs: 1_000 + n,
  userId: `user_${n % 3}`,
  username: 'ada',
  principal: 'operator',
  action: n % 2 === 0 ? 'user.create' : 'role.assign',
  resourceType: 'user',
  resourceId: `user_${n}`,
  outcome: 'ok',
  detail: '{}',
  ipAddress: '127.0.0.1',
  ...given,
});
