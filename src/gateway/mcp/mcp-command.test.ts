import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_TOOL_SERVERS } from '../../agent/mcp/no-servers-fixture.ts';
import { ServerProblem } from '../../agent/mcp/tool-server.ts';
import type { ServerStatus } from '../../agent/mcp/tool-servers.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { NEW_SERVER } from './server-input.ts';

const status = (name: string, changed: Partial<ServerStatus> = {}): ServerStatus => ({
  ...{ name, state: 'idle', problem: undefined, notes: [], about: '', callsUnderWay: 0 },
  ...{ config: { ...NEW_SERVER, command: name }, tools: [], catalog: { resources: [], prompts: [] } },
  ...changed,
});
const tool = (name: string) => ({ name, known: { name, description: '', inputSchema: {}, digest: '' } });

async function open(list: ServerStatus[]) {
  const asked: string[] = [];
  const gateway = await wholeGateway({
    toolServers: {
      ...NO_TOOL_SERVERS,
      list: () => list,
      async refresh(name) {
        asked.push(name);
        if (name === 'broken') throw new ServerProblem('ended with exit code 3');
        return list.find((one) => one.name === name);
      },
    },
  });
  const wsId = await gateway.main();
  const run = async (command: string) => {
    const { error } = await gateway.call('workstream.command', { wsId, command });
    const last = (await gateway.events(wsId)).findLast(({ type }) => type === 'info');
    return error ?? (last?.type === 'info' ? last.message : undefined);
  };
  return { gateway, asked, run };
}

test('/mcp lists the tool servers with their state, without secrets', async () => {
  const { gateway, run } = await open([
    status('notes', { state: 'connected', tools: [tool('a'), tool('b')] }),
    status('broken', { state: 'failed', problem: 'ended\n with exit code 3' }),
    status('off', { state: 'disabled' }),
  ]);
  await using _ = gateway;
  assert.equal(
    await run('/mcp'),
    'broken: failed, ended\n with exit code 3, 0 tools\nnotes: connected, 2 tools\noff: disabled\n' +
      '/mcp refresh asks them for their tools again, /mcp refresh SERVER only one.',
  );
  assert.equal(await run('/mcp refrsh'), 'Usage: /mcp [refresh [SERVER]]');
});

test('/mcp refresh asks all enabled servers, or the one that is named', async () => {
  const { gateway, asked, run } = await open([
    status('notes', { state: 'connected', tools: [tool('a')] }),
    status('broken', { state: 'failed', problem: 'ended with exit code 3' }),
    status('off', { state: 'disabled' }),
  ]);
  await using _ = gateway;
  assert.equal(await run('/mcp refresh'), 'broken: failed, ended with exit code 3, 0 tools\nnotes: connected, 1 tool');
  assert.deepEqual(asked.toSorted(), ['broken', 'notes']);
  assert.equal(await run('/mcp refresh notes'), 'notes: connected, 1 tool');
  assert.equal(await run('/mcp refresh broken'), 'The tool server broken ended with exit code 3');
  assert.match(String(await run('/mcp refresh off')), /no enabled server is called off/);
  assert.equal(await run('/mcp refresh nope'), 'No tool server is called nope. /mcp lists them.');
});

test('/mcp says so where there are no servers', async () => {
  const { gateway, run } = await open([]);
  await using _ = gateway;
  assert.match(String(await run('/mcp')), /^There are no tool servers\./);
  assert.equal(await run('/mcp refresh'), 'No tool server is enabled.');
});
