import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../agent/providers/model.ts';
import { LIVE } from '../testing/default-deps.ts';
import { never } from '../testing/puppet-model.ts';
import { turnsUntil, type WholeGateway, type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';

const openTitled = (options: WholeGatewayOptions = {}) =>
  wholeGateway({ ...options, live: { ...LIVE, session: { retentionDays: 0, titles: 'model' }, ...options.live } });

async function titleOf({ call }: WholeGateway, wsId: string) {
  return (await call('workstream.get', { wsId })).snapshot.workstream.title;
}

/** Sends a message to `main` and waits for the end of its run. */
const sent = async (gateway: WholeGateway, message: string) => await (await gateway.accept(message))?.ended;

/** The same, with this answer. */
async function say(gateway: WholeGateway, message: string, answer: string) {
  gateway.puppet.turn(answer);
  await sent(gateway, message);
}

/** Everything that was begun has ended. */
const settled = async (gateway: WholeGateway, requests: number) => {
  await turnsUntil(() => gateway.puppet.requests.length >= requests, `${requests} requests`);
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
};

test('the first answer is followed by one request for a title, which is stored, told and counted', async () => {
  await using gateway = await openTitled();
  const wsId = await gateway.main();
  gateway.puppet.turn('Bubble sort is simple.');
  gateway.puppet.turn('**Title:** "Sorting a list."');
  await sent(gateway, 'How do I sort a list?');
  await gateway.reaches(wsId, 'ws_rename');
  assert.equal(await titleOf(gateway, wsId), 'Sorting a list');
  const [, asked] = gateway.puppet.requests;
  assert.deepEqual(asked?.messages, [
    { role: 'user', content: 'User: How do I sort a list?\n\nAssistant: Bubble sort is simple.' },
  ]);
  assert.deepEqual([asked?.tools, asked?.effort], [[], 'low']);
  const [rename] = (await gateway.events(wsId)).filter(({ type }) => type === 'ws_rename');
  assert.deepEqual(rename, { type: 'ws_rename', ws_id: wsId, name: 'Sorting a list' });
  const { total } = await gateway.call('usage.get', { by: 'workstream', wsId });
  assert.equal(total?.turns, 2);
  await say(gateway, 'And how fast is it?', 'Quadratic.');
  await settled(gateway, 3);
  assert.equal(gateway.puppet.requests.length, 3, 'later answers change no title');
});

test('a title that is not written leaves the first message, and disturbs nothing', async () => {
  await using gateway = await openTitled();
  const wsId = await gateway.main();
  gateway.puppet.turn('first');
  gateway.puppet.turn(new ProviderError('refused', 'no'));
  await sent(gateway, 'hello there');
  await settled(gateway, 2);
  assert.deepEqual(
    [await titleOf(gateway, wsId), (await gateway.events(wsId)).some(({ type }) => type === 'error')],
    ['hello there', false],
  );
});

test('a slow title ends after 30 seconds, and holds up no message meanwhile', async () => {
  await using gateway = await openTitled();
  const wsId = await gateway.main();
  gateway.puppet.turn('first');
  gateway.puppet.turn(never());
  await sent(gateway, 'hello there');
  await settled(gateway, 2);
  await say(gateway, 'again', 'second');
  await gateway.clock.advance(30_000);
  assert.equal(await titleOf(gateway, wsId), 'hello there');
});

test('a conversation with a name, a failed one and one with titles off ask for no title', async () => {
  await using gateway = await openTitled();
  const named = await gateway.call('workstream.create', { name: 'garden' });
  await gateway.call('workstream.send', { wsId: named.wsId, message: 'water it' });
  await gateway.isIdle(named.wsId);
  gateway.puppet.turn(new ProviderError('refused', 'no'));
  await sent(gateway, 'fails');
  await settled(gateway, 2);
  assert.equal(gateway.puppet.requests.length, 2);
  await using plain = await wholeGateway();
  await sent(plain, 'hello');
  await settled(plain, 1);
  assert.equal(plain.puppet.requests.length, 1);
});

test('a title that comes after /clear is dropped', async () => {
  await using gateway = await openTitled();
  const wsId = await gateway.main();
  const held = Promise.withResolvers<void>();
  gateway.puppet.turn('first');
  gateway.puppet.turn(held.promise, 'Too late');
  await sent(gateway, 'hello');
  await settled(gateway, 2);
  await gateway.call('workstream.command', { wsId, command: '/clear' });
  held.resolve();
  await settled(gateway, 2);
  assert.equal(await titleOf(gateway, wsId), null);
});

test('secrets reach neither the request for a title nor the title', async () => {
  await using gateway = await openTitled();
  const wsId = await gateway.main();
  const key = 'sk-abcdefghijklmnop1234567890';
  gateway.puppet.turn(`I used ${key}.`);
  gateway.puppet.turn(`Using ${key}`);
  await sent(gateway, `my key is ${key}`);
  assert.equal((await titleOf(gateway, wsId))?.includes(key), false, 'nor the title before');
  await gateway.reaches(wsId, 'ws_rename');
  assert.equal(await titleOf(gateway, wsId), 'Using ***');
  assert.equal(JSON.stringify(gateway.puppet.requests[1]).includes(key), false);
});

test('a used-up budget refuses the title and not the answer', async () => {
  await using gateway = await openTitled();
  const wsId = await gateway.main();
  await gateway.call('budget.set', { wsId, tokens: 100 });
  await say(gateway, 'hello', 'hi');
  await settled(gateway, 1);
  const refused = await gateway.refusal('workstream.retitle', { wsId });
  assert.deepEqual(
    [refused.code, gateway.puppet.requests.length, await titleOf(gateway, wsId)],
    ['UNAVAILABLE', 1, 'hello'],
  );
});

test('a new title can be asked for, also with a name; an empty conversation and a failing model are refused', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  assert.equal((await gateway.refusal('workstream.retitle', { wsId })).code, 'INVALID_REQUEST');
  await say(gateway, 'hello', 'hi');
  await gateway.call('workstream.update', { wsId, name: 'garden' });
  gateway.puppet.turn('A greeting');
  assert.deepEqual(await gateway.call('workstream.retitle', { wsId }), { title: 'A greeting' });
  const { workstream } = (await gateway.call('workstream.get', { wsId })).snapshot;
  assert.deepEqual([workstream.name, workstream.title], ['garden', 'A greeting']);
  gateway.puppet.turn(new ProviderError('unreachable', 'The server is away.'));
  assert.deepEqual(await gateway.refusal('workstream.retitle', { wsId }), {
    code: 'UNAVAILABLE',
    message: 'No title was written: The server is away.',
  });
  assert.equal(await titleOf(gateway, wsId), 'A greeting');
  assert.equal((await gateway.refusal('workstream.retitle', { wsId: 'nobody' })).code, 'NOT_FOUND');
});
