import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { IdentityBoard } from './identity-board.ts';

const identity = (userId: string, subject: string) => ({
  ...{ issuer: 'https://sso.example.com', subject, userId },
  ...{ createdAtMs: 0, lastLoginAtMs: null },
});

test('only the identities of the user that was asked for last are shown', async () => {
  const { client, answer } = createFakeClient();
  const board = new IdentityBoard(client);
  const slow = Promise.withResolvers<unknown>();
  answer('oidc.identity.list', ({ userId }: { userId: string }) =>
    userId === 'ada' ? slow.promise : { identities: [identity('bob', '2')] },
  );
  const first = board.read('ada');
  await board.read('bob');
  slow.resolve({ identities: [identity('ada', '1')] });
  await first;
  assert.deepEqual(board.identities.value, [identity('bob', '2')]);
});

test('an unlinked identity is gone; a refusal leaves it, and is returned in words', async () => {
  const { client, answer, calls } = createFakeClient();
  const board = new IdentityBoard(client);
  let listed = [identity('ada', '1')];
  answer('oidc.identity.list', () => ({ identities: listed }));
  answer('oidc.identity.remove', () => {
    throw new Error('Identity not found');
  });
  await board.read('ada');
  assert.equal(await board.unlink(identity('ada', '1')), 'Identity not found');
  assert.equal(board.identities.value.length, 1);
  answer('oidc.identity.remove', () => {
    listed = [];
    return { status: 'ok' };
  });
  assert.equal(await board.unlink(identity('ada', '1')), undefined);
  assert.deepEqual(board.identities.value, []);
  assert.deepEqual(calls.filter(([method]) => method === 'oidc.identity.remove').at(-1)?.[1], {
    issuer: 'https://sso.example.com',
    subject: '1',
  });
});
