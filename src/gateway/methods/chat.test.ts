import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../agent/providers/model.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const HELLO = { sessionKey: 'main', message: 'hello', idempotencyKey: 'k1' };
const NEW_KEY = ' (allowed in a new key: lower-case letters, digits and . _ : -, at most 64, a letter or digit first)';
const never = () => new Promise(() => undefined);

test('chat.send answers started, in_flight to a repeat, and ok after the run', async () => {
  await using gateway = await wholeGateway();
  const answered = Promise.withResolvers<void>();
  gateway.puppet.turn('one ', answered.promise, 'two');
  assert.deepEqual(await gateway.call('chat.send', HELLO), { runId: 'k1', status: 'started' });
  assert.deepEqual(await gateway.call('chat.send', HELLO), { runId: 'k1', status: 'in_flight' });
  answered.resolve();
  await gateway.isIdle(await gateway.main());
  assert.deepEqual(await gateway.call('chat.send', HELLO), { runId: 'k1', status: 'ok' });
  await gateway.restart();
  assert.deepEqual(await gateway.call('chat.send', HELLO), { runId: 'k1', status: 'ok' });
  assert.equal(gateway.puppet.requests.length, 1);
});

test('a repeat gets the failure of the run; the key with other params is a conflict', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(new ProviderError('refused', 'no'));
  await gateway.call('chat.send', HELLO);
  await gateway.isIdle(await gateway.main());
  assert.deepEqual(await gateway.call('chat.send', HELLO), { runId: 'k1', status: 'error' });
  assert.equal((await gateway.refusal('chat.send', { ...HELLO, message: 'other' })).code, 'CONFLICT');
});

test('A refused `chat.send` must not create a session', async () => {
  await using gateway = await wholeGateway();
  const refusals: [object, string, string][] = [
    [{ message: ' \n' }, 'INVALID_REQUEST', 'message or attachment required'],
    [{ thinking: 'hard' }, 'INVALID_REQUEST', 'invalid thinkingLevel (use off|minimal|low|medium|high)'],
    [{ sessionKey: 'a b' }, 'NOT_FOUND', `Unknown session: a b${NEW_KEY}`],
    [{ sessionKey: 'cron:job' }, 'NOT_FOUND', 'Unknown session: cron:job'],
    [{ sessionKey: 'f'.repeat(32) }, 'NOT_FOUND', `Unknown session: ${'f'.repeat(32)}`],
  ];
  const image = { type: 'image', content: Buffer.from('GIF89a  ').toString('base64') };
  const eleven = { attachments: Array.from({ length: 10 }, () => image), attachmentIds: ['att_1'] };
  refusals.push(
    [{ attachmentIds: ['att_1'] }, 'NOT_FOUND', 'Unknown attachment: att_1'],
    [eleven, 'INVALID_REQUEST', 'too_many: at most 10 attachments per message'],
  );
  for (const [index, [params, code, message]] of refusals.entries()) {
    const asked = { ...HELLO, sessionKey: 'new', idempotencyKey: `key${index}`, ...params };
    assert.deepEqual(await gateway.refusal('chat.send', asked), { code, message });
  }
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 1);
});

test('chat.send runs with the given thinking level and timeout, as typed by a person', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(never());
  await gateway.call('chat.send', { ...HELLO, message: ' hello ', thinking: 'off', timeoutMs: 2_000 });
  const main = await gateway.main();
  await gateway.reaches(main, 'thinking_start');
  const [request] = gateway.puppet.requests;
  assert.deepEqual(
    [request?.effort, request?.typedByPerson, request?.messages],
    ['low', true, [{ role: 'user', content: 'hello' }]],
  );
  await gateway.clock.advance(2_000);
  const last = (await gateway.events(main)).at(-1);
  assert.deepEqual(last, {
    type: 'ws_state',
    ws_id: main,
    state: 'error',
    run: {
      ...{ run_id: 'k1', status: 'timeout', error: 'The run took longer than 2 s' },
      failed: { code: 'timeout', text: 'The run took longer than 2 s' },
    },
  });
});

test('chat.abort without a run cancels all runs of the session', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('part', never());
  await gateway.call('chat.send', HELLO);
  await gateway.call('chat.send', { ...HELLO, idempotencyKey: 'k2' });
  const main = await gateway.main();
  await gateway.reaches(main, 'content');
  assert.deepEqual(await gateway.call('chat.abort', { sessionKey: 'main' }), { ok: true, aborted: true });
  const ends = await Promise.all(['k1', 'k2'].map((runId) => gateway.call('agent.wait', { runId })));
  assert.deepEqual(
    ends.map(({ status, error }) => [status, error]),
    [
      ['error', 'cancelled'],
      ['error', 'cancelled'],
    ],
  );
  const tail = (await gateway.events(main)).slice(-3).map(({ type }) => type);
  assert.deepEqual(tail, ['cancelled', 'stream_end', 'ws_state']);
  assert.deepEqual(await gateway.call('chat.abort', { sessionKey: 'main' }), { ok: true, aborted: false });
});

test('chat.abort of one run keeps the others; for an unknown or ended run it aborts nothing', async () => {
  await using gateway = await wholeGateway();
  const answered = Promise.withResolvers<void>();
  gateway.puppet.turn(answered.promise, 'done');
  await gateway.call('chat.send', HELLO);
  await gateway.call('chat.send', { ...HELLO, idempotencyKey: 'k2' });
  const abort = (runId: string, sessionKey = 'main') => gateway.call('chat.abort', { sessionKey, runId });
  assert.deepEqual(await abort('k2'), { ok: true, aborted: true });
  assert.deepEqual(
    [await abort('k2'), await abort('k3')],
    [
      { ok: true, aborted: false },
      { ok: true, aborted: false },
    ],
  );
  answered.resolve();
  assert.equal((await gateway.call('agent.wait', { runId: 'k1' })).status, 'ok');
});

const runState = async (gateway: WholeGateway, sessionKey: string) => {
  const { workstreams } = await gateway.call('workstream.list', {});
  return workstreams.find((row) => row.sessionKey === sessionKey)?.state;
};

test('chat.abort refuses a run of another session, whether the named one is open, closed or unknown', async () => {
  await using gateway = await wholeGateway();
  const begun = Promise.withResolvers<void>();
  gateway.puppet.turn('part', async () => begun.resolve(), never());
  await gateway.call('chat.send', HELLO);
  await begun.promise;
  await gateway.call('sessions.patch', { key: 'open' });
  const closed = await gateway.call('sessions.patch', { key: 'closed' });
  await gateway.call('workstream.close', { wsId: closed.entry.sessionId });
  for (const sessionKey of ['open', 'closed', 'nowhere']) {
    assert.deepEqual(
      await gateway.refusal('chat.abort', { sessionKey, runId: 'k1' }),
      { code: 'INVALID_REQUEST', message: 'runId does not match sessionKey' },
      sessionKey,
    );
  }
  assert.equal(await runState(gateway, 'main'), 'thinking', 'it goes on');
});

test('chat.abort with a key that was used in two sessions cancels the run of the session it names', async () => {
  await using gateway = await wholeGateway();
  const begun = Promise.withResolvers<void>();
  gateway.puppet.turn('part', async () => begun.resolve(), never());
  gateway.puppet.turn('part', never());
  await gateway.call('chat.send', { sessionKey: 'one', message: 'a', idempotencyKey: 'k' });
  await begun.promise;
  const accepted = Promise.withResolvers<unknown>();
  const ask = { sessionKey: 'two', message: 'b', idempotencyKey: 'k' };
  const answer = gateway.call('agent', ask, { interim: accepted.resolve }).catch(({ code }) => code);
  await accepted.promise;
  assert.deepEqual(await gateway.call('chat.abort', { sessionKey: 'two', runId: 'k' }), { ok: true, aborted: true });
  assert.deepEqual(
    [await answer, await runState(gateway, 'one'), await runState(gateway, 'two')],
    ['CONFLICT', 'thinking', 'idle'],
  );
});

test('chat.history returns the conversation with reasoning, calls and their results', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn({ type: 'reasoning', text: 'Hm.' }, calling('look', { text: 'here' }));
  gateway.puppet.turn('Found it.');
  await gateway.call('chat.send', HELLO);
  const main = await gateway.main();
  await gateway.isIdle(main);
  const timestamp = 1_000_000;
  const text = (said: string) => [{ type: 'text', text: said }];
  assert.deepEqual(await gateway.call('chat.history', { sessionKey: 'main' }), {
    sessionKey: 'main',
    sessionId: main,
    thinkingLevel: 'medium',
    messages: [
      { role: 'user', content: text('hello'), timestamp },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'toolCall', id: 'call_look', name: 'look', arguments: '{"text":"here"}' },
        ],
        timestamp,
      },
      {
        role: 'toolResult',
        content: text('looked here'),
        timestamp,
        toolCallId: 'call_look',
        toolName: 'look',
        isError: false,
      },
      { role: 'assistant', content: text('Found it.'), timestamp },
    ],
  });
});

test('chat.history returns the newest `limit` messages, default 200, and whether older ones are left out', async () => {
  await using gateway = await wholeGateway();
  const sessionKey = 'talk';
  const large = 'x'.repeat(300 * 1024);
  for (const [index, message] of ['1', large, large, large].entries()) {
    await gateway.call('agent', { sessionKey, message, idempotencyKey: `k${index}` });
  }
  const sizes = async (limit?: number) => {
    const { messages, truncated = false } = await gateway.call('chat.history', {
      ...{ sessionKey, ...(limit !== undefined && { limit }) },
    });
    return [truncated, ...messages.map(({ content: [part] }) => (part?.type === 'text' ? part.text.length : 0))];
  };
  const { length } = large;
  assert.deepEqual(await sizes(1), [true, 2]);
  assert.deepEqual(await sizes(3), [true, 2, length, 2]);
  assert.deepEqual(await sizes(), [false, 1, 2, length, 2, length, 2, length, 2]);
  for (const limit of [0, 1001]) {
    assert.equal((await gateway.refusal('chat.history', { sessionKey, limit })).code, 'INVALID_REQUEST');
  }
});

test('chat.history of an unknown session is empty, and creates none', async () => {
  await using gateway = await wholeGateway();
  assert.deepEqual(await gateway.call('chat.history', { sessionKey: 'nowhere' }), {
    sessionKey: 'nowhere',
    messages: [],
    thinkingLevel: 'off',
  });
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 1);
});

test('reading, waiting and aborting do not reopen a closed session', async () => {
  await using gateway = await wholeGateway();
  const sessionKey = 'notes';
  await gateway.call('agent', { sessionKey, message: 'keep', idempotencyKey: 'k1' });
  const { sessionId: wsId = '' } = await gateway.call('chat.history', { sessionKey });
  await gateway.call('workstream.close', { wsId });
  for (const key of ['notes', wsId]) {
    const { messages } = await gateway.call('chat.history', { sessionKey: key });
    assert.equal(messages.length, 2);
    assert.deepEqual(await gateway.call('chat.abort', { sessionKey: key }), { ok: true, aborted: false });
    assert.equal((await gateway.call('agent.wait', { runId: 'k1', sessionKey: key })).status, 'ok');
  }
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 1);
  await gateway.call('agent', { sessionKey, message: 'go on', idempotencyKey: 'k2' });
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 2, 'a message opens it again');
});

test('chat.history begins after the last /clear', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('agent', { message: 'before', idempotencyKey: 'k1' });
  await gateway.call('workstream.command', { wsId: await gateway.main(), command: '/clear' });
  await gateway.call('agent', { message: 'after', idempotencyKey: 'k2' });
  const { messages } = await gateway.call('chat.history', { sessionKey: 'main' });
  assert.deepEqual(
    messages.map(({ content }) => content),
    [[{ type: 'text', text: 'after' }], [{ type: 'text', text: 'ok' }]],
  );
});
