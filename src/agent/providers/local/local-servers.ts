import type { LocalModelServer } from '../../../../protocol/methods/models.ts';
import type { Clock } from '../../../clock.ts';
import type { IsListening } from '../../../egress/listening.ts';
import { listModels, within } from '../discovery.ts';
import type { Fetch } from '../provider.ts';

/** The programs by their usual ports, the more common ones first. They are only asked at addresses of this machine. */
const USUAL: readonly (readonly [port: number, name: string])[] = [
  [11434, 'Ollama'],
  [1234, 'LM Studio'],
  [8080, 'llama.cpp or LocalAI'],
  [8000, 'vLLM'],
  [1337, 'Jan'],
  [30000, 'SGLang'],
  [4891, 'GPT4All'],
  [5001, 'KoboldCpp'],
];

const PROBE_MS = 1_500;
const MOST_MODELS = 100;
const MOST_CHARS = 256;

interface Asking {
  /** Must not follow redirects. */
  fetch: Fetch;
  listens: IsListening;
  clock: Clock;
  signal: AbortSignal;
}

/** All of the usual servers of this machine that have a model. They are asked at once, without a key. */
export async function findLocalServers({ fetch, listens, clock, signal }: Asking): Promise<LocalModelServer[]> {
  const found = await Promise.all(
    USUAL.map(async ([port, name]) => {
      const baseUrl = `http://localhost:${port}/v1`;
      const upstream = { provider: 'openai-compatible', baseUrl, keyName: '' };
      const asked = within(PROBE_MS, { clock, signal }, async (inTime) =>
        (await listens(new URL(baseUrl), inTime)) ? listModels(upstream, { fetch, signal: inTime }) : [],
      );
      const rows = await asked.catch(() => []); // usually there is no server
      const models = rows.map(({ id }) => id).filter((id) => id.length <= MOST_CHARS);
      return { name, baseUrl, models: chatFirst([...new Set(models)]).slice(0, MOST_MODELS) };
    }),
  );
  signal.throwIfAborted();
  return found.filter(({ models }) => models.length > 0);
}

/** Those that cannot chat, by their names, come last. */
const chatFirst = (models: readonly string[]): string[] =>
  models.toSorted((a, b) => Number(isNoChat(a)) - Number(isNoChat(b)));

const isNoChat = (id: string): boolean => /embed|rerank|whisper/i.test(id);
