import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { Clock } from '../../../clock.ts';
import type { AnsweredImages } from '../../message.ts';
import { type Deadlines, watchSilence } from '../deadlines.ts';
import { type FinishReason, type ModelPart, type ModelRequest, ProviderError, type Usage } from '../model.ts';
import type { OpenedModel, PartReader, Provider } from '../provider.ts';
import { nameOf, toProviderError, type Upstream } from '../provider-error.ts';
import { createCallIds } from './call-ids.ts';
import { toStoredName } from './call-names.ts';
import { type Author, createOriginalParts } from './original-parts.ts';
import { toPrompt } from './prompt.ts';
import type { Attaching } from './user-parts.ts';

export interface AiSdkModel {
  model: OpenedModel;
  kind: Provider;
  upstream: Upstream;
  /** Without it, no attachments can be read. */
  attaching?: Attaching | undefined;
}

interface Attempt {
  clock: Clock;
  signal: AbortSignal;
  deadlines: Deadlines;
  onPart(part: LanguageModelV4StreamPart): void;
  /** Of the answer, for the person. */
  warning?: string | undefined;
  /** To be stored with the answer. */
  images?: AnsweredImages | undefined;
}

type FinishPart = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/**
 * One attempt at an answer through an SDK model. Converts its parts, and its errors to `ProviderError`. An error from
 * `onPart` ends it. A single generator, because each nested one costs as much per part as reading it.
 */
export async function* streamAiSdk(
  { model, kind, upstream, attaching }: AiSdkModel,
  request: ModelRequest,
  { clock, signal, deadlines, onPart, warning, images }: Attempt,
): AsyncGenerator<ModelPart> {
  signal.throwIfAborted();
  const silence = watchSilence({ clock, signal, deadlines });
  try {
    const { modelId } = model;
    const prefix = kind.bindsReasoning?.(modelId) ? request.conversation : undefined;
    const author = { provider: upstream.provider, modelId, prefix };
    const callIds = createCallIds(request);
    const convert = createConverter({ author, upstream, callIds });
    const options = toCallOptions(request, { kind, attaching, author, abortSignal: silence.signal });
    silence.expect();
    const [conversation] = request.messages;
    const reader = await connect({ model, options, conversation, upstream, signal: silence.signal });
    for (;;) {
      const part = await readPart({ reader, upstream, signal: silence.signal });
      if (part && ANNOUNCEMENTS.has(part.type)) continue;
      silence.arrived();
      if (!part) throw brokenOff(upstream);
      onPart(part);
      const converted = convert(part);
      if (converted) yield withFacts(converted, { warning, images });
      if (converted?.type === 'finish') return;
      silence.expect();
    }
  } finally {
    silence.stop();
  }
}

/** Parts without meaning for the runtime (starts, ends, argument fragments) become undefined. */
function createConverter(deps: {
  author: Author;
  upstream: Upstream;
  callIds: ReturnType<typeof createCallIds>;
}): (part: LanguageModelV4StreamPart) => ModelPart | undefined {
  const { upstream, callIds } = deps;
  const original = createOriginalParts(deps.author);
  let calls = 0;
  return (part) => {
    original.add(part);
    switch (part.type) {
      case 'text-delta':
        return part.delta === '' ? undefined : { type: 'content', text: part.delta };
      case 'reasoning-delta':
        return part.delta === '' ? undefined : { type: 'reasoning', text: part.delta };
      case 'tool-call': {
        const id = callIds.take(part.toolCallId);
        original.addCall(id, part.providerMetadata);
        calls++;
        // Some models call a tool without arguments by sending none at all.
        return {
          type: 'tool_call',
          call: { id, name: toStoredName(part.toolName), arguments: part.input.trim() ? part.input : '{}' },
        };
      }
      case 'error':
        throw toProviderError(part.error, upstream, 'stream');
      case 'finish': {
        const providerData = original.toProviderData();
        return { ...toFinish(part, { calls, upstream }), ...(providerData && { providerData }) };
      }
      default:
        return undefined;
    }
  };
}

/** The thinking blocks that Anthropic left out of the request, because what stands before them had changed. */
function countDropped(metadata: SharedV4ProviderMetadata | undefined): number {
  const changes = metadata?.anthropic?.inputTransformations;
  return Array.isArray(changes) ? changes.length : 0;
}

interface CallTarget {
  kind: Provider;
  attaching: Attaching | undefined;
  author: Author;
  abortSignal: AbortSignal;
}

function toCallOptions(
  request: ModelRequest,
  { kind, attaching, author, abortSignal }: CallTarget,
): LanguageModelV4CallOptions {
  const { system, messages, tools, maxOutputTokens, temperature } = request;
  const { sendsPlainReasoning } = kind;
  return {
    abortSignal,
    prompt: toPrompt({ system, messages, attaching }, { ...author, sendsPlainReasoning }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name,
        description,
        inputSchema: parameters,
      })),
    }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...kind.options(request, author.modelId),
  };
}

/** Parts that the SDK adds, which do not show that the upstream is alive. */
const ANNOUNCEMENTS = new Set<LanguageModelV4StreamPart['type']>([
  'stream-start',
  'response-metadata',
  'custom',
  'raw',
]);

interface Call {
  model: AiSdkModel['model'];
  options: LanguageModelV4CallOptions;
  /** Its first message. */
  conversation: object | undefined;
  upstream: Upstream;
  signal: AbortSignal;
}

/** A reader that closes its connection when the signal aborts. */
async function connect({ model, options, conversation, upstream, signal }: Call): Promise<PartReader> {
  try {
    const { stream } = await model.doStream(options, { conversation });
    const reader = stream.getReader();
    const cancel = () => void reader.cancel(signal.reason).catch(() => undefined); // an errored stream is already closed
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    return reader;
  } catch (error) {
    signal.throwIfAborted();
    throw toProviderError(error, upstream, 'connect');
  }
}

async function readPart({ reader, upstream, signal }: { reader: PartReader; upstream: Upstream; signal: AbortSignal }) {
  try {
    const { value, done } = await reader.read();
    if (done) signal.throwIfAborted();
    return value;
  } catch (error) {
    signal.throwIfAborted();
    throw toProviderError(error, upstream, 'stream');
  }
}

const withFacts = (part: ModelPart, { warning, images }: Pick<Attempt, 'warning' | 'images'>): ModelPart =>
  part.type === 'finish' ? { ...part, ...(warning !== undefined && { warning }), ...(images && { images }) } : part;

function toFinish(
  { finishReason, usage, providerMetadata }: FinishPart,
  { calls, upstream }: { calls: number; upstream: Upstream },
): Extract<ModelPart, { type: 'finish' }> {
  const { unified } = finishReason;
  if (unified === 'error' || unified === 'interrupted') throw brokenOff(upstream);
  const dropped = countDropped(providerMetadata);
  return {
    type: 'finish',
    // Anthropic's word for it; the SDK has none.
    reason: finishReason.raw === 'compaction' ? 'summary' : toReason(unified, calls),
    usage: toUsage(usage),
    ...(dropped > 0 && { droppedThoughts: dropped }),
  };
}

// Some servers report "stop" although they request tools.
function toReason(unified: Exclude<FinishPart['finishReason']['unified'], 'error' | 'interrupted'>, calls: number) {
  const reason: FinishReason =
    unified === 'tool-calls' ? 'tool_calls' : unified === 'content-filter' ? 'content_filter' : unified;
  return calls > 0 && (reason === 'stop' || reason === 'other') ? 'tool_calls' : reason;
}

/** A server that counts nonsense is treated like one that does not count. */
function toUsage({ inputTokens, outputTokens }: FinishPart['usage']): Usage {
  const isCounted = [inputTokens.total, outputTokens.total].every((count = 0) => isCount(count));
  const tokens = (count = 0): number => (isCounted && isCount(count) ? Math.round(count) : 0);
  const reasoningTokens = tokens(outputTokens.reasoning);
  return {
    promptTokens: tokens(inputTokens.total),
    completionTokens: tokens(outputTokens.total),
    cacheCreationTokens: tokens(inputTokens.cacheWrite),
    cacheReadTokens: tokens(inputTokens.cacheRead),
    ...(reasoningTokens > 0 && { reasoningTokens }),
  };
}

/** More than any request has. Sums of them stay exact. */
const MOST_TOKENS = 1_000_000_000;
const isCount = (count: number): boolean => count >= 0 && count <= MOST_TOKENS;

const brokenOff = (upstream: Upstream) =>
  new ProviderError('interrupted', `The answer of ${nameOf(upstream)} ended early.`, { retryable: true });
