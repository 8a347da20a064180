import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { closeServer, listen } from '../../src/listen.ts';
import { startTelegramServer } from '../support/channels/telegram-server.ts';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { button, openDrawer, visit, visitAgain } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const TOKEN = '4242:scripted-bot-token-for-tests';
const telegram = await startTelegramServer({ token: TOKEN });
after(() => telegram[Symbol.asyncDispose]());

const { daemon, model } = await openStage();
const client = await daemon.client();

/** As `headgate channel login` does it. */
async function patch(channels: object): Promise<void> {
  const { hash } = await client.call('config.get', {});
  await client.call('config.patch', { raw: JSON.stringify({ channels }), baseHash: hash });
}
const setUpBot = (settings: object = {}) =>
  patch({ telegram: { botToken: TOKEN, apiRoot: telegram.apiRoot, ...settings } });

async function openChannels(page: Page): Promise<void> {
  await openDrawer(page);
  await button(page, 'Channels').click();
  await page.getByRole('heading', { name: 'Channels', level: 1 }).waitFor();
  await service(page).waitFor();
}

const service = (page: Page) => page.locator('.channel').filter({ hasText: 'Telegram' });
const person = (page: Page, name: string) =>
  page.getByRole('list', { name: 'People' }).locator('.panel-row').filter({ hasText: name });
const parts = (page: Page) => page.getByRole('list', { name: 'Sent to chats' }).locator('.part');
const focusIsIn = (page: Page, selector: string) =>
  page.waitForFunction((wanted) => document.activeElement?.closest(wanted) !== null, selector);

const CODE = /[A-Z0-9]{5}-[A-Z0-9]{5}/;
let people = 100;
/** Somebody who has written, with the code that the bot gave. */
async function newStranger(name: string) {
  people += 1;
  const stranger = telegram.person({ name, id: people });
  stranger.says('let me in');
  const [code = ''] = CODE.exec((await stranger.chat.next()).text) ?? [];
  return { stranger, code, id: String(people) };
}

/** The same, approved. */
async function newFriend(name: string) {
  const { stranger: friend, code, id } = await newStranger(name);
  await client.call('channel.pair', { channel: 'telegram', code });
  return { friend, id };
}

test('a bot is set up step by step, and a person is approved by the code that the operator types, and revoked, by keyboard', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await page.locator('.composer').waitFor();
  await page.keyboard.press('Alt+c');
  await focusIsIn(page, '#channels-title');
  assert.match(await page.title(), /^Channels · Headgate$/);
  await service(page).getByText('Nobody can write from Telegram yet.').waitFor();
  await service(page).getByText('headgate channel login', { exact: true }).waitFor();
  await page.getByText('Set up a chat service first. Then people ask here.').waitFor();
  await page.getByText('Nothing has been sent to a chat yet.').waitFor();
  await page.getByText('No webhook is configured.').waitFor();
  await assertAccessible(page, 'no channels');

  await setUpBot();
  await service(page).getByText('connected', { exact: true }).waitFor();
  await service(page)
    .getByText(/^@headgate_bot · connected since today/)
    .waitFor();
  await page.getByText('Nobody has asked to write yet.').waitFor();
  const { stranger, code, id } = await newStranger('Eve');
  await person(page, 'Eve').getByText('waits for approval').waitFor();
  await page.getByRole('region', { name: 'People' }).getByText('1 waiting').waitFor();
  await assertAccessible(page, 'a person who waits');

  await page.getByLabel('Code of the person').fill('aaaaa-aaaaa');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('Unknown code.').waitFor();
  await page.getByLabel('Code of the person').fill(` ${code.toLowerCase()} `);
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText(`Approved: Eve (${id}) may now write from Telegram.`).waitFor();
  await person(page, 'Eve').getByText('may write').waitFor();
  await person(page, 'Eve').getByText(`Telegram ${id} · conversations of the operator · 1 refused message`).waitFor();
  model.when('hello from Eve', say('Welcome.'));
  stranger.says('hello from Eve');
  await stranger.chat.until(({ text }) => text === 'Welcome.');
  await button(page, 'Refresh what was sent').click();
  await parts(page).getByText('Sent', { exact: true }).waitFor();
  await service(page).getByText('just now').first().waitFor();

  await button(page, 'Revoke Eve').focus();
  await page.keyboard.press('Enter');
  await assertAccessible(page, 'the question before a revocation');
  await page.keyboard.press('Shift+Tab'); // from the button that changes nothing
  await page.keyboard.press('Enter');
  await person(page, 'Eve').getByText('revoked', { exact: true }).waitFor();
  await focusIsIn(page, '#people-title');
  assert.equal(await button(page, 'Revoke Eve').count(), 0);
  await button(page, 'Restore Eve').focus();
  await page.keyboard.press('Enter');
  await person(page, 'Eve').getByText('restored', { exact: true }).waitFor();
  await focusIsIn(page, '#people-title');
  assert.equal(await button(page, 'Restore Eve').count(), 0);
});

test('a channel that does not work says why, and whether Headgate tries again', async (t) => {
  await setUpBot();
  const { page } = await visitAgain(t, daemon);
  await openChannels(page);
  await service(page).getByText('connected', { exact: true }).waitFor();
  telegram.faults.add('getUpdates', { kind: 'conflict' }, { times: 1_000 });
  t.after(() => telegram.faults.clear());
  await telegram.goAway();
  await service(page).getByText('connecting', { exact: true }).waitFor();
  await service(page).getByText('Headgate tries again by itself.').waitFor();
  await assertAccessible(page, 'a service that is away');
  await telegram.comeBack();
  await service(page).getByText('conflict', { exact: true }).waitFor();
  await service(page).getByText('Only one program can receive the messages of a bot').waitFor();
  await service(page)
    .getByText(/conflict since today/)
    .waitFor();
  await assertAccessible(page, 'a conflict');
  await button(page, 'Test Telegram').click();
  await service(page).getByText('Telegram accepts the token of headgate_bot (4242).').waitFor();

  telegram.faults.clear();
  await patch({ telegram: { botToken: '4242:another-token-than-that-of-the-bot' } });
  await service(page).getByText('error', { exact: true }).waitFor();
  await service(page).getByText('Headgate does not try again until the settings change.').waitFor();
  await button(page, 'Test Telegram').click();
  await service(page).getByText('Telegram does not accept this token. Ask @BotFather for another.').waitFor();
  await setUpBot();
  await service(page).getByText('connected', { exact: true }).waitFor();
});

/** Somebody to whom one part was sent, one failed, and one may have arrived. */
async function withTroubles(name: string): Promise<string> {
  await setUpBot();
  const { friend, id } = await newFriend(name);
  const says = async (words: string) => {
    model.when(`${words} of ${name}`, say(`${words} for ${name}`));
    friend.says(`${words} of ${name}`);
  };
  await says('first');
  await friend.chat.until(({ text }) => text === `first for ${name}`);
  telegram.faults.add('sendMessage', { kind: 'refuse', description: 'it is unwelcome' }, { chat: Number(id) });
  await says('second');
  await telegram.changes.until(
    () => telegram.calls.some(({ status }) => status === 400) || undefined,
    () => 'a refusal',
  );
  telegram.faults.add('sendMessage', { kind: 'reset-after' }, { chat: Number(id) });
  await says('third');
  await friend.chat.until(({ text }) => text === `third for ${name}`);
  await says('fourth');
  await friend.chat.until(({ text }) => text.includes(`fourth for ${name}`));
  return id;
}

test('parts that failed, or of which nobody knows whether they arrived, stand out in what was sent', async (t) => {
  const id = await withTroubles('Ada');
  const { page } = await visitAgain(t, daemon);
  await openChannels(page);
  await page
    .getByText('1 part may have arrived: look into the chat before you send the message again. 1 part failed.')
    .waitFor();
  const failed = parts(page).filter({ hasText: 'Failed' });
  await failed.getByText(`to Telegram ${id}`).waitFor();
  await failed.getByText('it is unwelcome').waitFor();
  await parts(page).filter({ hasText: 'May have arrived' }).waitFor();
  await assertAccessible(page, 'what was sent');
  await button(page, 'Only problems').click();
  await parts(page).getByText('Sent', { exact: true }).first().waitFor({ state: 'detached' });
  assert.equal(await parts(page).count(), 2);
  await button(page, 'Only problems').click();
  await parts(page).getByText('Sent', { exact: true }).first().waitFor();
});

/** A program that refuses the first message, and holds the next one. */
async function startHook(t: TestContext) {
  let received = 0;
  const hook = createServer((_, response) => {
    received += 1;
    if (received === 1) response.writeHead(410).end();
  });
  const port = await listen(hook, { host: '127.0.0.1', port: 0 });
  t.after(() => {
    hook.closeAllConnections();
    return closeServer(hook);
  });
  const arrivals = async (count: number) => {
    while (received < count) await once(hook, 'request');
  };
  return { url: `http://127.0.0.1:${port}/`, arrivals };
}

test('webhooks are listed with what became of the messages to them', async (t) => {
  const hook = await startHook(t);
  await patch({ webhook: { ops: { url: hook.url, secret: 'sixteen letters!' } } });
  t.after(() => patch({ webhook: null }));
  for (const message of ['disk is full', 'disk is fuller'])
    await client.call('send', { to: 'ops', message, idempotencyKey: message });
  await hook.arrivals(2);
  const { page } = await visitAgain(t, daemon);
  await openChannels(page);
  const row = page.getByRole('list', { name: 'Notifications' }).locator('.panel-row').filter({ hasText: 'ops' });
  await row.getByText('webhook · nothing delivered yet · 1 waiting · 1 given up').waitFor();
  await row.getByText('The latest attempt failed: HTTP 410').waitFor();
  await assertAccessible(page, 'notifications');
});

test('without the right to manage them, channels show their states, and neither people nor buttons', async (t) => {
  await setUpBot();
  await newFriend('Hidden');
  const { token } = await client.call('token.create', { name: 'channel reader', scope: 'read' });
  const { page, context } = await visit(t, daemon, { loggedIn: false });
  await context.request.post(new URL('/v1/api/auth/login', daemon.url).href, { data: { token } });
  await page.reload();
  await openChannels(page);
  await service(page).getByText('connected', { exact: true }).waitFor();
  await page.getByText('are shown to those with the permission admin.users').waitFor();
  assert.equal(await page.getByText('Hidden').count(), 0);
  assert.deepEqual(
    (await page.locator('.panel-body').getByRole('button').allInnerTexts()).filter((words) => words !== 'Copy'),
    [],
  );
  await assertAccessible(page, 'channels of a reader');
});

test('a list that cannot be read says so, and can be read again', async (t) => {
  await setUpBot();
  const { page } = await visit(t, daemon, { losesDaemon: true });
  await openChannels(page);
  await service(page).getByText('connected', { exact: true }).waitFor();
  await daemon.stop();
  await page.getByText('Not connected. This loads when the connection is back.').first().waitFor();
  await daemon.restart();
  await page.getByText('Not connected. This loads when the connection is back.').first().waitFor({ state: 'detached' });
  await service(page).getByText('connected', { exact: true }).waitFor();
});

test('on a phone every control is large enough for a thumb, and nothing is wider than the screen', async (t) => {
  const name = 'somebody whose name is too long for a small telephone';
  const other = 'and the other one, whose name does not fit on it either';
  await withTroubles(name);
  await newStranger(other);
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openChannels(page);
  await person(page, other).waitFor();
  await parts(page).first().waitFor();
  await page.getByText('How to set up Telegram').tap();
  await service(page).getByText('headgate channel login', { exact: true }).waitFor();
  const overflow = () =>
    page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      const body = document.querySelector('.panel-body');
      return [
        scrollWidth - innerWidth,
        scrollHeight - innerHeight,
        (body?.scrollWidth ?? 0) - (body?.clientWidth ?? 0),
      ];
    });
  const tooSmall = () =>
    page
      .locator('.panel button:visible, .panel summary:visible, .panel input:visible, .panel select:visible')
      .evaluateAll((all) =>
        all
          .filter((each) => {
            const { width, height } = each.getBoundingClientRect();
            return Math.min(width, height) < 43.5;
          })
          .map(({ outerHTML }) => outerHTML.slice(0, 120)),
      );
  assert.deepEqual([await overflow(), await tooSmall()], [[0, 0, 0], []]);
  await assertAccessible(page, 'channels on a phone');
  await button(page, `Refuse ${other}`).tap();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Refuse' }).tap();
  await person(page, other).getByText('revoked', { exact: true }).waitFor();
  assert.deepEqual(await overflow(), [0, 0, 0]);
});
