import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build, statementOf } from '../../store/statements.ts';
import { type WholeGateway, wholeGateway } from '../../testing/whole-gateway.ts';

const FAR = {
  name: 'far',
  url: 'https://far.example/mcp',
  oauth: { scopes: ['a', 'b'], clientId: 'me', issuer: 'https://sso.example', clientSecret: 'hush-client-1' },
};
const clientOf = async ({ call }: WholeGateway, serverId: string, reveal = false) => {
  const { authType, oauth } = await call('mcp.get', { serverId, reveal });
  return [authType, oauth];
};

/** Somebody has an account at a server. */
async function connected({ store }: WholeGateway, server: string): Promise<void> {
  const row = { user_id: 'user_ada', server, scopes: '', sealed: 'x', version: 1, expires_ms: null };
  const insert = build
    .insertInto('mcp_consents')
    .values({ ...row, consent_id: `user_ada/${server}`, created_ms: 1, updated_ms: 1 });
  await store.commit({ statements: [statementOf(insert, 1)] });
}
const accountsIn = async ({ store: { db } }: WholeGateway) =>
  (await db.selectFrom('mcp_consents').select('server').orderBy('server').execute()).map(({ server }) => server);

test('a server with accounts is added and changed; its secret is masked, and stays on its host', async () => {
  await using gateway = await wholeGateway();
  const { call, refusal } = gateway;
  const { serverId } = await call('mcp.create', FAR);
  const masked = { ...FAR.oauth, clientSecret: '***' };
  assert.deepEqual(await clientOf(gateway, serverId), ['oauth_user', masked]);
  await call('mcp.update', { serverId, oauth: { ...masked, scopes: [] } });
  await gateway.restart();
  assert.deepEqual(await clientOf(gateway, serverId, true), ['oauth_user', { ...FAR.oauth, scopes: [] }]);
  // As HTTP says that nothing was given, and as clients send an empty field.
  for (const left of [undefined, ''])
    await call('mcp.update', {
      serverId,
      oauth: { scopes: ['a', 'b'], clientId: left, issuer: left, clientSecret: left },
    });
  assert.deepEqual(await clientOf(gateway, serverId, true), ['oauth_user', FAR.oauth]);
  await call('mcp.update', { serverId, oauth: { scopes: [] } });
  const url = 'https://elsewhere.example/mcp';
  assert.match((await refusal('mcp.update', { serverId, url, oauth: masked })).message, /^oauth\.clientSecret: \*\*\*/);
  await call('mcp.update', { serverId, url });
  assert.deepEqual(await clientOf(gateway, serverId, true), [
    'oauth_user',
    { scopes: [], clientId: 'me', issuer: 'https://sso.example', clientSecret: '' },
  ]);
  await call('mcp.update', { serverId, authType: 'static', headers: { 'X-Key': 'hush-key-1' } });
  assert.deepEqual(await clientOf(gateway, serverId), ['static', undefined]);
  // Another host does not get the headers either.
  assert.deepEqual((await call('mcp.update', { serverId, url: FAR.url })).headers, {});
  const audited = JSON.stringify((await call('audit.list', {})).events);
  assert.doesNotMatch(`${audited}${JSON.stringify(gateway.log.lines)}`, /hush/);
});

test('what does not go together with accounts is refused', async () => {
  await using gateway = await wholeGateway();
  const tried: [object, string][] = [
    [{ ...FAR, authType: 'oauth_obo' }, "auth_type must be 'none', 'static' or 'oauth_user'"],
    [{ ...FAR, authType: 'none' }, 'oauth needs the auth_type oauth_user'],
    [
      { ...FAR, oauth: { clientId: 'me', clientSecret: ['$', '{HOME}'].join('') } },
      'oauth.clientSecret: variables of the daemon are filled in only for servers of config.json; write the value itself',
    ],
  ];
  for (const [params, message] of tried) assert.equal((await gateway.refusal('mcp.create', params)).message, message);
});

test('accounts end with a server that is removed, renamed, moved or used without them, and stay otherwise', async () => {
  await using gateway = await wholeGateway();
  const { call } = gateway;
  const { serverId } = await call('mcp.create', FAR);
  await connected(gateway, 'other');
  const after = async (change: object) => {
    await connected(gateway, 'far');
    await call('mcp.update', { serverId, ...change });
    return accountsIn(gateway);
  };
  assert.deepEqual(await after({ autoApprove: true }), ['far', 'other']);
  await call('mcp.update', { serverId, name: 'near' });
  assert.deepEqual(await accountsIn(gateway), ['other']);
  await call('mcp.update', { serverId, name: 'far' });
  assert.deepEqual(await after({ url: 'https://far.example/other' }), ['other']);
  assert.deepEqual(await after({ authType: 'none' }), ['other']);
  await call('mcp.update', { serverId, authType: 'oauth_user' });
  await connected(gateway, 'far');
  gateway.disk.fails = () => true;
  await gateway.refusal('mcp.delete', { serverId });
  gateway.disk.fails = undefined;
  assert.deepEqual(await accountsIn(gateway), ['far', 'other']);
  await call('mcp.delete', { serverId });
  assert.deepEqual(await accountsIn(gateway), ['other']);
});
