import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { decodeJwt, SignJWT } from 'jose';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { dialog, openPart } from '../support/clients/accounts.ts';
import { button, visit } from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { startProvider } from '../support/oidc/provider.ts';
import { oidcConfig } from '../support/oidc/provider-login.ts';

const provider = await startProvider();
const daemon = await startDaemon({ config: oidcConfig(provider, { passwordEnabled: false }) });
after(async () => {
  await daemon[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
await provider.serve(daemon.url);
provider.know({
  lin: { name: 'Lin <i>of</i> the Lab', preferred_username: 'lin' },
  max: { name: 'Max', preferred_username: 'max' },
});
await daemon.post('/v1/api/auth/setup', { username: 'root', display_name: 'Root', password: 'correct horse' });

/** The provider is another site, and has a style sheet of a third one, which may be out of reach. */
const expected = [
  /^request: http:\/\/localhost:/,
  /^request: https:\/\/fonts\./,
  /fonts\.|ERR_NAME_NOT_RESOLVED|ERR_INTERNET/,
];
const toProvider = (page: Page) => page.getByRole('link', { name: 'Log in with the Lab' });
const connected = (page: Page) => page.locator('.link-open').waitFor();

/** Answers the question of the provider for a name and a password. */
async function passProvider(page: Page, name: string): Promise<void> {
  await page.waitForURL(`${provider.issuer}/interaction/**`);
  await page.locator('[name=login]').fill(name);
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await connected(page);
}

test('the button on the login card leads through the provider back to the page, logged in', async (t) => {
  const { page, context } = await visit(t, daemon, { loggedIn: false, expected });
  await toProvider(page).waitFor();
  assert.equal(await page.getByLabel('Password').count(), 0, 'passwords are switched off');
  await assertAccessible(page, 'the login card with a provider');
  await toProvider(page).click();
  await passProvider(page, 'lin');
  assert.equal(page.url(), `${daemon.url}/`, 'nothing of the login stays in the address');
  const cookies = (await context.cookies(daemon.url)).map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]);
  assert.deepEqual(cookies, [['service_auth', true, 'Lax']]);
  await page.keyboard.press('Alt+a');
  await page.getByText('Lin <i>of</i> the Lab').first().waitFor();
  await page.getByText('You have no password here. You log in there as:').waitFor();
  await page.getByRole('list', { name: 'Identities at a provider' }).getByText('lin', { exact: true }).waitFor();
  assert.equal(await page.locator('input[type=password]').count(), 0, 'no form for a password that there is not');
  assert.equal(await button(page, 'Unlink lin').count(), 0, 'only administrators unlink');
  await assertAccessible(page, 'the account of a user of a provider');
  await button(page, 'Log out').first().click();
  await toProvider(page).click();
  await connected(page); // the provider still knows the browser
});

test('where passwords are possible, too, their form is folded below the provider, and has its own problems', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false, expected: [/status of 40[0-9]/] });
  await page.route('**/v1/api/auth/status', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), password_enabled: true } });
  });
  await page.reload();
  await toProvider(page).waitFor();
  assert.equal(await page.getByLabel('Password').isVisible(), false);
  await page.getByText('Log in with a password').click();
  await assertAccessible(page, 'the login card with a provider and a form');
  await page.getByLabel('Username').fill('root');
  await page.getByLabel('Password').fill('wrong horse');
  await page.keyboard.press('Enter');
  await page.locator('details').getByRole('alert').filter({ hasText: /\w/ }).waitFor();
});

test('a login that is cancelled at the provider is reported in words of the page', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false, expected });
  await toProvider(page).click();
  await page.waitForURL(`${provider.issuer}/interaction/**`);
  await page.locator('a[href*="abort"]').click();
  await page.getByRole('alert').getByText('The provider reports that the login was cancelled.').waitFor();
  assert.equal(page.url(), `${daemon.url}/`);
});

test('an administrator without a password confirms through the provider, and then unlinks somebody', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false, expected: [...expected, /WebSocket connection/] });
  provider.tamper = async ({ path, body }) => {
    if (path !== '/token') return;
    const { iat = 0, ...claims } = decodeJwt(body.id_token);
    const old = new SignJWT({ ...claims, iat, auth_time: iat - 600 }); // the proof of the person is ten minutes old
    body.id_token = await old.setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(provider.key);
  };
  await toProvider(page).click();
  await passProvider(page, 'max');
  provider.tamper = undefined;
  const operator = await daemon.client();
  const { users } = await operator.call('user.list', { query: 'max' });
  await operator.call('user.role.assign', { userId: users[0]?.userId ?? '', roleId: 'builtin-admin' });
  const unlink = async () => {
    await openPart(page, 'Users');
    await button(page, 'Edit lin').click();
    await button(page, 'Unlink lin').press('Enter');
    await page.getByText('Without a password, lin then has no way to log in.').waitFor();
    await assertAccessible(page, 'the question before an identity is unlinked');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Unlink' }).press('Enter');
  };
  await page.keyboard.press('Alt+a');
  await page.getByRole('navigation', { name: 'Parts of the account view' }).waitFor();
  await unlink();
  const asked = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await asked.waitFor();
  assert.equal(await asked.locator('input').count(), 0, 'there is no password to enter');
  await assertAccessible(page, 'the dialog that leads to the provider');
  await asked.getByRole('link', { name: 'Log in with the Lab' }).click();
  await passProvider(page, 'max'); // although it still knows the browser
  await unlink();
  await button(page, 'Unlink lin').waitFor({ state: 'detached' });
  await dialog(page).getByText('Logs in through a provider as').waitFor({ state: 'detached' });
  const [lin] = (await operator.call('user.list', { query: 'lin' })).users;
  const { identities } = await operator.call('oidc.identity.list', { userId: lin?.userId ?? '' });
  assert.deepEqual(identities, []);

  await page.getByText('Link an identity of a provider').click();
  const subject = dialog(page).getByLabel('Subject');
  await subject.fill('max');
  await subject.press('Enter');
  await dialog(page).getByRole('alert').getByText('This person is a user already').waitFor();
  await dialog(page).getByLabel('Issuer').fill('https://sso.example.com/?a=1');
  await subject.press('Enter');
  await dialog(page).getByRole('alert').getByText('The issuer has more than an address').waitFor();
  await dialog(page).getByLabel('Issuer').fill('');
  await subject.fill(' lin ');
  await assertAccessible(page, 'the fields that link an identity');
  await subject.press('Enter');
  await dialog(page).getByRole('status').getByText('lin now logs in as lin.').waitFor();
  await button(page, 'Unlink lin').waitFor();
  const linked = await operator.call('oidc.identity.list', { userId: lin?.userId ?? '' });
  assert.deepEqual(
    linked.identities.map((each) => [each.issuer, each.subject]),
    [[provider.issuer, 'lin']],
  );
});
