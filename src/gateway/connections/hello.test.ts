import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HelloOk } from '../../../protocol/connect.ts';
import type { Scope } from '../../../protocol/contract.ts';
import { expandScopes } from '../rights.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import { createHello } from './hello.ts';

const PRESENCE = [{ ts: 1, text: 'Ada is here' }];
const encode = createHello(
  {
    server: { version: '1.2.3' },
    presence: () => Buffer.from(JSON.stringify(PRESENCE)),
    health: () => '{"ok":true}',
    stateVersion: () => ({ presence: 1, health: 1 }),
    uptimeMs: () => 12,
    policy: { maxBufferedBytes: 1, tickIntervalMs: 1 },
  },
  () => undefined,
);

/** What a hello tells somebody with these scopes. */
function helloFor(scopes: ReadonlySet<Scope>, permissions = ALL_PERMISSIONS): HelloOk {
  const ended = new AbortController().signal;
  return JSON.parse(
    Buffer.concat(encode('c', { id: 'x', scopes, permissions, source: { kind: 'local' }, ended })).toString(),
  );
}

test('who is connected, and the health, are told to callers who may read', () => {
  const scopes: Scope[][] = [['approve'], ['read'], [], ['node'], ['pairing']];
  const told = scopes.map((held) => helloFor(held[0] === 'pairing' ? new Set(held) : expandScopes(held)).snapshot);
  const everything = [PRESENCE, { ok: true }];
  assert.deepEqual(
    told.map(({ presence, health }) => [presence, health]),
    [everything, everything, [[], {}], [[], {}], [[], {}]],
  );
});

test('features follow the permissions, also of callers with the same scopes', () => {
  const scopes = expandScopes(['approve']);
  const has = (held: readonly ('approve' | 'admin.nodes' | 'admin.audit')[]) => {
    const { features } = helloFor(scopes, new Set(held));
    return [
      'approval.list',
      'node.invoke',
      'audit.list',
      'token.create',
      'approval.requested',
      'node.pair.requested',
    ].filter((name) => features.methods.includes(name) || features.events.includes(name));
  };
  const decides = ['approval.list', 'node.invoke', 'token.create', 'approval.requested', 'node.pair.requested'];
  assert.deepEqual(
    [has(['approve']), has(['admin.nodes']), has(['admin.audit']), has(['approve'])],
    [decides, ['node.invoke', 'token.create', 'node.pair.requested'], ['audit.list', 'token.create'], decides],
  );
});
