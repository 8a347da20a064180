import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anthropicWire } from './anthropic-wire.ts';
import type { Refusal } from './wire.ts';
import { fetchFrom, startWireServer, type WireRequest } from './wire-server.ts';

const BODY = {
  model: 'claude-opus-5-5',
  max_tokens: 100,
  thinking: { type: 'adaptive' },
  messages: [{ role: 'user', content: 'hello' }],
};
const bad = { ...BODY, messages: [...BODY.messages, { role: 'user', content: 'again' }] };

const asked: WireRequest[] = [];
const refusals: Refusal[] = [];
const options = {
  limits: { window: 1_000, images: 2 },
  decide(request: WireRequest) {
    asked.push(request);
    return { kind: 'answer' as const, answer: { thoughts: 'hm', text: 'hello' } };
  },
  onRefusal: (refusal: Refusal) => void refusals.push(refusal),
};
const post = (body: object) => ({ method: 'POST', body: JSON.stringify(body) });

test('a server answers what is valid and refuses what is not, over HTTP and within the process', async () => {
  await using server = await startWireServer(anthropicWire, options);
  const url = `${server.url}/messages`;
  for (const ask of [fetch, fetchFrom(anthropicWire, options)]) {
    const answered = await ask(url, post(BODY));
    assert.deepEqual([answered.status, answered.headers.get('content-type')], [200, 'text/event-stream']);
    assert.match(await answered.text(), /"type":"message_stop"/);
    const refused = await ask(url, post(bad));
    assert.deepEqual([refused.status, await refused.json()], [400, refusals.at(-1)?.body]);
  }
  assert.deepEqual([asked.length, refusals.map(({ rule }) => rule)], [2, ['alternation', 'alternation']]);
});
