import { type Model, type ModelPart, type Models, ProviderError } from '../../agent/providers/model.ts';
import type { PreparedCall, Toolbox } from '../../agent/tools/toolbox.ts';
import type { Span, SpanAttributes, Traceparent, Tracing } from '../../tracing.ts';

interface TracedRun {
  wsId: string;
  runId: string;
  source: string;
  /** Of the call that asked for it. */
  parent: Traceparent | undefined;
}

/** What a run works with: the same parts, with a span for each request to a model and each tool that runs. */
interface TracedParts<M> {
  models: M;
  toolbox: Toolbox;
  end(status: string): void;
}

/**
 * The parts of a run, with its spans if there is tracing. The attributes follow OpenTelemetry's conventions for generative AI
 * where they have a name for something. Messages, arguments and outputs are never among them.
 */
export function traceRun<M extends Pick<Models, 'resolve'>>(
  { wsId, runId, source, parent }: TracedRun,
  { tracing, models, toolbox }: { tracing?: Tracing | undefined; models: M; toolbox: Toolbox },
): TracedParts<M> {
  if (tracing === undefined) return { models, toolbox, end: () => undefined };
  const conversation = { 'gen_ai.conversation.id': wsId, 'headgate.run.id': runId };
  const span = tracing.start({
    name: 'invoke_agent headgate',
    kind: 'internal',
    parent,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'headgate',
      'headgate.run.source': source,
      ...conversation,
    },
  });
  const child = (name: string, kind: 'client' | 'internal', attributes: SpanAttributes) =>
    tracing.start({ name, kind, parent: span.traceparent, attributes: { ...attributes, ...conversation } });
  return {
    models: tracedModels(models, child),
    toolbox: {
      ready: async (signal) => toolbox.ready?.(signal),
      definitions: () => toolbox.definitions(),
      prepare: async (call, context) => tracedCall(await toolbox.prepare(call, context), call, child),
    },
    end: (status) =>
      span.end({
        attributes: { 'headgate.run.status': status },
        error: status === 'error' || status === 'timeout' ? status : undefined,
      }),
  };
}

type StartChild = (name: string, kind: 'client' | 'internal', attributes: SpanAttributes) => Span;

/** The same models, whose requests have spans. Inherits, because some properties are computed at each access. */
const tracedModels = <M extends Pick<Models, 'resolve'>>(models: M, start: StartChild): M => {
  const resolve: Models['resolve'] = async (alias) => tracedModel(await models.resolve(alias), start);
  return Object.create(models, { resolve: { value: resolve } });
};

function tracedModel(model: Model, start: StartChild): Model {
  const stream: Model['stream'] = (request, signal, patience) => {
    const span = start(`chat ${model.modelId}`, 'client', {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': model.provider,
      'gen_ai.request.model': model.modelId,
      'gen_ai.request.max_tokens': request.maxOutputTokens,
      'gen_ai.request.temperature': request.temperature,
    });
    return followed(model.stream(request, signal, patience), { span, signal });
  };
  return Object.create(model, { stream: { value: stream } });
}

async function* followed(
  parts: AsyncIterable<ModelPart>,
  { span, signal }: { span: Span; signal: AbortSignal },
): AsyncGenerator<ModelPart> {
  let attributes: SpanAttributes = {};
  let error: string | undefined = 'incomplete';
  try {
    for await (const part of parts) {
      if (part.type === 'finish') {
        attributes = toAttributes(part);
        error = undefined;
      }
      yield part;
    }
  } catch (thrown) {
    error = thrown instanceof ProviderError ? thrown.kind : 'internal';
    throw thrown;
  } finally {
    span.end({ attributes, error: error !== undefined && signal.aborted ? 'cancelled' : error });
  }
}

const toAttributes = ({ reason, usage }: Extract<ModelPart, { type: 'finish' }>): SpanAttributes => ({
  'gen_ai.response.finish_reasons': [reason],
  'gen_ai.usage.input_tokens': usage.promptTokens,
  'gen_ai.usage.output_tokens': usage.completionTokens,
  'gen_ai.usage.cache_creation.input_tokens': usage.cacheCreationTokens,
  'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
});

/** Only a known tool can be ready, so its name comes from our table and not from the model. */
function tracedCall(
  prepared: PreparedCall,
  { id, name }: { id: string; name: string },
  start: StartChild,
): PreparedCall {
  if (prepared.kind !== 'ready') return prepared;
  return {
    ...prepared,
    async execute(run) {
      const span = start(`execute_tool ${name}`, 'internal', {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': id,
      });
      let outcome = 'failed';
      try {
        const result = await prepared.execute(run);
        ({ outcome } = result);
        return result;
      } finally {
        span.end({
          attributes: { 'headgate.tool.outcome': outcome },
          error: outcome === 'done' ? undefined : outcome,
        });
      }
    },
  };
}
