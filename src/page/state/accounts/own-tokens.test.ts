import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import { createFakeClient } from '../fake-client.ts';
import { OwnTokens } from './own-tokens.ts';
import type { Who } from './who.ts';

const ada: Who = { userId: 'u1', username: 'ada', scopes: ['approve'], permissions: [] };
const operator: Who = { userId: 'operator', scopes: ['approve'], permissions: [] };

function open(who: Who) {
  const fake = createFakeClient();
  fake.answer('token.list', () => ({
    tokens: [{ tokenId: 'mine', userId: 'u1' }, { tokenId: 'hers', userId: 'u2' }, { tokenId: 'operator’s' }],
  }));
  return { ...fake, own: new OwnTokens({ client: fake.client, who: () => who }) };
}

test('an administrator is answered with all tokens, and sees only the own ones', async () => {
  const listed = [ada, operator].map(async (who) => {
    const { own } = open(who);
    await own.read();
    return own.tokens.value?.map(({ tokenId }) => tokenId);
  });
  assert.deepEqual(await Promise.all(listed), [['mine'], ['operator’s']]);
});

test('a created token is kept until it has been stored', async () => {
  const { own, answer, calls } = open(ada);
  answer('token.create', () => ({ tokenId: 't', name: 'backup', token: 'svc_1' }));
  assert.equal(await own.create({ name: 'backup', scope: 'read' }), undefined);
  assert.deepEqual(own.created.value, { name: 'backup', token: 'svc_1' });
  own.forget();
  assert.equal(own.created.value, undefined);
  assert.deepEqual(calls, [
    ['token.create', { name: 'backup', scope: 'read' }],
    ['token.list', {}],
  ]);
});

test('a missing right is shown in words', async () => {
  const { own, answer } = open(ada);
  const refuse = () => {
    throw new RequestError('FORBIDDEN', "Forbidden: token lacks 'approve' scope");
  };
  answer('token.list', refuse);
  answer('token.revoke', refuse);
  const words = "You are not allowed to do this: token lacks 'approve' scope.";
  assert.equal(await own.revoke('mine'), words);
  assert.equal(own.reading.problem.value, words);
});
