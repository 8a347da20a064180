import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hearingOf } from '../connections/hearing.ts';
import { expandScopes } from '../rights.ts';
import type { RunRecord } from '../runs/run-record.ts';
import { DAEMON, OF_EVERYONE } from '../sharing/perception.ts';
import { LIVE } from '../testing/default-deps.ts';
import { framesOf } from '../testing/fake-wire.ts';
import { never } from '../testing/puppet-model.ts';
import { turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { whileLoaded } from './closing.ts';
import type { Workstream } from './workstream.ts';

const THREE = { live: { ...LIVE, maxWorkstreams: 3 } };
const RUN: Omit<RunRecord, 'wsId'> = {
  runId: 'run',
  principal: 'operator',
  source: 'person',
  epoch: 0,
  acceptedMs: 0,
  request: { message: 'waits', rights: 'write' },
};

const namesOf = ({ parts }: WholeGateway) =>
  parts.workstreams.list(DAEMON).map(({ data }) => data.alias ?? data.sessionKey);

/** Records which workstreams are announced as opened and closed. */
function openingsOf({ parts }: WholeGateway): string[] {
  const heard: string[] = [];
  const receiver = {
    deliver(chunk: Buffer) {
      for (const frame of framesOf(chunk)) {
        if (frame.type === 'event' && frame.event.startsWith('workstream.'))
          heard.push(`${frame.event} ${JSON.stringify(frame.payload)}`);
      }
    },
  };
  parts.broadcast.join(receiver, {
    viewer: DAEMON,
    hearing: hearingOf({ scopes: expandScopes(['read']), ...DAEMON }),
  });
  return heard;
}

/** Creates workstreams one millisecond apart; returns the first one. */
async function make(gateway: WholeGateway, first: string, ...names: string[]): Promise<Workstream> {
  await gateway.clock.advance(1);
  const made = await gateway.parts.workstreams.create({ alias: first, owned: OF_EVERYONE });
  for (const name of names) {
    await gateway.clock.advance(1);
    await gateway.parts.workstreams.create({ alias: name, owned: OF_EVERYONE });
  }
  return made;
}

test('at the limit the oldest idle workstream is unloaded, and loaded again on use', async () => {
  await using gateway = await wholeGateway(THREE);
  const a = await make(gateway, 'a');
  const b = await make(gateway, 'b');
  await gateway.clock.advance(1);
  await (await gateway.accept('x', { to: a }))?.ended;
  const heard = openingsOf(gateway);
  const c = await make(gateway, 'c');
  assert.deepEqual(
    [namesOf(gateway), heard],
    [
      ['main', 'a', 'c'],
      [`workstream.closed {"wsId":"${b.data.wsId}"}`, `workstream.opened {"wsId":"${c.data.wsId}"}`],
    ],
  );
  assert.match(await gateway.gateway.metrics.text(), /^service_workstreams_evicted_total 1$/m);
  const again = await gateway.parts.workstreams.get(b.data.wsId, DAEMON);
  assert.deepEqual([again.data.alias, namesOf(gateway)], ['b', ['main', 'b', 'c']]);
  await gateway.crash();
  assert.deepEqual(namesOf(gateway), ['main', 'b', 'c']);
});

test('busy workstreams, those with messages that wait, and main stay loaded; if there are no others, the limit applies', async () => {
  await using gateway = await wholeGateway(THREE);
  const a = await make(gateway, 'a');
  const b = await make(gateway, 'b');
  gateway.puppet.turn(never());
  await gateway.accept('x', { to: a });
  b.queue.add({ ...RUN, wsId: b.data.wsId }, { isStored: true });
  b.queue.hold('no answer');
  assert.equal(b.busy, false);
  await assert.rejects(make(gateway, 'c'), { message: 'Maximum of 3 workstreams reached' });
  const [waiting = assert.fail()] = b.queue.all();
  b.queue.left(waiting);
  await make(gateway, 'd');
  assert.deepEqual(namesOf(gateway), ['main', 'a', 'd']);
});

test('a call that was refused for want of room is carried out when it is repeated with its key and there is room', async () => {
  await using gateway = await wholeGateway(THREE);
  for (const workstream of [await make(gateway, 'a'), await make(gateway, 'b')]) {
    workstream.queue.add({ ...RUN, wsId: workstream.data.wsId }, { isStored: true });
    workstream.queue.hold('no answer');
  }
  const create = () => gateway.call('workstream.create', { name: 'c', idempotencyKey: 'k' });
  const code = { code: 'INVALID_REQUEST', message: 'Maximum of 3 workstreams reached' };
  await assert.rejects(create(), { ...code, retryable: true });
  await assert.rejects(create(), code);
  const [first] = gateway.parts.workstreams.list(DAEMON).filter(({ queue }) => queue.length > 0);
  const [waiting = assert.fail()] = first?.queue.all() ?? [];
  first?.queue.left(waiting);
  assert.deepEqual(await create(), await create());
  assert.deepEqual(namesOf(gateway).length, 3);
});

test('a reader does not keep a workstream loaded, and goes on when it is loaded again', async () => {
  await using gateway = await wholeGateway(THREE);
  const a = await make(gateway, 'a', 'b');
  const seen: string[] = [];
  let ended = 0;
  gateway.gateway.streams.follow(a.data.wsId, gateway.parts.events.bounds(a.data.wsId).last, {
    viewer: DAEMON,
    sink: { ready: () => true, write: (entries) => void seen.push(...entries.map(({ type }) => type)) },
    onEnd: () => void ended++,
  });
  await make(gateway, 'c');
  assert.deepEqual([namesOf(gateway), seen, ended], [['main', 'b', 'c'], [], 0]);
  const again = await gateway.parts.workstreams.get(a.data.wsId, DAEMON);
  await (await gateway.accept('x', { to: again }))?.ended;
  await turnsUntil(() => seen.at(-1) === 'ws_state', 'the end of the run');
  assert.deepEqual([seen[0], seen.includes('content'), ended], ['user_turn', true, 0]);
  await gateway.parts.workstreams.close(a.data.wsId, DAEMON);
  assert.equal(ended, 1);
});

test('a workstream that was loaded again counts as used', async () => {
  await using gateway = await wholeGateway(THREE);
  const a = await make(gateway, 'a', 'b', 'c');
  assert.deepEqual(namesOf(gateway), ['main', 'b', 'c']);
  await gateway.clock.advance(1);
  await gateway.parts.workstreams.get(a.data.wsId, DAEMON);
  assert.deepEqual(namesOf(gateway), ['main', 'a', 'c']);
  await make(gateway, 'd');
  assert.deepEqual(namesOf(gateway), ['main', 'a', 'd']);
});

test('A message that arrives while its workstream is unloaded must load it again and be sent', async () => {
  await using gateway = await wholeGateway(THREE);
  const a = await make(gateway, 'a', 'b');
  const { workstreams } = gateway.parts;
  const making = workstreams.create({ alias: 'c', owned: OF_EVERYONE });
  while (!a.isUnloaded) await Promise.resolve();
  const met = await gateway.accept('during', { to: a });
  await making;
  assert.equal((await met?.ended)?.status, 'ok');
  const again = await workstreams.get(a.data.wsId, DAEMON);
  const late = await gateway.accept('after', { to: a, ifIdle: true });
  assert.equal((await late?.ended)?.status, 'ok');
  assert.deepEqual([again === a, again.data.messageCount, namesOf(gateway)], [false, 4, ['main', 'a', 'c']]);
});

test('a message is sent again in the workstream that was loaded again', async () => {
  await using gateway = await wholeGateway(THREE);
  const a = await make(gateway, 'a');
  await (await gateway.accept('x', { to: a }))?.ended;
  const { wsId } = a.data;
  const { rewinds, workstreams } = gateway.parts;
  await make(gateway, 'b', 'c', 'd');
  const by = { principal: 'ada', rights: 'approve' } as const;
  await assert.rejects(rewinds.retry(a, undefined, by), { code: 'UNAVAILABLE' });
  const seen: boolean[] = [];
  const handle = await whileLoaded(
    () => workstreams.get(wsId, DAEMON),
    async (loaded) => {
      seen.push(loaded.isUnloaded);
      return rewinds.retry(seen.length === 1 ? a : loaded, undefined, by); // the first time as if it were unloaded meanwhile
    },
  );
  assert.equal((await handle.ended).status, 'ok');
  const again = await workstreams.get(wsId, DAEMON);
  assert.deepEqual([seen, again.data.cutCount], [[false, false], 2]);
});

test('after the limit was lowered, the next new workstream unloads as many as are too many', async () => {
  const live = { ...LIVE, maxWorkstreams: 6 };
  await using gateway = await wholeGateway({ live });
  await make(gateway, 'a', 'b', 'c', 'd');
  live.maxWorkstreams = 3;
  await make(gateway, 'e');
  assert.deepEqual(namesOf(gateway), ['main', 'd', 'e']);
});

test('a lowered limit unloads idle workstreams at once, and those in use when they are idle', async () => {
  const live = { ...LIVE, maxWorkstreams: 6 };
  await using gateway = await wholeGateway({ live });
  const a = await make(gateway, 'a', 'b', 'c', 'd');
  const held = gateway.parts.workstreams.list(DAEMON).find(({ data }) => data.alias === 'b') ?? assert.fail('no b');
  held.queue.add({ ...RUN, wsId: held.data.wsId }, { isStored: true });
  held.queue.hold('no answer');
  gateway.puppet.turn(never());
  const run = await gateway.accept('x', { to: a });
  live.maxWorkstreams = 4;
  await gateway.parts.workstreams.trim();
  assert.deepEqual(namesOf(gateway), ['main', 'a', 'b', 'd']);
  live.maxWorkstreams = 1;
  await gateway.parts.workstreams.trim();
  assert.deepEqual(namesOf(gateway), ['main', 'a', 'b']);
  await a.cancel({ force: false });
  await run?.ended;
  await turnsUntil(() => namesOf(gateway).length === 2, 'the workstream whose run has ended is unloaded');
  const [waiting = assert.fail()] = held.queue.all();
  held.queue.left(waiting);
  await held.whileIdle('folders', async () => undefined);
  await turnsUntil(() => namesOf(gateway).length === 1, 'the workstream that has changed its context is unloaded');
  assert.deepEqual(namesOf(gateway), ['main']);
});

test('a start with a lower limit than before unloads what is too much', async () => {
  const live = { ...LIVE, maxWorkstreams: 6 };
  await using gateway = await wholeGateway({ live });
  await make(gateway, 'a', 'b', 'c', 'd');
  live.maxWorkstreams = 2;
  await gateway.crash();
  assert.deepEqual(namesOf(gateway), ['main', 'd']);
});
