import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAuditHeadFile } from '../../src/gateway/audit/audit-head.ts';
import type { AuditRecord } from '../../src/gateway/audit/audit-record.ts';
import { AuditTrail } from '../../src/gateway/audit/audit-trail.ts';
import { auditDigest } from '../../src/gateway/store/audit-digest.ts';
import type { AuditTable } from '../../src/gateway/store/schema/user-schema.ts';
import { build, statementOf } from '../../src/gateway/store/statements.ts';
import type { Statement } from '../../src/gateway/store/store.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../src/testing/temp-store.ts';

/** How many damaged trails are checked; all have to be found. `npm run audit-mutations` checks 10 000. */
const MUTATIONS = Number(process.env.AUDIT_MUTATIONS ?? 400);
const RECORDS = 40;
const NOW_MS = Date.UTC(2030, 0, 1);

test('every change of a stored audit trail is found, with its place', async () => {
  const clock = fakeClock(NOW_MS);
  using home = tempDir();
  await using store = await tempStore({ clock });
  const head = createAuditHeadFile({ path: join(home.path, 'audit-head.json'), secret: '5a'.repeat(32) });
  const trail = new AuditTrail({ store, head, clock, log: recordingLog() });
  for (let n = 0; n < RECORDS; n += 1) await trail.append(recordOf(n));
  await sign(trail);
  const kept = await store.db.selectFrom('audit').selectAll().orderBy('seq').execute();
  const restored = [
    statementOf(build.deleteFrom('audit')),
    ...kept.map((row) => statementOf(build.insertInto('audit').values(row))),
  ];
  const random = seeded(7);
  for (let n = 0; n < MUTATIONS; n += 1) {
    const [name, mutate] = MUTATE[n % MUTATE.length] ?? assert.fail();
    const seq = 1 + Math.floor(random() * RECORDS);
    const { statements, brokenAt } = mutate(kept, seq, random);
    await store.commit({ statements });
    const { ok, checked, brokenAt: found } = await trail.verify();
    assert.deepEqual([ok, found, checked], [false, brokenAt, brokenAt - 1], `${name} of record ${seq}`);
    await store.commit({ statements: restored });
  }
  assert.deepEqual(await trail.verify(), { ok: true, checked: RECORDS });
});

interface Mutation {
  statements: Statement[];
  brokenAt: number;
}

type Mutate = (rows: readonly AuditTable[], seq: number, random: () => number) => Mutation;

const setRow = ({ seq, ...columns }: AuditTable): Statement =>
  statementOf(build.updateTable('audit').set(columns).where('seq', '=', seq));

const COLUMNS = ['body_json', 'digest', 'at_ms', 'action', 'user_id'] as const;

const flip: Mutate = (rows, seq, random) => {
  const column = COLUMNS[Math.floor(random() * COLUMNS.length)] ?? 'digest';
  const row = rows[seq - 1] ?? assert.fail();
  const text = String(row[column]);
  const at = Math.floor(random() * text.length);
  const changed = `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`;
  return {
    statements: [setRow({ ...row, [column]: column === 'at_ms' ? Number(changed) : changed })],
    brokenAt: seq,
  };
};

const remove: Mutate = (_rows, seq) => ({
  statements: [statementOf(build.deleteFrom('audit').where('seq', '=', seq))],
  brokenAt: seq,
});

const truncate: Mutate = (_rows, seq) => ({
  statements: [statementOf(build.deleteFrom('audit').where('seq', '>=', seq))],
  brokenAt: seq,
});

const swap: Mutate = (rows, seq) => {
  const [one, other] = [rows[seq - 1] ?? assert.fail(), rows[seq % RECORDS] ?? assert.fail()];
  return {
    statements: [setRow({ ...other, seq: one.seq }), setRow({ ...one, seq: other.seq })],
    brokenAt: Math.min(one.seq, other.seq),
  };
};

/** By somebody who knows how digests are made, but not the key that signs the last one. */
const rewrite: Mutate = (rows, seq) => {
  let before = rows[seq - 2]?.digest ?? '';
  const statements = rows.slice(seq - 1).map((row) => {
    const body_json = row.seq === seq ? row.body_json.replace('ada', 'eve') : row.body_json;
    before = auditDigest(before, row.seq, body_json);
    return setRow({ ...row, body_json, digest: before });
  });
  return { statements, brokenAt: RECORDS };
};

const MUTATE = Object.entries({ flip, remove, truncate, swap, rewrite });

async function sign(trail: AuditTrail): Promise<void> {
  const ended = new AbortController();
  const done = trail.run(ended.signal);
  ended.abort();
  await done;
}

const recordOf = (n: number): AuditRecord => ({
  eventId: `aud_${n}`,
  atMs: NOW_MS + n,
  ...{ userId: `user_${n % 3}`, username: 'ada', principal: 'operator' },
  ...{ action: n % 2 === 0 ? 'user.create' : 'role.assign', resourceType: 'user', resourceId: `user_${n}` },
  ...{ outcome: 'ok', detail: '{}', ipAddress: '127.0.0.1' },
});

/** The same numbers in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
