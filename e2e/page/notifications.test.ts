import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { BrowserContext } from 'playwright-core';
import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import { startPushServer } from '../support/channels/push-server.ts';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { button, openWorkstream, send, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const server = await startPushServer();
after(() => server[Symbol.asyncDispose]());
const { model, daemon } = await openStage({
  config: { egress: { privateHosts: ['127.0.0.1'] }, channels: { push: { afterSecs: 0 } } },
});

/** The browser’s own push server is on the internet, so that it is asked for nothing; all else is the browser’s. */
async function withPushServer(context: BrowserContext): Promise<void> {
  await context.grantPermissions(['notifications'], { origin: daemon.url });
  await context.addInitScript(({ endpoint, keys }) => {
    const bytes = (text: string) =>
      Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0)).buffer;
    let current: unknown = null;
    PushManager.prototype.getSubscription = async () => current as never;
    PushManager.prototype.subscribe = async (options) => {
      current = {
        endpoint,
        options: { applicationServerKey: bytes(String(options?.applicationServerKey)) },
        getKey: (name: 'p256dh' | 'auth') => bytes(keys[name]),
        async unsubscribe() {
          current = null;
          return true;
        },
      };
      return current as never;
    };
  }, server.subscription);
}

test('a browser is notified of a question, which its worker shows and closes; what it may say, and who ends it, is chosen', async (t) => {
  const { page, context } = await visit(t, daemon);
  const workers = () => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);
  assert.equal(await workers(), 0, 'there is no worker before somebody wants notifications');
  await withPushServer(context);
  await page.reload();
  await openWorkstream(page, 'notified');
  await page.keyboard.press('Alt+i');
  await page.locator('.notify summary').click();
  await page.getByLabel('A notification says').selectOption({ label: 'Only that something waits' });
  await page.getByLabel('A notification says').selectOption({ label: 'What kind of question it is' });
  await button(page, 'Notify this browser').click();
  await page.getByText('This browser is notified.').waitFor();
  await assertAccessible(page, 'the choice of notifications');
  await button(page, 'Test').click();
  const { text = '', key } = await server.next();
  assert.deepEqual(JSON.parse(text), { title: 'Notifications work' });

  const cdp = await context.newCDPSession(page);
  const found = Promise.withResolvers<string>();
  cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [one] }) => {
    if (one) found.resolve(one.registrationId);
  });
  await cdp.send('ServiceWorker.enable');
  const registrationId = await found.promise;
  const deliver = (data: string) =>
    cdp.send('ServiceWorker.deliverPushMessage', { origin: daemon.url, registrationId, data });
  const shows = (tags: readonly string[]) =>
    page.waitForFunction(async (wanted) => {
      const shown = await (await navigator.serviceWorker.ready).getNotifications();
      return shown.map(({ tag, title }) => `${tag} ${title}`).join() === wanted;
    }, tags.join());

  await page.keyboard.press('Escape');
  model.when('touch it', callTools({ name: 'bash', arguments: { command: 'touch kestrel' } }), say('Done.'));
  await send(page, 'touch it');
  const asked = await server.next();
  assert.ok(!JSON.stringify(asked.text).includes('kestrel'));
  assert.equal(asked.key, key, 'one daemon has one key');
  await deliver(asked.text ?? '');
  const { id } = JSON.parse(asked.text ?? '');
  await shows([`${id} The agent asks before it acts`]);

  await page.goto(`${daemon.url}/#inbox=${id}`);
  await page.waitForFunction((of) => document.activeElement?.getAttribute('aria-labelledby') === of, `inbox-${id}`);
  assert.match(await page.title(), /^\(1\) Inbox/);
  await page.keyboard.press('y');
  await page.getByText('Approved: notified').waitFor();
  await page.keyboard.press('u');
  await page.locator('.inbox article').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('y');
  await page.keyboard.press('Escape'); // leaves the inbox, which decides at once
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
  const ended = await server.next();
  assert.deepEqual(JSON.parse(ended.text ?? ''), { id, gone: true });
  await deliver(ended.text ?? '');
  await shows([`${id} Decided`]); // its worker closes it later

  await page.keyboard.press('Alt+i');
  await page.locator('.notify summary').click();
  await button(page, 'Switch off').click();
  await page.getByText('Switched off.').waitFor();
  assert.equal(await workers(), 0);
});

test('the worker is a file of its own, with a policy of its own, for the whole page; the manifest and the icon have their types', async () => {
  const headersOf = async (file: string) => (await fetch(new URL(`/static/${file}`, daemon.url))).headers;
  const worker = await headersOf('sw.js');
  assert.deepEqual(
    ['content-type', 'service-worker-allowed', 'content-security-policy', 'cache-control'].map((name) =>
      worker.get(name),
    ),
    ['text/javascript; charset=utf-8', '/', "default-src 'none';connect-src 'self'", 'no-cache'],
  );
  assert.equal((await headersOf('app.webmanifest')).get('content-type'), 'application/manifest+json');
  const icon = await headersOf('icon.svg');
  assert.deepEqual([icon.get('content-type'), icon.get('service-worker-allowed')], ['image/svg+xml', null]);
});

test('after a restart, what still waits is told again; logging out ends it, and the log has no endpoint', async () => {
  const login = await daemon.post('/v1/api/auth/login', { token: daemon.token });
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const logout = () =>
    fetch(new URL('/v1/api/auth/logout', daemon.url), {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json', origin: daemon.url },
      body: '{}',
    });
  const [, jwt = ''] = cookie.split('=');
  const client = await daemon.client();
  const browser = createGatewayClient({
    url: `${daemon.wsUrl}/v1/ws`,
    token: jwt,
    client: { name: 'e2e', version: '1', mode: 'test' },
  });
  await browser.connect();
  await browser.call('push.subscribe', { ...server.subscription, content: 'none' });
  browser.close();
  const { wsId } = await client.call('workstream.create', {});
  model.when('wait here', callTools({ name: 'bash', arguments: { command: 'touch late' } }), say('Done.'));
  await client.call('workstream.send', { wsId, message: 'wait here' });
  assert.equal((await server.next()).text, undefined);
  await daemon.restart();
  assert.equal((await server.next()).text, undefined);
  const again = await daemon.client();
  assert.equal((await again.call('push.list', {})).subscriptions.length, 1);
  assert.equal((await logout()).status, 200);
  assert.deepEqual((await again.call('push.list', {})).subscriptions, []);
  const { stdout, stderr } = daemon.output();
  assert.ok(!`${stdout}${stderr}`.includes('endpoint-is-secret'));
});
