import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import {
  connected,
  dialog,
  fillLogin,
  heading,
  LOST,
  newUser,
  PASSWORD,
  REFUSED,
  visitAs,
} from '../support/clients/accounts.ts';
import { button, visit } from '../support/clients/browser.ts';
import { focused } from '../support/clients/focus.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

test('the first user is created on the login card and is logged in; the form is offered only once', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false, expected: [/status of 400/] });
  await heading(page, 'Log in to Headgate').waitFor();
  await assertAccessible(page, 'the login card before the first user');
  await button(page, 'Create the first user').click();
  await heading(page, 'Create the first user').waitFor();
  await assertAccessible(page, 'the form for the first user');
  await page.getByLabel('Username').fill('ad a');
  await page.getByLabel('Name to show').fill('Ada Lovelace');
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByLabel('The password again').fill('correct house');
  await button(page, 'Create and log in').click();
  await page.getByRole('alert').getByText('The two passwords are not the same.').waitFor();
  await page.getByLabel('The password again').fill(PASSWORD);
  await button(page, 'Create and log in').click();
  await page
    .getByRole('alert')
    .getByText(/Invalid username/)
    .waitFor();
  await page.getByLabel('Username').fill('ada');
  await page.getByLabel('The password again').press('Enter');
  await connected(page);
  await page.keyboard.press('Alt+a');
  await page.locator('.person', { hasText: 'Ada Lovelace' }).getByText('Administrator').waitFor();
  const other = await visit(t, daemon, { loggedIn: false });
  await other.page.getByLabel('Username').waitFor();
  assert.equal(await button(other.page, 'Create the first user').count(), 0);
});

test('where the first user needs the setup code, the form asks for it', async (t) => {
  const coded = await startDaemon({ config: { auth: { setup: 'code' } } });
  const { page } = await visit(t, coded, { loggedIn: false, expected: [REFUSED] });
  t.after(() => coded[Symbol.asyncDispose]()); // after the page is closed
  const { setupCode = '' } = await (await coded.client()).call('auth.link', {});
  await button(page, 'Create the first user').click();
  await page.getByLabel('Username').fill('ada');
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByLabel('The password again').fill(PASSWORD);
  await page.getByLabel(/^Setup code/).fill('not-the-code');
  await button(page, 'Create and log in').click();
  await page
    .getByRole('alert')
    .getByText(/^The setup code is missing or wrong\./)
    .waitFor();
  await page.getByLabel(/^Setup code/).fill(setupCode);
  await button(page, 'Create and log in').click();
  await connected(page);
});

test('a wrong password is announced and emptied, the right one logs in, and reloading keeps the login', async (t) => {
  const { username } = await newUser(daemon, ['builtin-operator']);
  const { page } = await visit(t, daemon, { loggedIn: false, expected: [REFUSED] });
  await fillLogin(page, username, 'wrong horse');
  await page.getByRole('alert').getByText('The username or the password is wrong.').waitFor();
  const field = page.getByLabel('Password');
  assert.deepEqual([await field.inputValue(), await page.getByLabel('Username').inputValue()], ['', username]);
  await focused(page, '[autocomplete=current-password]');
  const names = page.locator('input[autocomplete=username], input[autocomplete=current-password]');
  assert.equal(await names.count(), 2, 'password managers know both fields');
  await assertAccessible(page, 'the login card after a wrong password');
  await fillLogin(page, username);
  await connected(page);
  await page.reload();
  await connected(page);
});

test('after too many wrong passwords the card says how long to wait; a login link still works', async (t) => {
  const username = 'grace';
  const throttled = await startDaemon();
  const client = await throttled.client();
  await client.call('user.create', { username, displayName: 'Grace', password: PASSWORD });
  const { page } = await visit(t, throttled, { loggedIn: false, expected: [/status of 4(01|29)/] });
  t.after(() => throttled[Symbol.asyncDispose]()); // after the page is closed
  for (let wrong = 0; wrong < 6; wrong += 1) {
    const answered = page.waitForResponse('**/v1/api/auth/login');
    await fillLogin(page, username, 'wrong horse');
    await answered;
    await page.locator('button.primary:enabled').waitFor();
  }
  await page.getByText(/^Too many attempts\. Try again in (5 minutes|\d+ seconds)\./).waitFor();
  await page.goto(throttled.loginLink());
  await connected(page);
});

test('a new password ends the other logins of the user, and this one goes on', async (t) => {
  const { username } = await newUser(daemon, ['builtin-operator']);
  const page = await visitAs(t, daemon, { username, expected: [REFUSED, LOST] });
  const elsewhere = await visitAs(t, daemon, { username, expected: [LOST] });
  await page.keyboard.press('Alt+a');
  await page.getByLabel('Current password').fill('wrong horse');
  await page.getByLabel(/^New password/).fill('battery staple');
  await page.getByLabel('The new password again').fill('battery staple');
  await button(page, 'Change password').click();
  await page.getByRole('alert').getByText('The current password is wrong').waitFor();
  await page.getByLabel('Current password').fill(PASSWORD);
  await button(page, 'Change password').click();
  await page.getByText('The password has been changed. All your other logins have ended.').waitFor();
  await heading(elsewhere, 'Log in to Headgate').waitFor();
  await connected(page);
  await page.reload();
  await connected(page);
  await fillLogin(elsewhere, username, 'battery staple');
  await connected(elsewhere);
});

test('an API token is shown once, works, and is revoked', async (t) => {
  const { username } = await newUser(daemon, ['builtin-admin']);
  const page = await visitAs(t, daemon, { username });
  await page.keyboard.press('Alt+a');
  await page.getByText('You have no tokens.').waitFor();
  const form = page.getByRole('form', { name: 'Create an API token' });
  await form.getByLabel('Name').fill('backup');
  await form.getByLabel('Scope').selectOption('read');
  await form.getByLabel('Expires').selectOption('after 7 days');
  await button(page, 'Create token').click();
  const token = (await page.locator('.new-token code').innerText()).trim();
  await button(page, 'Copy token').waitFor();
  await assertAccessible(page, 'a new token');
  const ask = () => daemon.fetch('/v1/api/workstreams', { headers: { authorization: `Bearer ${token}` } });
  assert.equal((await ask()).status, 200);
  await button(page, 'I have stored it').click();
  await page.locator('.new-token').waitFor({ state: 'detached' });
  const row = page.getByRole('list', { name: 'Your API tokens' }).getByRole('listitem');
  assert.match(await row.innerText(), /^backup[\s\S]*read · created just now · expires in 7 days/);
  await button(page, 'Revoke backup').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('You have no tokens.').waitFor();
  assert.equal((await ask()).status, 401);
});

/** What is drawn: the colours and lines of the page, and how high a row of the list is. */
const drawn = (page: Page) =>
  page.evaluate(() => {
    const line = document.querySelector('.panel-row') ?? document.body;
    return {
      paper: getComputedStyle(document.body).backgroundColor,
      line: getComputedStyle(line).borderTopColor,
      size: getComputedStyle(document.body).fontSize,
    };
  });

test('colours, contrast and density change what is drawn, stay over a reload, and stay in this browser', async (t) => {
  const { username } = await newUser(daemon, ['builtin-viewer']);
  const page = await visitAs(t, daemon, { username });
  const other = await visitAs(t, daemon, { username });
  const show = async (one: Page) => {
    await connected(one);
    await one.keyboard.press('Alt+a');
    await heading(one, 'Appearance').waitFor();
  };
  for (const one of [page, other]) {
    await one.emulateMedia({ colorScheme: 'light' });
    await show(one);
  }
  const usual = { paper: 'rgb(255, 255, 255)', line: 'rgb(223, 229, 225)', size: '15px' };
  assert.deepEqual([await drawn(page), await drawn(other)], [usual, usual]);
  const form = page.getByRole('form', { name: 'Appearance in this browser' });
  await form.getByLabel('Colours').selectOption('Dark');
  assert.deepEqual(await drawn(page), { paper: 'rgb(20, 25, 24)', line: 'rgb(39, 48, 45)', size: '15px' });
  await form.getByLabel('Contrast').selectOption('High');
  assert.deepEqual(await drawn(page), { paper: 'rgb(0, 0, 0)', line: 'rgb(139, 151, 145)', size: '15px' });
  await form.getByLabel('Density').selectOption('Compact');
  const chosen = { paper: 'rgb(0, 0, 0)', line: 'rgb(139, 151, 145)', size: '14px' };
  assert.deepEqual(await drawn(page), chosen);
  await assertAccessible(page, 'the appearance in high contrast');
  await page.reload();
  await show(page);
  assert.deepEqual(await drawn(page), chosen);
  assert.equal(await form.getByLabel('Contrast').inputValue(), 'more');
  await other.reload();
  await show(other);
  assert.deepEqual(await drawn(other), usual, 'another browser of the same person');
  await form.getByLabel('Colours').selectOption('As the system');
  assert.equal((await drawn(page)).paper, 'rgb(255, 255, 255)');
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.equal((await drawn(page)).paper, 'rgb(0, 0, 0)');
  await other.setViewportSize({ width: 390, height: 844 });
  await other.getByRole('button', { name: /^Workstreams/ }).waitFor();
  assert.equal(await button(other, 'Start a new workstream').count(), 0, 'who may only read starts none');
});

test('the dialog of a lost right closes, and the next key works at once', async (t) => {
  const operator = await daemon.client();
  const { username, userId } = await newUser(daemon, ['builtin-admin']);
  const page = await visitAs(t, daemon, { username, expected: [LOST] });
  await connected(page);
  await button(page, 'Schedule').click();
  await button(page, 'Add a job').click();
  await dialog(page).waitFor();
  await page.evaluate(() => {
    // As quick as a key can be: in the same moment in which the dialog goes.
    const watcher = new MutationObserver(() => {
      if (document.querySelector('dialog') !== null) return;
      watcher.disconnect();
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    });
    watcher.observe(document.body, { childList: true, subtree: true });
  });
  await operator.call('user.role.assign', { userId, roleId: 'builtin-viewer' });
  await operator.call('user.role.unassign', { userId, roleId: 'builtin-admin' });
  await page.getByText('Read-only access: you see this conversation.').waitFor();
});
