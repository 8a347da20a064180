import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { BrowserContext } from 'playwright-core';
import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import { startPushServer } from '../support/channels/push-server.ts';
import { startReceiver } from '../support/channels/receiver.ts';
import { startTelegramServer } from '../support/channels/telegram-server.ts';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { button, openWorkstream, send, visit } from '../support/clients/browser.ts';
import { openStranger } from '../support/clients/strangers.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { startAccountServer } from '../support/oidc/account-server.ts';

const server = await startPushServer();
after(() => server[Symbol.asyncDispose]());
const TOKEN = '4242:scripted-bot-token-for-tests';
const telegram = await startTelegramServer({ token: TOKEN });
after(() => telegram[Symbol.asyncDispose]());
const accounts = await startAccountServer();
after(() => accounts[Symbol.asyncDispose]());
const told = await startReceiver();
after(() => told[Symbol.asyncDispose]());
const { model, daemon } = await openStage({
  config: {
    egress: { privateHosts: ['127.0.0.1'] },
    mcp: { servers: { tracker: { url: accounts.url, oauth: {} } } },
    channels: {
      push: { afterSecs: 0 },
      telegram: { botToken: TOKEN, apiRoot: telegram.apiRoot },
      ntfy: { phone: { url: `${told.url}topic` } },
      webhook: { ops: { url: `${told.url}hook`, secret: 'sixteen letters!', questions: 'title' } },
    },
  },
});

async function openClient(token: string) {
  const client = { name: 'e2e', version: '1', mode: 'test' };
  const opened = createGatewayClient({ url: `${daemon.wsUrl}/v1/ws`, token, client });
  await opened.connect();
  return opened;
}

/** The browser’s own push server is on the internet, so that it is asked for nothing; all else is the browser’s. */
async function withPushServer(context: BrowserContext): Promise<void> {
  await context.grantPermissions(['notifications'], { origin: daemon.url });
  await context.addInitScript(({ endpoint, keys }) => {
    const bytes = (text: string) =>
      Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0)).buffer;
    let current: unknown = null;
    // The icon of the app, and each sound, are written down.
    const signals: unknown[] = [];
    Object.assign(window, { signals });
    navigator.setAppBadge = async (count) => void signals.push(count);
    navigator.clearAppBadge = async () => void signals.push('none');
    const { start } = OscillatorNode.prototype;
    OscillatorNode.prototype.start = function (...at) {
      signals.push('sound');
      start.apply(this, at);
    };
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
  await page.getByLabel('A notification says').selectOption({ label: 'What kind of thing waits' });
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

  const signals = () => page.evaluate(() => Object(window).signals.splice(0));
  assert.deepEqual(await signals(), ['none']);
  await page.getByLabel('Play a sound in this browser when something begins to wait').check();
  await page.keyboard.press('Escape');
  model.when('touch it', callTools({ name: 'bash', arguments: { command: 'touch kestrel' } }), say('Done.'));
  await send(page, 'touch it');
  const asked = await server.next();
  assert.ok(!JSON.stringify(asked.text).includes('kestrel'));
  assert.equal(asked.key, key, 'one daemon has one key');
  await deliver(asked.text ?? '');
  const { id } = JSON.parse(asked.text ?? '');
  await shows([`${id} The agent asks before it acts`]);
  assert.deepEqual(await signals(), [1, 'sound'], 'the icon has the number, and the sound that was chosen is played');

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
  assert.deepEqual(await signals(), ['none']);
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
  const browser = await openClient(jwt);
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

test('a machine, a person, an account and a memory are told to a browser, a topic and a webhook, lead to their entries, and are taken back', async (t) => {
  const client = await daemon.client();
  const { subscription } = await client.call('push.subscribe', { ...server.subscription, content: 'full' });
  t.after(() => client.call('push.remove', { subscriptionId: subscription.subscriptionId }));
  const { page } = await visit(t, daemon);
  const turn = async (message: string, by = client) => {
    const { wsId } = await client.call('workstream.create', {});
    await by.call('agent', { sessionKey: wsId, message, idempotencyKey: message }, { timeoutMs: 60_000 });
  };
  const { token } = await client.call('token.create', { name: 'writer', scope: 'write' });
  const writer = await openClient(token);
  t.after(() => writer.close());

  /** Something begins to wait; then it is decided. */
  const follow = async (kind: string, { begin, end }: { begin(): Promise<unknown>; end(): Promise<unknown> }) => {
    await begin();
    const { id, at, ws, title, body } = JSON.parse((await server.next()).text ?? '');
    assert.deepEqual([ws, at.split(' ')[0]], ['', kind]);
    const named = { data: { id, kind, title } };
    const asked = await told.until(({ path, body: text }) => path === '/hook' && text.includes(id));
    const { type, data } = JSON.parse(asked.body);
    const { expiresAt: _, ...rest } = data;
    assert.deepEqual({ type, data: rest }, { type: 'waiting', ...named });
    const topic = await told.until(({ path, sequence }) => path === '/topic' && sequence === id);
    assert.equal(topic.title, title);
    assert.ok(!`${asked.body}${topic.body}`.includes(body.split('\n').at(-1)), 'its words are only in full');
    await page.goto(`${daemon.url}/#inbox=${encodeURIComponent(at)}`);
    await page.waitForFunction((of) => document.activeElement?.getAttribute('aria-labelledby') === of, `inbox-${at}`);
    await end();
    assert.deepEqual(JSON.parse((await server.next()).text ?? ''), { id, gone: true });
    await told.until(({ body: text }) => text.includes('waiting.ended') && text.includes(id));
    await told.until(({ method, path }) => method === 'DELETE' && path === `/topic/${id}`);
    return { title, body };
  };

  const machine = await openStranger(t, daemon, 'den-1');
  assert.deepEqual(
    await follow('machine', {
      begin: () => machine.ask({ displayName: 'kestrel den' }),
      end: async () => machine.close(),
    }),
    { title: 'A machine asks to be paired', body: 'kestrel den' },
  );
  const eve = telegram.person({ name: 'Eve', id: 77 });
  let code = '';
  assert.deepEqual(
    await follow('person', {
      async begin() {
        eve.says('let me in');
        [code = ''] = /[A-Z0-9]{5}-[A-Z0-9]{5}/.exec((await eve.chat.next()).text) ?? [];
      },
      end: () => client.call('channel.pair', { channel: 'telegram', code }),
    }),
    { title: 'Somebody asks to write from a chat', body: 'Eve (telegram)' },
  );
  model.when('which account', callTools({ name: 'mcp__tracker__connect', arguments: {} }), say('Done.'));
  assert.deepEqual(
    await follow('account', {
      begin: () => turn('which account'),
      end: () => client.call('mcp.consent.dismiss', { server: 'tracker' }),
    }),
    { title: 'A call needed an account of yours', body: 'tracker' },
  );
  const saved = { action: 'save', name: 'wombats', content: 'kestrel memory' };
  model.when('remember it', callTools({ name: 'memory', arguments: saved }), say('Done.'));
  assert.deepEqual(
    await follow('memory', {
      begin: () => turn('remember it', writer),
      async end() {
        const { memories } = await client.call('memory.quarantine.list', {});
        await client.call('memory.quarantine.release', { memoryId: memories[0]?.memoryId ?? '' });
      },
    }),
    { title: 'A memory waits for you', body: 'wombats\nkestrel memory' },
  );
});
