import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Clock } from '../../../clock.ts';
import { type Deadlines, withDeadlines } from '../deadlines.ts';
import { type FinishReason, type ModelPart, type ModelRequest, ProviderError, type Usage } from '../model.ts';
import type { Provider } from '../provider.ts';
import { nameOf, toProviderError, type Upstream } from '../provider-error.ts';
import { createCallIds } from './call-ids.ts';
import { createOriginalParts } from './original-parts.ts';
import { toPrompt } from './prompt.ts';
import type { Attaching } from './user-parts.ts';

export interface AiSdkModel {
  model: Pick<LanguageModelV4, 'modelId' | 'doStream'>;
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
}

type FinishPart = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/**
 * One attempt at an answer through an SDK model. Converts its parts, and its errors to `ProviderError`. An error from
 * `onPart` ends it.
 */
export async function* streamAiSdk(
  { model, kind, upstream, attaching }: AiSdkModel,
  request: ModelRequest,
  { clock, signal, deadlines, onPart }: Attempt,
): AsyncGenerator<ModelPart> {
  const { modelId } = model;
  const names = { provider: upstream.provider, modelId };
  const convert = createConverter({ names, upstream, callIds: createCallIds(request.messages) });
  const open = (abortSignal: AbortSignal) => {
    const options = toCallOptions(request, { kind, attaching, modelId, provider: upstream.provider, abortSignal });
    return readParts({ model, options, upstream, signal: abortSignal });
  };
  for await (const part of withDeadlines(open, { clock, signal, deadlines })) {
    onPart(part);
    const converted = convert(part);
    if (converted) yield converted;
    if (converted?.type === 'finish') return;
  }
  throw brokenOff(upstream);
}

/** Parts without meaning for the runtime (starts, ends, argument fragments) become undefined. */
function createConverter(deps: {
  names: { provider: string; modelId: string };
  upstream: Upstream;
  callIds: ReturnType<typeof createCallIds>;
}): (part: LanguageModelV4StreamPart) => ModelPart | undefined {
  const { upstream, callIds } = deps;
  const original = createOriginalParts(deps.names);
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
          call: { id, name: part.toolName, arguments: part.input.trim() ? part.input : '{}' },
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

interface CallTarget {
  kind: Provider;
  attaching: Attaching | undefined;
  provider: string;
  modelId: string;
  abortSignal: AbortSignal;
}

function toCallOptions(
  request: ModelRequest,
  { kind, attaching, provider, modelId, abortSignal }: CallTarget,
): LanguageModelV4CallOptions {
  const { system, messages, tools, maxOutputTokens, temperature } = request;
  const { sendsPlainReasoning } = kind;
  return {
    abortSignal,
    prompt: toPrompt({ system, messages, attaching }, { provider, modelId, sendsPlainReasoning }),
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
    ...kind.options(request, modelId),
  };
}

interface Reading {
  model: AiSdkModel['model'];
  options: LanguageModelV4CallOptions;
  upstream: Upstream;
  signal: AbortSignal;
}

/**
 * The parts that the upstream sent, without those that the SDK adds, so that each one shows that the upstream is alive.
 */
async function* readParts({ model, options, upstream, signal }: Reading): AsyncGenerator<LanguageModelV4StreamPart> {
  signal.throwIfAborted();
  const stream = await connect({ model, options, upstream, signal });
  const reader = stream.getReader();
  const cancel = () => void reader.cancel(signal.reason).catch(() => undefined); // an errored stream is already closed
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      const next = await reader.read();
      if (next.done) break;
      if (!ANNOUNCEMENTS.has(next.value.type)) yield next.value;
    }
    signal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    throw toProviderError(error, upstream, 'stream');
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

const ANNOUNCEMENTS = new Set<LanguageModelV4StreamPart['type']>([
  'stream-start',
  'response-metadata',
  'custom',
  'raw',
]);

async function connect({ model, options, upstream, signal }: Reading) {
  try {
    const { stream } = await model.doStream(options);
    return stream;
  } catch (error) {
    signal.throwIfAborted();
    throw toProviderError(error, upstream, 'connect');
  }
}

function toFinish(
  { finishReason, usage }: FinishPart,
  { calls, upstream }: { calls: number; upstream: Upstream },
): Extract<ModelPart, { type: 'finish' }> {
  const { unified } = finishReason;
  if (unified === 'error' || unified === 'interrupted') throw brokenOff(upstream);
  return { type: 'finish', reason: toReason(unified, calls), usage: toUsage(usage) };
}

// Some servers report "stop" although they request tools.
function toReason(unified: Exclude<FinishPart['finishReason']['unified'], 'error' | 'interrupted'>, calls: number) {
  const reason: FinishReason =
    unified === 'tool-calls' ? 'tool_calls' : unified === 'content-filter' ? 'content_filter' : unified;
  return calls > 0 && (reason === 'stop' || reason === 'other') ? 'tool_calls' : reason;
}

const toUsage = ({ inputTokens, outputTokens }: FinishPart['usage']): Usage => ({
  promptTokens: inputTokens.total ?? 0,
  completionTokens: outputTokens.total ?? 0,
  cacheCreationTokens: inputTokens.cacheWrite ?? 0,
  cacheReadTokens: inputTokens.cacheRead ?? 0,
});

const brokenOff = (upstream: Upstream) =>
  new ProviderError('interrupted', `The answer of ${nameOf(upstream)} ended early.`, { retryable: true });
