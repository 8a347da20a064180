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
  await page.locator('.answer', { hasText: 'First.' }).waitFor();
  await send(page, 'second');
  await page.locator('.answer', { hasText: 'Second.' }).waitFor();
  await state(page, 'idle');

  model.when('second', say('Better.'));
  await button(page, 'Answer again').click();
  await other.locator('.answer', { hasText: 'Better.' }).waitFor();
  await state(page, 'idle');
  assert.deepEqual(await blocksOf(other), await blocksOf(page));

  model.when('third', say('Third.'));
  await button(page, 'Edit and send again').first().focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Edited message').fill('third');
  await page.keyboard.press('Control+Enter');
  await other.locator('.answer', { hasText: 'Third.' }).waitFor();
  await state(page, 'idle');
  const edited = await blocksOf(page);
  assert.deepEqual([edited.length, await other.locator('.answer', { hasText: 'Better.' }).count()], [2, 0]);
  await page.reload();
  await page.locator('.answer', { hasText: 'Third.' }).waitFor();
  assert.deepEqual(await blocksOf(page), edited);

  model.when('poison', fail(400));
  await send(page, 'poison');
  await button(page, 'Remove').click();
  await page.getByText('poison').waitFor({ state: 'detached' });
  assert.deepEqual(await blocksOf(page), edited);

  await button(page, 'Continue in a copy').click();
  await page.getByRole('tab', { selected: true, name: /third|ws-/ }).waitFor();
  await page.locator('.answer', { hasText: 'Third.' }).waitFor();
});

test('on a phone, the actions of a message open on a tap, are large enough for a finger, and cover nothing before', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await openWorkstream(page, 'by touch');
  model.when('tap', say('Tapped.'));
  await send(page, 'tap');
  await page.locator('.answer', { hasText: 'Tapped.' }).waitFor();
  await state(page, 'idle');
  const again = button(page, 'Answer again');
  assert.equal(await again.isVisible(), false);
  await button(page, 'What to do with this message').tap();
  const box = await again.boundingBox();
  assert.ok(box && box.width >= 44 && box.height >= 44, JSON.stringify(box));
  await page.keyboard.press('Escape');
  await again.waitFor({ state: 'hidden' });
  await button(page, 'What to do with this message').tap();
  model.when('tap', say('Tapped again.'));
  await again.tap();
  await page.locator('.answer', { hasText: 'Tapped again.' }).waitFor();
  await again.waitFor({ state: 'hidden' });
});
