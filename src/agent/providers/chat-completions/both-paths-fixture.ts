import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { streamAiSdk } from '../ai-sdk/ai-sdk.ts';
import { type ModelPart, type ModelRequest, ProviderError } from '../model.ts';
import { openaiCompatible } from '../openai-compatible.ts';
import type { Fetch, OpenedModel } from '../provider.ts';
import { openChatModel } from './chat-model.ts';
import { postOver } from './post-fixture.ts';

export const BASE_URL = 'http://lab:8000/v1';
const UPSTREAM = { provider: 'openai-compatible', baseUrl: BASE_URL, apiKey: 'secret-key', keyName: 'OPENAI_API_KEY' };

/** The same model, read by the SDK and by us. */
export const PATHS: Record<'sdk' | 'ours', (fetch: Fetch) => OpenedModel | Promise<OpenedModel>> = {
  sdk: (fetch) =>
    createOpenAICompatible({
      name: 'openaiCompatible',
      baseURL: BASE_URL,
      apiKey: UPSTREAM.apiKey,
      includeUsage: true,
      fetch,
    }).chatModel('m'),
  ours: (fetch) =>
    openChatModel({
      modelId: 'm',
      baseUrl: BASE_URL,
      apiKey: UPSTREAM.apiKey,
      fetch,
      post: postOver(fetch),
      clock: fakeClock(),
    }),
};

/** A server that answers with the given pieces of a body. */
export function answering(pieces: readonly (Uint8Array | string)[], init: ResponseInit = {}): Fetch {
  return async () => {
    const left = pieces.map((piece) => Buffer.from(piece));
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = left.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    return new Response(body, init);
  };
}

export const REQUEST: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', content: 'look around' }],
  tools: [],
  effort: 'high',
  typedByPerson: true,
};

interface Outcome {
  /** The parts; neighbouring texts are joined. */
  parts: ModelPart[];
  error?: Pick<ProviderError, 'kind' | 'message' | 'retryable' | 'retryAfterMs'>;
}

/** What becomes of a request over one of the paths. */
export async function outcomeOf(
  path: keyof typeof PATHS,
  fetch: Fetch,
  request: ModelRequest = REQUEST,
): Promise<Outcome> {
  const model = await PATHS[path](fetch);
  const { signal } = new AbortController();
  const deadlines = { firstMs: 60_000, betweenMs: 60_000 };
  const parts: ModelPart[] = [];
  const answer = streamAiSdk({ model, kind: openaiCompatible, upstream: UPSTREAM }, request, {
    clock: fakeClock(),
    signal,
    deadlines,
    onPart: () => undefined,
  });
  try {
    for await (const part of answer) {
      const last = parts.at(-1);
      if ('text' in part && last && 'text' in last && last.type === part.type) last.text += part.text;
      else parts.push(part);
    }
    return { parts };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { kind, message, retryable, retryAfterMs } = error;
    return { parts, error: { kind, message, retryable, retryAfterMs } };
  }
}
