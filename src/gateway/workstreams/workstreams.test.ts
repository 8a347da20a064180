import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../ids.ts';
import { DAEMON, OF_EVERYONE } from '../sharing/perception.ts';
import { LIVE } from '../testing/default-deps.ts';
import { never } from '../testing/puppet-model.ts';
import { turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import type { Workstream } from './workstream.ts';

const THREE = { live: { ...LIVE, maxWorkstreams: 3 } };

const namesOf = ({ parts }: WholeGateway) =>
  parts.workstreams.list(DAEMON).map(({ data }) => data.alias ?? data.sessionKey);
const taken = { code: 'CONFLICT', message: 'That name is already used by another workstream' };

/** Creates workstreams one millisecond apart; returns the first one. */
async function make(gateway: WholeGateway, first: string, ...names: string[]): Promise<Workstream> {
  await gateway.clock.advance(1);
  const made = await gateway.parts.workstreams.create({ owned: OF_EVERYONE, alias: first });
  for (const name of names) {
    await gateway.clock.advance(1);
    await gateway.parts.workstreams.create({ owned: OF_EVERYONE, alias: name });
  }
  return made;
}

test('main exists from the first start, and a restart lists the open workstreams', async () => {
  await using gateway = await wholeGateway();
  assert.deepEqual(namesOf(gateway), ['main']);
  const a = await make(gateway, 'a', 'b');
  await gateway.parts.workstreams.close(a.data.wsId, DAEMON);
  await gateway.crash();
  assert.deepEqual(namesOf(gateway), ['main', 'b']);
});

test('whoever asks for a workstream that arrives waits until it is there, or could not come', async () => {
  await using gateway = await wholeGateway();
  const { workstreams } = gateway.parts;
  const { wsId } = (await make(gateway, 'a')).data;
  for (const end of ['resolve', 'reject'] as const) {
    const { promise, ...work } = Promise.withResolvers<string>();
    const arriving = workstreams.whileArriving([wsId, 'another'], () => promise).catch(() => 'failed');
    const steps: string[] = [];
    const asked = workstreams.get(wsId, DAEMON).then(() => steps.push('found'));
    await new Promise(setImmediate);
    steps.push('arrived');
    work[end]('done');
    await asked;
    assert.deepEqual([steps, await arriving], [['arrived', 'found'], end === 'resolve' ? 'done' : 'failed']);
  }
});

test('a workstream that is taken over is found when its runs can be continued, and not before', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = (await make(gateway, 'a')).data;
  const change = (set: string) =>
    gateway.store.commit({
      statements: [{ sql: `update workstreams set ${set} where ws_id = ?`, parameters: [wsId] }],
    });
  await change('loaded = 0');
  await gateway.crash();
  await change("loaded = 1, machine = 'moving one'");
  const { workstreams } = gateway.parts;
  const from = Object.create(gateway.store, { machine: { value: 'moving one' } });
  const open = await workstreams.load(new Map(), async () => undefined, from);
  await change('machine = null');
  const before = workstreams.find(wsId, DAEMON);
  open();
  assert.deepEqual([before, workstreams.find(wsId, DAEMON)?.data.wsId], [undefined, wsId]);
});

test('workstreams created at the same time stay within the limit', async () => {
  await using gateway = await wholeGateway(THREE);
  const outcomes = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map((name) => gateway.parts.workstreams.create({ owned: OF_EVERYONE, alias: name })),
  );
  const made = outcomes.filter(({ status }) => status === 'fulfilled').length;
  assert.ok(made >= 2 && gateway.parts.workstreams.list(DAEMON).length <= 3, `${made} made`);
});

test('closing ends the current run and drops queued ones; the rows stay', async () => {
  await using gateway = await wholeGateway();
  const a = await make(gateway, 'a');
  gateway.puppet.turn('Hel', never());
  const handles = [await gateway.accept('x', { to: a }), await gateway.accept('y', { to: a })];
  await turnsUntil(() => a.current?.partialAnswer() !== undefined, 'a word');
  await gateway.parts.workstreams.close(a.data.wsId, DAEMON);
  const ended = await Promise.all(handles.map((handle) => handle?.ended));
  assert.deepEqual(
    ended.map((result) => result?.status),
    ['cancelled', 'cancelled'],
  );
  assert.deepEqual(namesOf(gateway), ['main']);
  await assert.rejects(gateway.parts.workstreams.get(a.data.wsId, DAEMON), { code: 'NOT_FOUND' });
  assert.equal(await gateway.parts.workstreams.isStored(a.data.wsId, DAEMON), true);
});

test('the last workstream cannot be closed, even if two are closed at once', async () => {
  await using gateway = await wholeGateway();
  const { workstreams } = gateway.parts;
  const main = gateway.mainWorkstream().data.wsId;
  await assert.rejects(workstreams.close(main, DAEMON), { message: 'Cannot close last workstream' });
  const a = await make(gateway, 'a');
  const outcomes = await Promise.allSettled([workstreams.close(main, DAEMON), workstreams.close(a.data.wsId, DAEMON)]);
  assert.deepEqual([outcomes.map(({ status }) => status), namesOf(gateway)], [['fulfilled', 'rejected'], ['a']]);
});

test('a message during a close is cancelled with it; a later one is refused', async () => {
  await using gateway = await wholeGateway();
  const a = await make(gateway, 'a');
  const closing = gateway.parts.workstreams.close(a.data.wsId, DAEMON);
  const met = gateway.accept('met', { to: a });
  while (gateway.parts.workstreams.find(a.data.wsId, DAEMON)) await Promise.resolve();
  await assert.rejects(gateway.accept('late', { to: a }), { code: 'UNAVAILABLE' });
  await closing;
  assert.equal((await (await met)?.ended)?.status, 'cancelled');
  const rows = await gateway.store.db.selectFrom('runs').select('status').execute();
  assert.deepEqual(rows, [{ status: 'cancelled' }]);
});

test('a close that could not be stored leaves the workstream open and usable', async () => {
  await using gateway = await wholeGateway();
  const a = await make(gateway, 'a');
  gateway.disk.fails = () => true;
  await assert.rejects(gateway.parts.workstreams.close(a.data.wsId, DAEMON), { code: 'UNAVAILABLE' });
  gateway.disk.fails = undefined;
  assert.equal(await gateway.parts.workstreams.get(a.data.wsId, DAEMON), a);
  assert.equal((await (await gateway.accept('x', { to: a }))?.ended)?.status, 'ok');
});

test('a call for a workstream during its unloading gets exactly one instance', async () => {
  await using gateway = await wholeGateway(THREE);
  const a = await make(gateway, 'a', 'b');
  const { workstreams } = gateway.parts;
  const wsId = a.data.wsId;
  const making = workstreams.create({ owned: OF_EVERYONE, alias: 'c' });
  while (workstreams.find(wsId, DAEMON)) await Promise.resolve();
  const found = await Promise.all([workstreams.get(wsId, DAEMON), workstreams.findByKey('a', DAEMON)]);
  await making;
  assert.deepEqual(
    found.map((workstream) => workstream === workstreams.find(wsId, DAEMON)),
    [true, true],
  );
  assert.deepEqual(namesOf(gateway), ['main', 'a', 'c']);
});

test('names that are taken, reserved or unreadable are refused, even for simultaneous calls', async () => {
  await using gateway = await wholeGateway();
  const { workstreams } = gateway.parts;
  await make(gateway, 'a');
  await assert.rejects(workstreams.create({ owned: OF_EVERYONE, alias: 'a' }), taken);
  for (const name of ['main', 'cron:x', 'f'.repeat(32), 'a\nb', 'x'.repeat(129)]) {
    await assert.rejects(workstreams.create({ owned: OF_EVERYONE, alias: name }), { code: 'INVALID_REQUEST' }, name);
  }
  const [one, two] = await Promise.allSettled([
    workstreams.create({ owned: OF_EVERYONE, alias: 'b' }),
    workstreams.create({ owned: OF_EVERYONE, alias: 'b' }),
  ]);
  assert.deepEqual([one.status, two.status === 'rejected' && two.reason.code], ['fulfilled', 'CONFLICT']);
});

test('a workstream created with a model uses it; an unknown model creates nothing', async () => {
  await using gateway = await wholeGateway();
  const { workstreams } = gateway.parts;
  const made = await workstreams.create({ owned: OF_EVERYONE, model: 'other' });
  assert.equal(made.data.settingsEvent().model_alias, 'other');
  await assert.rejects(workstreams.create({ owned: OF_EVERYONE, model: 'nonsense' }), { code: 'INVALID_REQUEST' });
  assert.equal(workstreams.list(DAEMON).length, 2);
});

test('a closed workstream is reopened by alias, id, generated name or unique prefix, and keeps its messages', async () => {
  let n = 0; // random ids may begin alike
  await using gateway = await wholeGateway({ ids: { ...randomIds, wsId: () => `${++n}`.repeat(32) } });
  const { workstreams } = gateway.parts;
  const a = await make(gateway, 'a');
  const { wsId: id } = a.data;
  await (await gateway.accept('x', { to: a }))?.ended;
  for (const name of ['a', id, `ws-${id.slice(0, 4)}`, id.slice(0, 8)]) {
    await workstreams.close(id, DAEMON);
    const reopened = await workstreams.reopen(name, DAEMON);
    assert.deepEqual(
      [reopened?.workstream.data.wsId, reopened?.wasOpen, reopened?.workstream.data.messageCount],
      [id, false, 2],
      name,
    );
  }
  assert.equal((await workstreams.reopen('a', DAEMON))?.wasOpen, true);
  assert.deepEqual(
    [await workstreams.reopen('nobody', DAEMON), await workstreams.reopen('%', DAEMON)],
    [undefined, undefined],
  );
});

test('a session key is main, a ws_id or an alias; an unknown alias creates one workstream, even if used many times', async () => {
  await using gateway = await wholeGateway();
  const { workstreams } = gateway.parts;
  const main = gateway.mainWorkstream();
  assert.equal(await workstreams.findByKey('main', DAEMON), main);
  assert.equal(await workstreams.findByKey(main.data.wsId, DAEMON), main);
  assert.equal(await workstreams.findByKey('work', DAEMON), undefined);
  const obtained = await Promise.all([
    workstreams.obtainByKey('work', DAEMON),
    workstreams.obtainByKey('work', DAEMON),
  ]);
  assert.equal(obtained[0], obtained[1]);
  for (const key of ['f'.repeat(32), 'cron:x', 'Not An Alias', '']) {
    await assert.rejects(workstreams.obtainByKey(key, DAEMON), { code: 'NOT_FOUND' }, key);
  }
  await workstreams.close(main.data.wsId, DAEMON);
  assert.equal((await workstreams.obtainByKey('main', DAEMON)).data.wsId, main.data.wsId);
});

test('the alias that created a session stays its key after a rename, and no other session can take it', async () => {
  await using gateway = await wholeGateway();
  const { workstreams, settings } = gateway.parts;
  const made = await workstreams.obtainByKey('notes', DAEMON);
  assert.deepEqual([made.data.sessionKey, made.data.name], ['notes', 'notes']);
  await settings.change(made, { name: { text: 'garden', by: DAEMON } });
  assert.deepEqual([made.data.sessionKey, made.data.name], ['notes', 'garden']);
  for (const key of ['notes', 'garden', made.data.wsId]) {
    assert.equal(await workstreams.findByKey(key, DAEMON), made, key);
  }
  await assert.rejects(settings.change(gateway.mainWorkstream(), { name: { text: 'notes', by: DAEMON } }), taken);
  await settings.change(made, { name: { text: 'notes', by: DAEMON } }); // its own alias
  await workstreams.remove(made.data.wsId, DAEMON);
  const again = await workstreams.obtainByKey('notes', DAEMON);
  assert.deepEqual([again.data.sessionKey, again.data.wsId === made.data.wsId], ['notes', false]);
});

test('the name of a workstream is not a session key', async () => {
  await using gateway = await wholeGateway();
  const { data } = await make(gateway, 'notes');
  assert.equal((await gateway.parts.workstreams.obtainByKey('notes', DAEMON)).data, data);
  assert.equal(data.sessionKey, data.wsId);
});

test('a key used by another method, or again after its answer expired, identifies the newer run', async () => {
  await using gateway = await wholeGateway();
  const first = await gateway.accept('a', { key: 'k' });
  await first?.ended;
  const second = await gateway.accept('b', { key: 'k' });
  const result = await second?.ended;
  assert.deepEqual([first?.run.runId, result?.status], ['k', 'ok']);
  assert.notEqual(second?.run.runId, 'k');
});
