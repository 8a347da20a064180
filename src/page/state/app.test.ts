import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../protocol/client/request-error.ts';
import { hello, openApp, settled } from './app-fixture.ts';
import { snapshot } from './conversation/conversation-fixture.ts';
import { LoginError } from './login.ts';

test('a browser without a login sees the login card', async () => {
  const { app, phase } = openApp({ authenticated: false });
  await app.start();
  assert.deepEqual(phase(), ['login', undefined]);
});

test('a login link logs in and leaves the address', async () => {
  const { app, phase, browser, logins } = openApp({ authenticated: false, fragment: 'login=good' });
  await app.start();
  assert.deepEqual([phase(), logins, browser.fragment], [['desk'], [{ code: 'good' }], '']);
});

test('a used login link says so on the card', async () => {
  const { app, phase } = openApp({ authenticated: false, fragment: 'login=old' });
  await app.start();
  assert.deepEqual(phase(), ['login', 'refused']);
});

test('a used login link does not affect a browser that is logged in', async () => {
  const { app, phase } = openApp({ fragment: 'login=old' });
  await app.start();
  assert.deepEqual(phase(), ['desk']);
});

test('a failed login through the provider says so on the card and leaves the address', async () => {
  const { app, phase, browser } = openApp({ authenticated: false, search: '?oidc_error=denied' });
  await app.start();
  assert.deepEqual([phase(), browser.search], [['login', 'The provider reports that the login was cancelled.'], '']);
});

test('the end of a login through the provider leaves the address, and other queries stay', async () => {
  const { app, phase, browser } = openApp({ search: '?oidc_success=1' });
  await app.start();
  assert.deepEqual([phase(), browser.search], [['desk'], '']);
  const other = openApp({ search: '?x=1' });
  await other.app.start();
  assert.equal(other.browser.search, '?x=1');
});

test('the result of a consent leaves the address and leads to the tool servers', async () => {
  const { app, phase, browser } = openApp({ search: '?mcp_oauth_error=denied' });
  await app.start();
  const desk = app.phase.value.kind === 'desk' ? app.phase.value.desk : undefined;
  assert.deepEqual(
    [phase(), browser.search, desk?.workstreams.shown.value, app.arrival.consent.value?.isProblem],
    [['desk'], '', 'agent', true],
  );
});

test('a status requested before a login cannot undo the login', async () => {
  const { app, phase, browser, statuses } = openApp({ authenticated: false });
  const early = Promise.withResolvers<void>();
  statuses.push(early.promise);
  const starting = app.start();
  browser.fragment = 'login=good';
  await app.start();
  early.resolve();
  await starting;
  assert.deepEqual(phase(), ['desk']);
});

test('without authentication, no login is needed and everyone can approve', async () => {
  const { app, phase, browser } = openApp({ authenticated: false, authEnabled: false });
  browser.scopes = [];
  await app.start();
  assert.deepEqual([phase(), app.rights.decide.value], [['desk'], true]);
});

test('a reader may not approve', async () => {
  const { app, browser } = openApp();
  browser.scopes = ['read'];
  await app.start();
  assert.equal(app.rights.decide.value, false);
});

test('opening the connection loads the workstreams and the health', async () => {
  const { app, calls, status } = openApp();
  await app.start();
  status({ kind: 'open', hello });
  await settled();
  assert.deepEqual(
    [calls.map(([method]) => method), app.health.value?.version],
    [
      [
        ...['auth.whoami', 'health', 'workstream.list', 'node.pair.list', 'approval.list'],
        ...['memory.quarantine.list', 'channel.sender.list', 'mcp.consent.pending'],
      ],
      '1',
    ],
  );
});

test('a lost connection shows the login card if the login has ended', async () => {
  const { app, phase, browser, closed, status } = openApp();
  await app.start();
  browser.authenticated = false;
  status({ kind: 'waiting', retryInMs: 1, error: new Error('closed') });
  await settled();
  assert.deepEqual([phase(), closed], [['login', 'Your login has ended.'], ['client']]);
});

test('a lost connection waits for the daemon if the login is still valid', async () => {
  const { app, phase, status } = openApp();
  await app.start();
  status({ kind: 'waiting', retryInMs: 1, error: new Error('closed') });
  await settled();
  assert.deepEqual([phase(), app.lost.value], [['desk'], true]);
  status({ kind: 'open', hello });
  assert.equal(app.lost.value, false);
});

test('a refused handshake shows the login card', async () => {
  const { app, phase, status } = openApp();
  await app.start();
  status({ kind: 'closed', error: new RequestError('UNAUTHORIZED', 'unauthorized') });
  assert.deepEqual(phase(), ['login', 'You have been logged out.']);
});

test('workstreams that wait for a decision are counted in all tabs', async () => {
  const { app, status, deliver } = openApp();
  await app.start();
  status({ kind: 'open', hello });
  await settled();
  deliver('w').onSnapshot(snapshot(), 'e:0');
  deliver('w').onEvent({ type: 'ws_state', ws_id: 'w', state: 'attention' }, 'e:1');
  assert.equal(app.waiting.value, 1);
});

test('the page is outdated when the daemon returns with another version', async () => {
  const { app, status } = openApp();
  await app.start();
  status({ kind: 'open', hello });
  assert.equal(app.isOutdated.value, false);
  status({ kind: 'open', hello: { ...hello, server: { ...hello.server, version: '2' } } });
  assert.equal(app.isOutdated.value, true);
});

test('a draft and the filters of the list survive the end of a login but not a logout', async () => {
  const { app, status, stored, browser } = openApp();
  await app.start();
  status({ kind: 'open', hello });
  await settled();
  const desk = () => (app.phase.value.kind === 'desk' ? app.phase.value.desk : undefined);
  const tab = () => desk()?.workstreams.front.value;
  const first = tab();
  assert.ok(first);
  first.draft.value = 'half a thought';
  desk()?.rail.filters.choose({ workdir: '/work' });
  status({ kind: 'closed', error: new RequestError('UNAUTHORIZED', 'unauthorized') });
  await app.logIn({ code: 'good' });
  status({ kind: 'open', hello });
  await settled();
  assert.equal(tab()?.draft.value, 'half a thought');
  assert.deepEqual(desk()?.rail.filters.chosen.value, { workdir: '/work' });
  await app.logOut();
  const kept = ['headgate.drafts', 'headgate.filters'].map((key) => stored.get(key));
  assert.deepEqual([...kept, browser.authenticated], ['[]', '{}', false]);
});

test('a logout that fails keeps the page and says so each time, unless the login has ended all the same', async () => {
  const { app, failedLogouts, phase } = openApp();
  await app.start();
  const told = () => app.banners.value.map(({ id, level, text }) => [id, level, text]);
  failedLogouts.push({ error: new LoginError('Headgate answered 502.') });
  await app.logOut();
  assert.deepEqual(phase(), ['desk']);
  assert.deepEqual(told(), [['logout1', 'warning', 'You are still logged in: Headgate answered 502.']]);
  failedLogouts.push({ error: new LoginError('Headgate answered 502.') });
  await app.logOut();
  assert.deepEqual(told(), [['logout2', 'warning', 'You are still logged in: Headgate answered 502.']]);
  failedLogouts.push({ error: new TypeError('Failed to fetch'), isEnded: true });
  await app.logOut();
  assert.deepEqual([phase(), told()], [['login', undefined], []]);
});

test('a logout that nobody answers says so, also while the page is disconnected', async () => {
  const { app, failedLogouts, phase, status, statuses } = openApp();
  await app.start();
  status({ kind: 'open', hello });
  status({ kind: 'waiting', retryInMs: 1, error: new Error('closed') });
  await settled();
  failedLogouts.push({ error: new TypeError('Failed to fetch') });
  statuses.push(Promise.reject(new TypeError('Failed to fetch')));
  await app.logOut();
  assert.deepEqual(
    [phase(), app.banners.value.map(({ text }) => text)[0]],
    [['desk'], 'Headgate did not answer, so you may still be logged in. Log out again when it answers.'],
  );
});
