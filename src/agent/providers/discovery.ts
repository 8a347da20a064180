import { z } from 'zod';
import { trimEndOf } from '../../../protocol/text/trimmed-text.ts';
import type { Clock } from '../../clock.ts';
import type { IsListening } from '../../egress/listening.ts';
import { withMeter } from './metered-body.ts';
import type { Fetch } from './provider.ts';
import { toProviderError, type Upstream } from './provider-error.ts';

export interface Description {
  modelId: string;
  /** 0 when the server does not report it. */
  contextWindow: number;
}

interface Asking {
  fetch: Fetch;
  signal: AbortSignal;
}

/** Asks an openai-compatible server about a model: the named one, or the first one that can chat. */
export async function describeModel(
  upstream: Upstream & { modelId?: string | undefined },
  asking: Asking,
): Promise<Description> {
  const rows = await listModels(upstream, asking);
  const row = upstream.modelId === undefined ? firstChatModel(rows) : rows.find(({ id }) => id === upstream.modelId);
  const modelId = upstream.modelId ?? row?.id;
  if (modelId === undefined) {
    throw toProviderError({ statusCode: 404, message: 'its model list is empty' }, upstream, 'connect');
  }
  const contextWindow =
    windowOfRow(row) ??
    (await windowFromProps(upstream, asking)) ??
    (await windowFromShow({ upstream, modelId }, asking));
  return { modelId, contextWindow: contextWindow ?? 0 };
}

/**
 * Checks that the server is up. Throws when it does not answer or reports its own failure; any other answer counts as
 * up.
 */
export async function probe(upstream: Upstream, { fetch, signal }: Asking): Promise<void> {
  await ask(upstream, { url: modelsUrl(upstream), fetch, signal }).catch((error: unknown) => {
    const failure = toProviderError(error, upstream, 'connect');
    if (['unreachable', 'timeout', 'interrupted'].includes(failure.kind)) throw failure;
  });
}

/** Finds the first of the usual local servers that answers and has a model. Asks all of them at once, without a key. */
export async function findLocalServer({
  fetch,
  listens,
  clock,
  signal,
}: Asking & { clock: Clock; listens: IsListening }): Promise<string | undefined> {
  const found = await Promise.all(
    LOCAL_SERVERS.map(async (baseUrl) => {
      const upstream = { provider: 'openai-compatible', baseUrl, keyName: '' };
      const asked = within(LOCAL_PROBE_MS, { clock, signal }, async (inTime) =>
        (await listens(new URL(baseUrl), inTime)) ? listModels(upstream, { fetch, signal: inTime }) : [],
      );
      const rows = await asked.catch(() => []); // usually there is no server
      return rows.length > 0 ? baseUrl : undefined;
    }),
  );
  return found.find((baseUrl) => baseUrl !== undefined);
}

/** Runs an operation with a deadline on the given clock. */
export async function within<T>(
  ms: number,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then(() => {
    const error = new DOMException(`No answer within ${ms} ms.`, 'TimeoutError');
    over.abort(error);
    throw error;
  });
  try {
    return await Promise.race([run(AbortSignal.any([signal, over.signal])), late]);
  } finally {
    over.abort();
    late.catch(() => undefined); // the sleep is no longer needed
  }
}

const LOCAL_SERVERS = ['http://localhost:11434/v1', 'http://localhost:8080/v1'];
const LOCAL_PROBE_MS = 300;

const Count = z.number().int().positive().optional().catch(undefined);

const ModelRow = z.looseObject({
  id: z.string().min(1),
  /** Used by vLLM and SGLang. */
  max_model_len: Count,
  /** Used by gateways. */
  context_length: Count,
});
type ModelRow = z.infer<typeof ModelRow>;

const ModelList = z.object({ data: z.array(ModelRow) });

const modelsUrl = ({ baseUrl }: Upstream) => `${trimEndOf(baseUrl, '/')}/models`;
const rootOf = ({ baseUrl }: Upstream) => trimEndOf(baseUrl, '/').replace(/\/v1$/, '');

/** The models that an openai-compatible server lists. */
export async function listModels(upstream: Upstream, { fetch, signal }: Asking): Promise<ModelRow[]> {
  const answer = await ask(upstream, { url: modelsUrl(upstream), fetch, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw toProviderError(error, upstream, 'connect');
  });
  const list = ModelList.safeParse(answer);
  if (list.success) return list.data.data;
  throw toProviderError({ statusCode: 404, message: 'its model list could not be parsed' }, upstream, 'connect');
}

const firstChatModel = (rows: ModelRow[]) => rows.find(({ id }) => !/embed|rerank|whisper/i.test(id)) ?? rows[0];

const windowOfRow = (row: ModelRow | undefined) => row?.max_model_len ?? row?.context_length;

const Props = z.object({ default_generation_settings: z.object({ n_ctx: Count }) });

/** llama.cpp reports its start options outside its OpenAI paths. */
async function windowFromProps(upstream: Upstream, { fetch, signal }: Asking): Promise<number | undefined> {
  const url = `${rootOf(upstream)}/props`;
  const props = Props.safeParse(await askOrNothing(upstream, { url, fetch, signal }));
  return props.success ? props.data.default_generation_settings.n_ctx : undefined;
}

const Show = z.object({ parameters: z.string().catch(''), model_info: z.record(z.string(), z.unknown()) });

/** For Ollama: the value set in the model file, otherwise the model's maximum. */
async function windowFromShow(
  { upstream, modelId }: { upstream: Upstream; modelId: string },
  { fetch, signal }: Asking,
): Promise<number | undefined> {
  const url = `${rootOf(upstream)}/api/show`;
  const show = Show.safeParse(await askOrNothing(upstream, { url, body: { model: modelId }, fetch, signal }));
  if (!show.success) return undefined;
  const set = Count.parse(Number(/^num_ctx\s+(\d+)/m.exec(show.data.parameters)?.[1]));
  if (set !== undefined) return set;
  const info = Object.entries(show.data.model_info).find(([key]) => key.endsWith('.context_length'));
  return Count.parse(info?.[1]);
}

interface Question extends Asking {
  url: string;
  body?: object;
}

const askOrNothing = (upstream: Upstream, question: Question) =>
  ask(upstream, question).catch(() => question.signal.throwIfAborted()); // other servers do not have the path

/** Lists of models are short. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

async function ask({ apiKey }: Upstream, { url, body, fetch, signal }: Question): Promise<unknown> {
  let bytes = 0;
  const metered = withMeter(fetch, (piece) => {
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`longer than ${MAX_ANSWER_BYTES} bytes`);
  });
  const response = await metered(url, {
    signal,
    headers: {
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  if (response.ok) return response.json();
  await response.body?.cancel();
  throw Object.assign(new Error(response.statusText), { statusCode: response.status });
}
