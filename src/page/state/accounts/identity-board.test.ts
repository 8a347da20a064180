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

test('a person is linked by subject, of the configured provider unless an issuer is entered', async () => {
  const { client, answer, calls } = createFakeClient();
  const board = new IdentityBoard(client);
  answer('oidc.identity.add', ({ subject }: { subject: string }) => {
    if (subject === 'taken') throw new Error('This person is a user already');
  });
  answer('oidc.identity.list', () => ({ identities: [identity('ada', '1')] }));
  const link = (issuer: string, subject: string) => board.link({ userId: 'ada', issuer, subject });
  assert.deepEqual([await link(' ', ' 1 '), board.identities.value], [undefined, [identity('ada', '1')]]);
  assert.equal(await link(' https://sso.example.com/realm ', '2'), undefined);
  assert.equal(await link('http://localhost:9000', '3'), undefined);
  assert.equal(await link('', 'taken'), 'This person is a user already');
  assert.deepEqual(
    calls.filter(([method]) => method === 'oidc.identity.add').map(([, params]) => params),
    [
      { userId: 'ada', subject: '1' },
      { userId: 'ada', subject: '2', issuer: 'https://sso.example.com/realm' },
      { userId: 'ada', subject: '3', issuer: 'http://localhost:9000' },
      { userId: 'ada', subject: 'taken' },
    ],
  );
});

test('a link without a subject, or with an issuer that no provider has, is not sent', async () => {
  const { client, calls } = createFakeClient();
  const board = new IdentityBoard(client);
  const link = (issuer: string, subject = '1') => board.link({ userId: 'ada', issuer, subject });
  assert.match((await link('', ' ')) ?? '', /^Enter the subject/);
  for (const issuer of ['sso.example.com', 'http://sso.example.com', 'ftp://localhost', 'javascript:1'])
    assert.match((await link(issuer)) ?? '', /^The issuer is not an https address/, issuer);
  for (const issuer of ['https://sso.example.com?a=1', 'https://sso.example.com/#a', 'https://ada@sso.example.com'])
    assert.match((await link(issuer)) ?? '', /^The issuer has more than an address/, issuer);
  assert.deepEqual(calls, []);
});
