import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { newUser, visitAs } from '../support/clients/accounts.ts';
import { button } from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

test('an owner hides a workstream from others and shows it again, and every open page follows at once', async (t) => {
  const [ada, bob] = [await newUser(daemon, ['builtin-operator']), await newUser(daemon, ['builtin-operator'])];
  const own = await visitAs(t, daemon, { username: ada.username });
  const other = await visitAs(t, daemon, { username: bob.username });
  await button(own, 'New workstream').click();
  await own.getByRole('dialog', { name: 'New workstream' }).waitFor();
  await own.keyboard.type('garden');
  await own.keyboard.press('Enter');
  const [tab, shown] = [own.getByRole('tab', { name: /garden/ }), other.getByRole('tab', { name: /garden/ })];
  await shown.click();
  assert.equal(await other.getByLabel(/^Who sees this/).count(), 0, 'only its owner chooses');

  await own.getByLabel('Who sees this: everyone here').press('Enter');
  await assertAccessible(own, 'the menu that says who sees a workstream');
  await button(own, 'Only me').click();
  await tab.getByText('private').waitFor();
  await shown.waitFor({ state: 'detached' });
  await button(other, 'Saved conversations').click();
  assert.equal(await other.getByRole('dialog').getByText('garden').count(), 0);
  await other.keyboard.press('Escape');

  await own.getByLabel('Who sees this: only me').press('Enter');
  await button(own, 'Everyone here').click();
  await shown.waitFor();
  assert.equal(await tab.getByText('private').count(), 0);
});
