import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingLog } from '../../../testing/temp-store.ts';
import { DAEMON } from '../../sharing/perception.ts';
import { type WholeGateway, wholeGateway } from '../../testing/whole-gateway.ts';
import { createMovingHere } from './moving-here.ts';

function movingIn(it: WholeGateway) {
  const arrived: string[] = [];
  const here = createMovingHere({
    store: it.store,
    workstreams: it.parts.workstreams,
    owner: { labels: [], identify: async (path) => ({ path, ino: '7' }) },
    onArrived: (wsIds) => void arrived.push(...wsIds),
    log: recordingLog(),
  });
  const row = async (wsId: string) => {
    const found = it.store.db.selectFrom('workstreams').select(['machine', 'loaded']).where('ws_id', '=', wsId);
    const { machine, loaded } = await found.executeTakeFirstOrThrow();
    return [machine, loaded];
  };
  const isOpen = (wsId: string) => it.parts.workstreams.find(wsId, DAEMON) !== undefined;
  return { here, arrived, row, isOpen };
}

test('a workstream at rest is given: it is open here no more, and calls about it are for the other machine', async () => {
  await using it = await wholeGateway();
  const { here, row, isOpen } = movingIn(it);
  const { wsId } = await it.call('workstream.create', {});
  assert.deepEqual(await here.give([wsId], 'w'), { moved: [{ wsId, wasLoaded: true }], stay: [] });
  assert.deepEqual([await row(wsId), isOpen(wsId)], [['w', 2], false]);
  const refused = await it.refusal('workstream.send', { wsId, message: 'hello', idempotencyKey: 'k' });
  assert.deepEqual([refused.code, /w, which has this workstream/.test(refused.message)], ['UNAVAILABLE', true]);
  assert.deepEqual(
    (await here.give([wsId, 'f'.repeat(32)], 'v')).stay.map(({ why }) => why),
    ['It has just moved', 'Unknown workstream'],
  );
});

test('a workstream that comes is loaded if it was, and what waits in it is looked for', async () => {
  await using it = await wholeGateway();
  const { here, arrived, row, isOpen } = movingIn(it);
  const { wsId } = await it.call('workstream.create', {});
  const { wsId: closed } = await it.call('workstream.create', {});
  await it.call('workstream.close', { wsId: closed });
  const { moved } = await here.give([wsId, closed], 'w');
  await it.store.commit({ statements: [{ sql: 'update workstreams set machine = null', parameters: [] }] });
  await here.take(moved);
  assert.deepEqual([await row(wsId), isOpen(wsId)], [[null, 1], true]);
  assert.deepEqual([await row(closed), isOpen(closed)], [[null, 0], false]);
  assert.deepEqual(new Set(arrived), new Set([wsId, closed]));
  await it.call('workstream.send', { wsId, message: 'hello', idempotencyKey: 'k' });
});

test('a workstream in which a run is under way stays, and the run goes on', async () => {
  await using it = await wholeGateway();
  const { here, row, isOpen } = movingIn(it);
  const { wsId } = await it.call('workstream.create', {});
  const workstream = await it.parts.workstreams.get(wsId, DAEMON);
  await it.accept('hello', { to: workstream });
  const { moved, stay } = await here.give([wsId], 'w');
  assert.deepEqual([moved, stay[0]?.code], [[], 'CONFLICT']);
  assert.deepEqual([await row(wsId), isOpen(wsId)], [[null, 1], true]);
  const main = await here.give([await it.main()], 'w');
  assert.match(main.stay[0]?.why ?? '', /^The main session/);
});

test('a message that is sent while a workstream is given waits, and is for the machine that has it then', async () => {
  await using it = await wholeGateway();
  const { here, row, isOpen } = movingIn(it);
  const { wsId } = await it.call('workstream.create', {});
  const giving = here.give([wsId], 'w');
  while (isOpen(wsId)) await Promise.resolve();
  assert.deepEqual(await row(wsId), [null, 1], 'it is not stored yet');
  const sent = await it.refusal('workstream.send', { wsId, message: 'hello', idempotencyKey: 'k' });
  assert.match(sent.message, /w, which has this workstream/);
  assert.equal((await giving).moved.length, 1);
});

test('a workstream that cannot be given is loaded again', async () => {
  await using it = await wholeGateway();
  const { here, row, isOpen } = movingIn(it);
  const { wsId } = await it.call('workstream.create', {});
  let asked = 0;
  it.disk.fails = ({ statements = [] }) => {
    const isMove = statements.some(({ sql }) => sql.includes('set "machine"'));
    if (isMove) asked += 1;
    return isMove;
  };
  const { moved, stay } = await here.give([wsId], 'w');
  it.disk.fails = undefined;
  assert.deepEqual([asked, moved, stay.length], [1, [], 1]);
  await it.call('workstream.get', { wsId });
  assert.deepEqual([await row(wsId), isOpen(wsId)], [[null, 1], true]);
});
