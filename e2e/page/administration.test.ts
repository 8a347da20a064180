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
  openPart,
  PASSWORD,
  parts,
  REFUSED,
  visitAs,
} from '../support/clients/accounts.ts';
import { button, openDrawer, visit } from '../support/clients/browser.ts';
import { focused } from '../support/clients/focus.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

const overflowOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

test('an added user logs in and sees nothing of the administration', async (t) => {
  const admin = await newUser(daemon, ['builtin-admin']);
  const page = await visitAs(t, daemon, { username: admin.username, expected: [REFUSED] });
  await openPart(page, 'Users');
  await button(page, 'Add a user').click();
  await dialog(page).getByLabel('Username').fill('grace');
  await dialog(page).getByLabel('Name to show').fill('Grace <b>Hopper</b>');
  await dialog(page)
    .getByLabel(/^Password/)
    .fill(PASSWORD);
  await dialog(page).getByLabel('Operator').check();
  await assertAccessible(page, 'the form for a user');
  await button(page, 'Add').click();
  const card = page.locator('.panel-row', { hasText: 'Grace <b>Hopper</b>' });
  await card
    .getByText(/^grace · Operator, Viewer · never logged in$|^grace · Viewer, Operator · never logged in$/)
    .waitFor();
  await page.getByRole('searchbox', { name: 'Search users' }).fill('hopper');
  await page.locator('.account-list .panel-row').nth(1).waitFor({ state: 'detached' });
  await assertAccessible(page, 'users');
  const grace = await visitAs(t, daemon, { username: 'grace' });
  await grace.keyboard.press('Alt+a');
  await grace.locator('.person', { hasText: 'Grace' }).waitFor();
  assert.equal(await parts(grace).count(), 0);
  await grace.getByText('API tokens require the approve scope.').waitFor();
  await assertAccessible(grace, 'the account of a user without administration');
});

test('a user is edited, disabled, enabled and, after a confirmation that names it, deleted', async (t) => {
  const admin = await newUser(daemon, ['builtin-admin']);
  const { username } = await newUser(daemon, ['builtin-viewer']);
  const page = await visitAs(t, daemon, { username: admin.username });
  const theirs = await visitAs(t, daemon, { username, expected: [LOST] });
  await openPart(page, 'Users');
  await page.getByRole('searchbox', { name: 'Search users' }).fill(username);
  const card = page.locator('.panel-row', { hasText: username });
  await button(page, `Edit ${username}`).click();
  await dialog(page).getByLabel('Name to show').fill('Renamed');
  await dialog(page).getByLabel('New password').fill('battery staple');
  await button(page, 'Save').click();
  await card.getByRole('heading', { name: 'Renamed' }).waitFor();
  await heading(theirs, 'Log in to Headgate').waitFor();
  await fillLogin(theirs, username, 'battery staple');
  await connected(theirs);
  await button(page, `Disable ${username}`).click();
  await card.getByText('disabled').waitFor();
  await heading(theirs, 'Log in to Headgate').waitFor();
  await button(page, `Enable ${username}`).click();
  await button(page, `Delete ${username}`).click();
  const question = page.getByRole('alertdialog', { name: `Delete ${username}?` });
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  await page.keyboard.press('Enter'); // the focus is on the button again
  await assertAccessible(page, 'the question before a user is deleted');
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No user has this in a name.').waitFor();
});

test('roles change while connected: the page reconnects and shows what may be seen now', async (t) => {
  const operator = await daemon.client();
  const clerk = await operator.call('role.create', {
    name: 'clerk',
    displayName: 'Clerk',
    permissions: ['read', 'admin.users'],
  });
  const { username, userId } = await newUser(daemon, [clerk.roleId]);
  const page = await visitAs(t, daemon, { username, expected: [LOST] });
  await openPart(page, 'Users');
  assert.deepEqual(await parts(page).getByRole('button').allInnerTexts(), ['My account', 'Users']);
  await operator.call('user.role.assign', { userId, roleId: 'builtin-admin' });
  await parts(page).getByRole('button', { name: 'Audit trail' }).waitFor();
  await page.getByRole('heading', { name: 'Users', level: 2 }).waitFor();
  await button(page, 'Add a user').click();
  await dialog(page).waitFor();
  await operator.call('user.role.assign', { userId, roleId: 'builtin-viewer' });
  await operator.call('user.role.unassign', { userId, roleId: 'builtin-admin' });
  await operator.call('user.role.unassign', { userId, roleId: clerk.roleId });
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'You', level: 2 }).waitFor();
  await parts(page).waitFor({ state: 'detached' });
  await page.locator('.person', { hasText: 'Viewer' }).waitFor();
  await connected(page);
  await page.keyboard.press('Escape');
  await page.getByText('Read-only access: you see this conversation.').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).count(), 0);
  assert.equal(await button(page, 'New workstream').count(), 0);
  await assertAccessible(page, 'a conversation for somebody who may only look');
});

test('roles that a person may not give are disabled in the form of a user, and kept; by keyboard, on a phone', async (t) => {
  const operator = await daemon.client();
  const name = 'registrar';
  const permissions = ['read', 'write', 'admin.users'] as const;
  const { roleId } = await operator.call('role.create', {
    name,
    displayName: 'Registrar',
    permissions: [...permissions],
  });
  const registrar = await newUser(daemon, [roleId]);
  const theirs = await newUser(daemon, ['builtin-viewer', 'builtin-operator']);
  const { page } = await visit(t, daemon, { loggedIn: false, phone: true });
  await page.setViewportSize({ width: 390, height: 780 });
  await fillLogin(page, registrar.username);
  await openDrawer(page);
  await connected(page);
  await page.keyboard.press('Escape'); // closes the drawer
  await openPart(page, 'Users');
  await button(page, 'Add a user').press('Enter');
  await dialog(page).getByText('You can give and take away only roles whose permissions you hold yourself.').waitFor();
  assert.equal(await dialog(page).getByLabel('Administrator').count(), 0, 'a role that cannot be given is not offered');
  await focused(page, 'dialog[open] [name=username]');
  await page.keyboard.press('Escape');
  await operator.call('user.role.assign', { userId: theirs.userId, roleId });
  await page.getByRole('searchbox', { name: 'Search users' }).fill(theirs.username);
  await page.locator('.panel-row').nth(1).waitFor({ state: 'detached' });
  await button(page, `Edit ${theirs.username}`).press('Enter');
  const held = dialog(page).getByLabel('Operator');
  await held.waitFor();
  assert.deepEqual([await held.isChecked(), await held.isDisabled()], [true, true]);
  assert.equal(await dialog(page).getByLabel('Registrar').isDisabled(), false);
  assert.ok((await overflowOf(page)) <= 0, 'the form with disabled roles');
  await assertAccessible(page, 'the form with disabled roles');
  await dialog(page).getByLabel('Viewer').press('Space');
  await button(page, 'Save').press('Enter');
  await page.getByText(/· Operator, Registrar · |· Registrar, Operator · /).waitFor();
});

test('a role is defined, changed and deleted; built-in ones can only be looked at', async (t) => {
  const admin = await newUser(daemon, ['builtin-admin']);
  const page = await visitAs(t, daemon, { username: admin.username });
  await openPart(page, 'Roles');
  await button(page, 'Show Viewer').click();
  assert.equal(await dialog(page).locator('input:enabled').count(), 0);
  await assertAccessible(page, 'a built-in role');
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  await button(page, 'Define a role').click();
  await dialog(page)
    .getByLabel(/^Name \(/)
    .fill('auditor');
  await dialog(page).getByLabel('Name to show').fill('Auditor');
  await dialog(page)
    .getByLabel(/^See and verify the audit trail/)
    .check();
  await button(page, 'Define').click();
  const card = page.locator('.panel-row', { hasText: 'auditor · 2 permissions' });
  await card.waitFor();
  await button(page, 'Edit Auditor').click();
  await dialog(page)
    .getByLabel(/^Send messages/)
    .check();
  await button(page, 'Save').click();
  await page.getByText('auditor · 3 permissions').waitFor();
  await assertAccessible(page, 'roles');
  await button(page, 'Delete Auditor').click();
  await page.getByRole('alertdialog', { name: 'Delete Auditor?' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('auditor · 3 permissions').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
});

test('a tool policy is tried, added, switched, changed and deleted', async (t) => {
  const admin = await newUser(daemon, ['builtin-admin']);
  const page = await visitAs(t, daemon, { username: admin.username });
  await openPart(page, 'Tool policies');
  await page
    .getByText('No policies: the rules, the mode of the workstream, and whether a call is harmless decide.')
    .waitFor();
  await button(page, 'Add a policy').click();
  await dialog(page).getByLabel('Name', { exact: true }).fill('no machines');
  await dialog(page)
    .getByLabel(/^Tools \(/)
    .fill('node*');
  await dialog(page).getByLabel('What happens').selectOption('block the call');
  await button(page, 'Try it').click();
  await dialog(page)
    .getByRole('status')
    .getByText(/^(Of the latest \d+ calls, none|No calls of tools are stored)/)
    .waitFor();
  await assertAccessible(page, 'the form for a policy');
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('node* is blocked · priority 0').waitFor();
  await button(page, 'Disable no machines').click();
  await button(page, 'Enable no machines').waitFor();
  await button(page, 'Edit no machines').click();
  await dialog(page)
    .getByLabel(/^Priority/)
    .fill('7');
  await button(page, 'Save').click();
  await page.getByText('node* is blocked · priority 7').waitFor();
  const { policies } = await (await daemon.client()).call('policy.list', {});
  assert.deepEqual(
    policies.map(({ name, action, priority, enabled }) => [name, action, priority, enabled]),
    [['no machines', 'deny', 7, false]],
  );
  await assertAccessible(page, 'policies');
  await button(page, 'Delete no machines').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page
    .getByText('No policies: the rules, the mode of the workstream, and whether a call is harmless decide.')
    .waitFor();
});

test('the audit trail is filtered and verified, and its texts are only shown', async (t) => {
  const admin = await newUser(daemon, ['builtin-admin'], 'An <b>admin</b>');
  const page = await visitAs(t, daemon, { username: admin.username, expected: [REFUSED] });
  const operator = await daemon.client();
  await operator.call('template.create', { name: '<img src=x>', content: 'Be brief.' });
  await openPart(page, 'Audit trail');
  const rows = page.locator('.audit-event');
  await rows.filter({ hasText: '<img src=x>' }).first().waitFor();
  assert.equal(await page.locator('.audit-event img').count(), 0);
  await page.getByRole('combobox', { name: 'Action' }).selectOption('user.create');
  await rows.filter({ hasText: '<img src=x>' }).first().waitFor({ state: 'detached' });
  await rows.filter({ hasText: 'user.create' }).first().waitFor();
  await page.getByRole('combobox', { name: 'Action' }).selectOption('auth.login');
  await page.getByRole('combobox', { name: 'User' }).selectOption(admin.username);
  await page.waitForFunction(() => document.querySelectorAll('.audit-event').length === 1);
  assert.match(
    await rows.innerText(),
    new RegExp(`^auth\\.login\\s*done[\\s\\S]*by ${admin.username} from 127\\.0\\.0\\.1`),
  );
  await button(page, 'Verify').click();
  await page
    .getByRole('status')
    .getByText(/^Verified: all \d+ records are as they were written/)
    .waitFor();
  await assertAccessible(page, 'the audit trail');
});

test('everything fits on a phone, also in the dark', async (t) => {
  const admin = await newUser(daemon, ['builtin-admin'], `A very long name ${'without any end '.repeat(8)}`);
  const { page } = await visit(t, daemon, { loggedIn: false, phone: true });
  await page.setViewportSize({ width: 390, height: 780 });
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.getByLabel('Username').waitFor();
  assert.ok((await overflowOf(page)) <= 0, 'the login card');
  await assertAccessible(page, 'the login card on a phone');
  await fillLogin(page, admin.username);
  await openDrawer(page);
  await button(page, 'Account').tap();
  await heading(page, 'Account').waitFor();
  for (const part of ['My account', 'Users', 'Roles', 'Audit trail']) {
    await parts(page).getByRole('button', { name: part }).tap();
    await page.locator('.person, .panel-row, .audit-event').first().waitFor();
    assert.ok((await overflowOf(page)) <= 0, part);
    await assertAccessible(page, `${part} on a phone`);
  }
  await parts(page).getByRole('button', { name: 'Users' }).tap();
  await button(page, 'Add a user').tap();
  await dialog(page).waitFor();
  assert.ok((await overflowOf(page)) <= 0, 'the form for a user');
  await page.goBack();
  await dialog(page).waitFor({ state: 'detached' });
  await heading(page, 'Account').waitFor();
});
