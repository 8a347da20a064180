import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelPart, ModelRequest } from '../../providers/model.ts';
import { askMaker } from './maker-summary.ts';

const usage = { promptTokens: 10, completionTokens: 2, cacheCreationTokens: 0, cacheReadTokens: 0 };

/** Asks for a summary of `bytes` of text in all, in a window of 1,000 tokens of 4 bytes. */
async function asked(bytes: number) {
  const requests: ModelRequest[] = [];
  const model = {
    alias: 'opus',
    provider: 'anthropic' as const,
    modelId: 'm',
    contextWindow: 1_000,
    family: 'anthropic',
    fallback: [],
    writesSummaries: true,
    async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
      requests.push(request);
      yield { type: 'content', text: 'S.' };
      yield { type: 'finish', reason: 'summary', usage };
    },
  };
  const instructions = 'i'.repeat(400);
  const messages = [{ role: 'user' as const, content: 'x'.repeat(bytes - 400 - FRAME) }];
  const request: ModelRequest = { system: '', messages, tools: [], effort: 'medium', typedByPerson: false };
  const sent = { request, window: { size: 1_000, bytesPerToken: 4 } };
  const { signal } = new AbortController();
  return {
    summary: await askMaker(messages, { summarizer: { model, isOwn: true }, sent, instructions, signal }),
    requests,
  };
}

/** What counts for each message besides its text. */
const FRAME = 16;

test('the maker is asked for a summary when the request surely fits, instructions included', async () => {
  const { summary, requests } = await asked(3_399);
  assert.equal(summary?.text, 'S.');
  assert.equal(requests[0]?.toSummarize?.instructions.length, 400);
});

test('a request that may be too long is not sent to the maker', async () => {
  assert.deepEqual(await asked(3_400), { summary: undefined, requests: [] });
});
