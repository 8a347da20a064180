import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build, statementOf } from '../../store/statements.ts';
import { ISSUER, setUp } from './consents-fixture.ts';

/** A client that was registered by hand, with this secret. */
const fixed = (clientSecret: string) => ({ scopes: [], clientId: 'by-hand', clientSecret });

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

test('a client that was registered by hand is used only with the provider of its first consent, until all accounts are revoked', async (t) => {
  const { consents, notes, config, connect, store } = await setUp(t);
  config.oauth = fixed('secret');
  await connect('ada');
  const other = { code: 'UNAVAILABLE', message: /it names another provider than the one/ };
  notes.issuer = 'https://evil.example';
  await assert.rejects(connect('bob'), other);
  await store.commit({ statements: [statementOf(build.deleteFrom('mcp_clients'))] }); // as an earlier version left it
  await assert.rejects(connect('bob'), other);
  notes.issuer = ISSUER;
  await connect('bob');
  await consents.remove('ada', 'notes', []);
  await consents.remove('bob', 'notes', []);
  notes.issuer = 'https://evil.example';
  await assert.rejects(connect('bob'), other);
  assert.equal(notes.sent.length, 2);
  await consents.revokeAll('notes', () => []);
  await connect('bob');
  config.oauth = { ...fixed('secret'), clientId: 'another' };
  notes.issuer = ISSUER;
  await connect('bob');
});
