import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import { openChecked } from '../support/clients/checked-client.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';

/** The wires by the alias of their model, with the path of their base URL. */
const WIRES = {
  chat: { provider: 'openai-compatible', model: 'gpt-4o', path: '/v1' },
  responses: { provider: 'openai', model: 'gpt-6.1-terra', path: '/v1' },
  messages: { provider: 'anthropic', model: 'claude-sonnet-5-5', path: '/v1' },
  gemini: { provider: 'google', model: 'gemini-3.8-flash', path: '/v1beta' },
} as const;

const list = (id: string) => ({ id, name: 'list_directory', arguments: JSON.stringify({ path: '.' }) });

/** A server by other hands for all wires: two calls with thoughts for "look", then words. */
async function startMock(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, strict: true });
  mock.on(
    { userMessage: 'look', hasToolResult: false },
    { toolCalls: [list('one'), list('two')], reasoning: 'I look.' },
  );
  mock.on({ userMessage: 'look', hasToolResult: true }, { content: 'Seen.', reasoning: 'Easy.' });
  mock.on({ userMessage: 'and then' }, { content: 'Done.' });
  await mock.start();
  return mock;
}

test('a conversation with tools over every wire in turn is accepted by a server of other authors', async () => {
  const mock = await startMock();
  const models = Object.fromEntries(
    Object.entries(WIRES).map(([alias, { path, ...model }]) => [
      alias,
      { ...model, apiKey: 'key', baseUrl: `${mock.url}${path}` },
    ]),
  );
  await using daemon = await startClockedDaemon({ models, defaultModel: 'chat' }, { environment: {} });
  const client = await openChecked(daemon);
  try {
    const { wsId } = await client.ask('workstream.create', {});
    const send = async (message: string) => {
      const { runId = '' } = await client.ask('workstream.send', { wsId, message });
      const { status, error } = await client.ask('agent.wait', { runId, timeoutMs: 60_000 });
      assert.deepEqual({ status, error }, { status: 'ok', error: undefined }, message);
    };
    for (const model of Object.keys(WIRES)) {
      await client.ask('workstream.update', { wsId, model });
      await send(`look with ${model}`);
      await send(`and then with ${model}?`);
    }
    const { messages } = await client.ask('workstream.history', { wsId });
    const said = messages.filter(({ role, content }) => role === 'assistant' && content).map(({ content }) => content);
    assert.deepEqual(said, ['Seen.', 'Done.', 'Seen.', 'Done.', 'Seen.', 'Done.', 'Seen.', 'Done.']);
    const asked = mock.getRequests().filter(({ method }) => method === 'POST');
    assert.deepEqual([asked.length, asked.filter(({ response }) => response.status !== 200)], [12, []]);
  } finally {
    client.socket.terminate();
    await mock.stop();
  }
});
