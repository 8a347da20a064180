import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, button, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { fail, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

test('a message can be answered again, edited, copied with its conversation, and removed, in all open pages', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'taking back');
  const { page: other } = await visit(t, daemon);
  await other.getByRole('tab', { name: /taking back/ }).click();
  model.when('first', say('First.'));
  model.when('second', say('Second.'));
  await send(page, 'first');
  await page.getByText('First.').waitFor();
  await send(page, 'second');
  await page.getByText('Second.').waitFor();
  await state(page, 'idle');

  model.when('second', say('Better.'));
  await button(page, 'Answer again').click();
  await other.getByText('Better.').waitFor();
  await state(page, 'idle');
  assert.deepEqual(await blocksOf(other), await blocksOf(page));

  model.when('third', say('Third.'));
  await button(page, 'Edit and send again').first().focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Edited message').fill('third');
  await page.keyboard.press('Control+Enter');
  await other.getByText('Third.').waitFor();
  await state(page, 'idle');
  const edited = await blocksOf(page);
  assert.deepEqual([edited.length, await other.getByText('Better.').count()], [2, 0]);
  await page.reload();
  await page.getByText('Third.').waitFor();
  assert.deepEqual(await blocksOf(page), edited);

  model.when('poison', fail(400));
  await send(page, 'poison');
  await button(page, 'Remove').click();
  await page.getByText('poison').waitFor({ state: 'detached' });
  assert.deepEqual(await blocksOf(page), edited);

  await button(page, 'Continue in a copy').click();
  await page.getByRole('tab', { selected: true, name: /third|ws-/ }).waitFor();
  await page.getByText('Third.').waitFor();
});
