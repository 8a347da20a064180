import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilTrue } from '../../testing/until-true.ts';
import { Elsewhere } from './elsewhere.ts';
import { BOX, fakeLink, joiningOf, loadOf, world } from './lead-fixture.ts';
import { settle } from './links/joined-links-fixture.ts';
import { LINK_PROTOCOL } from './links/protocol-version.ts';

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
  a.handlers.hear('load', loadOf(2));
  b.handlers.hear('load', loadOf(1));
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
  busy.handlers.hear('load', loadOf(9));
  idle.handlers.hear('load', loadOf(0));
  both.handlers.hear('load', loadOf(9));
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
      'a, which has this workstream or job, cannot be reached now',
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

test('a worker of another version joins, unless what it says over links is another language', async () => {
  const { lead, over, greeted, asked } = world();
  void lead.run(over.signal);
  await settle();
  const handlers = greeted(fakeLink().link);
  const join = (joining: unknown) => handlers.answer('join', joining, asked);
  for (const protocol of [LINK_PROTOCOL + 1, undefined])
    await assert.rejects(
      join({ ...joiningOf('a'), protocol }),
      /The worker has version 1\.2\.4, which is too far from this one/,
    );
  assert.equal(lead.placement.has('a'), false);
  assert.deepEqual(await join(joiningOf('a')), { protocol: LINK_PROTOCOL, version: '1.2.3' });
  assert.equal(lead.placement.has('a'), true);
  await assert.rejects(handlers.answer('later', {}, asked), /another version of Headgate, which does not know "later"/);
  handlers.hear('later news', {});
  over.abort();
});

test('the active daemon knows what its workers have to do', async () => {
  const { lead, over, join } = world();
  void lead.run(over.signal);
  await settle();
  const [a, b] = [await join('a'), await join('b')];
  assert.deepEqual(lead.loads(), [], 'they have not said it');
  a.handlers.hear('load', loadOf(2));
  b.handlers.hear('load', loadOf(1));
  assert.deepEqual(lead.loads(), [loadOf(2), loadOf(1)]);
  a.link.end('it is silent');
  assert.deepEqual(lead.loads(), [loadOf(1)]);
  over.abort();
});

test('workers know which logs approvers read here, from their joining on', async () => {
  const { lead, over, approvers, join } = world();
  void lead.run(over.signal);
  await settle();
  approvers.enter('a');
  const { sent } = await join('w');
  approvers.enter('b');
  approvers.leave('a');
  assert.deepEqual(sent, [
    ['approvers', { begun: ['a'], ended: [] }],
    ['approvers', { begun: ['b'], ended: [] }],
    ['approvers', { begun: [], ended: ['a'] }],
  ]);
  over.abort();
});
