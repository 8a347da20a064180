import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../sharing/perception.ts';
import { calling, never } from '../testing/puppet-model.ts';
import { coordinatorGateway, LOCAL, taskOf } from './coordinators-fixture.ts';

const spawning = (message: string, args: object = {}) => calling('spawn_workstream', { message, ...args });

test('a coordinator makes a workstream that does a task, waits for it and reads its answer', async () => {
  await using gateway = await coordinatorGateway();
  await gateway.coordinate([spawning('count the apples', { name: 'apples' })]);
  const child = await gateway.child();
  assert.deepEqual(
    [child.name, child.kind, child.parentWsId, child.isOpen],
    ['apples', 'interactive', gateway.wsId, true],
  );
  assert.deepEqual(gateway.results, [[{ ws_id: child.wsId, name: 'apples' }]]);
  await gateway.coordinate([calling('wait_for_workstream', { ws_ids: [child.wsId] })]);
  const [waited] = gateway.results[1] ?? [];
  assert.deepEqual(waited, {
    done: true,
    workstreams: [
      {
        ws_id: child.wsId,
        name: 'apples',
        state: 'idle',
        parent_ws_id: gateway.wsId,
        messages: [{ role: 'assistant', text: 'did count the apples' }],
      },
    ],
  });
});

test('spawning asks, and a denied call makes nothing', async () => {
  await using gateway = await coordinatorGateway();
  gateway.turns.push([spawning('count')]);
  await gateway.call('workstream.send', { wsId: gateway.wsId, message: 'go on' }, LOCAL);
  await gateway.reaches(gateway.wsId, 'approve_request');
  assert.deepEqual(await gateway.childrenOf(), []);
  await gateway.call('workstream.approve', { wsId: gateway.wsId, approved: false }, LOCAL);
  await gateway.isIdle(gateway.wsId);
  assert.deepEqual(await gateway.childrenOf(), []);
});

test('a batch makes several with one question; what fails is told for each', async () => {
  await using gateway = await coordinatorGateway();
  const workstreams = [
    { message: 'one', name: 'one' },
    { message: 'two', model: 'nobody' },
    { message: 'three', name: 'three' },
  ];
  await gateway.coordinate([calling('spawn_batch', { workstreams })]);
  const asked = (await gateway.events(gateway.wsId)).filter(({ type }) => type === 'approve_request');
  assert.equal(asked.length, 1);
  const [one, three] = await gateway.named('one', 'three');
  const [batch] = gateway.results[0] ?? [];
  assert.deepEqual(batch, [
    { ws_id: one, name: 'one' },
    { error: "Unknown model 'nobody'. Available models: puppet, other" },
    { ws_id: three, name: 'three' },
  ]);
});

test('only coordinators have the tools, and other workstreams keep theirs', async () => {
  await using gateway = await coordinatorGateway();
  await gateway.coordinate(['hello']);
  await gateway.accept('hello');
  await gateway.isIdle(await gateway.main());
  const [first, second] = gateway.puppet.requests.map(({ tools }) => tools.map(({ name }) => name));
  assert.ok(first?.includes('spawn_workstream') && first.includes('look'));
  assert.deepEqual(second, ['look', 'touch']);
});

test('what a child may do is decided in the child: it asks, although the coordinator was allowed everything', async () => {
  await using gateway = await coordinatorGateway();
  await gateway.call('workstream.update', { wsId: gateway.wsId, mode: 'full' }, LOCAL);
  gateway.children(({ messages }) => (messages.at(-1)?.role === 'tool' ? ['done'] : [calling('touch', { text: 'a' })]));
  await gateway.coordinate([spawning('touch it')]);
  const child = await gateway.child();
  await gateway.reaches(child.wsId, 'approve_request');
  await gateway.coordinate([calling('inspect_workstream', { ws_id: child.wsId })]);
  const [seen] = gateway.results[1] ?? [];
  assert.deepEqual(
    [Reflect.get(Object(seen).workstreams[0], 'waits_for_person'), Object(seen).workstreams[0].state],
    [['touch'], 'attention'],
  );
});

test('a child of a read-only coordinator is read-only, and so is one that was asked to be', async () => {
  await using gateway = await coordinatorGateway();
  await gateway.coordinate([spawning('look', { mode: 'read_only' })]);
  const { wsId } = await gateway.child();
  assert.equal((await gateway.call('workstream.get', { wsId })).snapshot.workstream.mode, 'read_only');
});

test('a message to a child asks, until a person trusts the coordinator with those below it, and after that has ended', async () => {
  await using gateway = await coordinatorGateway();
  await gateway.coordinate([spawning('first')]);
  const child = await gateway.child();
  await gateway.isIdle(child.wsId);
  const questions = async () =>
    (await gateway.events(gateway.wsId)).filter(({ type }) => type === 'approve_request').length;
  const sending = (message: string, ws_id = child.wsId) => [calling('send_to_workstream', { ws_id, message })];
  assert.equal(await questions(), 1);
  await gateway.coordinate(sending('second'));
  assert.equal(await questions(), 2);
  await gateway.call('coordinator.trust', { wsId: gateway.wsId, send: true }, LOCAL);
  await gateway.coordinate(sending('third'));
  assert.equal(await questions(), 2);
  await gateway.coordinate(sending('to somebody else', await gateway.main()));
  assert.equal(await questions(), 3, 'it covers only those below');
  await gateway.call('coordinator.trust', { wsId: gateway.wsId, send: false }, LOCAL);
  await gateway.coordinate(sending('fourth'));
  assert.equal(await questions(), 4);
  await gateway.isIdle(child.wsId);
  const { messages } = await gateway.call('workstream.history', { wsId: child.wsId });
  const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  assert.deepEqual(asked, ['first', 'second', 'third', 'fourth']);
});

test('trust ends with its time, with /clear and when the coordinator is closed', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  const trust = () => gateway.call('coordinator.trust', { wsId, send: true }, LOCAL);
  const isTrusted = async () => (await gateway.call('coordinator.list', { wsId }, LOCAL)).coordinators[0]?.trustSend;
  const { trustUntilMs } = await trust();
  assert.equal(trustUntilMs, gateway.clock.now() + 28_800_000);
  await gateway.restart();
  assert.equal(await isTrusted(), true);
  gateway.clock.jump(28_800_000);
  assert.equal(await isTrusted(), false);
  await trust();
  await gateway.call('workstream.command', { wsId, command: '/clear' }, LOCAL);
  assert.equal(await isTrusted(), false);
  await trust();
  await gateway.call('workstream.close', { wsId }, LOCAL);
  await gateway.call('workstream.open', { wsId }, LOCAL);
  assert.equal(await isTrusted(), false);
});

test('a revoked tool is refused in the coordinator and below it, also when the call was approved before', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  gateway.children(({ messages }) => (messages.at(-1)?.role === 'tool' ? ['done'] : [calling('look', { text: 'a' })]));
  gateway.turns.push([spawning('look'), calling('touch', { text: 'x' })], ['over']);
  await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
  await gateway.reaches(wsId, 'approve_request');
  const { revokedTools } = await gateway.call('coordinator.restrict', { wsId, revoke: ['touch', 'look'] }, LOCAL);
  assert.deepEqual(revokedTools, ['touch', 'look']);
  await gateway.answered(wsId);
  const child = await gateway.child();
  await gateway.isIdle(child.wsId);
  const resultOf = async (of: string, name: string) =>
    (await gateway.events(of)).find((event) => event.type === 'tool_result' && event.name === name);
  const why = 'was revoked for this coordinator and everything that works for it. Only another workstream can use it.';
  const [touched, looked] = [await resultOf(wsId, 'touch'), await resultOf(child.wsId, 'look')];
  assert.ok(touched?.type === 'tool_result' && looked?.type === 'tool_result');
  assert.deepEqual(
    [touched.output, touched.is_error, looked.output, looked.is_error],
    [`The tool touch ${why}`, true, `The tool look ${why}`, true],
  );
  await gateway.restart();
  const more = await gateway.call('coordinator.restrict', { wsId, revoke: ['bash', 'look'] }, LOCAL);
  assert.deepEqual(more.revokedTools, ['touch', 'look', 'bash']);
  assert.deepEqual(
    (await gateway.call('coordinator.restrict', { wsId, revoke: [] }, LOCAL)).revokedTools,
    more.revokedTools,
  );
});

test('stopping cancels the coordinator and its own children; two at once stop each of them once', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  gateway.children((request) => (taskOf(request).startsWith('long') ? [never()] : ['done']));
  const workstreams = ['long 1', 'short', 'long 2'].map((name) => ({ name, message: name }));
  gateway.turns.push([calling('spawn_batch', { workstreams })], [never()]);
  await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.approve', { wsId, approved: true }, LOCAL);
  await gateway.reaches(wsId, 'tool_result');
  const [one = '', short = '', two = ''] = await gateway.named('long 1', 'short', 'long 2');
  await gateway.reaches(one, 'thinking_start');
  await gateway.reaches(two, 'thinking_start');
  await gateway.isIdle(short);
  const [first, second] = await Promise.all([1, 2].map(() => gateway.call('coordinator.stop', { wsId }, LOCAL)));
  assert.deepEqual(
    [first, second].map((stopped) => [new Set(stopped?.cancelled), stopped?.failed, new Set(stopped?.skipped)]),
    [
      [new Set([one, two]), [], new Set([short])],
      [new Set(), [], new Set([one, short, two])],
    ],
  );
  for (const each of [wsId, one, two]) assert.equal(gateway.parts.workstreams.find(each, DAEMON)?.busy, false);
  const cancelled = (await gateway.events(one)).filter(({ type }) => type === 'cancelled');
  assert.equal(cancelled.length, 1);
});

test('a stop during a spawn also stops the child that is being made', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  gateway.children(() => [never()]);
  gateway.turns.push([spawning('long')]);
  await gateway.call('workstream.send', { wsId, message: 'go on' }, LOCAL);
  await gateway.reaches(wsId, 'approve_request');
  await gateway.call('workstream.approve', { wsId, approved: true }, LOCAL);
  for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
  const { cancelled, skipped } = await gateway.call('coordinator.stop', { wsId }, LOCAL);
  const made = (await gateway.childrenOf()).map((child) => child.wsId);
  assert.deepEqual([...cancelled, ...skipped], made);
  for (const one of made) assert.equal(gateway.parts.workstreams.find(one, DAEMON)?.busy, false);
});

test('closing all children closes each once, and needs the permission', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  await gateway.coordinate([
    calling('spawn_batch', { workstreams: ['one', 'two'].map((name) => ({ name, message: name })) }),
  ]);
  const [one, two] = await gateway.named('one', 'two');
  await gateway.call('workstream.close', { wsId: one ?? '' }, LOCAL);
  const closed = await gateway.call('coordinator.close', { wsId, reason: 'over' }, LOCAL);
  assert.deepEqual(closed, { status: 'ok', closed: [two], failed: [], skipped: [one] });
  assert.deepEqual(
    (await gateway.childrenOf()).map(({ isOpen }) => isOpen),
    [false, false],
  );
  const { events } = await gateway.call('audit.list', { action: 'coordinator.closed_children' }, LOCAL);
  assert.deepEqual(
    events.map(({ detail }) => JSON.parse(detail)),
    [{ closed: [two], failed: [], skipped: 1, reason: 'over' }],
  );
});

test('the tools to end workstreams reach only those below', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId: other } = await gateway.call('workstream.create', {}, LOCAL);
  await gateway.coordinate([spawning('one')]);
  const child = await gateway.child();
  await gateway.isIdle(child.wsId);
  await gateway.coordinate([
    calling('cancel_workstream', { ws_ids: [other] }, 'c1'),
    calling('close_workstream', { ws_ids: [child.wsId, other] }, 'c2'),
    calling('inspect_workstream', { ws_id: other }, 'c3'),
    calling('delete_workstream', { ws_id: other }, 'c4'),
    calling('wait_for_workstream', { ws_ids: [other] }, 'c5'),
  ]);
  const why = `${other} is no workstream that works for you. list_workstreams shows those that do.`;
  assert.deepEqual(gateway.results[1], [why, why, why, why, why]);
  assert.deepEqual((await gateway.child()).isOpen, true);
  await gateway.coordinate([calling('close_all_children')]);
  assert.deepEqual(gateway.results[2], [{ closed: [child.wsId], failed: [], skipped: [] }]);
  await gateway.coordinate([calling('delete_workstream', { ws_id: child.wsId })]);
  assert.deepEqual(gateway.results[3], [{ deleted: child.wsId }]);
  assert.deepEqual(await gateway.childrenOf(), []);
});
