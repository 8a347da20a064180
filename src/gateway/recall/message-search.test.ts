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

test('searches of messages and of saved workstreams look at a folder, a model, an owner and a time, if they are told to', async () => {
  await using gateway = await gatewayWithMemories();
  const add = async (name: string, params: { workdir?: string; model?: string }, as: CallAs) => {
    await gateway.clock.advance(1_000);
    const { wsId } = await gateway.call('workstream.create', { name, ...params }, { ...as, scope: 'approve' });
    const to = gateway.parts.workstreams.find(wsId, DAEMON) ?? assert.fail('no workstream');
    await gateway.say(`kestrel ${name}`, { to });
  };
  await add('notes', { workdir: '/srv/notes' }, ADA);
  await add('large', { model: 'other' }, ADA);
  await add('common', {}, {});
  const [from, to] = [1_002_000, 1_003_000];
  for (const [narrowing, names] of [
    [{}, ['common', 'large', 'notes']],
    [{ workdir: '/srv/notes' }, ['notes']],
    [{ modelAlias: 'other' }, ['large']],
    [{ modelAlias: 'puppet' }, ['common', 'notes']],
    [{ userId: 'user_ada' }, ['large', 'notes']],
    [{ userId: '' }, ['common']],
    [{ updatedSinceMs: from }, ['common', 'large']],
    [{ updatedBeforeMs: to }, ['large', 'notes']],
    [{ updatedSinceMs: from, updatedBeforeMs: to, userId: '' }, []],
  ] as const) {
    const { messages } = await gateway.call('workstream.find', { query: 'kestrel', ...narrowing });
    const { workstreams } = await gateway.call('workstream.saved', narrowing);
    const searched = await gateway.call('workstream.saved', { search: 'kestrel', ...narrowing });
    const found = [messages, workstreams, searched.workstreams].map((rows) => rows.map(({ name }) => name).toSorted());
    assert.deepEqual(found, [names, names, names], JSON.stringify(narrowing));
  }
});
