import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSummary } from '../../agent/tools/node.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { untilTrue } from '../../testing/until-true.ts';
import type { Store } from '../store/store.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import { Elsewhere } from './elsewhere.ts';
import { createLead } from './lead.ts';
import type { HubHandlers } from './links/hub.ts';
import { settle } from './links/joined-links-fixture.ts';
import type { Link, LinkHandlers } from './links/link.ts';
import { WaitingWorkstreams } from './waiting-workstreams.ts';

const notServed = () => assert.fail('it is not asked');

const BOX: NodeSummary = {
  ...{ nodeId: 'n1', name: 'box', platform: 'linux', commands: ['system.info'] },
  ...{ isConnected: true, pairing: '7' },
};

/** A link from a worker, and what its worker was told and asked. */
function fakeLink() {
  const ended = new AbortController();
  const sent: unknown[] = [];
  const link: Link = {
    async ask(what, body) {
      sent.push([what, body]);
      return { result: 'far', followed: [], isRecorded: false };
    },
    tell: (what, body) => void sent.push([what, body]),
    take: notServed,
    ended: ended.signal,
    end: (why) => ended.abort(new Error(why)),
  };
  return { link, sent };
}

/** `isBusThere`: false, the bus cannot be reached. */
function world({ isBusThere = true } = {}) {
  const [clock, log, over] = [fakeClock(1_000), recordingLog(), new AbortController()];
  const steps: unknown[] = [];
  let greet: HubHandlers['onGreeted'];
  let change: (tables: readonly string[]) => void = notServed;
  const streams: EventStreams = { open: notServed, follow: notServed, states: () => [], onChange: notServed };
  const away = () =>
    new Promise<undefined>((resolve) => over.signal.addEventListener('abort', () => resolve(undefined)));
  const db = {
    selectFrom() {
      steps.push('look for machines');
      throw new Error('no database');
    },
  };
  const store = { db, openLogs: notServed } as unknown as Store; // only to look for machines: no log is read
  const waiting = new WaitingWorkstreams({ store, nodeId: 'lead' });
  const lead = createLead({
    async openHub(handlers) {
      if (!isBusThere) return away();
      greet = handlers.onGreeted;
      return { open: notServed, isConnected: true, close: async () => void steps.push('close') };
    },
    tellers: {
      events: { onTold: notServed, retell: (told) => void steps.push(told) },
      broadcast: { onTold: notServed, retell: notServed },
      global: { onTold: notServed, retell: notServed, tellStates: notServed },
    },
    events: { endings: 0, resync: notServed, end: notServed, leave: notServed },
    streams,
    store,
    loaded: () => 3,
    held: {
      onChanged(listener) {
        change = listener;
      },
      reload: (tables) => void steps.push(['reload', tables]),
    },
    nodes: {
      list: async () => [BOX],
      invoke: async ({ command }) => `${command} ran`,
    },
    takingOver: {
      store,
      shared: { endWorker: notServed, liveWorkers: async () => new Set<string>() },
      owner: { labels: ['eu'], identify: notServed },
      waiting,
      adopt: notServed,
      log,
    },
    waiting,
    here: { nodeId: 'lead', labels: ['eu'] },
    version: '1.2.3',
    clock,
    log,
  });
  const greeted = (link: Link): LinkHandlers => greet?.(() => link) ?? notServed();
  const asked = { signal: over.signal, interim: notServed };
  const join = async (nodeId: string, labels: readonly string[] = []) => {
    const { link, sent } = fakeLink();
    const handlers = greeted(link);
    await handlers.answer('join', { nodeId, serverUrl: `http://${nodeId}`, version: '1.2.3', labels }, asked);
    return { link, sent, handlers };
  };
  return { lead, over, steps, asked, join, waiting, change: (tables: readonly string[]) => change(tables) };
}

test('workers that have gone are taken over although the bus cannot be reached', async () => {
  const { lead, over, steps } = world({ isBusThere: false });
  const run = lead.run(over.signal);
  await settle();
  over.abort();
  await run;
  assert.deepEqual(steps, ['look for machines']);
});

test('a lead that is stopped closes its hub', async () => {
  const { lead, over, steps } = world();
  const run = lead.run(over.signal);
  await untilTrue(() => steps.length > 0);
  over.abort();
  await run;
  assert.deepEqual(steps, ['look for machines', 'close']);
});

test('the worker with the fewest workstreams gets the next one, if it has fewer than this daemon', async () => {
  const { lead, over, join } = world();
  void lead.run(over.signal);
  await settle();
  assert.deepEqual([lead.placement.choose([]), lead.placement.has('a')], [undefined, false]);
  const [a, b] = [await join('a'), await join('b')];
  a.handlers.hear('loaded', 2);
  b.handlers.hear('loaded', 1);
  const chosen = [1, 2, 3, 4].map(() => lead.placement.choose([]));
  assert.deepEqual(chosen, ['b', 'a', 'b', undefined]);
  assert.deepEqual([lead.placement.has('a'), lead.placement.has('c')], [true, false]);
  over.abort();
});

test('a new workstream that needs labels goes to the machine with the fewest of those that have all of them', async () => {
  const { lead, over, join } = world();
  void lead.run(over.signal);
  await settle();
  const [busy, idle, both] = [await join('busy', ['gpu']), await join('idle'), await join('both', ['eu', 'gpu'])];
  busy.handlers.hear('loaded', 9);
  idle.handlers.hear('loaded', 0);
  both.handlers.hear('loaded', 9);
  const choose = (...labels: string[]) => lead.placement.choose(labels);
  assert.deepEqual([choose('gpu'), choose('gpu'), choose('eu', 'gpu')], ['busy', 'both', 'both']);
  assert.equal(choose('eu'), undefined, 'this daemon has it, and three');
  assert.equal(lead.placement.choose(['eu', 'gpu'], { isHereFirst: true }), 'both');
  assert.equal(lead.placement.choose([], { isHereFirst: true }), undefined);
  over.abort();
});

test('labels that no machine has are refused with the machines that are there, and of a chosen machine with those it lacks', async () => {
  const { lead, over, join } = world();
  void lead.run(over.signal);
  await settle();
  const gpu = await join('a', ['gpu']);
  await join('b');
  assert.throws(() => lead.placement.choose(['eu', 'gpu']), {
    code: 'UNAVAILABLE',
    message:
      'No machine that runs workstreams has the labels "eu" and "gpu". There are: lead (eu), a (gpu), b (no labels).',
    details: {
      machineLabels: ['eu', 'gpu'],
      machines: [
        { nodeId: 'lead', labels: ['eu'] },
        { nodeId: 'a', labels: ['gpu'] },
        { nodeId: 'b', labels: [] },
      ],
    },
    retryable: true,
  });
  lead.placement.requireLabels('a', ['gpu']);
  lead.placement.requireLabels('lead', ['eu']);
  const lacks = { code: 'CONFLICT', message: 'a does not have the label "eu".' };
  assert.throws(() => lead.placement.requireLabels('a', ['eu', 'gpu']), lacks);
  gpu.link.end('it is silent');
  assert.throws(() => lead.placement.choose(['gpu']), { code: 'UNAVAILABLE' });
  over.abort();
});

test('workstreams of a worker that has joined no longer wait for it', async () => {
  const { lead, over, join, waiting } = world();
  void lead.run(over.signal);
  await settle();
  const wordsFor = (machine: string) => waiting.refusal(new Elsewhere(machine, 'one')).message;
  for (const machine of ['a', 'b'])
    waiting.note(machine, new Map([['one', { reason: 'labels', missingLabels: ['gpu', 'tpu'] }]]), { isAll: true });
  await join('a', ['gpu']);
  assert.deepEqual(
    [wordsFor('a'), wordsFor('b')],
    [
      'a, which has this workstream, cannot be reached now',
      'This workstream waits for b, because lead does not have the labels "gpu" and "tpu".',
    ],
  );
  over.abort();
});

test('a worker that has joined again has the labels that it says now', async () => {
  const { lead, over, join } = world();
  void lead.run(over.signal);
  await settle();
  await join('a', ['gpu']);
  await join('a', ['tpu']);
  assert.equal(lead.placement.choose(['tpu']), 'a');
  assert.throws(() => lead.placement.choose(['gpu']), { code: 'UNAVAILABLE' });
  over.abort();
});

test('a worker that has joined again is asked over its new link, and one that has gone is not asked', async () => {
  const { lead, over, join } = world();
  void lead.run(over.signal);
  await settle();
  const [former, next] = [await join('a'), await join('a')];
  assert.equal(String(former.link.ended.reason), 'Error: it has joined again');
  assert.deepEqual([[...lead.urls()], lead.placement.has('a')], [[['a', 'http://a']], true]);
  next.link.end('it is silent');
  assert.deepEqual([[...lead.urls()], lead.placement.has('a')], [[], false]);
  over.abort();
});

test('what one daemon has changed is read again by all others', async () => {
  const { lead, over, steps, join, change } = world();
  void lead.run(over.signal);
  await settle();
  const [a, b] = [await join('a'), await join('b')];
  change(['roles']);
  assert.deepEqual([a.sent, b.sent], [[['changed', ['roles']]], [['changed', ['roles']]]]);
  a.handlers.hear('changed', ['rules']);
  assert.deepEqual(steps.at(-1), ['reload', ['rules']]);
  assert.deepEqual([a.sent.length, b.sent.at(-1)], [1, ['changed', ['rules']]], 'the other worker, too');
  over.abort();
});

test('a worker may ask for the nodes, and run commands on them', async () => {
  const { lead, over, join, asked } = world();
  void lead.run(over.signal);
  await settle();
  const { handlers } = await join('a');
  assert.deepEqual(await handlers.answer('nodes', null, asked), [BOX]);
  assert.deepEqual(await handlers.answer('invoke', { nodeId: 'n1', command: 'system.info' }, asked), {
    kind: 'answered',
    result: 'system.info ran',
  });
  over.abort();
});

test('what a worker may have changed without saying so is read when it joins, and when it has gone', async () => {
  const { lead, over, steps, join } = world();
  void lead.run(over.signal);
  await settle();
  const reloads = () => steps.filter((step) => JSON.stringify(step) === '["reload",null]').length;
  const { link } = await join('a');
  assert.equal(reloads(), 1);
  link.end('it was killed');
  assert.equal(reloads(), 2);
  over.abort();
});
