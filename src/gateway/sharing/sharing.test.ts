import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_ROLES } from '../../../protocol/methods/accounts/permissions.ts';
import { hearingOf } from '../connections/hearing.ts';
import { LIVE } from '../testing/default-deps.ts';
import { framesOf } from '../testing/fake-wire.ts';
import { type CallAs, callerOf, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { DAEMON } from './perception.ts';

const MEMBER = new Set(BUILTIN_ROLES['builtin-operator'].permissions);
const user = (name: string): CallAs => ({ id: `login of ${name}`, userId: `user_${name}`, permissions: MEMBER });
const [ADA, BOB] = [user('ada'), user('bob')];
const OPERATOR: CallAs = { id: 'operator' };
const unknown = { code: 'NOT_FOUND', message: 'Unknown workstream' };
const taken = { code: 'CONFLICT', message: 'That name is already used by another workstream' };

const make = async ({ call }: WholeGateway, as: CallAs, params: { name?: string; visibility?: 'private' } = {}) =>
  (await call('workstream.create', params, as)).wsId;

/** The gateway's events for one caller, as `event wsId`, and what the stream of all states tells. */
function listen({ parts, gateway }: WholeGateway, as: CallAs): { heard: string[]; states: string[] } {
  const viewer = callerOf(as).principal ?? assert.fail('no caller');
  const [heard, states]: string[][] = [[], []];
  const receiver = {
    deliver(chunk: Buffer) {
      for (const frame of framesOf(chunk)) {
        if (frame.type === 'event' && frame.event.startsWith('workstream.')) heard?.push(frame.event);
      }
    },
  };
  parts.broadcast.join(receiver, { viewer, hearing: hearingOf(viewer) });
  gateway.streams.onChange({
    viewer,
    onEvent(event) {
      if (event.type === 'ws_state') states?.push(event.ws_id);
      if (event.type === 'ws_closed') states?.push(`not ${event.ws_id}`);
    },
  });
  return { heard: heard ?? [], states: states ?? [] };
}

test('a workstream belongs to the user who creates it, and says so in lists and details', async () => {
  await using gateway = await wholeGateway();
  const wsId = await make(gateway, ADA, { visibility: 'private' });
  const { workstreams } = await gateway.call('workstream.list', {}, ADA);
  assert.deepEqual(
    workstreams.map(({ userId, visibility }) => [userId, visibility]),
    [
      ['', 'shared'],
      ['user_ada', 'private'],
    ],
  );
  await gateway.restart();
  const { snapshot } = await gateway.call('workstream.get', { wsId }, ADA);
  assert.deepEqual([snapshot.workstream.userId, snapshot.workstream.visibility], ['user_ada', 'private']);
  assert.deepEqual(await gateway.refusal('workstream.get', { wsId }, BOB), unknown);
});

test('what users create is as visible as the setting says; what the operator creates is shared', async () => {
  await using gateway = await wholeGateway({ live: { ...LIVE, visibility: 'private' } });
  const visibilityOf = async (wsId: string) =>
    (await gateway.call('workstream.get', { wsId }, OPERATOR)).snapshot.workstream.visibility;
  const made = await Promise.all([make(gateway, ADA), make(gateway, OPERATOR)]);
  await gateway.call('chat.send', { sessionKey: 'notes', message: 'hello', idempotencyKey: 'k' }, ADA);
  const { key } = await gateway.call('sessions.resolve', { key: 'notes' }, ADA);
  assert.deepEqual(await Promise.all(made.map(visibilityOf)), ['private', 'shared']);
  assert.equal(key, 'notes');
  assert.deepEqual(await gateway.refusal('sessions.resolve', { key: 'notes' }, BOB), {
    code: 'NOT_FOUND',
    message: 'Unknown session: notes',
  });
});

test('only the owner and those who see everything share a workstream; to others a private one does not exist', async () => {
  await using gateway = await wholeGateway();
  const wsId = await make(gateway, ADA);
  const forbidden = {
    code: 'FORBIDDEN',
    message: 'Only the owner of this workstream, and holders of workstreams.all, may change who sees it',
  };
  const hide = { wsId, visibility: 'private' } as const;
  assert.deepEqual(await gateway.refusal('workstream.share', hide, BOB), forbidden);
  assert.deepEqual(await gateway.call('workstream.share', hide, ADA), {
    ...{ wsId, userId: 'user_ada', visibility: 'private', perceived: true },
  });
  assert.deepEqual(await gateway.refusal('workstream.share', { wsId, visibility: 'shared' }, BOB), unknown);
  await gateway.call('workstream.share', { wsId, visibility: 'shared' }, OPERATOR);
  assert.equal((await gateway.call('workstream.list', {}, BOB)).workstreams.length, 2);
});

test('the main session stays everyone’s', async () => {
  await using gateway = await wholeGateway();
  const refused = {
    code: 'INVALID_REQUEST',
    message: 'The main session and the sessions of jobs stay shared, and the operator’s',
  };
  const wsId = await gateway.main();
  assert.deepEqual(await gateway.refusal('workstream.share', { wsId, visibility: 'private' }, OPERATOR), refused);
});

test('a change takes effect at once: who loses sight sees it closed, who gains sight sees it opened', async () => {
  await using gateway = await wholeGateway();
  const wsId = await make(gateway, ADA);
  const [ada, bob] = [listen(gateway, ADA), listen(gateway, BOB)];
  const ended: string[] = [];
  for (const as of [ADA, BOB]) {
    gateway.gateway.streams.follow(wsId, 0, {
      viewer: callerOf(as).principal ?? assert.fail('no caller'),
      sink: { ready: () => true, write: () => undefined },
      onEnd: () => void ended.push(as.id ?? ''),
    });
  }
  await gateway.call('workstream.share', { wsId, visibility: 'private' }, ADA);
  assert.deepEqual([ended, bob, ada.heard], [[BOB.id], { heard: ['workstream.closed'], states: [`not ${wsId}`] }, []]);
  await gateway.call('workstream.command', { wsId, command: '/share' }, ADA);
  await gateway.call('workstream.share', { wsId, visibility: 'shared' }, ADA);
  assert.deepEqual(bob, { heard: ['workstream.closed', 'workstream.opened'], states: [`not ${wsId}`, wsId] });
  assert.deepEqual([ended, ada.heard], [[BOB.id], []]);
});

test('a stream that opens while a workstream becomes private gets nothing', async () => {
  await using gateway = await wholeGateway();
  const wsId = await make(gateway, ADA);
  const viewer = callerOf(BOB).principal ?? assert.fail('no caller');
  const opening = await gateway.gateway.streams.open(wsId, { viewer, resume: false, snapshot: false });
  await gateway.call('workstream.share', { wsId, visibility: 'private' }, ADA);
  const { frames, after } = await opening.begin(new AbortController().signal);
  const ended: string[] = [];
  const sink = { ready: () => true, write: () => assert.fail('delivered') };
  gateway.gateway.streams.follow(wsId, after, { viewer, sink, onEnd: () => void ended.push('ended') });
  await gateway.call('workstream.send', { wsId, message: 'secret' }, ADA);
  await gateway.isIdle(wsId);
  assert.deepEqual([frames, ended], [[], ['ended']]);
});

test('a workstream can be given away, to a user who exists', async () => {
  await using gateway = await wholeGateway();
  const { userId } = await gateway.call('user.create', {
    ...{ username: 'cleo', displayName: 'Cleo', password: 'long enough', roles: ['builtin-operator'] },
  });
  const cleo: CallAs = { id: 'login of cleo', userId, permissions: MEMBER };
  const wsId = await make(gateway, ADA, { visibility: 'private' });
  assert.deepEqual(await gateway.refusal('workstream.share', { wsId, userId: 'user_none' }, ADA), {
    code: 'INVALID_REQUEST',
    message: 'userId: no user has this id',
  });
  const given = await gateway.call('workstream.share', { wsId, userId }, ADA);
  assert.deepEqual(given, { wsId, userId, visibility: 'private', perceived: false });
  assert.deepEqual(await gateway.refusal('workstream.get', { wsId }, ADA), unknown);
  await gateway.call('workstream.get', { wsId }, cleo);
  await gateway.call('user.delete', { userId });
  await gateway.call('workstream.get', { wsId }, OPERATOR);
  await gateway.call('workstream.share', { wsId, userId: '', visibility: 'shared' }, OPERATOR);
  assert.equal((await gateway.call('workstream.get', { wsId }, ADA)).snapshot.workstream.userId, '');
});

test('an alias is free if only workstreams have it that one does not perceive', async () => {
  await using gateway = await wholeGateway();
  const { call, refusal } = gateway;
  const first = await make(gateway, ADA, { visibility: 'private' });
  const second = await make(gateway, BOB);
  await call('workstream.update', { wsId: first, name: 'garden' }, ADA);
  assert.deepEqual((await call('workstream.update', { wsId: second, name: 'garden' }, BOB)).name, 'garden');
  assert.deepEqual(await refusal('workstream.update', { wsId: await make(gateway, BOB), name: 'garden' }, BOB), taken);
  const resolve = (as: CallAs) => gateway.gateway.dispatch('chat.history', { sessionKey: 'garden' }, callerOf(as));
  assert.equal(Reflect.get(Object(await resolve(BOB)), 'sessionId'), second);
  const ambiguous = await Promise.resolve(resolve(ADA)).then(
    () => assert.fail('answered'),
    (error: unknown) => error,
  );
  assert.deepEqual(
    [Reflect.get(Object(ambiguous), 'code'), Reflect.get(Object(ambiguous), 'details').wsIds.toSorted()],
    ['CONFLICT', [first, second].toSorted()],
  );
  assert.equal((await refusal('sessions.reset', { key: 'garden' }, OPERATOR)).code, 'CONFLICT');
});

test('a workstream that is given away keeps from its giver which names the private ones of its new owner have', async () => {
  await using gateway = await wholeGateway({ live: { ...LIVE, visibility: 'private' } });
  const account = { username: 'cleo', displayName: 'Cleo', password: 'long enough', roles: ['builtin-operator'] };
  const { userId } = await gateway.call('user.create', account);
  const cleo: CallAs = { id: 'login of cleo', userId, permissions: MEMBER };
  const garden = async (as: CallAs) =>
    (await gateway.call('sessions.patch', { key: 'garden', thinkingLevel: 'low' }, as)).entry.sessionId;
  const [wsId, own] = [await garden(ADA), await garden(cleo)];
  const given = await gateway.call('workstream.share', { wsId, userId }, ADA);
  assert.deepEqual(given, { wsId, userId, visibility: 'private', perceived: false });
  assert.equal((await gateway.call('chat.history', { sessionKey: 'garden' }, cleo)).sessionId, own);
  const { snapshot } = await gateway.call('workstream.get', { wsId }, cleo);
  assert.deepEqual([snapshot.workstream.name, snapshot.workstream.sessionKey], ['garden', wsId]);
  await gateway.restart();
  const stored = (await gateway.call('workstream.get', { wsId }, cleo)).snapshot.workstream;
  assert.deepEqual([stored.name, stored.sessionKey], ['garden', wsId]);
  const third = await make(gateway, ADA);
  await gateway.call('workstream.update', { wsId: third, name: 'garden' }, ADA);
  assert.deepEqual(await gateway.refusal('workstream.share', { wsId: third, userId }, OPERATOR), taken);
});

test('two users who use one key for their private sessions at once get one each', async () => {
  await using gateway = await wholeGateway({ live: { ...LIVE, visibility: 'private' } });
  const send = (as: CallAs) =>
    gateway.call('sessions.patch', { key: 'diary', thinkingLevel: 'low' }, as).then(({ entry }) => entry.sessionId);
  const [ada, again, bob] = await Promise.all([send(ADA), send(ADA), send(BOB)]);
  assert.deepEqual([ada === again, ada === bob], [true, false]);
});

test('a run is unknown to its sender once its workstream is', async () => {
  await using gateway = await wholeGateway();
  const wsId = await make(gateway, ADA);
  const { runId } = await gateway.call('chat.send', { sessionKey: wsId, message: 'hi', idempotencyKey: 'mine' }, BOB);
  await gateway.isIdle(wsId);
  assert.equal((await gateway.call('agent.wait', { runId }, BOB)).status, 'ok');
  await gateway.call('workstream.share', { wsId, visibility: 'private' }, ADA);
  const gone = { code: 'NOT_FOUND', message: 'unknown runId' };
  assert.deepEqual(await gateway.refusal('agent.wait', { runId }, BOB), gone);
});

test('copies of a private conversation are private: a fork belongs to who made it, what /new saves to its owner', async () => {
  await using gateway = await wholeGateway();
  const wsId = await make(gateway, ADA, { visibility: 'private' });
  await gateway.call('workstream.send', { wsId, message: 'secret' }, ADA);
  await gateway.isIdle(wsId);
  await gateway.call('workstream.fork', { wsId, name: 'fork' }, OPERATOR);
  await gateway.call('workstream.command', { wsId, command: '/new' }, ADA);
  const saved = async (as: CallAs) =>
    (await gateway.call('workstream.saved', {}, as)).workstreams
      .map(({ name, title, userId, visibility }) => [
        name.startsWith('ws-') ? 'saved' : name,
        title,
        userId,
        visibility,
      ])
      .toSorted();
  const own = ['saved', 'secret', 'user_ada', 'private'];
  assert.deepEqual([await saved(ADA), await saved(BOB)], [[own], []]);
  assert.deepEqual(await saved(OPERATOR), [['fork', 'secret', '', 'private'], own]);
});

test('/share says who sees a workstream, and changes it', async () => {
  await using gateway = await wholeGateway();
  const wsId = await make(gateway, ADA);
  const command = (line: string, as: CallAs) => gateway.call('workstream.command', { wsId, command: line }, as);
  await command('/share', BOB);
  await command('/share private', BOB);
  await command('/share private', ADA);
  await command('/share all', ADA);
  await command('/share everyone', ADA);
  const said = (await gateway.events(wsId)).flatMap((event) =>
    event.type === 'info' || event.type === 'error' ? event.message : [],
  );
  assert.deepEqual(said, [
    'Everyone here sees this workstream.',
    'Command error: Only the owner of this workstream, and holders of workstreams.all, may change who sees it',
    'Only its owner and administrators see this workstream. /share everyone shows it to everyone here.',
    'Command error: Usage: /share [private | everyone]',
    'Everyone here sees this workstream. /share private hides it from others.',
  ]);
});

test('a note from a job goes to no private workstream, and one to a private workstream goes to that one', async () => {
  await using gateway = await wholeGateway();
  const wsId = await make(gateway, ADA, { visibility: 'private' });
  await gateway.call('workstream.update', { wsId, name: 'garden' }, ADA);
  const sent = { to: 'garden', message: 'water it', provider: 'workstream', idempotencyKey: 'k' };
  assert.equal((await gateway.call('send', sent, ADA)).chatId, wsId);
  assert.equal((await gateway.refusal('send', { ...sent, idempotencyKey: 'l' }, BOB)).code, 'NOT_FOUND');
});

test('the audit trail names a private workstream, and what is in it, by ids alone', async () => {
  await using gateway = await wholeGateway();
  const wsId = await make(gateway, ADA, { visibility: 'private' });
  await gateway.call('workstream.update', { wsId, name: 'canary' }, ADA);
  await gateway.call('memory.save', { name: 'canary', content: 'x', scope: 'workstream', scopeId: wsId }, ADA);
  await gateway.call('sessions.delete', { key: 'canary', deleteTranscript: false }, OPERATOR);
  await gateway.call('workstream.open', { wsId }, ADA);
  await gateway.call('sessions.delete', { key: 'canary' }, OPERATOR);
  const rows = await gateway.store.db.selectFrom('audit').select('body_json').execute();
  const records = rows.map(({ body_json }) => body_json);
  assert.equal(records.filter((record) => record.includes(wsId)).length, 3);
  assert.deepEqual(
    records.filter((record) => record.includes('canary')),
    [],
  );
});

test('a change of who perceives a workstream is told to notifications once it holds', async (t) => {
  await using gateway = await wholeGateway();
  const wsId = await make(gateway, ADA);
  const told: unknown[] = [];
  const look = (about: string) => told.push([about, gateway.parts.workstreams.find(about, DAEMON)?.data.visibility]);
  t.mock.method(gateway.parts.outbox.push, 'shared', look);
  await gateway.call('workstream.share', { wsId, visibility: 'private' }, ADA);
  assert.deepEqual(told, [[wsId, 'private']]);
});
