import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_TOOL_SERVERS } from '../../../agent/mcp/no-servers-fixture.ts';
import { ServerProblem } from '../../../agent/mcp/tool-server.ts';
import type { ServerStatus, ToolServers } from '../../../agent/mcp/tool-servers.ts';
import { wholeGateway } from '../../testing/whole-gateway.ts';

const tool = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' }, digest: 'a' };
const status: ServerStatus = {
  name: 'files',
  state: 'connected',
  problem: undefined,
  notes: ['tool 2: it has no name'],
  about: 'files 1',
  config: {
    ...{ command: 'files', args: ['--all'], env: { TOKEN: 'hush' }, headers: {}, network: [], folders: ['/srv'] },
    ...{ writesFolders: false, sandbox: true, autoApprove: false, enabled: true, timeoutSecs: 120 },
  },
  tools: [
    { name: 'mcp__files__read', known: { ...tool, changed: { ...tool, description: 'Reads all.', digest: 'b' } } },
  ],
  catalog: {
    resources: [
      { uri: 'note://1', isTemplate: false, name: 'one', description: '', mimeType: '' },
      { uri: 'note://{id}', isTemplate: true, name: 'any', description: '', mimeType: '' },
    ],
    prompts: [{ name: 'greet', description: '', args: [] }],
  },
  callsUnderWay: 1,
};
const off: ServerStatus = { ...status, name: 'off', state: 'disabled', tools: [] };

async function open(replaced: Partial<ToolServers> = {}) {
  const accepted: unknown[] = [];
  const toolServers: ToolServers = {
    ...NO_TOOL_SERVERS,
    list: () => [status, off],
    refresh: async (name) => (name === 'files' ? status : undefined),
    async accept(...which) {
      accepted.push(which);
      return status;
    },
    ...replaced,
  };
  return { gateway: await wholeGateway({ toolServers }), accepted };
}

test('servers are listed with masked variables and what has changed', async () => {
  const { gateway } = await open();
  await using _ = gateway;
  const { servers } = await gateway.call('mcp.list', {});
  const [files] = servers;
  assert.deepEqual(
    [files?.env, files?.transport, files?.calls, files?.resources, files?.prompts, files?.notes],
    [{ TOKEN: '***' }, 'stdio', 1, 2, 1, ['tool 2: it has no name']],
  );
  assert.deepEqual(files?.tools, [
    {
      ...{ name: 'mcp__files__read', tool: 'read', description: 'Reads.', inputSchema: '{"type":"object"}' },
      changed: { description: 'Reads all.', inputSchema: '{"type":"object"}', digest: 'b' },
      isGone: false,
    },
  ]);
  assert.doesNotMatch(JSON.stringify(servers), /hush/);
});

test('the tools of a server are accepted, all or one; servers and tools that do not exist are named', async () => {
  const { gateway, accepted } = await open();
  await using _ = gateway;
  await gateway.call('mcp.accept', { name: 'files' });
  await gateway.call('mcp.accept', { name: 'files', tool: 'read' });
  assert.deepEqual(accepted, [
    ['files', undefined],
    ['files', 'read'],
  ]);
  const refusals = [
    await gateway.refusal('mcp.accept', { name: 'files', tool: 'write' }),
    await gateway.refusal('mcp.accept', { name: 'off' }),
    await gateway.refusal('mcp.refresh', { name: 'nobody' }),
  ];
  assert.deepEqual(
    refusals.map(({ code, message }) => [code, message]),
    [
      ['NOT_FOUND', 'The tool server files has no tool write'],
      ['NOT_FOUND', 'MCP server not found: no enabled server is called off'],
      ['NOT_FOUND', 'MCP server not found: no enabled server is called nobody'],
    ],
  );
});

test('with digests, only the changes that the caller has seen are accepted', async () => {
  const { gateway, accepted } = await open();
  await using _ = gateway;
  const conflict = {
    code: 'CONFLICT',
    message: 'The tool server files now describes read in another way than the one that you saw. Look again.',
  };
  for (const digests of [{ read: 'c' }, {}, { other: 'b' }])
    assert.deepEqual(await gateway.refusal('mcp.accept', { name: 'files', digests }), conflict);
  assert.deepEqual(
    await gateway.refusal('mcp.accept', { name: 'files', tool: 'read', digests: { read: 'c' } }),
    conflict,
  );
  assert.deepEqual(accepted, []);
  await gateway.call('mcp.accept', { name: 'files', digests: { read: 'b', gone: 'x' } });
  assert.equal(accepted.length, 1);
});

test('a server that cannot be used is UNAVAILABLE, with the reason', async () => {
  const { gateway } = await open({ refresh: () => Promise.reject(new ServerProblem('did not answer within 30 s')) });
  await using _ = gateway;
  const { code, message } = await gateway.refusal('mcp.refresh', { name: 'files' });
  assert.deepEqual([code, message], ['UNAVAILABLE', 'The tool server files did not answer within 30 s']);
});
