import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { button, send, visit } from '../support/clients/browser.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

const REFUSED = /status of 401/;
const connected = (page: Page) => page.locator('.link-open').waitFor();
const loginCard = (page: Page) => page.getByRole('heading', { name: 'Log in to Headgate' });
const cookieOf = async (page: Page) => (await page.context().cookies()).find(({ name }) => name === 'service_auth');

async function newLink(): Promise<string> {
  const { stdout } = await runHeadgate(['link', '--home', daemon.home]);
  return stdout.trim();
}

test('the login link of the banner works once; a second use is reported on the login card', async (t) => {
  const link = daemon.loginLink();
  const { page } = await visit(t, daemon, { loggedIn: false });
  await page.goto(link);
  await connected(page);
  assert.equal(page.url(), link.replace(/#.*/, ''), 'the code is gone from the address');
  const second = await visit(t, daemon, { loggedIn: false, expected: [REFUSED] });
  await second.page.goto(link);
  await second.page.getByText('This link has been used or has expired. Get a new one.').waitFor();
  assert.equal(await loginCard(second.page).isVisible(), true);
  assert.equal(await cookieOf(second.page), undefined);
});

test('without a login the page shows only how to get a link', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false });
  await loginCard(page).waitFor();
  assert.match(await page.locator('main').innerText(), /create a login link in a terminal[\s\S]*\nheadgate link\n/);
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).count(), 0);
});

test('a pasted token logs in, and a wrong one is refused with a message', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false, expected: [REFUSED] });
  const field = page.getByLabel('Or paste the link or a token');
  await field.fill('not-the-token');
  await field.press('Enter');
  await page.getByText('This token is not valid.').waitFor();
  await field.fill(daemon.token);
  await button(page, 'Log in').click();
  await connected(page);
});

test('a pasted link of `headgate link` logs in', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false });
  await page.getByLabel('Or paste the link or a token').fill(await newLink());
  await button(page, 'Log in').click();
  await connected(page);
});

test('the session is a cookie that scripts cannot read, and the page stores nothing', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false });
  await page.goto(await newLink());
  await connected(page);
  const { name, httpOnly, sameSite, value } = { value: '', ...(await cookieOf(page)) };
  assert.deepEqual({ name, httpOnly, sameSite }, { name: 'service_auth', httpOnly: true, sameSite: 'Lax' });
  assert.notEqual(value, daemon.token);
  await page.getByRole('tab', { selected: true }).waitFor();
  const readable = await page.evaluate(() => ({
    cookie: document.cookie,
    local: { ...localStorage },
    session: Object.keys(sessionStorage),
  }));
  assert.deepEqual(readable, { cookie: '', local: {}, session: ['headgate.front'] });
  await page.reload();
  await connected(page);
});

test('logging out ends the session at once, in another tab, too', async (t) => {
  // The daemon may close the connection, or refuse a request, while the page sends something.
  const { page, openTab } = await visit(t, daemon, {
    expected: [/WebSocket connection/, /WebSocket is already in CLOSING or CLOSED/, /status of 401/],
  });
  const other = await openTab();
  await Promise.all([connected(page), connected(other)]);
  await button(page, 'Log out').click();
  await loginCard(page).waitFor();
  await loginCard(other).waitFor();
  assert.equal(await cookieOf(page), undefined);
  await page.reload();
  await loginCard(page).waitFor();
});

test('a banner says that the demo model answers, and it does', async (t) => {
  const { page } = await visit(t, daemon);
  await page.locator('.banner.info', { hasText: /demo/ }).waitFor();
  await page.locator('.first-steps').waitFor();
  await send(page, 'help');
  await page.locator('.answer', { hasText: 'I am the demo model built into Headgate' }).waitFor();
  assert.equal(await page.locator('.first-steps').count(), 0);
});
