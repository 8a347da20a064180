import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { button, hasValue, openWorkstream, send, state, visit, visitAgain } from '../support/clients/browser.ts';
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

const pickersOf = (page: Page): [model: Locator, effort: Locator] => [
  page.getByLabel('Model', { exact: true }),
  page.getByLabel('Effort'),
];
const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));

/** Whether the list is as wide as its chosen words. */
const isWhole = (list: Locator) =>
  list.evaluate((select: HTMLSelectElement) => {
    const copy = document.createElement('select');
    copy.append(new Option(select.selectedOptions[0]?.text));
    select.parentElement?.append(copy);
    copy.style.cssText = 'position: absolute; max-width: none;';
    const wantedPx = copy.getBoundingClientRect().width;
    copy.remove();
    return select.getBoundingClientRect().width >= wantedPx - 1;
  });

test('model and effort are chosen next to the message field, with names and windows, in all open pages', async (t) => {
  const { page } = await visitAgain(t, daemon);
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

test('on the desk, model and effort are chosen with the keys only', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'keys');
  const { page: other } = await visit(t, daemon);
  await other.getByRole('tab', { name: /keys/ }).click();
  await other.getByRole('heading', { name: 'keys', level: 1 }).waitFor();
  const [model, effort] = pickersOf(page);
  const [otherModel, otherEffort] = pickersOf(other);
  await page.waitForFunction(() => document.activeElement?.id === 'message');
  const goTo = async (label: string) => {
    for (let presses = 0; presses < 5 && (await focused(page)) !== label; presses += 1)
      await page.keyboard.press('Tab');
    assert.equal(await focused(page), label);
  };
  await goTo('Model');
  await model.locator('option[value=quick]').waitFor({ state: 'attached' });
  // Lists jump to what is typed. One letter, because a list forgets the letters before when its options are read again.
  await page.keyboard.press('q');
  await hasValue(otherModel, 'quick');
  await page.keyboard.press('ArrowUp');
  await hasValue(otherModel, 'careful');
  await goTo('Effort');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await hasValue(otherEffort, 'high');
  await page.keyboard.press('ArrowUp');
  await hasValue(otherEffort, 'medium');
  await hasValue(effort, 'medium');
  await hasValue(model, 'careful');
  assert.equal(await focused(page), 'Effort', 'the focus stays');
});

test('on a phone, model and effort are chosen by touch, and the names and windows are shown whole', async (t) => {
  const { page } = await visitAgain(t, daemon, { phone: true });
  const wsId = await openWorkstream(page, 'by touch');
  const [picker, effort] = pickersOf(page);
  for (const list of [picker, effort]) {
    await list.tap();
    const box = await list.boundingBox();
    assert.ok(box && box.width >= 44 && box.height >= 44, JSON.stringify(box));
  }
  for (const [alias, level] of [
    ['careful', 'high'],
    ['quick', 'medium'],
  ] as const) {
    await picker.selectOption(alias); // the list itself is drawn by the system
    await effort.selectOption(level);
    await hasValue(picker, alias);
    await hasValue(effort, level);
    assert.deepEqual([await isWhole(picker), await isWhole(effort)], [true, true], alias);
  }
  const isStored = async () => {
    const { snapshot } = await (await daemon.client()).call('workstream.get', { wsId });
    return [snapshot.workstream.modelAlias, snapshot.effort];
  };
  await page.reload();
  await hasValue(effort, 'medium');
  assert.deepEqual(await isStored(), ['quick', 'medium']);
  model.when('hello', say('Quickly.'));
  await page.getByRole('textbox', { name: 'Message' }).fill('hello');
  await button(page, 'Send').tap();
  await page.locator('.answer', { hasText: 'Quickly.' }).waitFor();
  assert.equal(model.requests.at(-1)?.body.model, 'quick-8b');
});

test('a model that the daemon no longer knows leaves the choice as it was', async (t) => {
  const { page } = await visitAgain(t, daemon);
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
