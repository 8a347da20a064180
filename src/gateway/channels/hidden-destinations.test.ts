import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANYONE, DAEMON } from '../sharing/perception.ts';
import { onlyWebhooks } from '../testing/only-webhooks.ts';
import { type CallAs, turnsUntil, wholeGateway } from '../testing/whole-gateway.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';

const permissions = new Set([...ALL_PERMISSIONS].filter((permission) => permission !== 'workstreams.all'));
const user = (name: string) => ({ id: `login of ${name}`, userId: `user_${name}`, permissions });
const [ADA, BOB, EVE] = [user('ada'), user('bob'), user('eve')];
const OPERATOR: CallAs = { id: 'operator' };

/** A gateway that knows these people by their principals, with a destination `ops` that refuses everything. */
async function setUp() {
  const gateway = await wholeGateway({
    authenticator: {
      ...{ enabled: true, authenticate: () => undefined, endOf: () => undefined },
      viewerOf: (id) => (id === OPERATOR.id ? DAEMON : ([ADA, BOB, EVE].find((person) => person.id === id) ?? ANYONE)),
    },
    channelServices: onlyWebhooks({
      destinations: () => new Map([['ops', { url: 'https://hooks.example.com/x', secret: 'sixteen letters!' }]]),
      fetch: async () => new Response(null, { status: 400 }),
    }),
  });
  const stop = new AbortController();
  void gateway.gateway.run(stop.signal);
  const rows = () => gateway.store.db.selectFrom('outbox').selectAll().orderBy('seq').execute();
  return {
    ...{ gateway, rows },
    make: async (visibility: 'shared' | 'private') =>
      (await gateway.call('workstream.create', { visibility }, ADA)).wsId,
    async makeByKey(key: string) {
      await gateway.call('sessions.patch', { key }, ADA);
      return (await gateway.call('chat.history', { sessionKey: key }, ADA)).sessionId ?? assert.fail('no session');
    },
    settled: () => turnsUntil(async () => (await rows()).every(({ status }) => status !== 'pending'), 'all ended'),
    /** What the state of the outbox tells somebody. */
    told: async (as: CallAs) => (await gateway.call('status', {}, as)).providerSummary.join('\n'),
    notes: async (wsId: string) =>
      (await gateway.events(wsId)).flatMap((event) => (event.type === 'info' ? event.message : [])),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

for (const name of [undefined, 'garden'])
  test(`a note to a workstream that became private meanwhile ends like one to a deleted workstream, unless its sender perceives it: by ${name ?? 'its id'}`, async () => {
    await using world = await setUp();
    const { gateway } = world;
    const wsId = name === undefined ? await world.make('shared') : await world.makeByKey(name);
    gateway.puppet.turn(new Promise(() => undefined));
    await gateway.call('workstream.send', { wsId, message: 'takes long' }, ADA);
    for (const as of [BOB, ADA, OPERATOR])
      await gateway.call('send', { to: name ?? wsId, message: 'water it', idempotencyKey: `of ${as.id}` }, as);
    await gateway.call('workstream.share', { wsId, visibility: 'private' }, ADA);
    await gateway.call('workstream.cancel', { wsId }, ADA);
    await gateway.clock.advance(1_000);
    await world.settled();
    const ends = (await world.rows()).map(({ sender, status, error }) => [sender, status, error]);
    assert.deepEqual(ends, [
      [BOB.id, 'dead', 'the workstream no longer exists'],
      [ADA.id, 'delivered', null],
      ['operator', 'delivered', null],
    ]);
    assert.deepEqual(
      (await world.notes(wsId)).filter((note) => note.startsWith('Note')),
      ['Note from login of ada: water it', 'Note from operator: water it'],
    );
    const line = `workstream ${name ?? wsId}: the workstream no longer exists`;
    const told = await Promise.all([BOB, EVE, OPERATOR].map(async (as) => (await world.told(as)).includes(line)));
    assert.deepEqual(told, [true, false, true], 'the sender gets to know, and others do not');
    assert.ok(gateway.log.lines.some(([, message]) => message === 'gave up delivering a message'));
  });

test('an answer goes to the last destination of its session only for those who perceive it', async () => {
  await using world = await setUp();
  const { gateway } = world;
  const wsId = await world.make('private');
  const ask = (as: CallAs, message: string, params: object) =>
    ({ sessionKey: 'main', message, idempotencyKey: `${message} of ${as.id}`, deliver: true, ...params }) as const;
  for (const answer of ['The first.', 'The second.', 'The third.']) gateway.puppet.turn(answer);
  await gateway.call('agent', ask(ADA, 'one', { to: wsId }), ADA);
  await world.settled();
  const nothing = 'deliver needs `to`: this session has neither received nor sent anything by a channel yet';
  assert.equal((await gateway.refusal('agent', ask(BOB, 'two', {}), BOB)).message, nothing);
  await gateway.call('chat.send', ask(BOB, 'three', {}), BOB);
  await gateway.isIdle(await gateway.main());
  await gateway.call('agent', ask(ADA, 'four', {}), ADA);
  await world.settled();
  const ends = (await world.rows()).map(({ destination, message, status }) => [destination, message, status]);
  assert.deepEqual(ends, [
    [wsId, 'The first.', 'delivered'],
    [wsId, 'The third.', 'delivered'],
  ]);
});

test('the state of the outbox names no run of a private workstream, and no workstream that is gone, to others', async () => {
  await using world = await setUp();
  const { gateway } = world;
  const wsId = await world.make('private');
  gateway.puppet.turn('An answer.');
  const asked = { sessionKey: wsId, message: 'x', deliver: true, channel: 'webhook', to: 'ops' };
  await gateway.call('agent', { ...asked, idempotencyKey: 'canary-run' }, ADA);
  await world.settled();
  const ofRun = await Promise.all([ADA, BOB].map(async (as) => (await world.told(as)).includes('canary-run')));
  assert.deepEqual(ofRun, [true, false]);
  gateway.puppet.turn(new Promise(() => undefined));
  await gateway.call('workstream.send', { wsId, message: 'takes long' }, ADA);
  await gateway.call('send', { to: wsId, message: 'x', idempotencyKey: 'k' }, ADA);
  await gateway.call('workstream.delete', { wsId }, ADA);
  await gateway.clock.advance(1_000);
  await world.settled();
  const told = await Promise.all([ADA, OPERATOR, BOB].map(world.told));
  assert.deepEqual(
    told.map((text) => [text.includes(wsId), text.includes('0 waiting, 1 given up')]),
    [
      [true, true],
      [true, true],
      [false, true],
    ],
  );
});
