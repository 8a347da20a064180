import { StringDecoder } from 'node:string_decoder';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { createToolCalls } from './tool-calls.ts';

type Part = LanguageModelV4StreamPart;

/** Reads an answer of the chat completions API. */
export interface ChatParts {
  feed(bytes: Uint8Array): void;
  /** Whether the server has said that nothing follows. */
  isDone(): boolean;
  /** Call it when the body has ended, or need not be waited for. */
  end(): void;
  /** The next part. Pieces of text that have not been taken yet are one part. */
  take(): Part | undefined;
}

/** Server-sent events to the parts that the AI SDK makes of them, without its cost for each piece. */
export function createChatParts(): ChatParts {
  const queue = createQueue();
  const calls = createToolCalls((part) => queue.push(part));
  const end: { reason?: string; usage?: unknown; isRefusal?: true } = {};

  const takeDelta = (delta: Delta) => {
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (typeof reasoning === 'string') queue.say('reasoning', reasoning);
    if (typeof delta.content === 'string') queue.say('text', delta.content);
    else for (const { type, text } of toTexts(delta.content)) queue.say(type, text);
    if (typeof delta.refusal === 'string' && delta.refusal !== '') {
      end.isRefusal = true;
      queue.say('text', delta.refusal);
    }
    if (isGiven(delta.tool_calls)) calls.take(delta.tool_calls);
  };
  const takeChunk = (data: string) => {
    const chunk: Chunk | null = JSON.parse(data);
    if (isGiven(chunk?.error)) return queue.push({ type: 'error', error: chunk.error });
    if (!Array.isArray(chunk?.choices)) throw new TypeError('a chunk has no choices');
    if (isGiven(chunk.usage)) end.usage = chunk.usage;
    const [choice] = chunk.choices;
    // Some servers send an empty reason until the last chunk.
    if (typeof choice?.finish_reason === 'string' && choice.finish_reason !== '') end.reason = choice.finish_reason;
    if (isGiven(choice?.delta)) takeDelta(choice.delta);
  };
  let isDone = false;
  const parser = createParser({
    onEvent({ data }) {
      if (data === '[DONE]') isDone = true;
      if (data === '[DONE]' || queue.hasFailed()) return;
      try {
        takeChunk(data);
      } catch (cause) {
        queue.push({ type: 'error', error: new Error(`unexpected chunk: ${data}`, { cause }) });
      }
    },
  });
  const decoder = new StringDecoder();
  return {
    feed: (bytes) => parser.feed(decoder.write(bytes)),
    isDone: () => isDone,
    end() {
      if (queue.hasFailed()) return;
      if (end.reason === undefined) return queue.push({ type: 'error', error: new Error(NO_REASON) });
      try {
        calls.end();
        queue.push(toFinish(end.reason, end));
      } catch (error) {
        queue.push({ type: 'error', error });
      }
    },
    take: queue.take,
  };
}

const NO_REASON = 'Response stream ended without a finish reason.';

/** As servers send it: every field may be absent, null or something else. */
interface Chunk {
  error?: unknown;
  usage?: unknown;
  choices?: ({ delta?: Delta | null; finish_reason?: unknown } | null)[] | null;
}

type Delta = { [field in 'content' | 'reasoning_content' | 'reasoning' | 'refusal' | 'tool_calls']?: unknown };

const isGiven = <T>(value: T): value is NonNullable<T> => value !== undefined && value !== null;

/** The parts that nobody has taken. */
function createQueue() {
  let parts: Part[] = [];
  let next = 0;
  let failed = false;
  return {
    push(part: Part): void {
      parts.push(part);
      if (part.type === 'error') failed = true;
    },
    say(kind: 'text' | 'reasoning', piece: string): void {
      if (piece === '') return;
      const type = `${kind}-delta` as const;
      const last = next < parts.length ? parts.at(-1) : undefined;
      if (last?.type === type) last.delta += piece;
      else parts.push({ type, id: kind, delta: piece });
    },
    hasFailed: () => failed,
    take(): Part | undefined {
      const part = parts[next++];
      if (next < parts.length) return part;
      parts = [];
      next = 0;
      return part;
    },
  };
}

const Thought = z.object({ type: z.literal('text'), text: z.string() });

const Content = z
  .array(
    z.union([
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('thinking'), thinking: z.array(z.union([Thought, z.unknown()])) }),
      z.looseObject({ type: z.string() }).transform(() => undefined),
    ]),
  )
  .nullish();

/** Some servers send a list of typed parts instead of a text. Unknown types are left out. */
function toTexts(content: unknown): { type: 'text' | 'reasoning'; text: string }[] {
  return (Content.parse(content) ?? []).flatMap((part) => {
    if (part === undefined) return [];
    if (part.type === 'text') return { type: 'text', text: part.text };
    const thoughts = part.thinking.map((thought) => Thought.safeParse(thought).data?.text ?? '');
    return { type: 'reasoning', text: thoughts.join('') };
  });
}

const Count = z.number().nullish().catch(undefined);
const Usage = z
  .object({
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: z.object({ cached_tokens: Count }).nullish().catch(undefined),
    completion_tokens_details: z.object({ reasoning_tokens: Count }).nullish().catch(undefined),
  })
  .catch({});

function toFinish(
  reason: string,
  { usage, isRefusal }: { usage?: unknown; isRefusal?: true },
): Extract<Part, { type: 'finish' }> {
  const counted = Usage.parse(usage ?? {});
  const prompt = counted.prompt_tokens ?? 0;
  const cached = counted.prompt_tokens_details?.cached_tokens ?? 0;
  const completion = counted.completion_tokens ?? 0;
  const reasoning = counted.completion_tokens_details?.reasoning_tokens ?? 0;
  // Refusals are reported as complete answers.
  const unified = isRefusal && reason === 'stop' ? 'content-filter' : (FINISH_REASONS.get(reason) ?? 'other');
  return {
    type: 'finish',
    finishReason: { unified, raw: reason },
    usage: {
      inputTokens: { total: prompt, noCache: prompt - cached, cacheRead: cached, cacheWrite: undefined },
      outputTokens: { total: completion, text: Math.max(0, completion - reasoning), reasoning },
    },
  };
}

const FINISH_REASONS = new Map<string, 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error'>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'content-filter'],
  ['function_call', 'tool-calls'],
  ['tool_calls', 'tool-calls'],
  // The server gave up in the middle of the answer.
  ['insufficient_system_resource', 'error'], // DeepSeek
  ['abort', 'error'], // vLLM, SGLang
  ['error', 'error'], // OpenRouter
]);
