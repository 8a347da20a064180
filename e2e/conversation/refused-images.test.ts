import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { anthropicWire } from '../support/wires/anthropic-wire.ts';
import type { Refusal } from '../support/wires/wire.ts';
import { startWireServer, type WireRequest } from '../support/wires/wire-server.ts';

/*
 * A server that has answered with an image may refuse it later, for example because it accepts only smaller images in requests
 * with many of them. The model binds its thoughts to everything before them.
 */

const requests: WireRequest[] = [];
const refusals: Refusal[] = [];
/** Images that the server does not read. */
const unreadable: string[] = [];
const server = await startWireServer(anthropicWire, {
  limits: { window: 200_000, images: 20 },
  decide(request) {
    requests.push(request);
    if (!unreadable.some((data) => textOf(request).includes(data)))
      return { kind: 'answer', answer: { thoughts: 'Hm.', text: 'seen' } };
    const error = { type: 'invalid_request_error', message: 'Could not process image' };
    return { kind: 'fail', status: 400, body: { type: 'error', error } };
  },
  onRefusal: (refusal) => void refusals.push(refusal),
});
const opus = { provider: 'anthropic', model: 'claude-opus-5-5', baseUrl: server.url, apiKey: 'key' };
const daemon = await startDaemon({ config: { models: { main: opus } }, env: { HEADGATE_MODEL: 'main' } });
after(async () => {
  await daemon[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const textOf = ({ messages }: Pick<WireRequest, 'messages'>) => JSON.stringify(messages);
const pngOf = (name: string) => Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(name)]);
const dataOf = (name: string) => pngOf(name).toString('base64');

async function show(talk: Conversation, message: string, ...names: string[]): Promise<void> {
  const attachments = names.map((name) => ({
    ...{ type: 'image', mimeType: 'image/png', fileName: `${name}.png`, content: dataOf(name) },
  }));
  const params = { sessionKey: talk.wsId, message, attachments, idempotencyKey: randomUUID() };
  const { runId = '' } = await talk.client.call('chat.send', params);
  const { status } = await talk.client.call('agent.wait', { runId, timeoutMs: 60_000 });
  assert.equal(status, 'ok');
}

/** Which of the images the latest request has. */
const latest = () => requests.at(-1) ?? assert.fail();
const sent = (...names: string[]) => names.map((name) => textOf(latest()).includes(dataOf(name)));

test('an earlier image that its server refuses leaves with a cut; words stay in its place, and people learn its name', async () => {
  await using talk = await openConversation(daemon);
  await show(talk, 'look', 'cat');
  unreadable.push(dataOf('cat'));
  await show(talk, 'and this?', 'dog');
  assert.deepEqual(sent('cat', 'dog'), [false, true], 'the new image was not the reason');
  const words =
    '[The user attached \\"cat.png\\" (image/png, 11 bytes). It is no longer shown to you, because the model’s server refused a request with it.]';
  assert.ok(textOf(latest()).includes(words));
  await talk.until('info', ({ message }) => message.includes('taken out of the model’s context: cat.png.'));
  assert.ok(!talk.seen.some(({ event }) => event.type === 'error'));
  const first = latest();
  await daemon.restart();
  await talk.reconnect();
  await show(talk, 'and now?');
  assert.deepEqual(latest().before, first.before);
  assert.ok(textOf(latest()).startsWith(textOf(first).slice(0, -1)), 'every later request extends the first one');
  assert.deepEqual([refusals, requests.filter(({ dropped }) => dropped > 0)], [[], []]);
});

test('a new image that its server refuses is left out without a cut, and a warning names it', async () => {
  await using talk = await openConversation(daemon);
  await show(talk, 'look', 'fox');
  const first = latest();
  unreadable.push(dataOf('owl'));
  await show(talk, 'and this?', 'owl');
  assert.deepEqual(sent('fox', 'owl'), [true, false]);
  assert.ok(textOf(latest()).startsWith(textOf(first).slice(0, -1)));
  await talk.until('error', ({ message }) => message.startsWith('Warning: the model did not receive owl.png:'));
  await show(talk, 'and now?');
  assert.deepEqual(sent('fox', 'owl'), [true, false]);
  assert.deepEqual(refusals, []);
});
