import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GLOBAL_EVENTS, type GlobalEvent } from '../../../protocol/events/global.ts';
import { DAEMON } from '../sharing/perception.ts';
import { LIVE } from '../testing/default-deps.ts';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil, wholeGateway } from '../testing/whole-gateway.ts';

/** The events in brief, each of them valid. */
function listen({ gateway }: Awaited<ReturnType<typeof wholeGateway>>) {
  const heard: GlobalEvent[] = [];
  const stop = gateway.streams.onChange({
    viewer: DAEMON,
    onEvent(event) {
      GLOBAL_EVENTS[event.type].parse(event);
      heard.push(event);
    },
  });
  return { heard, brief: () => heard.splice(0).map(inBrief), stop };
}

function inBrief(event: GlobalEvent): string {
  if (event.type === 'ws_activity') return `${event.activity_state}: ${event.activity}`;
  if (event.type === 'ws_state') return `${event.state} ${event.activity_state} ${event.content ?? '-'}`;
  if (event.type === 'health_changed') return `${event.status} ${event.backend.circuit_state}`;
  return [event.type, event.name, ...('reason' in event ? [event.reason] : [])].join(' ');
}

test('a run is told by what it does, and its answer at the end', async () => {
  await using world = await wholeGateway();
  const { brief, heard, stop } = listen(world);
  world.puppet.turn('Let me look.', calling('touch', { path: 'a' }));
  world.puppet.turn('All ', 'done.');
  const handle = await world.accept('do it');
  await turnsUntil(
    () => heard.some((event) => event.type === 'ws_activity' && event.activity_state === 'approval'),
    'a question',
  );
  const [{ approvalId = '' } = {}] = (await world.call('approval.list', {})).approvals;
  await world.call('approval.resolve', { approvalId, approved: true });
  await handle?.ended;
  const { tokens = 0, context_ratio: ratio = 0 } = heard.findLast((event) => event.type === 'ws_state') ?? {};
  assert.deepEqual([tokens > 0, ratio > 0], [true, true]);
  const told = brief();
  assert.deepEqual(
    told.filter((text) => !text.startsWith('thinking') && !text.startsWith('running')),
    told.filter((text) => /approval|^tool|^idle|^attention/.test(text)),
  );
  assert.equal(told.at(-1), 'idle  All done.');
  stop();
  await (await world.accept('again'))?.ended;
  assert.deepEqual(brief(), []);
});

test('an answer that began before somebody listened is left out', async () => {
  await using world = await wholeGateway();
  const gate = Promise.withResolvers<void>();
  world.puppet.turn('first half, ', gate.promise, 'second half');
  const handle = await world.accept('x');
  await turnsUntil(() => world.mainWorkstream().current?.partialAnswer() !== undefined, 'a word');
  const { brief } = listen(world);
  gate.resolve();
  await handle?.ended;
  assert.equal(brief().at(-1), 'idle  -');
});

test('workstreams that come, get another name and go are told', async () => {
  await using world = await wholeGateway({ live: { ...LIVE, maxWorkstreams: 2 } });
  const { brief } = listen(world);
  const { wsId } = await world.call('workstream.create', { name: 'one' });
  await world.call('workstream.update', { wsId, name: 'uno' });
  await world.call('workstream.update', { wsId, autoApprove: false });
  await world.clock.advance(1);
  const { wsId: other } = await world.call('workstream.create', { name: 'two' });
  await world.call('workstream.close', { wsId: other });
  assert.deepEqual(brief(), [
    ...['ws_created one', 'idle  -', 'ws_rename uno'],
    ...['ws_closed uno evicted', 'ws_created two', 'idle  -', 'ws_closed two closed'],
  ]);
});

test('the title that the model writes for a conversation without a name is told', async () => {
  await using world = await wholeGateway({ live: { ...LIVE, session: { retentionDays: 0, titles: 'model' } } });
  const { brief, heard } = listen(world);
  world.puppet.turn('Bubble sort is simple.');
  world.puppet.turn('Sorting a list');
  await (await world.accept('How do I sort a list?'))?.ended;
  await turnsUntil(() => heard.some(({ type }) => type === 'ws_rename'), 'a title');
  assert.equal(brief().at(-1), 'ws_rename Sorting a list');
});

test('The global stream must report when the default model or the store fails and works again', async () => {
  await using world = await wholeGateway();
  const { brief } = listen(world);
  const stop = new AbortController();
  const { models } = world.puppet;
  const running = world.gateway.health.run(stop.signal);
  const look = () => world.clock.advance(2_000);
  await world.clock.advance(0); // the first look
  const known = models.health();
  models.health = () => ({ status: 'down', circuitState: 'open' });
  await look();
  await look();
  models.health = () => known;
  await look();
  assert.deepEqual(brief(), ['degraded open', 'ok closed']);
  stop.abort();
  await running;
});
