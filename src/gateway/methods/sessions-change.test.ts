import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { DAEMON } from '../sharing/perception.ts';
import { markDeleted, removeDeleted } from '../store/deletion.ts';
import { type CallAs, wholeGateway } from '../testing/whole-gateway.ts';

type Gateway = Awaited<ReturnType<typeof wholeGateway>>;

/** Sends messages in a session, one turn each. */
async function say(gateway: Gateway, sessionKey: string, ...messages: string[]): Promise<void> {
  for (const message of messages) {
    await gateway.clock.advance(1);
    await gateway.call('agent', { sessionKey, message, idempotencyKey: `${sessionKey} ${message}` });
  }
}

const textsOf = async (gateway: Gateway, sessionKey: string) => {
  const { messages } = await gateway.call('chat.history', { sessionKey });
  return (
    JSON.stringify(messages)
      .match(/"text":"[^"]*"/g)
      ?.map((text) => text.slice(8, -1)) ?? []
  );
};

const idOf = async (gateway: Gateway, sessionKey: string) =>
  (await gateway.call('chat.history', { sessionKey })).sessionId ?? assert.fail(`no session ${sessionKey}`);

test('sessions.reset starts an empty conversation with the same id and saves the old one', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'main', 'one');
  const { key, entry } = await gateway.call('sessions.reset', { key: 'main' });
  const { workstreams } = await gateway.call('workstream.saved', {});
  assert.deepEqual(
    [key, entry.sessionId, await textsOf(gateway, 'main'), workstreams.map(({ title }) => title)],
    ['main', await gateway.main(), [], ['one']],
  );
});

test('sessions.reset first stops the current run', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('half', new Promise(() => undefined));
  const { runId } = await gateway.call('chat.send', { sessionKey: 'main', message: 'a', idempotencyKey: 'k1' });
  await gateway.call('sessions.reset', { key: 'main' });
  const { status } = await gateway.call('agent.wait', { runId, timeoutMs: 0 });
  assert.deepEqual([status, await textsOf(gateway, 'main')], ['error', []]);
});

test('who may not create workstreams opens no closed one by resetting or compacting it', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  await gateway.call('workstream.close', { wsId });
  const writer: CallAs = { id: 'user:w', userId: 'user_w', permissions: new Set<Permission>(['read', 'write']) };
  const refused = [
    await gateway.refusal('sessions.reset', { key: wsId }, writer),
    await gateway.refusal('sessions.compact', { key: wsId, maxLines: 1 }, writer),
  ];
  assert.deepEqual(
    refused.map(({ code }) => code),
    ['FORBIDDEN', 'FORBIDDEN'],
  );
  assert.equal(gateway.parts.workstreams.find(wsId, DAEMON), undefined);
  assert.equal((await gateway.call('sessions.reset', { key: wsId })).ok, true);
});

test('sessions.delete removes a session with its conversation, open or closed', async () => {
  await using gateway = await wholeGateway();
  for (const key of ['open', 'closed']) await say(gateway, key, 'hello');
  const { sessions } = await gateway.call('sessions.list', {});
  const made = sessions.filter(({ key }) => key !== 'main');
  assert.deepEqual(made.map(({ key }) => key).sort(), ['closed', 'open']);
  await gateway.call('workstream.close', { wsId: made.find(({ key }) => key === 'closed')?.sessionId ?? '' });
  for (const { key, sessionId: wsId } of made) {
    const answer = await gateway.call('sessions.delete', { key: wsId });
    assert.deepEqual(answer, { ok: true, key, deleted: true, archived: [] });
    assert.deepEqual((await gateway.refusal('sessions.resolve', { key: wsId })).code, 'NOT_FOUND');
    for (const table of ['messages', 'events', 'runs', 'workstreams'] as const) {
      const left = await gateway.store.db.selectFrom(table).select('ws_id').where('ws_id', '=', wsId).execute();
      assert.deepEqual(left, [], table);
    }
  }
  const saved = await gateway.call('workstream.saved', {});
  assert.deepEqual([saved.workstreams, (await gateway.call('sessions.list', {})).count], [[], 1]);
  await say(gateway, 'open', 'the name is free again');
});

test('sessions.delete can keep the transcript, refuses main, and reports unknown sessions', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'kept', 'hello');
  const wsId = await idOf(gateway, 'kept');
  assert.deepEqual(await gateway.call('sessions.delete', { key: 'kept', deleteTranscript: false }), {
    ...{ ok: true, key: 'kept', deleted: true, archived: [wsId] },
  });
  const { workstreams } = await gateway.call('workstream.saved', {});
  assert.deepEqual(
    workstreams.map(({ name, loaded }) => [name, loaded]),
    [['kept', false]],
  );
  const nobody = await gateway.call('sessions.delete', { key: 'nobody' });
  assert.deepEqual(nobody, { ok: true, key: 'nobody', deleted: false, archived: [] });
  const { code, message } = await gateway.refusal('sessions.delete', { key: 'main' });
  assert.deepEqual([code, message], ['INVALID_REQUEST', 'Cannot delete the main session (main).']);
});

test('a deletion interrupted by a crash is finished by the next sweep, and the rest is not visible meanwhile', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'gone', 'hello');
  const key = await idOf(gateway, 'gone');
  await gateway.store.commit({ statements: [markDeleted(key)] }); // and here the daemon died
  await gateway.restart();
  assert.equal((await gateway.refusal('sessions.resolve', { sessionId: key })).code, 'NOT_FOUND');
  assert.equal((await gateway.call('workstream.create', { resumeWs: key })).resumed, false);
  await removeDeleted(gateway.store, () => false);
  const left = await gateway.store.db.selectFrom('messages').select('ws_id').where('ws_id', '=', key).execute();
  assert.deepEqual(left, []);
});

test('sessions.compact keeps about the last messages, beginning at a question', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'main', 'one', 'two', 'three');
  assert.deepEqual(await gateway.call('sessions.compact', { key: 'main', maxLines: 3 }), {
    ...{ ok: true, key: 'main', compacted: true, kept: 2 },
  });
  assert.deepEqual(await textsOf(gateway, 'main'), ['three', 'ok']);
  await say(gateway, 'main', 'four');
  const read = gateway.puppet.requests.at(-1)?.messages.map((message) => message.role === 'user' && message.content);
  assert.deepEqual(read, ['three', false, 'four']);
  assert.deepEqual(await gateway.call('sessions.compact', { key: 'main' }), {
    ...{ ok: true, key: 'main', compacted: false, reason: 'nothing to drop' },
  });
  assert.equal((await gateway.refusal('sessions.compact', { key: 'nobody' })).code, 'NOT_FOUND');
});

test('sessions.preview shows the first 64 of the named sessions', async () => {
  await using gateway = await wholeGateway();
  const keys = Array.from({ length: 70 }, (_, n) => `s${n}`);
  const { previews } = await gateway.call('sessions.preview', { keys });
  assert.deepEqual(
    previews.map(({ key }) => key),
    keys.slice(0, 64),
  );
});

test('sessions.preview shows the last messages, and which sessions are empty or missing', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'work', 'a long question, longer than asked for');
  const { previews } = await gateway.call('sessions.preview', { keys: ['work', 'main', 'none'], maxChars: 20 });
  assert.deepEqual(previews, [
    {
      ...{ key: 'work', status: 'ok' },
      items: [
        { role: 'user', text: 'a long question, lo…' },
        { role: 'assistant', text: 'ok' },
      ],
    },
    { key: 'main', status: 'empty', items: [] },
    { key: 'none', status: 'missing', items: [] },
  ]);
});

test('sessions.resolve accepts one of key, id and label', async () => {
  await using gateway = await wholeGateway();
  await say(gateway, 'work', 'hello');
  const wsId = await idOf(gateway, 'work');
  const resolve = async (params: object) => (await gateway.call('sessions.resolve', params)).key;
  assert.deepEqual(
    [
      await resolve({ key: 'work' }),
      await resolve({ key: wsId }),
      await resolve({ sessionId: wsId }),
      await resolve({ label: 'work' }),
      await resolve({ sessionId: await gateway.main() }),
    ],
    ['work', 'work', 'work', 'work', 'main'],
  );
  for (const params of [{}, { key: 'work', label: 'work' }]) {
    assert.equal((await gateway.refusal('sessions.resolve', params)).code, 'INVALID_REQUEST');
  }
  for (const params of [{ sessionId: 'work' }, { label: 'main' }, { key: 'nobody' }]) {
    assert.equal((await gateway.refusal('sessions.resolve', params)).code, 'NOT_FOUND');
  }
});

test('models.list returns the models that can be chosen', async () => {
  await using gateway = await wholeGateway();
  const { models } = await gateway.call('models.list', {});
  assert.deepEqual(models[0], { id: 'puppet', name: 'puppet', provider: 'puppet', isDefault: true });
  assert.equal(models.filter(({ isDefault }) => isDefault).length, 1);
});
