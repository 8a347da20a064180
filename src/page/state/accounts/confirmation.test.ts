import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import { createFakeClient } from '../fake-client.ts';
import { Confirmation } from './confirmation.ts';

const stale = (by: string) => new RequestError('FORBIDDEN', 'stale', { details: { reason: 'step_up', by } });

function open() {
  const fake = createFakeClient();
  const confirmation = new Confirmation(fake.client);
  let isFresh = false;
  fake.answer('auth.link', () => {
    if (!isFresh) throw stale('password');
    return { url: 'u', expiresAtMs: 1 };
  });
  fake.answer('auth.confirm', ({ password }: { password: string }) => {
    if (password !== 'right') throw new RequestError('FORBIDDEN', 'The password is wrong');
    isFresh = true;
    return { status: 'ok', untilMs: 1 };
  });
  return { ...fake, confirmation, client: confirmation.guarded(fake.client, fake.isOpen) };
}

test('a refused change waits for the person, and is made after the confirmation', async () => {
  const { client, confirmation } = open();
  const both = Promise.all([client.call('auth.link', {}), client.call('auth.link', {})]);
  await new Promise(setImmediate);
  assert.equal(confirmation.asked.value, 'password');
  assert.equal(await confirmation.confirm({ password: 'wrong' }), 'The password is wrong.');
  assert.equal(confirmation.asked.value, 'password');
  assert.equal(await confirmation.confirm({ password: 'right' }), undefined);
  assert.equal(confirmation.asked.value, undefined);
  assert.deepEqual(
    (await both).map(({ url }) => url),
    ['u', 'u'],
  );
});

test('without a confirmation the change is not made', async () => {
  const { client, confirmation, calls } = open();
  const linking = client.call('auth.link', {});
  await new Promise(setImmediate);
  confirmation.cancel();
  await assert.rejects(linking, { message: 'Nothing was changed, because you did not confirm who you are.' });
  assert.equal(calls.length, 1);
});

test('other refusals reach the caller, and after many attempts the person is told to wait', async () => {
  const { client, confirmation, answer } = open();
  answer('auth.link', () => {
    throw new RequestError('FORBIDDEN', 'no');
  });
  await assert.rejects(client.call('auth.link', {}), { message: 'no' });
  assert.equal(confirmation.asked.value, undefined);
  answer('auth.confirm', () => {
    throw new RequestError('RATE_LIMITED', 'Too many login attempts', { retryAfterMs: 120_000 });
  });
  assert.equal(
    await confirmation.confirm({ password: 'x' }),
    'Too many attempts. Try again in 2 minutes. Repeated failures make the wait longer.',
  );
});
