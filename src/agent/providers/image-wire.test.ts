import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import type { AttachedContents } from '../attached-content.ts';
import type { Message } from '../message.ts';
import { postOver } from './chat-completions/post-fixture.ts';
import type { ModelPart, ModelRequest } from './model.ts';
import { createModels } from './models.ts';
import type { Fetch } from './provider.ts';

const FIXTURES = {
  openai: 'openai-responses',
  anthropic: 'anthropic-messages',
  google: 'google-stream',
  'openai-compatible': 'chat-completions',
} as const;
type Name = keyof typeof FIXTURES;
const NAMES = ['openai', 'anthropic', 'google', 'openai-compatible'] as const;

const BYTES = Buffer.from('89504e470d0a1a0a', 'hex');
const DATA = BYTES.toString('base64');
const image = (id: string): Attachment => ({
  attachment_id: id,
  filename: `${id}.png`,
  mime_type: 'image/png',
  size_bytes: BYTES.length,
  kind: 'image',
});
const contentsOf = (...ids: string[]): AttachedContents =>
  new Map(ids.map((id) => [id, { kind: 'image', bytes: BYTES }]));

const TEXT = 'what is this?';
const look = (id: string, content: string): Message => ({ role: 'user', content, attachments: [image(id)] });
const REQUEST: ModelRequest = {
  system: 'Be brief.',
  messages: [look('cat', TEXT)],
  attachments: contentsOf('cat'),
  tools: [],
  effort: 'low',
  typedByPerson: true,
};

/** A model of a provider whose server answers with these statuses in turn, then successfully. */
async function setUp(provider: Name, { images, statuses = [] }: { images?: boolean; statuses?: number[] } = {}) {
  const answer = await readFile(new URL(`./fixtures/${FIXTURES[provider]}.sse`, import.meta.url));
  const asked: Record<string, unknown>[] = [];
  const target = provider === 'openai-compatible' ? { model: 'm', baseUrl: 'http://lab:8000/v1' } : {};
  const fetch: Fetch = async (url, init) => {
    if (String(url).endsWith('/models')) return Response.json({ data: [{ id: 'm', max_model_len: 8_192 }] });
    asked.push(JSON.parse(String(init?.body)));
    const status = statuses.shift();
    if (status !== undefined) return Response.json({ error: { message: 'no image input' } }, { status });
    return new Response(answer, { headers: { 'content-type': 'text/event-stream' } });
  };
  const models = createModels({
    config: { models: { m: { provider, ...target, apiKey: 'secret-key', ...(images !== undefined && { images }) } } },
    environment: {},
    clock: fakeClock(),
    log: recordingLog(),
    random: () => 0.5,
    fetch,
    post: postOver(fetch),
  });
  const model = await models.resolve('m');
  return {
    asked,
    async ask(request: ModelRequest): Promise<ModelPart | undefined> {
      let last: ModelPart | undefined;
      for await (const part of model.stream(request, new AbortController().signal)) last = part;
      return last;
    },
  };
}

/** The user's message as sent to each server. */
const SENT: Record<Name, (body: Record<string, unknown>) => unknown> = {
  openai: ({ input }) => userOf(input)?.content,
  anthropic: ({ messages }) => userOf(messages)?.content,
  google: ({ contents }) => userOf(contents)?.parts,
  'openai-compatible': ({ messages }) => userOf(messages)?.content,
};
const userOf = (list: unknown): { content?: unknown; parts?: unknown } | undefined =>
  Array.isArray(list) ? list.find(({ role }) => role === 'user') : undefined;

const EXPECTED: Record<Name, unknown> = {
  openai: [
    { type: 'input_image', image_url: `data:image/png;base64,${DATA}` },
    { type: 'input_text', text: TEXT },
  ],
  anthropic: [
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } },
    { type: 'text', text: TEXT },
  ],
  google: [{ inlineData: { mimeType: 'image/png', data: DATA } }, { text: TEXT }],
  'openai-compatible': [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${DATA}` } },
    { type: 'text', text: TEXT },
  ],
};

/** What is stored with an answer. */
const imagesIn = (part: ModelPart | undefined) =>
  part?.type === 'finish' && part.images ? { images: part.images } : {};
const warningOf = (part: ModelPart | undefined) => (part?.type === 'finish' ? part.warning : undefined);

for (const name of NAMES) {
  test(`${name}: an image is sent as its bytes and type, before the text`, async () => {
    const { ask, asked } = await setUp(name);
    assert.equal(warningOf(await ask(REQUEST)), undefined);
    assert.deepEqual(asked.map(SENT[name]), [EXPECTED[name]]);
  });

  test(`${name}: a model without image support gets a description, and the person a warning`, async () => {
    const { ask, asked } = await setUp(name, { images: false });
    const warning = warningOf(await ask(REQUEST));
    assert.equal(warning, 'Warning: the model did not receive cat.png: this model does not accept images.');
    const [text] = asked.map((body) => JSON.stringify(body));
    assert.equal(text?.includes(DATA), false);
    assert.match(
      text ?? '',
      /\[The user attached \\"cat\.png\\" \(image\/png, 8 bytes\), which is not shown to you: this model does not accept images\. Tell the user so\.\]/,
    );
  });

  test(`${name}: a refused request is retried without its images, which are never sent again`, async () => {
    const { ask, asked } = await setUp(name, { statuses: [400] });
    const refused = 'Warning: the model did not receive cat.png: the model’s server refused a request with it.';
    const refusal = await ask(REQUEST);
    assert.equal(warningOf(refusal), refused);
    const answer: Message = { role: 'assistant', content: 'ok', toolCalls: [], ...imagesIn(refusal) };
    const messages = [...REQUEST.messages, answer, look('dog', 'and the dog?')];
    const attachments = new Map([...contentsOf('cat'), ['dog', { kind: 'image', bytes: Buffer.from('dog') }]] as const);
    assert.equal(warningOf(await ask({ ...REQUEST, messages, attachments })), undefined);
    const dog = Buffer.from('dog').toString('base64');
    assert.deepEqual(
      asked.map((body) => [DATA, dog].map((data) => JSON.stringify(body).includes(data))),
      [
        [true, false],
        [false, false],
        [false, true],
      ],
    );
  });
}

test('a refused request without images is not retried, nor is one refused after its images were removed', async () => {
  const wordsOnly = await setUp('openai', { statuses: [400] });
  const { attachments: _, ...request } = REQUEST;
  await assert.rejects(wordsOnly.ask({ ...request, messages: [{ role: 'user', content: TEXT }] }), { kind: 'refused' });
  const twice = await setUp('openai', { statuses: [400, 400] });
  await assert.rejects(twice.ask(REQUEST), { kind: 'refused' });
  assert.deepEqual([wordsOnly.asked.length, twice.asked.length], [1, 2]);
});
