import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayWithMemories } from '../memories/agent-memories-fixture.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { CallAs, WholeGateway } from '../testing/whole-gateway.ts';

const user = (name: string): CallAs => ({ id: name, userId: `user_${name}`, scope: 'write' });
const [ADA, BOB] = [user('ada'), user('bob')];

async function make(gateway: WholeGateway, as: CallAs, visibility: 'private' | 'shared') {
  const { wsId } = await gateway.call('workstream.create', { visibility }, as);
  return gateway.parts.workstreams.find(wsId, DAEMON) ?? assert.fail('no workstream');
}

const find = async (gateway: WholeGateway, query: string, as: CallAs = {}) =>
  (await gateway.call('workstream.find', { query }, as)).messages;

test('people find what was said, with its place, its time and some text around it', async () => {
  await using gateway = await gatewayWithMemories();
  await gateway.say('The harbour server is called kestrel.');
  const [found, ...others] = await find(gateway, 'HARBOUR kestr');
  assert.deepEqual(others, []);
  assert.deepEqual(found, {
    wsId: await gateway.main(),
    name: 'The harbour server is called kestrel.',
    seq: 1,
    role: 'user',
    createdMs: found?.createdMs,
    excerpt: 'The harbour server is called kestrel.',
  });
  assert.deepEqual([await find(gateway, 'absent'), await find(gateway, '?!')], [[], []]);
  const many = Array.from({ length: 33 }, (_, index) => `w${index}`).join(' ');
  await assert.rejects(find(gateway, many), { code: 'INVALID_REQUEST' });
});

test('nobody finds a private conversation of somebody else', async () => {
  await using gateway = await gatewayWithMemories();
  const places = {
    own: await make(gateway, ADA, 'private'),
    shared: await make(gateway, BOB, 'shared'),
    others: await make(gateway, BOB, 'private'),
  };
  for (const [name, to] of Object.entries(places)) await gateway.say(`canary ${name}`, { to });
  const foundBy = async (as: CallAs) => (await find(gateway, 'canary', as)).map(({ excerpt }) => excerpt).toSorted();
  assert.deepEqual(await foundBy(ADA), ['canary own', 'canary shared']);
  assert.deepEqual(await foundBy(BOB), ['canary others', 'canary shared']);
});
