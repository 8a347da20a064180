import { systemClock } from '../../../src/clock.ts';

/** One thing the scripted model does to the response it is writing. */
export interface Step {
  run(answer: OpenAnswer): void | Promise<void>;
  /** The answer ends after this step: no finish chunk is added. */
  ends?: boolean;
}

/** The response of one request while it is being written. */
export interface OpenAnswer {
  /** Sends the headers now; otherwise the first write does. */
  sendHeaders(): void;
  /** One `data:` line with one choice. */
  chunk(delta: object, finishReason?: string | null): void;
  data(payload: object): void;
  raw(bytes: string | Uint8Array): void;
  error(status: number, headers: Record<string, string>, body: unknown): void;
  /** Status and headers of an answer that is not an event stream; `raw` and `end` follow. */
  head(status: number, headers: Record<string, string>): void;
  /** Ends the response properly, as a server does after its last chunk. */
  end(): void;
  /** Breaks the connection, as a killed server or a bad network would. */
  reset(): void;
  signal: AbortSignal;
  state: { askedForTools: boolean; finishReason?: string; usage?: object };
}

export interface ScriptedCall {
  name: string;
  /** An object, or the raw text for malformed arguments. */
  arguments: object | string;
  id?: string;
}

/** Content, one delta per text. */
export const say = (...texts: string[]): Step => each(texts, (text) => ({ content: text }));

/** Reasoning, as vLLM and llama.cpp stream it. */
export const think = (...texts: string[]): Step => each(texts, (text) => ({ reasoning_content: text }));

/** Parallel tool calls, their arguments in fragments that alternate between the calls. */
export function callTools(...calls: ScriptedCall[]): Step {
  return {
    run(answer) {
      answer.state.askedForTools = true;
      const texts = calls.map(({ arguments: value }) => (typeof value === 'string' ? value : JSON.stringify(value)));
      for (const [index, { name, id = `call_${index}` }] of calls.entries()) {
        const call = { index, id, type: 'function', function: { name, arguments: '' } };
        answer.chunk({ tool_calls: [call] });
      }
      const longest = Math.max(0, ...texts.map(({ length }) => length));
      for (let start = 0; start < longest; start += FRAGMENT_CHARS) {
        for (const [index, text] of texts.entries()) {
          const fragment = text.slice(start, start + FRAGMENT_CHARS);
          if (fragment) answer.chunk({ tool_calls: [{ index, function: { arguments: fragment } }] });
        }
      }
    },
  };
}

/** The finish reason instead of `stop` or `tool_calls`. */
export const finishWith = (finishReason: string): Step => ({
  run({ state }) {
    state.finishReason = finishReason;
  },
});

export const useTokens = (usage: { prompt: number; completion: number; cached?: number }): Step => ({
  run: ({ state }) => {
    state.usage = toUsage(usage);
  },
});

/** Waits until `release`: before the headers if it is the first step, otherwise within the stream. */
export function stall(): Step & { reached: Promise<void>; release(): void } {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    release: () => released.resolve(),
    async run({ signal }) {
      reached.resolve();
      await Promise.race([released.promise, aborted(signal)]);
    },
  };
}

/** Only the headers; another step must follow. */
export const headers = (): Step => ({ run: (answer) => answer.sendHeaders() });

export const pause = (ms: number): Step => ({
  run: ({ signal }) => systemClock.sleep(ms, signal).catch(() => undefined), // the client disconnected
});

export const raw = (bytes: string | Uint8Array): Step => ({ run: (answer) => answer.raw(bytes) });

/** A chunk that is not JSON. */
export const garbled = (): Step => raw('data: {"choices":[{"delta":{"content":"\u0000 garb}\n\n');

/** An incomplete chunk that ends the response. */
export const truncated = (): Step => ({
  ends: true,
  run(answer) {
    answer.raw('data: {"choices":[{"index":0,"delta":{"content":"cut o');
    answer.end();
  },
});

/** The response ends properly, but without finish reason and `[DONE]`. */
export const hangUp = (): Step => ({ ends: true, run: (answer) => answer.end() });

export const reset = (): Step => ({ ends: true, run: (answer) => answer.reset() });

/** An error inside a 200 answer. */
export const errorChunk = (message: string, code?: number): Step => ({
  ends: true,
  run(answer) {
    answer.data({ error: { message, type: 'server_error', ...(code !== undefined && { code }) } });
    answer.end();
  },
});

/** An answer with this HTTP status instead of a stream. */
export const fail = (
  status: number,
  { message = `scripted ${status}`, retryAfterSecs }: { message?: string; retryAfterSecs?: number } = {},
): Step => ({
  ends: true,
  run: (answer) =>
    answer.error(status, retryAfterSecs === undefined ? {} : { 'retry-after': String(retryAfterSecs) }, {
      error: { message, type: 'scripted', code: null },
    }),
});

/** A complete answer of any kind. */
export const respond = (headers: Record<string, string>, body: string | Uint8Array, status = 200): Step => ({
  ends: true,
  run(answer) {
    answer.head(status, headers);
    answer.raw(body);
    answer.end();
  },
});

/** The same bytes until the client disconnects. */
export const endless = (bytes: string): Step => ({
  ends: true,
  async run(answer) {
    while (!answer.signal.aborted) {
      answer.raw(bytes);
      await systemClock.sleep(1, answer.signal).catch(() => undefined); // the client disconnected
    }
  },
});

const FRAGMENT_CHARS = 7;

function each(texts: string[], toDelta: (text: string) => object): Step {
  return {
    run(answer) {
      for (const text of texts) answer.chunk(toDelta(text));
    },
  };
}

const toUsage = ({ prompt, completion, cached }: { prompt: number; completion: number; cached?: number }) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
