import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { connected, dialog, fillLogin, newUser, visitAs } from '../support/clients/accounts.ts';
import { button, openDrawer, visit } from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

const tabOf = (page: Page, name: RegExp) => page.getByRole('tab', { name });
const whoSees = (page: Page) => dialog(page).getByLabel('Who sees it');

/** Opens the dialog for a new workstream and waits until it knows who usually sees one. */
async function openNew(page: Page): Promise<void> {
  await button(page, 'New workstream').click();
  await whoSees(page).waitFor();
}

test('an owner hides a workstream from others and shows it again, and every open page follows at once', async (t) => {
  const [ada, bob] = [await newUser(daemon, ['builtin-operator']), await newUser(daemon, ['builtin-operator'])];
  const own = await visitAs(t, daemon, { username: ada.username });
  const other = await visitAs(t, daemon, { username: bob.username });
  await button(own, 'New workstream').click();
  await own.getByRole('dialog', { name: 'New workstream' }).waitFor();
  await own.keyboard.type('garden');
  await own.keyboard.press('Enter');
  const [tab, shown] = [tabOf(own, /garden/), tabOf(other, /garden/)];
  await shown.click();
  assert.equal(await other.getByLabel(/^Who sees this/).count(), 0, 'only its owner chooses');
  await other.getByText(`Owner: ${ada.displayName}`).waitFor();

  await own.getByLabel('Who sees this: everyone here').press('Enter');
  await assertAccessible(own, 'the menu that says who sees a workstream');
  await button(own, 'Only me and administrators').click();
  await tab.getByText('private').waitFor();
  await shown.waitFor({ state: 'detached' });
  await button(other, 'Saved conversations').click();
  assert.equal(await other.getByRole('dialog').getByText('garden').count(), 0);
  await other.keyboard.press('Escape');

  await own.getByLabel('Who sees this: only me and administrators').press('Enter');
  await button(own, 'Everyone here').click();
  await shown.waitFor();
  await tab.getByText('private').waitFor({ state: 'detached' });

  const choose = async (what: string) => {
    await button(own, 'Options of garden').press('Enter');
    await own.getByRole('menuitem', { name: what }).press('Enter');
  };
  await choose('Make private');
  await tab.getByText('private').waitFor();
  await shown.waitFor({ state: 'detached' });
  await choose('Share with everyone here');
  await shown.click();
  await button(other, 'Options of garden').press('Enter');
  await other.getByRole('menuitem', { name: 'Copy link' }).waitFor();
  assert.equal(await other.getByRole('menuitem', { name: 'Make private' }).count(), 0, 'only its owner chooses');
});

test('a new workstream is private if its creator or the setting says so; administrators see whose it is', async (t) => {
  const ada = await newUser(daemon, ['builtin-operator'], 'Ada Lovelace');
  const own = await visitAs(t, daemon, { username: ada.username });
  const { page: admin } = await visit(t, daemon);
  await connected(admin);
  await openNew(own);
  assert.equal(await whoSees(own).inputValue(), 'shared');
  await assertAccessible(own, 'the form for a new workstream');
  await own.keyboard.type('orchard');
  await whoSees(own).selectOption('Only me and administrators');
  await button(own, 'Create').click();
  await tabOf(own, /^orchard private/).waitFor();
  await tabOf(admin, /^orchard of Ada Lovelace private/).click();
  await admin.getByLabel('Who sees this: only Ada Lovelace and administrators').waitFor();

  const operator = await daemon.client();
  await operator.call('settings.set', { key: 'workstreams.visibility', value: 'private' });
  await openNew(own);
  assert.equal(await whoSees(own).inputValue(), 'private');
  await own.keyboard.type('meadow');
  await own.keyboard.press('Enter');
  await tabOf(own, /^meadow private/).waitFor();
  await openNew(admin);
  assert.equal(await whoSees(admin).inputValue(), 'shared', 'what the operator creates is everyone’s');
  await admin.keyboard.press('Escape');
  await operator.call('settings.reset', { key: 'workstreams.visibility' });
});

test('an owner who sees everything gives a workstream back to the operator, and every page names the operator', async (t) => {
  const admin = await newUser(daemon, ['builtin-admin']);
  const bob = await newUser(daemon, ['builtin-operator']);
  const own = await visitAs(t, daemon, { username: admin.username });
  const other = await visitAs(t, daemon, { username: bob.username });
  await openNew(own);
  await own.keyboard.type('common');
  await own.keyboard.press('Enter');
  await tabOf(other, /common/).click();
  await other.getByText(`Owner: ${admin.displayName}`).waitFor();
  await own.getByLabel(/^Who sees this/).press('Enter');
  await button(own, 'Give it to somebody else…').press('Enter');
  await dialog(own).getByLabel('Give it to the operator of this daemon').press('Space');
  await own.getByText('Afterwards the operator and administrators decide who sees it; you are one of these.').waitFor();
  assert.equal(await dialog(own).getByLabel('Username of the new owner').isDisabled(), true);
  await assertAccessible(own, 'the form that gives a workstream to the operator');
  await button(own, 'Give').press('Enter');
  await dialog(own).waitFor({ state: 'detached' });
  await own.getByText('Owner: the operator').waitFor();
  await other.reload();
  await other.getByText('Owner: the operator').waitFor();
  const operator = await daemon.client();
  const { workstreams } = await operator.call('workstream.list', {});
  assert.equal(workstreams.find(({ name }) => name === 'common')?.userId, '');
  await own.getByLabel(/^Who sees this/).press('Enter');
  await button(own, 'Give it to somebody else…').press('Enter');
  await dialog(own).waitFor();
  assert.equal(
    await dialog(own)
      .getByLabel(/operator/)
      .count(),
    0,
    'it is the operator’s already',
  );
});

test('an owner gives a private workstream away by keyboard, and is told before that it disappears', async (t) => {
  const ada = await newUser(daemon, ['builtin-operator'], 'Ada <i>L</i>');
  const bob = await newUser(daemon, ['builtin-operator'], 'Bob');
  const own = await visitAs(t, daemon, { username: ada.username });
  await openNew(own);
  await own.keyboard.type('valley');
  await whoSees(own).selectOption('private');
  await button(own, 'Create').click();
  await own.getByLabel(/^Who sees this/).press('Enter');
  await button(own, 'Give it to somebody else…').press('Enter');
  await own.getByLabel('Username of the new owner').waitFor(); // it is loaded when it is first needed
  await own.keyboard.type('nobody');
  await own.getByText('No user has this in a name.').waitFor();
  await own.keyboard.press('Enter');
  await own.getByRole('alert').getByText('Enter the username of a user who may log in.').waitFor();
  await own.keyboard.press('ControlOrMeta+a');
  await own.keyboard.type(bob.username);
  await own.getByText('Afterwards only Bob and administrators see it. It disappears from your list at once').waitFor();
  await assertAccessible(own, 'the form that gives a workstream away');
  await own.keyboard.press('Enter');
  await dialog(own).waitFor({ state: 'detached' });
  await tabOf(own, /valley/).waitFor({ state: 'detached' });

  const { page } = await visit(t, daemon, { loggedIn: false, phone: true });
  await page.setViewportSize({ width: 390, height: 780 });
  await fillLogin(page, bob.username);
  await openDrawer(page);
  await tabOf(page, /valley/).tap();
  await page.getByLabel('Who sees this: only me and administrators').tap();
  await button(page, 'Give it to somebody else…').tap();
  await dialog(page).getByLabel('Username of the new owner').fill(bob.username);
  await page.getByText('This is the owner already.').waitFor();
  assert.equal(await button(page, 'Give').isDisabled(), true);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
  await assertAccessible(page, 'the form that gives a workstream away, on a phone');
  await page.goBack();
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'valley', level: 1 }).waitFor();
});

/** As the page of whoever is logged in: the answer of a request, as JSON if it is any. */
const asked = (page: Page, path: string, body?: object) =>
  page.evaluate(
    async ([to, sent]) => {
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(to, sent === undefined ? {} : { method: 'POST', headers, body: sent });
      return { status: response.status, text: await response.text() };
    },
    [path, body && JSON.stringify(body)] as const,
  );

test('a file that one person has opened does not come out of the browser’s cache for the next one', async (t) => {
  const [ada, bob] = [await newUser(daemon, ['builtin-operator']), await newUser(daemon, ['builtin-operator'])];
  const { page } = await visit(t, daemon, { loggedIn: false, expected: [/status of 40/] });
  await fillLogin(page, ada.username);
  await connected(page);
  const created = await asked(page, '/v1/api/workstreams/new', { visibility: 'private' });
  const files = `/v1/api/workstreams/${JSON.parse(created.text).ws_id}/attachments`;
  const id = await page.evaluate(async (to) => {
    const body = new FormData();
    body.set('file', new File(['her secret'], 'note.txt'));
    return (await (await fetch(to, { method: 'POST', body })).json()).attachment_id;
  }, files);
  const content = `${files}/${id}/content`;
  assert.deepEqual(await asked(page, content), { status: 200, text: 'her secret' });

  await asked(page, '/v1/api/auth/logout', {});
  await page.reload();
  await fillLogin(page, bob.username);
  await connected(page);
  const other = await asked(page, content);
  assert.deepEqual([other.status, other.text.includes('secret')], [404, false]);
});
