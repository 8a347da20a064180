import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { hasValue, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const settings = { provider: 'openai-compatible', baseUrl: model.url, apiKey: 'k' };
await writeFile(
  path.join(daemon.home, 'config.json'),
  JSON.stringify({
    models: {
      careful: { ...settings, model: 'careful-70b', contextWindow: 200_000 },
      quick: { ...settings, model: 'quick-8b', contextWindow: 32_000 },
    },
  }),
);
await daemon.restart();

test('model and effort are chosen next to the message field, with names and windows, in all open pages', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'choices');
  const { page: other } = await visit(t, daemon);
  await other.getByRole('tab', { name: /choices/ }).click();
  const picker = page.getByLabel('Model', { exact: true });
  await picker.focus();
  await page.locator('option[value=careful]').waitFor({ state: 'attached' });
  const words = await picker.locator('option').allInnerTexts();
  assert.ok(words.includes('careful-70b (careful) · 200k') && words.includes('quick-8b (quick) · 32k'), words.join());

  await picker.selectOption('careful');
  await page.getByLabel('Effort').selectOption('high');
  await other.waitForFunction(() => document.querySelector<HTMLSelectElement>('[aria-label=Effort]')?.value === 'high');
  await hasValue(other.getByLabel('Model', { exact: true }), 'careful');
  model.when('hello', say('Carefully.'));
  await send(page, 'hello');
  await page.locator('.answer', { hasText: 'Carefully.' }).waitFor();
  await state(page, 'idle');
  const asked = model.requests.at(-1)?.body;
  assert.equal(asked?.model, 'careful-70b');

  await page.reload();
  await page.waitForFunction(() => document.querySelector<HTMLSelectElement>('[aria-label=Effort]')?.value === 'high');
  await page.getByLabel('Effort').focus();
  await page.keyboard.press('ArrowUp');
  await other.waitForFunction(
    () => document.querySelector<HTMLSelectElement>('[aria-label=Effort]')?.value === 'medium',
  );
});

test('a model that the daemon no longer knows leaves the choice as it was', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'refused');
  const picker = page.getByLabel('Model', { exact: true });
  const before = await picker.inputValue();
  await picker.evaluate((select: HTMLSelectElement) => {
    select.append(new Option('gone', 'gone'));
    select.value = 'gone';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await page.locator('.composer .problem', { hasText: 'gone' }).waitFor();
  await hasValue(picker, before);
});
