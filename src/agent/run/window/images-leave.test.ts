import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seenIn } from '../../attached-content.ts';
import type { AssistantMessage, Message } from '../../message.ts';
import { type ModelPart, type ModelRequest, ProviderError } from '../../providers/model.ts';
import { runToEnd } from '../run.ts';
import { answerOf, type FixtureOptions, runFixture } from '../run-fixture.ts';

const user = (content: string): Message => ({ role: 'user', content, trusted: true });
const said = (content: string): AssistantMessage => ({ role: 'assistant', content, toolCalls: [] });

async function play(options: FixtureOptions) {
  const fixture = runFixture({ contextWindow: 1_000_000, ...options });
  await runToEnd(fixture.run);
  const end = fixture.events.findLast((event) => event.type === 'ws_state');
  return {
    ...fixture,
    status: end?.type === 'ws_state' ? end.run?.status : undefined,
    cuts: fixture.steps.flatMap(({ cut }) => cut ?? []),
    prefixes: fixture.steps.filter(({ prefix }) => prefix).length,
  };
}

const image = (id: string) => ({
  ...{ attachment_id: id, filename: `${id}.png`, mime_type: 'image/png', size_bytes: 1, kind: 'image' as const },
});
const withImages = (content: string, ...names: string[]): Message => ({
  ...{ role: 'user', content, trusted: true, attachments: names.map(image) },
});

/** A server that refuses some images, and says so. */
const refusing =
  (...names: string[]) =>
  ({ messages }: ModelRequest): ModelPart[] => {
    const shown = messages.flatMap((message) => seenIn(message).map(({ attachment_id: id }) => id));
    if (!shown.some((id) => names.includes(id))) return answerOf('done');
    throw new ProviderError('refused', 'Could not process image', { refusal: { about: 'image' } });
  };

test('images that were answered and are refused later leave with a cut, and people learn their names', async () => {
  const seen: AssistantMessage = { ...said('seen'), images: { model: 'scripted' } };
  const messages = [withImages('look', 'cat'), seen, withImages('and?', 'dog'), said('hm'), withImages('so?', 'ant')];
  const marked = messages.with(3, { ...seen, content: 'hm' });
  const { status, cuts, requests, events, prefixes } = await play({ messages: marked, answer: refusing('cat') });
  assert.deepEqual([status, cuts, prefixes], ['ok', [{ kind: 'images', toSeq: 3 }], 2]);
  assert.deepEqual(
    requests.at(-1)?.messages.flatMap((message) => (message.role === 'user' ? [message.unseen] : [])),
    ['images', 'images', undefined],
  );
  const message =
    'The model’s server refused a request because of an image, so these images were taken out of the model’s context: ' +
    'cat.png, dog.png. The model still knows their names.';
  assert.deepEqual(
    events.filter(({ type }) => type === 'info'),
    [{ type: 'info', message }],
  );
});

test('without images that this model has answered with, a refusal because of an image ends the run', async () => {
  const marks = [{ model: 'another' }, { model: 'scripted', withheld: ['cat'] }];
  for (const images of marks) {
    const messages: Message[] = [withImages('look', 'cat'), { ...said('seen'), images }, user('and?')];
    const { status, cuts, requests } = await play({ messages, answer: refusing('cat') });
    assert.deepEqual([status, cuts, requests.length], ['error', [], 1]);
  }
});

test('older images leave the request together, before the newest would not fit, and their names stay', async () => {
  const looks = Array.from({ length: 8 }, (_, n): Message[] => [
    withImages(`look ${n}`, `a${n}`, `b${n}`, `c${n}`),
    said('seen'),
  ]);
  const { status, requests, cuts } = await play({ messages: [...looks.flat(), user('and?')] });
  assert.deepEqual([status, cuts], ['ok', [{ kind: 'attachments', toSeq: 9 }]]);
  const unseen = requests.map(
    ({ messages }) => messages.filter((message) => message.role === 'user' && message.unseen).length,
  );
  assert.deepEqual(unseen, [5]);
});

test('nothing is learned of texts from requests with images, which every maker counts in another way', async () => {
  const usage = { promptTokens: 700, completionTokens: 2, cacheCreationTokens: 0, cacheReadTokens: 0 };
  const answer = (): ModelPart[] => [...answerOf('done').slice(0, -1), { type: 'finish', reason: 'stop', usage }];
  const rateAfter = async (message: Message) => {
    const { run, settings } = await play({ messages: [message], answer });
    return run.window.windows.of(await settings.model()).bytesPerToken;
  };
  const [usual, learned] = [await rateAfter(withImages('look', 'cat')), await rateAfter(user('x'.repeat(7_000)))];
  assert.equal(usual, 3.5);
  assert.ok(learned > usual, `${learned}`);
});
