import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { readServer, textsOf } from './server-draft.ts';

const TRACKER: McpServer = {
  ...{ name: 'tracker', transport: 'streamable-http', command: '', url: 'https://tracker.example/mcp', headers: {} },
  ...{ args: [], env: {}, network: [], folders: [], writesFolders: false, sandbox: true, autoApprove: false },
  ...{ enabled: true, timeoutSecs: 120, state: 'idle', notes: [], about: '', calls: 0, resources: 0, prompts: 0 },
  ...{ tools: [], serverId: 'srv_1', source: 'store', createdBy: '', nodeId: 'box-1', authType: 'oauth_user' },
  oauth: { scopes: ['read', 'write'], clientId: 'headgate', issuer: 'https://sso.example', clientSecret: '***' },
};

test('a server with accounts is added with what the form says, and changed only where the form was', () => {
  const fresh = {
    name: 'tracker',
    transport: 'streamable-http',
    url: 'https://tracker.example/mcp',
    hasAccounts: 'on',
  };
  assert.deepEqual(readServer({ ...fresh, scopes: ' read  write ' }, undefined).oauth, {
    ...{ scopes: ['read', 'write'], clientId: undefined, issuer: undefined, clientSecret: undefined },
  });
  const shown = { ...textsOf(TRACKER), hasAccounts: 'on' };
  assert.equal(readServer(shown, TRACKER).oauth, undefined);
  const { authType, oauth } = readServer({ ...shown, scopes: 'read' }, TRACKER);
  assert.deepEqual([authType, oauth?.scopes, oauth?.clientSecret], ['oauth_user', ['read'], undefined]);
  const { hasAccounts: _, ...unticked } = shown;
  assert.deepEqual([readServer(unticked, TRACKER).authType, readServer(unticked, TRACKER).oauth], ['none', undefined]);
});

test('a server that never had accounts is saved without a word about them', () => {
  const { oauth: _, ...plain } = TRACKER;
  const before: McpServer = { ...plain, authType: 'static', headers: { Authorization: '***' } };
  assert.equal('authType' in readServer(textsOf(before), before), false);
});
