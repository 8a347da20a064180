import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAuditHeadFile } from '../../src/gateway/audit/audit-head.ts';
import type { AuditRecord } from '../../src/gateway/audit/audit-record.ts';
import { AuditTrail } from '../../src/gateway/audit/audit-trail.ts';
import { SignedEnd } from '../../src/gateway/audit/signed-end.ts';
import { openSecrets } from '../../src/gateway/auth/secrets.ts';
import { auditDigest } from '../../src/gateway/store/audit-digest.ts';
import type { AuditTable } from '../../src/gateway/store/schema/user-schema.ts';
import { build, statementOf } from '../../src/gateway/store/statements.ts';
import type { Statement } from '../../src/gateway/store/store.ts';
import { openTestVault } from '../../src/gateway/testing/test-vault.ts';
import { randomIds } from '../../src/ids.ts';
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
  const log = recordingLog();
  const path = join(home.path, 'audit-head.json');
  /** As a new process does, with what is in the files. */
  const open = async () => {
    const { auditSecret, auditMark, isAuditSecretNew } = await openSecrets({
      ...{ home: home.path, environment: {}, ids: randomIds, clock, log },
      vault: await openTestVault(store, home.path),
    });
    const end = new SignedEnd({ file: createAuditHeadFile({ path, secret: auditSecret }), mark: auditMark });
    return new AuditTrail({ store, end, isKeyNew: isAuditSecretNew, clock, log });
  };
  const writer = await open();
  for (let n = 0; n < RECORDS / 2; n += 1) await writer.append(recordOf(n));
  await sign(writer);
  const older = await readFile(path, 'utf8');
  for (let n = RECORDS / 2; n < RECORDS; n += 1) await writer.append(recordOf(n));
  await sign(writer);
  const newest = await readFile(path, 'utf8');
  const kept = await store.db.selectFrom('audit').selectAll().orderBy('seq').execute();
  const restored = [
    statementOf(build.deleteFrom('audit')),
    ...kept.map((row) => statementOf(build.insertInto('audit').values(row))),
  ];
  const random = seeded(7);
  for (let n = 0; n < MUTATIONS; n += 1) {
    const [name, mutate] = MUTATE[n % MUTATE.length] ?? assert.fail();
    const seq = 1 + Math.floor(random() * RECORDS);
    const { statements, brokenAt, head } = mutate(kept, seq, random);
    await store.commit({ statements });
    if (head === 'missing') await rm(path);
    if (head === 'older') await writeFile(path, older, { mode: 0o600 });
    const { ok, checked, brokenAt: found, head: told } = await (await open()).verify();
    const expected = [false, brokenAt, (brokenAt ?? RECORDS + 1) - 1, head];
    assert.deepEqual([ok, found, checked, told], expected, `${name} of record ${seq}`);
    await store.commit({ statements: restored });
    if (head !== undefined) await writeFile(path, newest, { mode: 0o600 });
  }
  assert.deepEqual(await (await open()).verify(), { ok: true, checked: RECORDS });
});

interface Mutation {
  statements: Statement[];
  /** Undefined: all records are as they were written. */
  brokenAt?: number;
  /** What becomes of the file with the signature. */
  head?: 'missing' | 'older';
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

const unsign: Mutate = () => ({ statements: [], head: 'missing' });

const unsignAndTruncate: Mutate = (...given) => ({ ...truncate(...given), head: 'missing' });

const removeEverything: Mutate = () => ({
  statements: [statementOf(build.deleteFrom('audit'))],
  ...{ brokenAt: 1, head: 'missing' },
});

const takeBack: Mutate = () => ({ statements: [], head: 'older' });

/** The older head fits the records that are left. */
const takeBackAndTruncate: Mutate = (rows, _seq, random) => ({
  ...truncate(rows, RECORDS / 2 + 1, random),
  head: 'older',
});

const MUTATE = Object.entries({
  ...{ flip, remove, truncate, swap, rewrite },
  ...{ unsign, unsignAndTruncate, removeEverything, takeBack, takeBackAndTruncate },
});

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
