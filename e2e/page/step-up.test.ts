import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { startTelegramServer } from '../support/channels/telegram-server.ts';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { connected, fillLogin, heading, openPart, PASSWORD, REFUSED } from '../support/clients/accounts.ts';
import { button, openDrawer, openWorkstream, send, visit } from '../support/clients/browser.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';

const HOUR_MS = 60 * 60_000;
const TOKEN = '4242:scripted-bot-token-for-tests';
const telegram = await startTelegramServer({ token: TOKEN });
after(() => telegram[Symbol.asyncDispose]());
const daemon = await startClockedDaemon({
  channels: { telegram: { botToken: TOKEN, apiRoot: telegram.apiRoot } },
});
after(() => daemon[Symbol.asyncDispose]());
const operator = await openClient(daemon.wsUrl, {});
await operator.call('connect', { ...CONNECT, auth: { token: daemon.token } });
after(() => operator.socket.terminate());
await operator.call('user.create', {
  username: 'ada',
  displayName: 'Ada',
  password: PASSWORD,
  roles: ['builtin-admin'],
});

/** Hours of the wall clock, as on a machine that sleeps. What the daemon does every few seconds would take long to play. */
async function hoursPass(hours: number): Promise<void> {
  daemon.clock.jump(hours * HOUR_MS);
  await daemon.clock.advance(2 * 60_000);
}

const asked = (page: Page) => page.getByRole('dialog', { name: 'Confirm that it is you' });
const users = async () =>
  ((await operator.call('user.list', {})) as { users: { username: string }[] }).users.map(({ username }) => username);

test('approving a person who writes from a chat asks for the password, and is done after it', async (t) => {
  const eve = telegram.person({ name: 'Eve', id: 666 });
  eve.says('let me in');
  const [code = ''] = /[A-Z0-9]{5}-[A-Z0-9]{5}/.exec((await eve.chat.next()).text) ?? [];
  const { page } = await visit(t, daemon, { loggedIn: false });
  await fillLogin(page, 'ada');
  await connected(page);
  await page.keyboard.press('Alt+c');
  await page.getByLabel('Code of the person').waitFor();
  await daemon.clock.advance(6 * 60_000);
  await page.getByLabel('Code of the person').fill(code);
  await page.keyboard.press('Enter');
  await asked(page).waitFor();
  const statuses = async () => {
    const { senders } = (await operator.call('channel.sender.list', {})) as { senders: { status: string }[] };
    return senders.map(({ status }) => status);
  };
  assert.deepEqual(await statuses(), ['pending']);
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await asked(page).waitFor({ state: 'detached' });
  await page.getByText('Approved: Eve (666) may now write from Telegram.').waitFor();
  assert.deepEqual(await statuses(), ['approved']);
});

test('a change asks for the password when the login is old, and is made after it; on a phone, by keyboard', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false, phone: true, expected: [REFUSED] });
  await fillLogin(page, 'ada');
  await openDrawer(page);
  await connected(page);
  await page.keyboard.press('Escape'); // closes the drawer
  await openPart(page, 'Users');
  await daemon.clock.advance(6 * 60_000);
  await button(page, 'Add a user').click();
  await page.getByRole('dialog').getByLabel('Username').fill('grace');
  await page
    .getByRole('dialog')
    .getByLabel(/^Password/)
    .fill(PASSWORD);
  await page.keyboard.press('Enter');
  await asked(page).waitFor();
  await assertAccessible(page, 'the dialog that asks for the password');
  assert.deepEqual(await users(), ['ada']);
  await page.keyboard.type('wrong'); // the field has the focus
  await page.keyboard.press('Enter');
  await asked(page).getByRole('alert').getByText('The password is wrong.').waitFor();
  await page.keyboard.press('Escape');
  await asked(page).waitFor({ state: 'detached' });
  await page.getByRole('alert').getByText('Nothing was changed, because you did not confirm who you are.').waitFor();
  assert.deepEqual(await users(), ['ada']);
  await button(page, 'Add').click();
  await asked(page).waitFor();
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await asked(page).waitFor({ state: 'detached' });
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator('.panel-row', { hasText: 'grace' }).waitFor();
  assert.deepEqual(await users(), ['ada', 'grace']);
});

test('a login by a link is confirmed by another link', async (t) => {
  const link = async () => ((await operator.call('auth.link', {})) as { url: string }).url;
  const { page } = await visit(t, daemon, { loggedIn: false });
  await page.goto(await link());
  await connected(page);
  await openPart(page, 'Settings');
  const field = page.getByLabel('approvalTimeoutSecs', { exact: true });
  await field.waitFor(); // the jump of the clock may end the connection that loads it
  await daemon.clock.advance(6 * 60_000);
  await field.fill('77');
  await field.press('Enter');
  await asked(page).getByText('headgate link', { exact: true }).waitFor();
  await assertAccessible(page, 'the dialog that asks for a link');
  await page.keyboard.type(await link());
  await page.keyboard.press('Enter');
  await asked(page).waitFor({ state: 'detached' });
  await page.getByText('Saved.').waitFor();
});

test('a slash command asks for the password, too, and is sent again after it', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false });
  await fillLogin(page, 'ada');
  await connected(page);
  await openWorkstream(page, 'commanded');
  await daemon.clock.advance(6 * 60_000);
  await send(page, '/mode edits');
  await asked(page).waitFor();
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await asked(page).waitFor({ state: 'detached' });
  await page.locator('summary[aria-label^="Mode: Edits ("]').waitFor();
  assert.equal(await page.getByText('Command error').count(), 0);
});

test('a person who works stays logged in after the 24 hours of the login', async (t) => {
  const { page, context } = await visit(t, daemon, { loggedIn: false, expected: [/WebSocket connection/] });
  await fillLogin(page, 'ada');
  await connected(page);
  const cookie = async () => (await context.cookies()).find(({ name }) => name === 'service_auth')?.value;
  const first = await cookie();
  await hoursPass(13);
  const refreshed = page.waitForResponse((response) => response.url().endsWith('/v1/api/auth/refresh'));
  await page.keyboard.press('Shift');
  assert.equal((await refreshed).status(), 200);
  assert.notEqual(await cookie(), first);
  const again = page.waitForEvent('websocket');
  await hoursPass(12); // the first login ends, and with it its connection
  await again;
  await connected(page);
  assert.equal(await heading(page, 'Log in to Headgate').count(), 0);
});
