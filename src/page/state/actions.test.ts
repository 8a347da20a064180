import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLostError, RequestError } from '../../../protocol/client/request-error.ts';
import { openActions as open } from './actions-fixture.ts';
import { snapshot } from './conversation/conversation-fixture.ts';

test('a sent draft leaves the composer', async () => {
  const { actions, tab, calls, answer } = open();
  answer('workstream.send', () => ({ status: 'ok', runId: 'r' }));
  tab.draft.value = '  hello \n';
  await actions.submit(tab);
  assert.deepEqual(calls, [['workstream.send', { wsId: 'w', message: 'hello', queue: true, idempotencyKey: 'key1' }]]);
  assert.deepEqual([tab.draft.value, tab.sending.value, tab.problem.value], ['', [], undefined]);
});

test('once a change is answered, the conversation has it, even if no frame was drawn since', async () => {
  const { actions, tab, answer, deliver } = open({ schedule: () => undefined });
  deliver('w').onSnapshot(snapshot(), 'e:0');
  answer('workstream.update', () => {
    const changed = {
      name: 'main',
      model: 'demo',
      model_alias: 'demo',
      effort: 'high',
      skip_permissions: false,
    } as const;
    deliver('w').onEvent({ type: 'settings_changed', ...changed }, 'e:1');
    return snapshot().workstream;
  });
  assert.equal(await actions.update(tab, { effort: 'high' }), true);
  assert.equal(tab.conversation.value?.effort, 'high');
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

test('messages submitted during a send leave the composer at once and follow in order', async () => {
  const { actions, tab, calls, answer, kept } = open();
  const taken = Promise.withResolvers<void>();
  answer('workstream.send', async () => {
    await taken.promise;
    return { status: 'ok' };
  });
  const texts = ['one', 'two', 'three'];
  const sent = texts.map((text) => {
    tab.draft.value = text;
    return actions.submit(tab, text === 'two' ? { steer: true } : {});
  });
  tab.draft.value = 'fo';
  assert.deepEqual([calls.length, tab.sending.value.map(({ text }) => text)], [1, texts]);
  assert.equal(kept.at(-1), 'one\n\ntwo\n\nthree\n\nfo');
  taken.resolve();
  await Promise.all(sent);
  const params = { wsId: 'w', queue: true };
  assert.deepEqual(
    calls.map(([, given]) => given),
    [
      { ...params, message: 'one', idempotencyKey: 'key1' },
      { ...params, message: 'two', idempotencyKey: 'key2', steer: true },
      { ...params, message: 'three', idempotencyKey: 'key3' },
    ],
  );
  assert.deepEqual([tab.draft.value, tab.sending.value, kept.at(-1)], ['fo', [], 'fo']);
});

test('a refused message, those after it and what was typed since are all in the composer', async () => {
  const { actions, tab, calls, answer } = open();
  const refused = Promise.withResolvers<never>();
  answer('workstream.send', () => refused.promise);
  tab.draft.value = 'one';
  const first = actions.submit(tab);
  tab.draft.value = 'two';
  const second = actions.submit(tab);
  tab.draft.value = 'thr';
  refused.reject(new RequestError('UNAVAILABLE', 'the disk is full'));
  await Promise.all([first, second]);
  assert.deepEqual(
    [calls.length, tab.draft.value, tab.sending.value, tab.problem.value],
    [1, 'one\n\ntwo\n\nthr', [], 'the disk is full'],
  );
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

test('a slash command cut off by a lost connection is not repeated, but returns to the composer', async () => {
  const { actions, tab, calls, answer } = open();
  answer('workstream.command', () => {
    throw new ConnectionLostError('gone');
  });
  tab.draft.value = '/undo';
  await actions.submit(tab);
  assert.deepEqual([calls.length, tab.draft.value], [1, '/undo']);
  assert.match(tab.problem.value ?? '', /may have been carried out/);
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

test('a waiting message that is taken back returns to the composer, before what was typed since', async () => {
  const { actions, tab, calls, answer } = open();
  answer('queue.remove', () => ({ removed: true }));
  await actions.removeQueued(tab, { runId: 'r', message: 'later', source: 'person' });
  assert.deepEqual(
    [calls, tab.draft.value],
    [[['queue.remove', { wsId: 'w', runId: 'r', idempotencyKey: 'key1' }]], 'later'],
  );
  tab.draft.value = 'half a thought';
  await actions.removeQueued(tab, { runId: 'r2', message: 'sooner', source: 'person' });
  assert.equal(tab.draft.value, 'sooner\n\nhalf a thought');
  answer('queue.remove', () => ({ removed: false }));
  tab.draft.value = '';
  await actions.removeQueued(tab, { runId: 'r', message: 'sent', source: 'person' });
  assert.equal(tab.draft.value, '');
});

test('taking a message back is repeated with the same key after a lost connection', async () => {
  const { actions, tab, calls, answer } = open();
  let isLost = true;
  answer('queue.remove', () => {
    if (!isLost) return { removed: true };
    isLost = false;
    throw new ConnectionLostError('closed');
  });
  await actions.removeQueued(tab, { runId: 'r', message: 'later', source: 'person' });
  const params = { wsId: 'w', runId: 'r', idempotencyKey: 'key1' };
  assert.deepEqual(calls, [
    ['queue.remove', params],
    ['queue.remove', params],
  ]);
  assert.equal(tab.draft.value, 'later');
});

test('stopping a run returns the waiting messages of the person to the composer, once, before what was typed since', async () => {
  const own = { source: 'person', sender: 'ada' } as const;
  const { actions, tab, answer } = open();
  answer('workstream.cancel', () => ({ status: 'ok' }));
  tab.queue.value = [
    { runId: 'a', message: 'one', ...own },
    { runId: 'b', message: 'a report', source: 'cron' },
    { runId: 'c', message: 'of others', source: 'person', sender: 'bob' },
    { runId: 'd', message: 'two', ...own },
  ];
  tab.draft.value = 'half a thought';
  await actions.cancel(tab, false);
  assert.equal(tab.draft.value, 'one\n\ntwo\n\nhalf a thought');
  await actions.cancel(tab, true);
  assert.equal(tab.draft.value, 'one\n\ntwo\n\nhalf a thought');
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

test('a waiting message that was moved is shown at its new place; if it no longer waits, the queue is read again', async () => {
  const { actions, tab, calls, answer } = open();
  const [a, b, c] = ['a', 'b', 'c'].map((runId) => ({ runId, message: runId, source: 'person' as const }));
  if (!a || !b || !c) return assert.fail();
  tab.queue.value = [a, b, c];
  answer('queue.move', () => ({ status: 'ok' }));
  assert.equal(await actions.moveQueued(tab, { runId: 'c', to: 0 }), true);
  assert.deepEqual(tab.queue.value, [c, a, b]);
  answer('queue.move', () => {
    throw new Error('That message no longer waits: it was sent or taken back');
  });
  answer('queue.list', () => ({ messages: [a, b] }));
  assert.equal(await actions.moveQueued(tab, { runId: 'c', to: 2 }), false);
  assert.deepEqual(
    [tab.queue.value, tab.problem.value, calls.map(([method]) => method)],
    [[a, b], 'That message no longer waits: it was sent or taken back', ['queue.move', 'queue.move', 'queue.list']],
  );
});
