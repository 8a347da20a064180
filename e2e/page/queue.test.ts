import assert from 'node:assert/strict';
import { test } from 'node:test';
import { button, hasValue, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

test('messages wait visibly in all open pages, and can be edited, moved and taken back', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'queueing');
  const { page: other } = await visit(t, daemon);
  await other.getByRole('tab', { name: /queueing/ }).click();
  const held = stall();
  model.when('first', [held, say('First.')]);
  for (const text of ['second', 'third', 'later']) model.when(text, say(`Answer to ${text}.`));
  await send(page, 'first');
  await held.reached;
  for (const text of ['second', 'thrid', 'never']) await send(page, text);
  const items = other.getByRole('list', { name: 'Waiting messages' }).getByRole('listitem');
  await items.nth(2).waitFor();

  await items.nth(2).getByRole('button', { name: 'Take back' }).click();
  await items.nth(2).waitFor({ state: 'detached' });
  await hasValue(other.getByRole('textbox', { name: 'Message', exact: true }), 'never');
  await items.nth(1).getByRole('button', { name: 'Edit waiting message' }).focus();
  await other.keyboard.press('Enter');
  await other.getByLabel('Edited message').fill('third');
  await other.keyboard.press('Control+Enter');
  await page.getByRole('list', { name: 'Waiting messages' }).getByText('third', { exact: true }).waitFor();
  await button(page, 'Send earlier').click();
  await other.getByRole('list', { name: 'Waiting messages' }).locator('li:first-child').getByText('third').waitFor();
  await page.reload();
  await page.getByRole('list', { name: 'Waiting messages' }).locator('li:nth-child(2)').getByText('second').waitFor();

  held.release();
  await page.getByText('Answer to second.').first().waitFor();
  await state(page, 'idle');
  const asked = model.requests.map(({ body }) => body.messages.at(-1)?.content);
  assert.deepEqual(asked, ['first', 'third', 'second']);
  assert.equal(await page.getByRole('list', { name: 'Waiting messages' }).count(), 0);
});
