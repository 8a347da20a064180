import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import type { Workstream } from './workstream.ts';
import { never, shapes, startedWorkstreams } from './workstreams-fixture.ts';

type Fixture = Awaited<ReturnType<typeof startedWorkstreams>>;

const namesOf = ({ parts }: Fixture) => parts.workstreams.list().map(({ data }) => data.alias ?? data.sessionKey);
const taken = { code: 'CONFLICT', message: 'That name is already used by another workstream' };

/** Workstreams made one millisecond after the other; answers the first one. */
async function make(fixture: Fixture, first: string, ...names: string[]): Promise<Workstream> {
  await fixture.clock.advance(1);
  const made = await fixture.parts.workstreams.create({ alias: first });
  for (const name of names) {
    await fixture.clock.advance(1);
    await fixture.parts.workstreams.create({ alias: name });
  }
  return made;
}

test('main is there from the first start, and a restart lists what was open', async () => {
  await using fixture = await startedWorkstreams();
  assert.deepEqual(namesOf(fixture), ['main']);
  const a = await make(fixture, 'a', 'b');
  await fixture.parts.workstreams.close(a.data.wsId);
  await fixture.crash();
  assert.deepEqual(namesOf(fixture), ['main', 'b']);
});

test('at the limit the oldest idle one is unloaded, and comes back when it is touched', async () => {
  await using fixture = await startedWorkstreams({ maxLoaded: 3 });
  const a = await make(fixture, 'a');
  const b = await make(fixture, 'b');
  await fixture.clock.advance(1);
  await (await fixture.send('x', { to: a }))?.ended;
  await make(fixture, 'c');
  assert.deepEqual(
    [namesOf(fixture), fixture.seen.slice(-3)],
    [
      ['main', 'a', 'c'],
      ['unloaded b', 'evicted', 'loaded c'],
    ],
  );
  const again = await fixture.parts.workstreams.get(b.data.wsId);
  assert.deepEqual([again.data.alias, namesOf(fixture)], ['b', ['main', 'b', 'c']]);
  await fixture.crash();
  assert.deepEqual(namesOf(fixture), ['main', 'b', 'c']);
});

test('what is busy, followed or main stays; when nothing else is there the limit holds', async () => {
  await using fixture = await startedWorkstreams({ maxLoaded: 3 });
  const a = await make(fixture, 'a');
  const b = await make(fixture, 'b');
  fixture.puppet.turn(never());
  await fixture.send('x', { to: a });
  const sink = { ready: () => true, write: () => undefined };
  const reader = fixture.parts.events.follow(b.data.wsId, 0, { sink });
  await assert.rejects(make(fixture, 'c'), { message: 'Maximum of 3 workstreams reached' });
  reader.close();
  await make(fixture, 'd');
  assert.deepEqual(namesOf(fixture), ['main', 'a', 'd']);
});

test('many made at once stay within the limit', async () => {
  await using fixture = await startedWorkstreams({ maxLoaded: 3 });
  const outcomes = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map((name) => fixture.parts.workstreams.create({ alias: name })),
  );
  const made = outcomes.filter(({ status }) => status === 'fulfilled').length;
  assert.ok(made >= 2 && fixture.parts.workstreams.list().length <= 3, `${made} made`);
});

test('closing ends what runs and drops what waits; the rows stay', async () => {
  await using fixture = await startedWorkstreams();
  const a = await make(fixture, 'a');
  fixture.puppet.turn('Hel', never());
  const handles = [await fixture.send('x', { to: a }), await fixture.send('y', { to: a })];
  await turnsUntil(() => a.current?.partialAnswer() !== undefined, 'a word');
  await fixture.parts.workstreams.close(a.data.wsId);
  const ended = await Promise.all(handles.map((handle) => handle?.ended));
  assert.deepEqual(
    ended.map((result) => result?.status),
    ['cancelled', 'cancelled'],
  );
  assert.deepEqual(namesOf(fixture), ['main']);
  await assert.rejects(fixture.parts.workstreams.get(a.data.wsId), { code: 'NOT_FOUND' });
  assert.equal(await fixture.parts.workstreams.isStored(a.data.wsId), true);
});

test('the last workstream cannot be closed, also when two are closed at once', async () => {
  await using fixture = await startedWorkstreams();
  const { workstreams } = fixture.parts;
  const main = fixture.main().data.wsId;
  await assert.rejects(workstreams.close(main), { message: 'Cannot close last workstream' });
  const a = await make(fixture, 'a');
  const outcomes = await Promise.allSettled([workstreams.close(main), workstreams.close(a.data.wsId)]);
  assert.deepEqual([outcomes.map(({ status }) => status), namesOf(fixture)], [['fulfilled', 'rejected'], ['a']]);
});

test('a message that meets a close is cancelled with it; a later one is refused', async () => {
  await using fixture = await startedWorkstreams();
  const a = await make(fixture, 'a');
  const closing = fixture.parts.workstreams.close(a.data.wsId);
  const met = fixture.send('met', { to: a });
  while (fixture.parts.workstreams.find(a.data.wsId)) await Promise.resolve();
  await assert.rejects(fixture.send('late', { to: a }), { code: 'UNAVAILABLE' });
  await closing;
  assert.equal((await (await met)?.ended)?.status, 'cancelled');
  const rows = await fixture.parts.store.db.selectFrom('runs').select('status').execute();
  assert.deepEqual(rows, [{ status: 'cancelled' }]);
});

test('a close that could not be stored leaves the workstream open and usable', async () => {
  await using fixture = await startedWorkstreams();
  const a = await make(fixture, 'a');
  fixture.parts.tap.fails = () => true;
  await assert.rejects(fixture.parts.workstreams.close(a.data.wsId), { code: 'UNAVAILABLE' });
  fixture.parts.tap.fails = undefined;
  assert.equal(await fixture.parts.workstreams.get(a.data.wsId), a);
  assert.equal((await (await fixture.send('x', { to: a }))?.ended)?.status, 'ok');
});

test('who asks for a workstream while it is unloaded gets one, and only one', async () => {
  await using fixture = await startedWorkstreams({ maxLoaded: 3 });
  const a = await make(fixture, 'a', 'b');
  const { workstreams } = fixture.parts;
  const wsId = a.data.wsId;
  const making = workstreams.create({ alias: 'c' });
  while (workstreams.find(wsId)) await Promise.resolve();
  const found = await Promise.all([workstreams.get(wsId), workstreams.findByKey('a')]);
  await making;
  assert.deepEqual(
    found.map((workstream) => workstream === workstreams.find(wsId)),
    [true, true],
  );
  assert.deepEqual(namesOf(fixture), ['main', 'a', 'c']);
});

test('names that are taken, reserved or unreadable are refused, also when two ask at once', async () => {
  await using fixture = await startedWorkstreams();
  const { workstreams } = fixture.parts;
  await make(fixture, 'a');
  await assert.rejects(workstreams.create({ alias: 'a' }), taken);
  for (const name of ['main', 'cron:x', 'f'.repeat(32), 'a\nb', 'x'.repeat(129)]) {
    await assert.rejects(workstreams.create({ alias: name }), { code: 'INVALID_REQUEST' }, name);
  }
  const [one, two] = await Promise.allSettled([workstreams.create({ alias: 'b' }), workstreams.create({ alias: 'b' })]);
  assert.deepEqual([one.status, two.status === 'rejected' && two.reason.code], ['fulfilled', 'CONFLICT']);
});

test('a workstream made with a model follows that one; an unknown one makes nothing', async () => {
  await using fixture = await startedWorkstreams();
  const { workstreams } = fixture.parts;
  const made = await workstreams.create({ model: 'other' });
  assert.equal(made.data.settingsEvent().model_alias, 'other');
  await assert.rejects(workstreams.create({ model: 'nonsense' }), { code: 'INVALID_REQUEST' });
  assert.equal(workstreams.list().length, 2);
});

test('a closed one is reopened by alias, id, generated name or unique beginning, and keeps its messages', async () => {
  await using fixture = await startedWorkstreams();
  const { workstreams } = fixture.parts;
  const a = await make(fixture, 'a');
  const { wsId } = a.data;
  await (await fixture.send('x', { to: a }))?.ended;
  for (const name of ['a', wsId, `ws-${wsId.slice(0, 4)}`, wsId.slice(0, 8)]) {
    await workstreams.close(wsId);
    const reopened = await workstreams.reopen(name);
    assert.deepEqual(
      [reopened?.workstream.data.wsId, reopened?.wasOpen, reopened?.workstream.data.messageCount],
      [wsId, false, 2],
      name,
    );
  }
  assert.equal((await workstreams.reopen('a'))?.wasOpen, true);
  assert.deepEqual([await workstreams.reopen('nobody'), await workstreams.reopen('%')], [undefined, undefined]);
});

test('a session key is main, a ws_id or an alias; an unknown alias makes one workstream however often it is asked', async () => {
  await using fixture = await startedWorkstreams();
  const { workstreams } = fixture.parts;
  const main = fixture.main();
  assert.equal(await workstreams.findByKey('main'), main);
  assert.equal(await workstreams.findByKey(main.data.wsId), main);
  assert.equal(await workstreams.findByKey('work'), undefined);
  const obtained = await Promise.all([workstreams.obtainByKey('work'), workstreams.obtainByKey('work')]);
  assert.equal(obtained[0], obtained[1]);
  for (const key of ['f'.repeat(32), 'cron:x', 'Not An Alias', '']) {
    await assert.rejects(workstreams.obtainByKey(key), { code: 'NOT_FOUND' }, key);
  }
  await workstreams.close(main.data.wsId);
  assert.equal((await workstreams.obtainByKey('main')).data.wsId, main.data.wsId);
});

test('an alias that created its session is its key whatever it is called later, and nobody else can take it', async () => {
  await using fixture = await startedWorkstreams();
  const { workstreams, settings } = fixture.parts;
  const made = await workstreams.obtainByKey('notes');
  assert.deepEqual([made.data.sessionKey, made.data.name], ['notes', 'notes']);
  await settings.change(made, { name: 'garden' });
  assert.deepEqual([made.data.sessionKey, made.data.name], ['notes', 'garden']);
  for (const key of ['notes', 'garden', made.data.wsId]) {
    assert.equal(await workstreams.findByKey(key), made, key);
  }
  await assert.rejects(settings.change(fixture.main(), { name: 'notes' }), taken);
  await settings.change(made, { name: 'notes' }); // its own word
  await workstreams.remove(made.data.wsId);
  const again = await workstreams.obtainByKey('notes');
  assert.deepEqual([again.data.sessionKey, again.data.wsId === made.data.wsId], ['notes', false]);
});

test('a name that a workstream was given is no session key', async () => {
  await using fixture = await startedWorkstreams();
  const { data } = await make(fixture, 'notes');
  assert.equal((await fixture.parts.workstreams.obtainByKey('notes')).data, data);
  assert.equal(data.sessionKey, data.wsId);
});

test('settings reach the row, the data and everyone who follows; a name in use is refused', async () => {
  await using fixture = await startedWorkstreams();
  const { settings } = fixture.parts;
  const main = fixture.main();
  await make(fixture, 'a');
  await Promise.all([
    settings.change(main, { name: ' work ' }),
    settings.change(main, { model: 'other', always: { by: 'ada', untilMs: 9_000_000 } }),
  ]);
  await assert.rejects(settings.change(main, { name: 'a' }), taken);
  await settings.change(main, {});
  const events = await fixture.eventsOf(main.data.wsId);
  const event = {
    type: 'settings_changed',
    name: 'work',
    model: 'puppet',
    model_alias: 'puppet',
    skip_permissions: false,
  };
  assert.deepEqual(events, [
    event,
    { ...event, model: 'other', model_alias: 'other', skip_permissions: true, skip_permissions_until_ms: 9_000_000 },
  ]);
  await fixture.crash();
  const { name, always, modelAlias } = fixture.main().data;
  assert.deepEqual(
    { name, always, modelAlias },
    { name: 'work', always: { by: 'ada', untilMs: 9_000_000 }, modelAlias: 'other' },
  );
  await fixture.parts.settings.change(fixture.main(), { name: '' });
  assert.equal(fixture.main().data.name, `ws-${fixture.main().data.wsId.slice(0, 4)}`);
});

test('a setting that could not be stored does not count', async () => {
  await using fixture = await startedWorkstreams();
  fixture.parts.tap.fails = () => true;
  await assert.rejects(fixture.parts.settings.change(fixture.main(), { always: { by: 'ada', untilMs: null } }), {
    code: 'UNAVAILABLE',
  });
  fixture.parts.tap.fails = undefined;
  fixture.puppet.turn(calling('touch'));
  await fixture.send('x');
  await fixture.reaches('approve_request');
  assert.equal(shapes(await fixture.eventsOf(fixture.main().data.wsId)).includes('settings_changed'), false);
});

test('a key used by another method, or again after its answer was forgotten, names the newer run', async () => {
  await using fixture = await startedWorkstreams();
  const first = await fixture.send('a', { key: 'k' });
  await first?.ended;
  const second = await fixture.send('b', { key: 'k' });
  const result = await second?.ended;
  assert.deepEqual([first?.run.runId, result?.status], ['k', 'ok']);
  assert.notEqual(second?.run.runId, 'k');
});
