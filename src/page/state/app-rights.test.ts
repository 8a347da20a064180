import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLostError } from '../../../protocol/client/request-error.ts';
import { hello, openApp, settled } from './app-fixture.ts';
import { LoginError } from './login.ts';

const closed = (reason: string) =>
  ({ kind: 'waiting', retryInMs: 1_000, error: new ConnectionLostError('closed', { code: 1008, reason }) }) as const;

test('the first user is created and logged in', async () => {
  const { app, phase, logins } = openApp({ authenticated: false });
  await app.start();
  const first = { username: 'ada', displayName: 'Ada', password: 'correct horse', setupCode: undefined };
  await app.setUp(first);
  assert.deepEqual([phase(), logins], [['desk'], [first]]);
});

test('a change of rights reconnects at once, and the new permissions are read', async () => {
  const { app, status, answer, client, browser } = openApp();
  let retries = 0;
  client.retryNow = () => {
    retries += 1;
  };
  const who = { userId: 'u', username: 'ada', scopes: ['read'] };
  const before = { scopes: ['read', 'write', 'approve'], permissions: ['read', 'approve', 'admin.users'] };
  answer('auth.whoami', () => ({ ...who, ...before }));
  await app.start();
  status({ kind: 'open', hello });
  await settled();
  assert.deepEqual([app.may('admin.users'), app.may('admin.audit'), app.rights.decide.value], [true, false, true]);
  browser.scopes = ['read'];
  answer('auth.whoami', () => ({ ...who, permissions: ['read'] }));
  status(closed('rights changed'));
  await settled();
  assert.deepEqual([retries, app.rights.decide.value], [1, false]);
  status({ kind: 'open', hello });
  await settled();
  assert.equal(app.may('admin.users'), false);
});

test('a right to administer something is not one to decide about tool calls, jobs and nodes', async () => {
  const { app, status, answer } = openApp();
  const who = { userId: 'u', username: 'ada', scopes: ['read', 'write', 'approve'] };
  const held = () => Object.entries(app.rights).flatMap(([name, right]) => (right.value ? [name] : []));
  const rights = {
    'admin.audit': ['write', 'createTokens'],
    'admin.users': ['write', 'manageChannels', 'createTokens'],
    'workstreams.create': ['write', 'createWorkstreams', 'createTokens'],
    'workstreams.close': ['write', 'closeWorkstreams', 'createTokens'],
    'tools.approve': ['write', 'decide', 'releaseMemories', 'createTokens'],
    'admin.memories': ['write', 'releaseMemories', 'createTokens'],
    'admin.mcp': ['write', 'seeServers', 'createTokens'],
    'admin.schedules': ['write', 'changeJobs', 'createTokens'],
    'admin.nodes': ['write', 'changeNodes', 'createTokens'],
    approve: [
      ...['write', 'decide', 'deleteConversations', 'changeJobs', 'releaseMemories', 'changeNodes', 'createTokens'],
    ],
  };
  await app.start();
  for (const [permission, expected] of Object.entries(rights)) {
    answer('auth.whoami', () => ({ ...who, permissions: ['read', permission] }));
    status({ kind: 'open', hello });
    await settled();
    assert.deepEqual(held(), expected, permission);
  }
});

test('other lost connections wait for their next attempt', async () => {
  const { app, status, client } = openApp();
  client.retryNow = () => assert.fail('no hurry');
  await app.start();
  status(closed('slow consumer'));
  status({ kind: 'waiting', retryInMs: 1_000, error: new Error('lost') });
  await settled();
  assert.equal(app.lost.value, true);
});

test('a password change does not end the login that it is made with', async () => {
  const { app, status, changes, browser, phase, client } = openApp();
  let retries = 0;
  client.retryNow = () => {
    retries += 1;
  };
  await app.start();
  status({ kind: 'open', hello });
  const change = Promise.withResolvers<void>();
  changes.push(change.promise);
  const changing = app.changePassword({ current: 'old', next: 'new' });
  browser.authenticated = false; // the cookie of the answer has not arrived yet
  status(closed('unauthorized'));
  await settled();
  assert.deepEqual([phase(), retries], [['desk'], 0]);
  browser.authenticated = true;
  change.resolve();
  assert.equal(await changing, undefined);
  await settled();
  assert.deepEqual([phase(), retries], [['desk'], 1]);
});

test('a refused password change says why', async () => {
  const { app, changes } = openApp();
  await app.start();
  changes.push(Promise.reject(new LoginError('The current password is wrong')));
  assert.equal(await app.changePassword({ current: 'old', next: 'new' }), 'The current password is wrong');
});

test('drafts and the connection of one person are not those of the next', async () => {
  const { app, status, stored, browser, closed: ended, phase } = openApp();
  browser.userId = 'ada';
  await app.start();
  status({ kind: 'open', hello });
  await settled();
  const front = app.phase.value.kind === 'desk' ? app.phase.value.desk.workstreams.front.value : undefined;
  assert.ok(front);
  front.draft.value = 'a secret';
  browser.userId = 'operator';
  await app.logIn({ code: 'good' });
  assert.deepEqual([phase(), stored.get('headgate.drafts'), ended.includes('client')], [['desk'], '[]', true]);
});

for (const seenBy of ['the status of the login', 'the new connection'] as const)
  test(`what one person has opened is not shown to another who logged in in another tab, as ${seenBy} tells`, async () => {
    const { app, status, stored, browser, closed: ended, phase, answer } = openApp();
    const who = { scopes: ['read'], permissions: ['read'] };
    browser.userId = 'ada';
    answer('auth.whoami', () => ({ ...who, userId: 'ada', username: 'ada' }));
    await app.start();
    status({ kind: 'open', hello });
    await settled();
    const before = app.phase.value.kind === 'desk' ? app.phase.value.desk : undefined;
    const front = before?.workstreams.front.value;
    assert.ok(front);
    front.draft.value = 'a secret';
    browser.userId = 'bob';
    answer('auth.whoami', () => ({ ...who, userId: 'bob', username: 'bob' }));
    if (seenBy === 'the new connection') status({ kind: 'open', hello });
    else status({ kind: 'waiting', retryInMs: 1_000, error: new Error('lost') });
    await settled();
    const after = app.phase.value.kind === 'desk' ? app.phase.value.desk : undefined;
    assert.deepEqual(
      [phase(), after !== before, stored.get('headgate.drafts'), ended.includes('client')],
      [['desk'], true, '[]', true],
    );
  });

test('the login card learns that there are users now', async () => {
  const { app, browser } = openApp();
  await app.start();
  browser.hasUsers = true;
  await app.logOut();
  await settled();
  assert.equal(app.auth.value.hasUsers, true);
});
