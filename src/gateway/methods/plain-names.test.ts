import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../testing/whole-gateway.ts';

const password = 'correct horse';

test('no name that others are shown has a line end or turns the writing direction', async () => {
  await using gateway = await wholeGateway();
  const { call } = gateway;
  const creations = (name: string) => [
    () => call('template.create', { name, content: 'x' }),
    () => call('wstemplate.create', { name }),
    () => call('policy.create', { name, toolPattern: '*', action: 'ask' }),
    () => call('memory.save', { name, content: 'x' }),
    () => call('user.create', { username: 'ada', displayName: name, password }),
    () => call('role.create', { name: 'some', displayName: name, permissions: [] }),
  ];
  for (const name of ['two\nlines', 'gpj.\u202eexe', 'bell\u0007'])
    for (const create of creations(name))
      await assert.rejects(create, { code: 'INVALID_REQUEST', message: /must be one line/ });
  for (const create of creations('plain')) await create();
});

test('a memory cannot have a name that addresses cannot contain', async () => {
  await using gateway = await wholeGateway();
  for (const name of ['.', '..', ' .. '])
    await assert.rejects(gateway.call('memory.save', { name, content: 'x' }), {
      code: 'INVALID_REQUEST',
      message: /must not be \. or \.\./,
    });
  await gateway.call('memory.save', { name: '...', content: 'x' });
});
