import type { RequestListener, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { recordRun } from '../../tool-fixture.ts';
import { openWeb } from '../web-fixture.ts';
import type { SearchProvider } from './search-services.ts';
import type { SearchSettings } from './web-search.ts';

/** A service at a private address that the configuration allows. */
export async function service(
  t: TestContext,
  provider: SearchProvider,
  { listener, replaced = {}, path = '' }: { listener: RequestListener; replaced?: object; path?: string },
) {
  const web = await openWeb(t, replaced);
  const { port } = await web.serve(listener);
  web.allow(`search.test:${port}`);
  const settings: SearchSettings = {
    provider,
    url: `http://search.test:${port}${path}`,
    key: provider === 'searxng' ? undefined : { name: 'THE_KEY', value: 'key-of-the-test' },
  };
  const toolOf = (changes: Partial<SearchSettings> = {}) => web.searchWith({ ...settings, ...changes });
  const tool = toolOf();
  return {
    web,
    port,
    tool,
    toolOf,
    async search(
      args: object,
      { signal, maxOutputBytes = 64 * 1024 }: { signal?: AbortSignal; maxOutputBytes?: number } = {},
    ) {
      const prepared = await tool.prepare(tool.parameters.parse(args), web.context());
      if (prepared.kind === 'refused') return { output: prepared.reason, outcome: 'failed' };
      return prepared.execute({ ...recordRun(signal), maxOutputBytes });
    },
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}

/** Answers with a value as JSON. */
export const answerJson = (answer: ServerResponse, value: unknown, status = 200) =>
  void answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
