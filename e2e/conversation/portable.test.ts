import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../protocol/limits.ts';
import { readBody } from '../support/clients/read-body.ts';
import { sampleConversation } from '../support/clients/sample-conversation.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
model.when('look around', callTools({ name: 'list_directory', arguments: { path: '.' } }), say('Nothing there.'));
model.when('what is it', say('A cat.'));
model.when('and now', say('Still a cat.'));

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(3 * 1024 * 1024, 7)]);

const exportOf = (of: DaemonUnderTest, wsId: string, query = ''): Promise<Response> =>
  of.fetch(`/v1/api/workstreams/${wsId}/export${query}`);

async function importTo(to: DaemonUnderTest, body: string, headers: Record<string, string> = {}) {
  const type = { 'Content-Type': 'application/json', ...headers };
  const response = await to.fetch('/v1/api/workstreams/import', { method: 'POST', body, headers: type });
  return { status: response.status, body: await readBody(response) };
}

/** A conversation with a tool call and an image of 3 MiB. */
async function talked(): Promise<string> {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { name: 'garden' });
  await client.call('agent', { sessionKey: wsId, message: 'look around', idempotencyKey: `${wsId}-1` });
  const form = new FormData();
  form.set('file', new File([new Uint8Array(png)], 'cat.png'));
  await daemon.fetch(`/v1/api/workstreams/${wsId}/attachments`, { method: 'POST', body: form });
  const sent = await client.call('workstream.send', { wsId, message: 'what is it', attachmentIds: 'pending' });
  await client.call('agent.wait', { runId: sent.runId ?? '', timeoutMs: 60_000 });
  return wsId;
}

test('a conversation moves to another daemon with its calls and images, and continues there, also after kill -9', async () => {
  const wsId = await talked();
  const response = await exportOf(daemon, wsId);
  assert.match(response.headers.get('content-disposition') ?? '', /^attachment; filename="look-around\.json"/);
  const file = await response.text();
  assert.equal(file.includes(daemon.home), false);
  await using other = await startDaemon({ model: model.url });
  const { status, body } = await importTo(other, file);
  assert.deepEqual([status, body.name, body.message_count], [200, 'garden', 6]);
  await other.kill9();
  await other.restart();
  assert.equal(await (await exportOf(other, body.ws_id)).text(), file);
  const client = await other.client();
  await client.call('agent', { sessionKey: body.ws_id, message: 'and now', idempotencyKey: 'and now' });
  const { messages } = model.requests.at(-1)?.body ?? assert.fail('no request');
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'user'],
  );
  assert.ok(JSON.stringify(messages).includes(png.toString('base64')), 'the image is shown to the model');
});

test('long conversations are refused over WebSocket with the address of the endpoint', async () => {
  const client = await daemon.client();
  const wsId = await talked();
  const long = { ...sampleConversation(), messages: [{ role: 'user', createdMs: 1, content: 'x'.repeat(7 << 20) }] };
  const { body } = await importTo(daemon, JSON.stringify(long));
  await assert.rejects(client.call('workstream.export', { wsId: body.ws_id }), {
    code: 'PAYLOAD_TOO_LARGE',
    message: /GET \/v1\/api\/workstreams\/\{ws_id\}\/export/,
  });
  assert.deepEqual(await (await exportOf(daemon, body.ws_id)).json().then(({ messages }) => messages), long.messages);
  const short = await client.call('workstream.export', { wsId, format: 'markdown' });
  assert.ok(short.format === 'markdown' && short.markdown.includes('A cat.'));
});

test('a repeated import with a key creates one workstream', async () => {
  const file = JSON.stringify({ ...sampleConversation(), name: 'once' });
  const first = await importTo(daemon, file, { 'Idempotency-Key': 'once' });
  assert.deepEqual(await importTo(daemon, file, { 'Idempotency-Key': 'once' }), first);
  const { workstreams } = await (await daemon.client()).call('workstream.list', {});
  assert.equal(workstreams.filter(({ name }) => name === 'once').length, 1);
});

test('bad bodies and formats are refused with a reason', async () => {
  const before = (await (await daemon.client()).call('workstream.list', {})).workstreams.length;
  const told = async (body: string) => (await importTo(daemon, body)).body.error;
  assert.match(await told('# Notes'), /^format: /);
  assert.match(await told(JSON.stringify({ ...sampleConversation(), version: 2 })), /^version: /);
  const unpaired = { role: 'tool', createdMs: 1, callId: 'c', name: 'x', output: '', outcome: 'done' };
  assert.equal(
    await told(JSON.stringify({ ...sampleConversation(), messages: [unpaired] })),
    'messages.0.callId: no call before it has this id and no result yet',
  );
  assert.equal((await importTo(daemon, 'x'.repeat(LIMITS.conversationFileBytes + 1))).status, 413);
  assert.equal((await exportOf(daemon, 'nobody')).status, 404);
  const main = await (await daemon.client()).call('workstream.create', {});
  assert.equal((await exportOf(daemon, main.wsId, '?format=pdf')).status, 400);
  assert.equal((await exportOf(daemon, main.wsId)).status, 400);
  const after = (await (await daemon.client()).call('workstream.list', {})).workstreams.length;
  assert.equal(after, before + 1);
});
