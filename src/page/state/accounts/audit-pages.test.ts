import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTRACTS } from '../../../../protocol/index.ts';
import type { AuditEvent } from '../../../../protocol/methods/accounts/audit.ts';
import { createFakeClient } from '../fake-client.ts';
import { AuditPages } from './audit-pages.ts';
import { AUDIT_ACTIONS, toDetailWords, toVerdictWords } from './audit-words.ts';

const event = (seq: number, more: Partial<AuditEvent> = {}): AuditEvent => ({
  seq,
  eventId: `aud_${seq}`,
  atMs: seq,
  userId: 'u1',
  username: 'ada',
  principal: 'user:u1',
  action: 'auth.login',
  resourceType: 'auth',
  resourceId: 'u1',
  outcome: 'ok',
  detail: '{}',
  ipAddress: '127.0.0.1',
  ...more,
});

/** A daemon whose trail grows. */
function open(count: number) {
  const fake = createFakeClient();
  const trail = Array.from({ length: count }, (_, index) => event(count - index));
  fake.answer('audit.list', ({ limit, offset }: { limit: number; offset: number }) => ({
    events: trail.slice(offset, offset + limit),
    total: trail.length,
  }));
  return { ...fake, trail, pages: new AuditPages(fake.client) };
}

test('records that are added while a person reads on are neither repeated nor make others disappear', async () => {
  const { pages, trail } = open(120);
  await pages.read();
  trail.unshift(event(122), event(121));
  await pages.more();
  await pages.more();
  const seqs = pages.listing.value?.events.map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    Array.from({ length: 120 }, (_, index) => 120 - index),
  );
  assert.equal(pages.listing.value?.hasMore, false);
});

test('a filter is sent without its empty parts, and those who acted can be chosen', async () => {
  const { pages, calls } = open(1);
  await pages.read({ action: 'auth.login', userId: '' });
  assert.deepEqual(calls, [['audit.list', { action: 'auth.login', limit: 50, offset: 0 }]]);
  assert.deepEqual([...pages.people.value], [['u1', 'ada']]);
  assert.equal(pages.actorOf(event(1, { username: '', userId: 'operator' })), 'operator');
  assert.equal(pages.actorOf(event(1, { username: '', userId: '', principal: '' })), 'nobody logged in');
});

test('users are named also where the record has no name, and can then be chosen', async () => {
  const { pages, trail, answer, calls } = open(0);
  const first = event(1, { userId: 'user_1', username: '', resourceId: 'user_1', action: 'auth.setup' });
  const gone = event(2, { userId: 'user_1', username: '', resourceId: 'user_9', action: 'user.delete' });
  trail.push(gone, event(3, { userId: 'operator', username: '' }), first);
  answer('user.names', () => ({ users: [{ userId: 'user_1', username: 'ada', displayName: 'Ada' }] }));
  await pages.read();
  await new Promise(setImmediate);
  assert.deepEqual(calls.at(-1), ['user.names', { userIds: ['user_1', 'user_9'] }]);
  assert.deepEqual([pages.actorOf(first), pages.targetOf(first), pages.targetOf(gone)], ['ada', 'ada', undefined]);
  assert.deepEqual(
    [...pages.people.value],
    [
      ['operator', 'operator'],
      ['user_1', 'ada'],
    ],
  );
});

test('the details of a record are words, in which no text can pass for another detail', () => {
  assert.equal(
    toDetailWords('{"username":"eve \\" · roles: \\"admin","roles":["viewer","editor"],"taken":[],"created":true}'),
    String.raw`username: "eve \" · roles: \"admin" · roles: "viewer", "editor" · taken: none · created: true`,
  );
  assert.equal(toDetailWords('no { JSON'), 'no { JSON');
});

test('the result of a verification is a sentence', async () => {
  const { pages, answer } = open(1);
  answer('audit.verify', () => ({ ok: true, checked: 1200 }));
  await pages.verify();
  const verdict = pages.verdict.value;
  assert.deepEqual(
    verdict && toVerdictWords(verdict),
    'Verified: all 1,200 records are as they were written, and none is missing.',
  );
  assert.equal(
    toVerdictWords({ ok: false, checked: 7, brokenAt: 8, problem: 'changed' }),
    'Not intact. Record 8: it is not as it was written. Checked: 7 records.',
  );
  assert.equal(
    toVerdictWords({ ok: false, checked: 7, signedSeq: 7, head: 'missing' }),
    'Not intact. The file with the signature is missing, so somebody removed it. Checked: 7 records.',
  );
});

test('the filter offers every action that the daemon records', () => {
  const recorded = Object.values(CONTRACTS).flatMap((row) => ('audit' in row && row.audit ? [row.audit.action] : []));
  const all = new Set<string>([...recorded, 'sessions.expire', 'command.connect', 'command.outside']); // by the daemon itself, without a call
  assert.deepEqual([...AUDIT_ACTIONS].map(String), [...all].sort());
});

test('users whom records are about are named, as long as they exist', async () => {
  const { pages, trail, answer, calls } = open(0);
  trail.push(event(3, { resourceId: 'user_2' }), event(2, { resourceId: 'user_gone' }), event(1));
  answer('user.names', () => ({ users: [{ userId: 'user_2', username: 'bob', displayName: 'Bob' }] }));
  await pages.read();
  await new Promise(setImmediate);
  assert.deepEqual(
    trail.map((each) => pages.targetOf(each)),
    ['bob', undefined, 'ada'],
  );
  assert.deepEqual(calls.at(-1), ['user.names', { userIds: ['user_2', 'user_gone'] }]);
});
