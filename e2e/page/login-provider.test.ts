import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
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
provider.know({ lin: { name: 'Lin <i>of</i> the Lab', preferred_username: 'lin' } });
await daemon.post('/v1/api/auth/setup', { username: 'root', display_name: 'Root', password: 'correct horse' });

/** The provider is another site, and has a style sheet of a third one, which may be out of reach. */
const expected = [
  /^request: http:\/\/localhost:/,
  /^request: https:\/\/fonts\./,
  /fonts\.|ERR_NAME_NOT_RESOLVED|ERR_INTERNET/,
];
const toProvider = (page: Page) => page.getByRole('link', { name: 'Log in with the Lab' });
const connected = (page: Page) => page.locator('.link-open').waitFor();

test('the button on the login card leads through the provider back to the page, logged in', async (t) => {
  const { page, context } = await visit(t, daemon, { loggedIn: false, expected });
  await toProvider(page).waitFor();
  assert.equal(await page.getByLabel('Password').count(), 0, 'passwords are switched off');
  await assertAccessible(page, 'the login card with a provider');
  await toProvider(page).click();
  await page.waitForURL(`${provider.issuer}/interaction/**`);
  await page.locator('[name=login]').fill('lin');
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await connected(page);
  assert.equal(page.url(), `${daemon.url}/`, 'nothing of the login stays in the address');
  const cookies = (await context.cookies(daemon.url)).map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]);
  assert.deepEqual(cookies, [['service_auth', true, 'Lax']]);
  await page.keyboard.press('Alt+a');
  await page.getByText('Lin <i>of</i> the Lab').first().waitFor();
  await button(page, 'Log out').first().click();
  await toProvider(page).click();
  await connected(page); // the provider still knows the browser
});

test('a login that is cancelled at the provider is reported in words of the page', async (t) => {
  const { page } = await visit(t, daemon, { loggedIn: false, expected });
  await toProvider(page).click();
  await page.waitForURL(`${provider.issuer}/interaction/**`);
  await page.locator('a[href*="abort"]').click();
  await page.getByRole('alert').getByText('The provider reports that the login was cancelled.').waitFor();
  assert.equal(page.url(), `${daemon.url}/`);
});
