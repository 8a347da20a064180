import { fakeClock } from '../../testing/fake-clock.ts';
import { postOver } from './chat-completions/post-fixture.ts';
import type { ModelRequest } from './model.ts';
import { createModels, type ModelsDeps } from './models.ts';
import type { Fetch } from './provider.ts';

const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
export const URL_OF_LAB = 'http://lab:8000/v1';

const request: ModelRequest = {
  system: '',
  messages: [{ role: 'user', content: 'hi' }],
  tools: [],
  effort: 'medium',
  typedByPerson: true,
};

/** Models in a network where only the server `lab` answers, with `server.answers`. */
export function setUp(deps: Partial<ModelsDeps> = {}) {
  const clock = fakeClock();
  const server = { answers: 'models' as 'models' | 'nothing' | number };
  const asked: string[] = [];
  const healths: string[] = [];
  const fetch: Fetch = async (url, init) => {
    const key = new Headers(init?.headers).get('authorization') ?? 'no key';
    asked.push(`${String(url)} ${key}`);
    if (!String(url).startsWith(URL_OF_LAB) || server.answers === 'nothing') throw new TypeError('fetch failed');
    if (typeof server.answers === 'number') return new Response('{}', { status: server.answers });
    return Response.json({ data: [{ id: 'qwen3', max_model_len: 32_768 }] });
  };
  const models = createModels({
    config: {},
    environment: {},
    clock,
    log,
    fetch,
    post: postOver(fetch),
    listens: async () => true,
    random: () => 0.5,
    onHealthChange: ({ circuitState }) => healths.push(circuitState),
    ...deps,
  });
  const answer = async (alias?: string) => {
    for await (const _ of (await models.resolve(alias)).stream(request, new AbortController().signal));
  };
  return { models, clock, server, asked, healths, answer };
}
