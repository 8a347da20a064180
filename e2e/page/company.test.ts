import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newUser, visitAs } from '../support/clients/accounts.ts';
import { blocksOf, button, openWorkstream, send, state } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

test('two people in one workstream see each other, and who decided, at once and after a reload', async (t) => {
  const [ada, bob] = [
    await newUser(daemon, ['builtin-operator'], 'Ada Lovelace'),
    await newUser(daemon, ['builtin-admin'], 'Bob <b>'),
  ];
  const own = await visitAs(t, daemon, { username: ada.username });
  const other = await visitAs(t, daemon, { username: bob.username });
  await openWorkstream(own, 'shared work');
  assert.equal(await own.getByText('Also here').count(), 0, 'nobody else sees it yet');
  await other.getByRole('tab', { name: 'shared work' }).click();
  await own.getByTitle('Also here: Bob <b>').waitFor();
  await other.getByTitle('Also here: Ada Lovelace').waitFor();

  model.when('both', callTools({ name: 'bash', arguments: { command: 'echo both | tee both' } }), say('Decided.'));
  await send(own, 'both');
  await own.locator('.approval.pending').waitFor();
  await button(other, 'Deny…').click();
  const feedback = other.getByLabel('What should it do instead? (optional)');
  await feedback.pressSequentially('not now');
  await feedback.press('Enter');
  for (const page of [own, other]) {
    await page.locator('.answer', { hasText: 'Decided.' }).waitFor();
    await state(page, 'idle');
  }
  const decision = async (page: typeof own) => (await blocksOf(page)).find((block) => block.startsWith('Denied'));
  const told = { own: 'Denied: bash · Bob <b>not now', other: 'Denied: bashnot now' };
  await own.locator('.outcome', { hasText: 'Bob' }).waitFor();
  assert.deepEqual({ own: await decision(own), other: await decision(other) }, told);
  await own.reload();
  await own.locator('.outcome', { hasText: 'Bob' }).waitFor();
  assert.deepEqual({ own: await decision(own), other: await decision(other) }, told);

  await other.close();
  await own.getByTitle('Also here: Bob <b>').waitFor({ state: 'detached' });
});
