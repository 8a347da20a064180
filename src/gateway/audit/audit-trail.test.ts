import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Notice } from '../../../protocol/notice.ts';
import { UnitRefused } from '../store/store.ts';
import { type AuditFilter, findAudit } from './audit-pages.ts';
import type { AuditTrail } from './audit-trail.ts';
import { openTrail, recordOf } from './audit-trail-fixture.ts';

test('records are numbered without gaps, listed newest first, and filtered', async () => {
  await using world = await openTrail();
  for (let n = 0; n < 10; n += 1) await world.add(n, { atMs: n });
  const page = await world.trail.list({}, { limit: 3, offset: 1 });
  assert.deepEqual([page.total, page.events.map(({ seq }) => seq)], [10, [9, 8, 7]]);
  const of = async (filter: Parameters<AuditTrail['list']>[0]) => {
    const { events, total } = await world.trail.list(filter, { limit: 100, offset: 0 });
    assert.equal(events.length, total);
    return events.map(({ eventId }) => eventId);
  };
  assert.deepEqual(await of({ action: 'user.create', userId: 'user_0' }), ['aud_6', 'aud_0']);
  assert.deepEqual(await of({ sinceMs: 3, untilMs: 4 }), ['aud_4', 'aud_3']);
  assert.deepEqual(await of({ outcome: 'denied' }), []);
});

test('a page is the same however many records are looked at in one turn', async () => {
  await using world = await openTrail();
  for (let n = 0; n < 30; n += 1) await world.add(n, { atMs: n, outcome: n % 5 === 0 ? 'denied' : 'ok' });
  const filters: AuditFilter[] = [
    { sinceMs: 4, untilMs: 23 },
    { action: 'user.create', outcome: 'ok' },
    { action: 'role.assign', userId: 'user_1', sinceMs: 7 },
    { userId: 'user_2', outcome: 'failed' },
  ];
  const pages = [
    { limit: 4, offset: 0 },
    { limit: 3, offset: 2 },
    { limit: 50, offset: 5 },
    { limit: 5, offset: 90 },
  ];
  for (const filter of filters)
    for (const page of pages) {
      const all = await findAudit(world.store.db, filter, { limit: 100, offset: 0 });
      const seqs = all.rows.slice(page.offset, page.offset + page.limit).map(({ seq }) => seq);
      for (const atOnce of [1, 7, 100]) {
        const { rows, total } = await findAudit(world.store.db, filter, { ...page, atOnce });
        assert.deepEqual([rows.map(({ seq }) => seq), total], [seqs, all.rows.length]);
      }
    }
});

test('a record is stored only with what it records, and refused units leave no gap', async () => {
  await using world = await openTrail();
  const refused = { sql: 'update users set version = 2 where user_id = ?', parameters: ['nobody'], expect: 1 };
  const units = [
    world.store.commit({ statements: [world.trail.statementOf(recordOf(1))] }),
    world.store.commit({ statements: [world.trail.statementOf(recordOf(2)), refused] }),
    world.store.commit({ statements: [world.trail.statementOf(recordOf(3))] }),
  ];
  const [, second] = await Promise.allSettled(units);
  assert.ok(second?.status === 'rejected' && second.reason instanceof UnitRefused);
  const { events } = await world.trail.list({}, { limit: 10, offset: 0 });
  assert.deepEqual(
    events.map(({ seq, eventId }) => [seq, eventId]),
    [
      [2, 'aud_3'],
      [1, 'aud_1'],
    ],
  );
  assert.deepEqual(await world.trail.verify(), { ok: true, checked: 2 });
});

test('a trail that was cut off is reported at the next start, and its head is not signed again', async () => {
  await using world = await openTrail();
  for (let n = 0; n < 5; n += 1) await world.add(n);
  await world.sign();
  const signed = await readFile(world.path, 'utf8');
  const { db } = world.store;
  await world.store.commit({ statements: [db.deleteFrom('audit').where('seq', '>=', 4).compile()] });
  const notices: Notice[] = [];
  const next = world.open();
  await next.recover((notice) => notices.push(notice));
  assert.deepEqual(
    notices.map(({ code }) => code),
    ['audit_damaged'],
  );
  for (let n = 5; n < 9; n += 1) await next.append(recordOf(n));
  await world.sign(next);
  assert.equal(await readFile(world.path, 'utf8'), signed);
  assert.deepEqual(await next.verify(), { ok: false, checked: 4, brokenAt: 5, problem: 'changed', signedSeq: 5 });
});

test('the file with the signature cannot be removed, changed or replaced unnoticed', async () => {
  await using world = await openTrail();
  await world.add(1);
  await world.sign();
  const problemAt = async () => {
    const notices: Notice[] = [];
    await world.open().recover((notice) => notices.push(notice));
    return notices.map(({ text }) => text);
  };
  assert.deepEqual(await problemAt(), []);
  const signed = JSON.parse(await readFile(world.path, 'utf8'));
  await writeFile(world.path, JSON.stringify({ ...signed, seq: 0, digest: '' }), { mode: 0o600 });
  assert.match((await problemAt()).join(), /the signature of its last record is wrong/);
  assert.deepEqual(await world.trail.verify(), { ok: false, checked: 0, problem: 'signature' });
  await rm(world.path);
  assert.match((await problemAt()).join(), /the file with its signature is missing/);
  const missing = { ok: false, checked: 1, signedSeq: 1, head: 'missing' };
  assert.deepEqual([await world.trail.verify(), await world.open().verify()], [missing, missing]);
});

test('a trail of which everything was removed but the mark does not begin anew', async () => {
  await using world = await openTrail();
  for (let n = 0; n < 3; n += 1) await world.add(n);
  await world.sign();
  await world.store.commit({ statements: [world.store.db.deleteFrom('audit').compile()] });
  await rm(world.path);
  const next = world.open();
  const notices: Notice[] = [];
  await next.recover((notice) => notices.push(notice));
  assert.match(
    notices[0]?.text ?? '',
    /the file with its signature is missing, and record 3 is missing or was changed/,
  );
  await next.append(recordOf(1));
  await world.sign(next);
  assert.deepEqual(await next.verify(), {
    ...{ ok: false, checked: 1, brokenAt: 2, problem: 'truncated', signedSeq: 3, head: 'missing' },
  });
});

test('while the daemon works, removing the file and the mark begins no new trail either', async () => {
  await using world = await openTrail();
  for (let n = 0; n < 3; n += 1) await world.add(n);
  await world.sign();
  await rm(world.path);
  world.forgetMark();
  await world.add(3);
  await world.sign();
  assert.deepEqual(await world.trail.verify(), { ok: false, checked: 4, signedSeq: 3, head: 'missing' });
});

test('a home of an earlier version gets its mark, and one that never had a signature gets one', async () => {
  await using world = await openTrail();
  await world.add(1);
  await world.sign();
  world.forgetMark();
  await world.open().recover(() => assert.fail('nothing is wrong'));
  assert.equal(world.marked(), 1);
  world.forgetMark();
  await rm(world.path);
  const next = world.open();
  const notices: Notice[] = [];
  await next.recover((notice) => notices.push(notice));
  assert.deepEqual(
    notices.map(({ code }) => code),
    ['audit_unsigned'],
  );
  assert.deepEqual([await next.verify(), world.marked()], [{ ok: true, checked: 1 }, 1]);
});

test('records without a signature, and a key that was made just now, were left by somebody who removed both', async () => {
  await using world = await openTrail();
  await world.add(1);
  await world.sign();
  world.forgetMark();
  await rm(world.path);
  const next = world.open({ isKeyNew: true });
  const notices: Notice[] = [];
  await next.recover((notice) => notices.push(notice));
  assert.match(notices[0]?.text ?? '', /the file with its signature and the key for it are missing/);
  assert.deepEqual(await next.verify(), { ok: false, checked: 1, head: 'missing' });
});

test('a new home is signed before its first record, so that a kill right after that is not mistaken for an attack', async () => {
  await using world = await openTrail();
  await world.trail.recover(() => assert.fail('nothing is wrong'));
  await world.add(1); // killed before its signature
  const next = world.open({ isKeyNew: false });
  await next.recover(() => assert.fail('nothing is wrong'));
  assert.deepEqual(await next.verify(), { ok: true, checked: 1 });
});

test('records of an earlier start are continued, also after a kill before their signature', async () => {
  await using world = await openTrail();
  await world.add(1);
  await world.sign();
  await world.add(2); // not signed any more
  const next = world.open();
  await next.recover(() => assert.fail('nothing is wrong'));
  await next.append(recordOf(3));
  await world.sign(next);
  assert.deepEqual(await next.verify(), { ok: true, checked: 3 });
});
