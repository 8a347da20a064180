import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '../../../protocol/contract.ts';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { ANYONE, type Viewer } from '../sharing/perception.ts';
import { createAuthenticator } from './create-authenticator.ts';
import { OPERATOR_BOUNDS } from './lineage.ts';
import type { Parent } from './parent.ts';

const TOKEN = `svc_${'0f'.repeat(32)}`;

/** Ada may do much, and acts through one token. Everybody else has gone. */
const ADAS = { scopes: new Set<Scope>(['read']), permissions: new Set<Permission>(['read']), expiresAtMs: undefined };
const boundsOf = ({ kind, id }: Parent) => {
  if (kind === 'operator') return OPERATOR_BOUNDS;
  return ['user 1', 'token t'].includes(`${kind} ${id}`) ? { ...ADAS, userId: '1' } : undefined;
};

function setUp(enabled: boolean) {
  const verified: string[] = [];
  const authenticator = createAuthenticator({
    enabled,
    operatorToken: TOKEN,
    tokens: { find: () => undefined, endOf: () => undefined, boundsOf },
    sessions: {
      async verify(token) {
        verified.push(token);
        return undefined;
      },
    },
  });
  const who = async (token: unknown) => {
    const principal = await authenticator.authenticate(token as string | undefined);
    return principal && [principal.id, principal.source.kind, [...principal.scopes]];
  };
  return { authenticator, who, verified };
}

test('the operator token may do everything a person may', async () => {
  const { who, verified } = setUp(true);
  assert.deepEqual(await who(TOKEN), ['operator', 'operator', ['read', 'write', 'approve']]);
  assert.deepEqual(verified, []);
});

test('an unknown token authenticates nobody', async () => {
  const { who } = setUp(true);
  const wrong: unknown[] = [
    ...[undefined, null, '', ' ', '*', 'undefined', 'null', 'true', 'svc_', TOKEN.slice(0, -1), `${TOKEN}0`],
    ...[`${TOKEN} `, `Bearer ${TOKEN}`, TOKEN.toUpperCase(), '__proto__', 'constructor', 'toString', 'operator'],
    ...[[TOKEN], { token: TOKEN }, { toString: () => TOKEN }, 0, 1, true, () => TOKEN, 'x'.repeat(1_000_000)],
  ];
  for (const token of wrong) assert.equal(await who(token), undefined, String(token).slice(0, 80));
});

test('a token that is too long is not checked', async () => {
  const { who, verified } = setUp(true);
  await who('a.b.c');
  await who('x'.repeat(4_097));
  assert.deepEqual(verified, ['a.b.c']);
});

test('with auth off every caller is local, whatever its credential', async () => {
  const { who } = setUp(false);
  for (const token of [undefined, '', 'wrong', TOKEN]) {
    assert.deepEqual(await who(token), ['local', 'local', ['read', 'write', 'approve']]);
  }
});

test('a principal is found again as a viewer, with the rights of now', () => {
  const [on, off] = [setUp(true), setUp(false)].map(({ authenticator }) => authenticator.viewerOf);
  const everything = { permissions: OPERATOR_BOUNDS.permissions };
  const ada = { permissions: ADAS.permissions, userId: '1' };
  const known: [string, Viewer][] = [
    ['operator', everything],
    ['user:1', ada],
    ['token:t', ada],
    ['user:2', ANYONE],
    ['token:revoked', ANYONE],
    ['cron:daily', ANYONE],
    ['local', ANYONE],
  ];
  assert.deepEqual(
    known.map(([id]) => on?.(id)),
    known.map(([, viewer]) => viewer),
  );
  assert.deepEqual(off?.('local'), everything);
});
