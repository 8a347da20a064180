import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { createGuardedEgress } from '../../egress/guarded-egress.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { streamAiSdk } from './ai-sdk/ai-sdk.ts';
import { anthropic } from './anthropic.ts';
import { google } from './google.ts';
import type { ModelPart } from './model.ts';
import { openai } from './openai.ts';
import { openaiCompatible } from './openai-compatible.ts';

const { fetch, post } = createGuardedEgress({ privateHosts: () => [], environment: {} });

/** A server that sends the beginning of a recorded answer and then nothing. */
async function startBeginning(file: string) {
  const whole = await readFile(new URL(`./fixtures/${file}.sse`, import.meta.url));
  const closed = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    response.once('close', () => closed.resolve());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(whole.subarray(0, whole.length / 3));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return { baseUrl, closed: closed.promise, [Symbol.asyncDispose]: stop };
}

async function open(kind: typeof openai, baseUrl: string, signal: AbortSignal) {
  const model = await kind.open({ modelId: 'm', baseUrl, apiKey: 'k', fetch, post, clock: fakeClock() });
  const upstream = { provider: 'p', baseUrl, apiKey: 'k', keyName: 'K' };
  const request = { system: '', messages: [], tools: [], effort: 'low', typedByPerson: true } as const;
  const deadlines = { firstMs: 60_000, betweenMs: 60_000 };
  const around = { clock: fakeClock(), signal, deadlines, onPart: () => undefined };
  return streamAiSdk({ model, kind, upstream }, request, around);
}

for (const [name, kind, file] of [
  ['openai', openai, 'openai-responses'],
  ['anthropic', anthropic, 'anthropic-messages'],
  ['google', google, 'google-stream'],
  ['openai-compatible', openaiCompatible, 'chat-completions'],
] as const) {
  test(`${name}: aborting during a stream closes the socket and throws the reason`, async () => {
    await using server = await startBeginning(file);
    const abort = new AbortController();
    const parts: ModelPart[] = [];
    await assert.rejects(
      async () => {
        for await (const part of await open(kind, server.baseUrl, abort.signal)) {
          if (parts.push(part) === 1) abort.abort(new Error('cancelled'));
        }
      },
      { message: 'cancelled' },
    );
    assert.equal(parts[0]?.type, 'reasoning');
    await server.closed;
  });

  test(`${name}: leaving the iteration closes the socket`, async () => {
    await using server = await startBeginning(file);
    for await (const _ of await open(kind, server.baseUrl, new AbortController().signal)) break;
    await server.closed;
  });
}
