import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openChecked } from '../support/clients/checked-client.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { anthropicWire } from '../support/wires/anthropic-wire.ts';
import { startWireServer } from '../support/wires/wire-server.ts';

test('thoughts that Anthropic drops, because a conversation begins differently, are counted at /metrics', async () => {
  const dropped: number[] = [];
  await using server = await startWireServer(anthropicWire, {
    limits: { window: 200_000, images: 20 },
    decide(request) {
      dropped.push(request.dropped);
      return { kind: 'answer', answer: { thoughts: 'I think.', text: 'ok' } };
    },
  });
  const claude = { provider: 'anthropic', model: 'claude-opus-5-5', apiKey: 'key', baseUrl: server.url };
  await using daemon = await startClockedDaemon({ models: { claude }, defaultModel: 'claude' }, { environment: {} });
  let client = await openChecked(daemon);
  const { wsId } = await client.ask('workstream.create', {});
  const send = async () => {
    const { runId = '' } = await client.ask('workstream.send', { wsId, message: 'hello' });
    assert.equal((await client.ask('agent.wait', { runId, timeoutMs: 60_000 })).status, 'ok');
  };
  const counted = async () => {
    const text = await (await daemon.fetch('/metrics')).text();
    return Number(/^service_thoughts_dropped_total (\d+)$/m.exec(text)?.[1]);
  };
  await send();
  await send();
  assert.equal(await counted(), 0);
  await daemon.restart(() => {
    using database = new DatabaseSync(path.join(daemon.home, 'headgate.db'));
    database.exec(
      `update prefixes set tools_json = replace(tools_json, '"description":"', '"description":"Formerly: ')`,
    );
  });
  client.socket.terminate();
  client = await openChecked(daemon);
  await send();
  client.socket.terminate();
  assert.deepEqual(dropped, [0, 0, 2]);
  assert.equal(await counted(), 2);
});
