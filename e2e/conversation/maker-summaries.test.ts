import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { AnthropicBody } from '../support/wires/anthropic-body.ts';
import { anthropicWire } from '../support/wires/anthropic-wire.ts';
import type { Refusal } from '../support/wires/wire.ts';
import { startWireServer, type WireRequest, type WireResponse } from '../support/wires/wire-server.ts';

/*
 * Anthropic summarizes a conversation on request, signs the summary, and takes it back as the first block of the conversation. The
 * server validates every request as Anthropic does.
 */

const requests: WireRequest[] = [];
const refusals: Refusal[] = [];
/** How the server answers a request for a summary. */
let summarize: () => WireResponse;
const server = await startWireServer(anthropicWire, {
  limits: { window: 200_000, images: 20 },
  decide(request) {
    requests.push(request);
    if (request.isForSummary) return summarize();
    const isTranscript = JSON.stringify(request.messages).includes('<conversation>');
    return { kind: 'answer', answer: { thoughts: 'Hm.', text: isTranscript ? 'FROM THE TRANSCRIPT' : 'noted' } };
  },
  onRefusal: (refusal) => void refusals.push(refusal),
});
const opus = { provider: 'anthropic', model: 'claude-opus-5-5', baseUrl: server.url, apiKey: 'key' };
const daemon = await startDaemon({
  config: { models: { main: opus, older: { ...opus, model: 'claude-sonnet-4-5' } } },
  env: { HEADGATE_MODEL: 'main' },
});
after(async () => {
  await daemon[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const LONG = 'word '.repeat(1_000);
const byMaker = (text: string) => (): WireResponse => ({ kind: 'answer', answer: { text } });

async function longTalk(): Promise<Conversation> {
  const talk = await openConversation(daemon);
  await (await talk.ask(`Never touch main. ${LONG}`)).answer;
  for (let n = 0; n < 3; n += 1) await (await talk.ask(`${n} ${LONG}`)).answer;
  return talk;
}

async function compact(talk: Conversation, focus = ''): Promise<string> {
  await talk.client.call('workstream.command', { wsId: talk.wsId, command: `/compact ${focus}`.trim() });
  return (await talk.until('compacted')).summary;
}

/** The messages of the last request. */
const lastMessages = () => AnthropicBody.shape.messages.parse(requests.at(-1)?.messages);

test('the maker summarizes what its model has read, and gets its signed summary back', async () => {
  await using talk = await longTalk();
  const sent = requests.at(-1) ?? assert.fail();
  summarize = byMaker('SIGNED SUMMARY');
  assert.match(await compact(talk, 'the deadline'), /SIGNED SUMMARY\n\n.*\n- Never touch main\./s);
  const asked = requests.at(-1) ?? assert.fail();
  assert.deepEqual(asked.before, sent.before, 'the prompt and the tools that its cache knows');
  assert.deepEqual(asked.messages, sent.messages.slice(0, asked.messages.length));
  await (await talk.ask('go on')).answer;
  const [first, second] = lastMessages();
  const [block] = first?.content ?? [];
  assert.equal(block?.type === 'compaction' && block.content, 'SIGNED SUMMARY');
  assert.match(JSON.stringify(second), /Never touch main/);
  assert.doesNotMatch(JSON.stringify(second), /SIGNED SUMMARY/, 'it is sent once');
  assert.deepEqual(refusals, []);
});

test('the next summary includes the signed one and replaces it', async () => {
  await using talk = await longTalk();
  summarize = byMaker('FIRST');
  await compact(talk);
  for (let n = 0; n < 3; n += 1) await (await talk.ask(`${n} ${LONG}`)).answer;
  summarize = byMaker('SECOND');
  const before = talk.seen.length;
  await talk.client.call('workstream.command', { wsId: talk.wsId, command: '/compact' });
  await talk.until('compacted', ({ summary }) => summary.includes('SECOND'));
  assert.ok(talk.seen.length > before);
  await (await talk.ask('go on')).answer;
  const blocks = lastMessages().flatMap(({ content }) => content.filter(({ type }) => type === 'compaction'));
  assert.deepEqual(
    blocks.map((block) => block.type === 'compaction' && block.content),
    ['SECOND'],
  );
  assert.deepEqual(refusals, []);
});

test('another model reads the summary as text', async () => {
  await using talk = await longTalk();
  summarize = byMaker('SIGNED SUMMARY');
  await compact(talk);
  await talk.client.call('workstream.update', { wsId: talk.wsId, model: 'older' });
  await (await talk.ask('go on')).answer;
  const [first] = lastMessages();
  assert.equal(first?.role, 'user');
  assert.match(JSON.stringify(first), /SIGNED SUMMARY/);
  assert.deepEqual(refusals, []);
});

test('if the maker refuses or does not summarize, the model writes the summary from a transcript', async () => {
  const beta = { type: 'error', error: { type: 'invalid_request_error', message: 'compaction: not available' } };
  const ways: (() => WireResponse)[] = [
    () => ({ kind: 'fail', status: 400, body: beta }),
    () => ({ kind: 'answer', answer: { text: 'half of it', isCut: true } }),
  ];
  for (const way of ways) {
    await using talk = await longTalk();
    summarize = way;
    assert.match(await compact(talk), /FROM THE TRANSCRIPT/);
    await (await talk.ask('go on')).answer;
    assert.equal(lastMessages()[0]?.role, 'user');
  }
  assert.deepEqual(refusals, []);
});
