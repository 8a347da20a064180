import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMcpServer } from './mcp-admin.ts';

test('the status of a tool server counts its tools that are not gone, its resources and its prompts', () => {
  const tool = { name: 'mcp__notes__add', tool: 'add', description: '', inputSchema: '{}', isGone: false };
  const { status } = toMcpServer({
    ...{ name: 'notes', transport: 'stdio', command: 'notes', url: '', headers: {}, args: [], env: {}, network: [] },
    ...{ folders: [], writesFolders: false, sandbox: true, autoApprove: false, enabled: true, timeoutSecs: 120 },
    ...{ state: 'connected', notes: [], about: '', calls: 0, resources: 3, prompts: 2 },
    ...{ serverId: 'config:notes', source: 'config', createdBy: '', nodeId: 'box-1', authType: 'none' },
    tools: [tool, { ...tool, isGone: true }],
  });
  assert.deepEqual(status, {
    'box-1': {
      ...{ connected: true, tools: 1, resources: 3, prompts: 2 },
      ...{ error: '', transport: 'stdio', command: 'notes', url: '' },
    },
  });
});
