import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { OPERATOR, Owners, toGiftWords } from './owners.ts';
import { mayShare, type Who } from './who.ts';

const ada: Who = { userId: 'u1', username: 'ada', scopes: ['write'], permissions: ['read', 'write'] };
const admin: Who = { ...ada, userId: 'u9', permissions: ['workstreams.all'] };
const operator: Who = { userId: 'operator', scopes: ['approve'], permissions: ['workstreams.all'] };
const grace = { userId: 'u2', username: 'grace', displayName: 'Grace\u202e' };
const row = (userId: string, visibility: 'shared' | 'private' = 'shared') => ({ userId, visibility, sessionKey: 'k' });

test('names of owners are read once each; those of nobody any more are deleted users', async () => {
  const { client, answer, calls } = createFakeClient();
  answer('user.names', () => ({ users: [grace] }));
  const owners = new Owners(client);
  assert.equal(owners.onlyWords(ada, row('u2')), 'Only its owner and administrators');
  await owners.read([row(''), row('u2'), row('u2'), row('gone')]);
  await owners.read([row('u2'), row('gone')]);
  assert.deepEqual(calls, [['user.names', { userIds: ['u2', 'gone'] }]]);
  assert.deepEqual(
    [owners.otherThan(ada, row('u2')), owners.otherThan(ada, row('gone')), owners.otherThan(ada, row('u1'))],
    ['Grace\\u202e', 'a deleted user', undefined],
  );
  assert.deepEqual(
    ['u1', 'u2', '', 'unread'].map((userId) => owners.nameOf(ada, userId)),
    ['Me', 'Grace\\u202e', 'the operator', 'unread'],
  );
  assert.deepEqual([owners.otherThan(ada, row('')), owners.otherThan(operator, row(''))], ['the operator', undefined]);
  assert.deepEqual(
    [ada, operator].map((who) => [row('u1'), row('u2'), row('')].map((of) => owners.onlyWords(who, of))),
    [
      ['Only me and administrators', 'Only Grace\\u202e and administrators', 'Only the operator and administrators'],
      ['Only its owner and administrators', 'Only Grace\\u202e and administrators', 'Only me and administrators'],
    ],
  );
});

test('names that could not be read are asked for again', async () => {
  const { client, answer, calls } = createFakeClient();
  const owners = new Owners(client);
  await owners.read([row('u2')]);
  answer('user.names', () => ({ users: [grace] }));
  await owners.read([row('u2')]);
  assert.deepEqual([calls.length, owners.otherThan(ada, row('u2'))], [2, 'Grace\\u202e']);
});

test('a gift says who sees the workstream afterwards, and whether it can be taken back', () => {
  const words = [ada, admin].flatMap((who) =>
    (['private', 'shared'] as const).map((visibility) => toGiftWords(who, { visibility }, grace)),
  );
  const back = (['private', 'shared'] as const).map((visibility) => toGiftWords(admin, { visibility }, OPERATOR));
  assert.deepEqual(back, [
    'This workstream is private. Afterwards the operator and administrators see it; you are one of these.',
    'Everyone here still sees this workstream. Afterwards the operator and administrators decide who sees it; you are one of these.',
  ]);
  assert.deepEqual(words, [
    'This workstream is private. Afterwards only Grace\\u202e and administrators see it. It disappears from your list at once, and you cannot take it back.',
    'Everyone here still sees this workstream. Afterwards only Grace\\u202e and administrators decide who sees it, and you cannot take it back.',
    'This workstream is private. Afterwards Grace\\u202e and administrators see it; you are one of these.',
    'Everyone here still sees this workstream. Afterwards Grace\\u202e and administrators decide who sees it; you are one of these.',
  ]);
});

test('sharing is offered to the owner and to those who see everything, where somebody else could see it', () => {
  const main = { ...row(''), sessionKey: 'main' };
  const offered = (who: Who, of: ReturnType<typeof row>, hasUsers = true) => mayShare(who, of, hasUsers);
  assert.deepEqual([offered(ada, row('u1')), offered(ada, row('u2')), offered(admin, row('u2'))], [true, false, true]);
  assert.deepEqual(
    [offered(operator, row('')), offered(operator, row(''), false), offered(operator, row('', 'private'), false)],
    [true, false, true],
  );
  assert.equal(offered(admin, main), false);
});
