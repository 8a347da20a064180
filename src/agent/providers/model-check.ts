import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import { describeModel, within } from './discovery.ts';
import { ProviderError } from './model.ts';
import type { ModelChoice } from './model-choice.ts';
import type { ProviderName } from './models-config.ts';
import type { Fetch } from './provider.ts';
import { keyMissing, toProviderError } from './provider-error.ts';

interface Asking {
  fetch: Fetch;
  clock: Clock;
  signal: AbortSignal;
}

const TIMEOUT_MS = 5_000;

/**
 * Asks a provider about the chosen model, without using tokens: whether it is reachable, accepts the key and has the
 * model. Returns the model's name; throws ProviderError with a message for people.
 */
export async function checkModel(choice: ModelChoice, asking: Asking): Promise<string> {
  const { provider } = choice;
  if (provider === 'demo') return 'demo';
  try {
    return await within(TIMEOUT_MS, asking, (signal) =>
      provider === 'openai-compatible'
        ? describeModel(choice, { fetch: asking.fetch, signal }).then(({ modelId }) => modelId)
        : lookUp({ ...choice, provider }, { fetch: asking.fetch, signal }),
    );
  } catch (error) {
    asking.signal.throwIfAborted();
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      throw new ProviderError('timeout', `${provider} did not answer within ${TIMEOUT_MS / 1000} s.`);
    }
    throw toProviderError(error, choice, 'connect');
  }
}

type Hosted = Exclude<ProviderName, 'openai-compatible' | 'demo'>;

/** How each provider receives the key. */
const HEADERS: Record<Hosted, (key: string) => Record<string, string>> = {
  openai: (key) => ({ authorization: `Bearer ${key}` }),
  anthropic: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  google: (key) => ({ 'x-goog-api-key': key }),
};

const Refusal = z.object({ error: z.object({ message: z.string() }) });

async function lookUp(
  choice: ModelChoice & { provider: Hosted },
  { fetch, signal }: Pick<Asking, 'fetch' | 'signal'>,
): Promise<string> {
  const { provider, apiKey, baseUrl, modelId = '' } = choice;
  if (apiKey === undefined) throw keyMissing(choice);
  const url = `${baseUrl}/models/${encodeURIComponent(modelId)}`;
  const response = await fetch(url, { signal, headers: HEADERS[provider](apiKey) });
  if (response.ok) {
    await response.body?.cancel();
    return modelId;
  }
  const said = Refusal.safeParse(await response.json().catch(() => undefined));
  const message = said.success ? said.data.error.message : response.statusText;
  throw Object.assign(new Error(message), { statusCode: response.status });
}
