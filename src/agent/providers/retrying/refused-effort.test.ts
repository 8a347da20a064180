import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Effort } from '../../../../protocol/stream-events.ts';
import { postOver } from '../chat-completions/post-fixture.ts';
import type { ModelsConfig } from '../models-config.ts';
import { setUp, URL_OF_LAB } from '../models-fixture.ts';
import type { Fetch } from '../provider.ts';

const ANSWER = 'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** A server that refuses the requests with an effort for which `refuses` gives words. */
function openLab(refuses: (effort: string | undefined) => string | undefined) {
  const efforts: (string | undefined)[] = [];
  const fetch: Fetch = async (url, init) => {
    if (!String(url).endsWith('/chat/completions')) return Response.json({ data: [{ id: 'llama3.1:8b' }] });
    const { reasoning_effort: effort } = JSON.parse(String(init?.body));
    efforts.push(effort);
    const message = refuses(effort);
    return message === undefined ? new Response(ANSWER) : Response.json({ error: { message } }, { status: 400 });
  };
  const config = {
    models: { lab: { provider: 'openai-compatible', baseUrl: URL_OF_LAB } },
  } satisfies Partial<ModelsConfig>;
  const { models } = setUp({ config, fetch, post: postOver(fetch) });
  const ask = async (effort: Effort): Promise<string> => {
    const request = { system: '', messages: [], tools: [], effort, typedByPerson: false };
    let text = '';
    for await (const part of (await models.resolve('lab')).stream(request, new AbortController().signal))
      if (part.type === 'content') text += part.text;
    return text;
  };
  return { ask, efforts };
}

for (const words of ['"llama3.1:8b" does not support thinking', "Unrecognized request argument: 'reasoning_effort'"])
  test(`a model whose server refuses an effort answers without it: ${words}`, async () => {
    const { ask, efforts } = openLab((effort) => effort && words);
    assert.deepEqual([await ask('low'), await ask('high'), await ask('medium')], ['hi', 'hi', 'hi']);
    assert.deepEqual(efforts, ['low', undefined, undefined, undefined]);
  });

test('a server that takes the effort gets it', async () => {
  const { ask, efforts } = openLab(() => undefined);
  await ask('low');
  await ask('high');
  assert.deepEqual(efforts, ['low', 'high']);
});

test('a request that is refused without the effort, too, fails, and the effort is sent again', async () => {
  let words: string | undefined = 'roles must alternate';
  const { ask, efforts } = openLab(() => words);
  await assert.rejects(ask('low'), { kind: 'refused', message: /roles must alternate/ });
  words = undefined;
  await ask('low');
  assert.deepEqual(efforts, ['low', undefined, 'low']);
});

test('a request that was refused for another reason is not repeated', async () => {
  const { ask, efforts } = openLab(() => 'prompt is too long: 9000 tokens > 8192 maximum');
  await assert.rejects(ask('low'), { kind: 'refused' });
  assert.deepEqual(efforts, ['low']);
});
