import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLostError, RequestError } from '../../../protocol/client/request-error.ts';
import { createActions } from './actions.ts';
import { snapshot } from './conversation/conversation-fixture.ts';
import { createFakeClient } from './fake-client.ts';
import { openTab } from './tab.ts';

function open() {
  const fake = createFakeClient();
  const shown: string[] = [];
  const kept: string[] = [];
  const drafts = { find: () => '', keep: (_wsId: string, text: string) => void kept.push(text) };
  let keys = 0;
  const actions = createActions({
    client: fake.client,
    workstreams: { show: async (wsId) => void shown.push(wsId) },
    newKey: () => `key${++keys}`,
  });
  const tab = openTab(snapshot().workstream, {
    client: fake.client,
    schedule: (run) => run(),
    isInFront: () => true,
    drafts,
    onRetitled: () => undefined,
    onGone: () => undefined,
  });
  return { ...fake, actions, shown, kept, tab };
}

test('a sent draft leaves the composer', async () => {
  const { actions, tab, calls, answer } = open();
  answer('workstream.send', () => ({ status: 'ok', runId: 'r' }));
  tab.draft.value = '  hello \n';
  await actions.submit(tab);
  assert.deepEqual(calls, [['workstream.send', { wsId: 'w', message: 'hello', queue: true, idempotencyKey: 'key1' }]]);
  assert.deepEqual([tab.draft.value, tab.sending.value, tab.problem.value], ['', undefined, undefined]);
});

test('a message being sent is kept as a draft until the daemon has it', async () => {
  const { actions, tab, answer, kept } = open();
  const taken = Promise.withResolvers<void>();
  answer('workstream.send', async () => {
    await taken.promise;
    return { status: 'ok' };
  });
  tab.draft.value = 'hello';
  const sent = actions.submit(tab);
  assert.equal(kept.at(-1), 'hello');
  taken.resolve();
  await sent;
  assert.equal(kept.at(-1), '');
});

test('a message cut off by a lost connection is sent again with the same key', async () => {
  const { actions, tab, calls, answer } = open();
  answer('workstream.send', () => {
    if (calls.length === 1) throw new ConnectionLostError('gone');
    return { status: 'ok' };
  });
  tab.draft.value = 'hello';
  await actions.submit(tab);
  assert.deepEqual(calls[0], calls[1]);
  assert.deepEqual([calls.length, tab.draft.value, tab.problem.value], [2, '', undefined]);
});

test('a refused message returns to the composer, with the reason', async () => {
  const { actions, tab, answer } = open();
  answer('workstream.send', () => {
    throw new RequestError('UNAVAILABLE', 'the disk is full');
  });
  tab.draft.value = 'hello';
  await actions.submit(tab);
  assert.deepEqual([tab.draft.value, tab.problem.value], ['hello', 'the disk is full']);
});

test('a message submitted during a send follows it, unless the draft was edited since', async () => {
  const { actions, tab, calls, answer } = open();
  let taken = Promise.withResolvers<void>();
  answer('workstream.command', async () => {
    await taken.promise;
    return { status: 'ok', wsId: 'w' };
  });
  const given = () => calls.map(([, params]) => params);
  const command = (text: string) => ({ wsId: 'w', command: text });
  tab.draft.value = '/name a';
  const first = actions.submit(tab);
  tab.draft.value = '/help';
  await actions.submit(tab);
  assert.deepEqual([given(), tab.draft.value], [[command('/name a')], '/help']);
  taken.resolve();
  await first;
  assert.deepEqual([given(), tab.draft.value], [[command('/name a'), command('/help')], '']);

  taken = Promise.withResolvers();
  tab.draft.value = '/name b';
  const third = actions.submit(tab);
  tab.draft.value = '/he';
  await actions.submit(tab);
  tab.draft.value = '/hello';
  taken.resolve();
  await third;
  assert.deepEqual([given().at(-1), tab.draft.value], [command('/name b'), '/hello']);
});

test('a message submitted after a refused one stays in the composer', async () => {
  const { actions, tab, calls, answer } = open();
  const refused = Promise.withResolvers<never>();
  answer('workstream.command', () => refused.promise);
  tab.draft.value = '/name a';
  const first = actions.submit(tab);
  tab.draft.value = '/help';
  await actions.submit(tab);
  refused.reject(new RequestError('UNAVAILABLE', 'the disk is full'));
  await first;
  assert.deepEqual([calls.length, tab.draft.value, tab.problem.value], [1, '/help', 'the disk is full']);
});

test('a message that is not accepted stays in the composer', async () => {
  const { actions, tab, answer } = open();
  answer('workstream.send', () => ({ status: 'busy' }));
  tab.draft.value = 'hello';
  await actions.submit(tab);
  assert.equal(tab.draft.value, 'hello');
  assert.match(tab.problem.value ?? '', /still working/);
});

test('a slash command is a command, and the workstream it leads to comes to the front', async () => {
  const { actions, tab, calls, shown, answer } = open();
  answer('workstream.command', () => ({ status: 'ok', wsId: 'other' }));
  tab.draft.value = '/new';
  await actions.submit(tab);
  assert.deepEqual([calls, shown], [[['workstream.command', { wsId: 'w', command: '/new' }]], ['other']]);
});

test('an older page is prepended', async () => {
  const { actions, tab, calls, deliver, answer } = open();
  const message = (seq: number) => ({ seq, role: 'user' as const, content: `m${seq}`, tool_calls: null });
  deliver('w').onSnapshot(snapshot({ messages: [message(3)], truncated: true }), 'e:0');
  answer('workstream.history', () => ({ messages: [message(1), message(2)], truncated: false }));
  await actions.loadEarlier(tab);
  assert.deepEqual(calls, [['workstream.history', { wsId: 'w', before: 3, limit: 100 }]]);
  assert.deepEqual(
    tab.conversation.value?.blocks.map(({ key }) => key),
    ['h1', 'h2', 'h3'],
  );
});

test('a waiting message that is taken back returns to an empty composer', async () => {
  const { actions, tab, calls, answer } = open();
  answer('queue.remove', () => ({ removed: true }));
  await actions.removeQueued(tab, { runId: 'r', message: 'later' });
  assert.deepEqual([calls, tab.draft.value], [[['queue.remove', { wsId: 'w', runId: 'r' }]], 'later']);
  answer('queue.remove', () => ({ removed: false }));
  tab.draft.value = '';
  await actions.removeQueued(tab, { runId: 'r', message: 'sent' });
  assert.equal(tab.draft.value, '');
});

test('stopping a run returns the waiting messages of people to an empty composer', async () => {
  const { actions, tab, answer } = open();
  answer('workstream.cancel', () => ({ status: 'ok' }));
  tab.queue.value = [
    { runId: 'a', message: 'one', source: 'person' },
    { runId: 'b', message: 'a report', source: 'cron' },
    { runId: 'c', message: 'two', source: 'person' },
  ];
  await actions.cancel(tab, false);
  assert.equal(tab.draft.value, 'one\n\ntwo');
  await actions.cancel(tab, true);
  assert.equal(tab.draft.value, 'one\n\ntwo');
});

test('a message can steer the run in progress, as it is sent or while it waits', async () => {
  const { actions, tab, calls, answer } = open();
  answer('workstream.send', () => ({ status: 'ok', runId: 'r' }));
  answer('queue.steer', () => ({ status: 'ok' }));
  tab.draft.value = 'now';
  await actions.submit(tab, { steer: true });
  await actions.steerQueued(tab, 'r');
  assert.deepEqual(calls, [
    ['workstream.send', { wsId: 'w', message: 'now', queue: true, steer: true, idempotencyKey: 'key1' }],
    ['queue.steer', { wsId: 'w', runId: 'r' }],
  ]);
});
