import { z } from 'zod';
import type { Clock } from '../../../clock.ts';
import { withWholeCharacters } from '../../../content/whole-characters.ts';
import type { ArrivingBytes, PostResponse } from '../../../egress/streamed-post.ts';
import type { Look, ModelTarget, OpenedModel, PartReader } from '../provider.ts';
import type { ChatParts } from './chat-parts.ts';

/**
 * A model behind the chat completions API. The SDK converts messages. Its reader of answers is replaced,
 * because it costs more than everything else that the daemon does with an answer (decision 16).
 */
export async function openChatModel({ modelId, baseUrl, apiKey, post, clock }: ModelTarget): Promise<OpenedModel> {
  const [{ OpenAICompatibleChatLanguageModel }, { createChatBodies }, { createChatParts }] = await Promise.all([
    import('@ai-sdk/openai-compatible'),
    import('./chat-body.ts'),
    import('./chat-parts.ts'),
  ]);
  const url = `${baseUrl.replace(/\/$/, '')}/chat/completions`;
  const sdk = new OpenAICompatibleChatLanguageModel(modelId, { provider: 'openaiCompatible.chat', url: () => url });
  const bodies = createChatBodies({
    async toBody(options) {
      const { body } = await sdk.prepareRequest(options);
      if (/deepseek/i.test(modelId)) addMissingReasoning(body.messages);
      return body;
    },
    stringify: (value) => withWholeCharacters(JSON.stringify(value)),
  });
  const headers = {
    'content-type': 'application/json',
    accept: '*/*',
    'user-agent': 'headgate',
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
  };
  return {
    modelId,
    async doStream({ abortSignal: signal = NEVER, ...options }, { look = () => undefined, conversation } = {}) {
      const body = await bodies.build(options, conversation);
      const response = await post(url, { headers, body, signal });
      if (response.status < 200 || response.status > 299) throw await toError(response);
      const getReader = () => createReader(response.body, { parts: createChatParts(), look, clock });
      return { stream: { getReader } };
    },
  };
}

const NEVER = new AbortController().signal;

/**
 * DeepSeek refuses answers without thoughts in a turn with calls. Answers of other models, and of itself before a
 * summary, have none.
 */
function addMissingReasoning(messages: unknown): void {
  if (!Array.isArray(messages)) return;
  for (const message of messages) if (message.role === 'assistant') message.reasoning_content ??= '';
}

interface Reading {
  parts: ChatParts;
  look: Look;
  clock: Clock;
}

/** Gives all parts that have arrived before it reports an error. */
function createReader(body: ArrivingBytes, { parts, look, clock }: Reading): PartReader {
  const rest = createRest(body, clock);
  let over: { error?: unknown } | undefined;
  const end = () => {
    over = {};
    rest.leave();
    parts.end();
  };
  const fail = (error: unknown) => {
    if (parts.isDone()) end();
    else over = { error };
  };
  const readMore = async () => {
    try {
      const arrived = await (parts.isDone() ? rest.read() : body.read());
      for (const bytes of arrived ?? []) {
        look(bytes);
        parts.feed(bytes);
      }
      if (!arrived) end();
    } catch (error) {
      fail(error);
    }
  };
  return {
    async read() {
      for (;;) {
        const value = parts.take();
        if (value) return { done: false, value };
        if (over && 'error' in over) throw over.error;
        if (over) return { done: true, value: undefined };
        await readMore();
      }
    },
    async cancel() {
      body.cancel();
    },
  };
}

/** How long the end of the body is waited for after `[DONE]`. Then its connection can be used again. */
const REST_MS = 1_000;

/** What follows `[DONE]`. Some servers and proxies keep the body open. */
function createRest(body: ArrivingBytes, clock: Clock) {
  const left = new AbortController();
  let late: Promise<undefined> | undefined;
  return {
    read(): Promise<Uint8Array[] | undefined> {
      const toUndefined = () => undefined;
      late ??= clock.sleep(REST_MS, left.signal).then(toUndefined, toUndefined); // nobody reads after `leave`
      return Promise.race([late, body.read()]);
    },
    leave(): void {
      left.abort(NOT_READ);
      body.cancel(); // has no effect on a body that has ended
    },
  };
}

/** Nobody reads this reason. Without one, an exception would be made for each answer. */
const NOT_READ = 'no longer read';

/** Longer error messages are cut off; nobody reads them. */
const MAX_ERROR_BYTES = 1024 * 1024;

const ErrorBody = z.object({ error: z.object({ message: z.string() }) });

/** The error of a refused request, in the form in which the SDK reports it. */
async function toError({ status, statusText, headers, body }: PostResponse): Promise<Error> {
  const text = await textOf(body);
  const message = messageIn(text) ?? statusText;
  return Object.assign(new Error(message), { statusCode: status, responseHeaders: headers, responseBody: text });
}

async function textOf(body: ArrivingBytes): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (let arrived = await body.read(); arrived; arrived = await body.read()) {
    for (const piece of arrived) {
      pieces.push(piece);
      bytes += piece.length;
    }
    if (bytes > MAX_ERROR_BYTES) body.cancel();
    if (bytes > MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(pieces).toString();
}

function messageIn(text: string): string | undefined {
  try {
    return ErrorBody.parse(JSON.parse(text)).error.message;
  } catch {
    return undefined; // an error page, or nothing
  }
}
