import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build, statementOf } from '../../store/statements.ts';
import { ISSUER, setUp } from './consents-fixture.ts';

/** A client that was registered by hand, with this secret. */
const fixed = (clientSecret: string) => ({ scopes: [], clientId: 'by-hand', issuer: ISSUER, clientSecret });

test('a secret that was replaced in the settings is used for the next renewal; a wrong one ends no account', async (t) => {
  const { consents, notes, server, config, clock, connect } = await setUp(t);
  notes.metadata.token_endpoint_auth_methods_supported = ['client_secret_post'];
  config.oauth = fixed('old');
  await connect('ada');
  config.oauth = fixed('new');
  clock.jump(3_601_000);
  notes.refusal = 'invalid_client';
  await assert.rejects(consents.token(server, 'ada'), { name: 'ConsentProblem' });
  assert.equal((await consents.list('ada')).length, 1);
  notes.refusal = undefined;
  assert.equal(await consents.token(server, 'ada'), 'access-token-2');
  assert.equal(notes.sent.at(-1)?.get('client_secret'), 'new');
  notes.refusal = 'invalid_grant';
  clock.jump(3_601_000);
  await assert.rejects(consents.token(server, 'ada'));
  assert.deepEqual(await consents.list('ada'), []);
});

const EVIL = 'https://evil.example';
const NAMES_EVIL = {
  code: 'FORBIDDEN',
  message: /it names the provider https:\/\/evil\.example, but oauth\.clientId is registered with https:\/\/sso\./,
};

test('a client that was registered by hand is used only with the provider that a person has named, from the first consent on', async (t) => {
  const { consents, notes, config, connect } = await setUp(t);
  const { issuer: _, ...unnamed } = fixed('secret');
  config.oauth = unnamed;
  await assert.rejects(connect('ada'), {
    code: 'FORBIDDEN',
    details: { reason: 'provider_unconfirmed' },
    message:
      /it names the provider https:\/\/sso\.example\.com, which would get oauth\.clientSecret and the codes of all consents at sso\.example\.com\./,
  });
  config.oauth = fixed('secret');
  notes.issuer = EVIL;
  await assert.rejects(connect('ada'), NAMES_EVIL);
  assert.equal(notes.sent.length, 0, 'nobody got the secret');
  notes.issuer = ISSUER;
  config.oauth = { ...fixed('secret'), issuer: `${ISSUER}/` };
  await connect('ada');
  notes.issuer = EVIL;
  await consents.revokeAll('notes', () => []);
  await assert.rejects(connect('bob'), { code: 'FORBIDDEN' });
  assert.equal(notes.sent.length, 1);
});

test('a provider that a server with a client of its own names at an endpoint elsewhere is told to the administrator', async (t) => {
  const { notes, config, connect } = await setUp(t);
  const { issuer: _, ...unnamed } = fixed('secret');
  config.oauth = unnamed;
  notes.metadata.token_endpoint = `${EVIL}/token`;
  await assert.rejects(connect('ada'), { message: /the codes of all consents at evil\.example\./ });
});

test('with another issuer in the settings, accounts of the former provider are connected anew, and it gets no new secret', async (t) => {
  const { consents, notes, server, config, clock, connect } = await setUp(t);
  notes.metadata.token_endpoint_auth_methods_supported = ['client_secret_post'];
  config.oauth = fixed('old');
  await connect('ada');
  const { url, browser } = await consents.begin('bob', { server: 'notes', scopes: [] });
  config.oauth = { ...fixed('new'), issuer: EVIL };
  const state = new URL(url).searchParams.get('state') ?? '';
  const answer = { state, browser, code: 'c', iss: undefined, error: undefined };
  await assert.rejects(
    consents.finish(answer, () => []),
    { details: { reason: 'changed' } },
  );
  clock.jump(3_601_000);
  await assert.rejects(consents.token(server, 'ada'), { name: 'ConsentProblem' });
  await consents.remove('ada', 'notes', []);
  await consents.close();
  assert.deepEqual(
    notes.sent.map((params) => params.get('client_secret')),
    ['old'],
  );
});

test('a provider that an earlier version took from the first consent stays the only one, without an issuer in the settings', async (t) => {
  const { consents, notes, config, connect, store } = await setUp(t);
  config.oauth = fixed('secret');
  await connect('ada');
  const { issuer: _, ...unnamed } = fixed('secret');
  config.oauth = unnamed;
  const other = { code: 'FORBIDDEN', message: /it names another provider than before, https:\/\/evil\.example, which/ };
  notes.issuer = EVIL;
  await assert.rejects(connect('bob'), other);
  await store.commit({ statements: [statementOf(build.deleteFrom('mcp_clients'))] }); // as an earlier version left it
  await assert.rejects(connect('bob'), other);
  notes.issuer = ISSUER;
  await connect('bob');
  await consents.remove('ada', 'notes', []);
  await consents.remove('bob', 'notes', []);
  notes.issuer = EVIL;
  await assert.rejects(connect('bob'), other);
  config.oauth = { ...unnamed, issuer: EVIL };
  await connect('bob');
});
