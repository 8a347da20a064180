import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { button, hasValue, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const editor = (page: Page) => page.getByRole('textbox', { name: 'Edited message' });
const scrollTo = (page: Page, where: 'start' | 'end') =>
  page
    .locator('.transcript')
    .evaluate(
      (view, top) => view.scrollTo({ top: top ? 0 : view.scrollHeight, behavior: 'instant' }),
      where === 'start',
    );

test('the text of an edited message stays while it is scrolled away and in another workstream, and takes no focus', async (t) => {
  const { page } = await visit(t, daemon);
  const lines = Array.from({ length: 300 }, (_, index) => `Line ${index} of the answer.\n\n`);
  model.when('a long story', say(...lines));
  model.when('the end', say('Done.'));
  await openWorkstream(page, 'edited');
  await send(page, 'a long story');
  await state(page, 'idle');
  await send(page, 'the end');
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
  await state(page, 'idle');
  await scrollTo(page, 'start');
  await page.locator('.block.user', { hasText: 'a long story' }).hover();
  await button(page, 'Edit and send again').first().click();
  await editor(page).fill('a longer story');
  await scrollTo(page, 'end');
  await editor(page).waitFor({ state: 'detached' });
  await page.getByRole('textbox', { name: 'Message', exact: true }).focus();
  await scrollTo(page, 'start');
  await hasValue(editor(page), 'a longer story');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Message');
  await openWorkstream(page, 'elsewhere');
  await page.getByRole('tab', { name: 'edited' }).click();
  await editor(page).waitFor({ state: 'detached' });
  await scrollTo(page, 'start');
  await hasValue(editor(page), 'a longer story');
  await editor(page).press('Escape');
  await editor(page).waitFor({ state: 'detached' });
});

test('the reason of a denial and the text of a waiting message stay while another workstream is shown', async (t) => {
  const { page } = await visit(t, daemon);
  model.when('ask me', callTools({ name: 'bash', arguments: { command: 'touch asked' } }), say('Done.'));
  await openWorkstream(page, 'asked');
  await send(page, 'ask me');
  await page.locator('.approval.pending').getByRole('button', { name: 'Deny…' }).click();
  const reason = page.getByRole('textbox', { name: /^What should it do instead/ });
  await reason.fill('use another');
  await openWorkstream(page, 'queued');
  await reason.waitFor({ state: 'detached' });
  const held = stall();
  model.when('hold', [held, say('Held.')]);
  await send(page, 'hold');
  await held.reached;
  await send(page, 'later');
  await button(page, 'Edit waiting message').click();
  await editor(page).fill('much later');
  await page.getByRole('tab', { name: 'asked' }).click();
  await hasValue(reason, 'use another');
  await page.getByRole('tab', { name: 'queued' }).click();
  await hasValue(editor(page), 'much later');
  await page.getByRole('tab', { name: 'asked' }).click();
  await reason.press('Enter');
  await page.locator('.outcome', { hasText: 'use another' }).waitFor();
});
