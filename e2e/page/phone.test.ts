import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  addWorkstream,
  button,
  hasValue,
  openDrawer,
  openWorkstream,
  send,
  state,
  visit,
} from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const FINGER_PX = 44;

/** All controls that are too small for a finger. */
const tooSmall = (page: Page) =>
  page.evaluate((least) => {
    const targets = [...document.querySelectorAll('button, input, select, textarea, summary, a[href]')];
    const seen = targets.filter((target) => target.checkVisibility({ visibilityProperty: true }));
    return seen.flatMap((target) => {
      const { width, height } = target.getBoundingClientRect();
      const isBigEnough = Math.round(width) >= least && Math.round(height) >= least; // sliding elements can be off by a fraction of a pixel
      const isInText = target.matches('.answer a'); // a link in a sentence is as high as its line
      return isInText || isBigEnough ? [] : [`${target.outerHTML.slice(0, 90)} ${width}×${height}`];
    });
  }, FINGER_PX);

/** How far the page can be scrolled sideways. */
const overflowOf = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

const isInView = (page: Page, selector: string) =>
  page.locator(selector).evaluate((element) => {
    const { top, bottom, left, right } = element.getBoundingClientRect();
    return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
  });

test('a whole task works with one thumb: workstream, message, approval and the way back', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await addWorkstream(page, 'thumb');
  assert.deepEqual(await tooSmall(page), []);
  const wide = 'a-very-long-word-that-fits-nowhere-'.repeat(8);
  const command = `echo ${wide} | tee wide`;
  model.when('wide', callTools({ name: 'bash', arguments: { command } }), say(`\`\`\`\n${wide}\n\`\`\`\n\n${wide}`));
  await page.getByRole('textbox', { name: 'Message' }).fill(`wide ${wide}`);
  await button(page, 'Send').tap();
  await page.locator('.approval.pending').waitFor();
  for (const name of ['Approve', 'Deny…', 'Always allow…', 'Stop']) await button(page, name).tap({ trial: true });
  assert.deepEqual(await tooSmall(page), []);
  assert.equal(await overflowOf(page), 0);
  await button(page, 'Deny…').tap();
  assert.deepEqual(await tooSmall(page), []);
  await button(page, 'Back').tap();
  await button(page, 'Approve').tap();
  await page.locator('.answer', { hasText: wide }).waitFor();
  await state(page, 'idle');
  assert.equal(await overflowOf(page), 0);
  assert.deepEqual(await tooSmall(page), []);
  assert.equal(await isInView(page, '.composer-box'), true);
});

test('a question does not move the composer; model and effort are behind a button until the run has ended', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await openWorkstream(page, 'folds');
  const [picker, effort] = [page.locator('.model-picker'), page.getByLabel('Effort')];
  const field = page.getByRole('textbox', { name: 'Message' });
  await picker.waitFor();
  const rest = stall();
  model.when(
    'fold',
    [say('One moment.'), rest, callTools({ name: 'bash', arguments: { command: 'touch it' } })],
    say('Done.'),
  );
  await field.fill('fold');
  await button(page, 'Send').tap();
  await page.locator('.answer', { hasText: 'One moment.' }).waitFor();
  await picker.waitFor({ state: 'hidden' });
  const before = await page.locator('.composer-box').boundingBox();
  rest.release();
  await page.locator('.approval.pending').waitFor();
  assert.deepEqual(await page.locator('.composer-box').boundingBox(), before);
  const settings = button(page, 'Model settings');
  await settings.tap();
  await effort.selectOption('high');
  await hasValue(effort, 'high');
  assert.deepEqual(await tooSmall(page), []);
  for (const name of ['Approve', 'Stop']) await button(page, name).tap({ trial: true });
  await effort.focus();
  await settings.evaluate((element: HTMLElement) => element.click());
  await picker.waitFor({ state: 'hidden' });
  assert.equal(await settings.evaluate((element) => document.activeElement === element), true, 'the focus is not lost');
  await button(page, 'Approve').tap();
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
  await state(page, 'idle');
  await picker.waitFor();
  assert.deepEqual([await effort.inputValue(), await settings.isVisible()], ['high', false]);
});

test('the drawer lists the workstreams, traps the focus, and closes on a choice, on a tap outside and on Escape', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await openWorkstream(page, 'left');
  await openWorkstream(page, 'right');
  const rail = page.locator('.rail');
  await rail.waitFor({ state: 'hidden' });
  await openDrawer(page);
  await page.getByRole('tab', { name: 'right', selected: true }).waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'tab');
  const isReached = await page.locator('#message').evaluate((field) => {
    field.focus();
    return document.activeElement === field;
  });
  assert.equal(isReached, false, 'elements below the drawer cannot be clicked');
  assert.deepEqual(await tooSmall(page), []);
  for (const name of ['New workstream', 'Saved conversations', 'Log out'])
    await button(page, name).tap({ trial: true });
  await page.getByRole('tab', { name: 'left' }).tap();
  await rail.waitFor({ state: 'hidden' });
  await page.getByRole('heading', { name: 'left', level: 1 }).waitFor();
  await openDrawer(page);
  await rail.waitFor();
  await page.touchscreen.tap(350, 400);
  await rail.waitFor({ state: 'hidden' });
  await openDrawer(page);
  await rail.waitFor();
  await page.keyboard.press('Escape');
  await rail.waitFor({ state: 'hidden' });
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Workstreams');
});

test('a view closes with its close button, with Escape from any focus, and with Back, which leaves the page last', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  const shows = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  const open = async (name: string) => {
    await openDrawer(page);
    await button(page, name).tap();
    await shows(name);
  };
  await openWorkstream(page, 'home');
  for (const view of ['Schedule', 'Nodes']) {
    await open(view);
    assert.deepEqual(await tooSmall(page), []);
    await page.locator('.panel').getByRole('button', { name: 'Back to the conversation' }).tap();
    await shows('home');
    await open(view);
    await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
    await page.keyboard.press('Escape');
    await shows('home');
  }
  await open('Schedule');
  await button(page, 'Add a job').tap();
  await page.getByRole('dialog', { name: 'Add a job' }).waitFor();
  await page.goBack();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await shows('Schedule');
  await openDrawer(page);
  await page.goBack();
  await page.locator('.rail').waitFor({ state: 'hidden' });
  await shows('Schedule');
  await page.goBack();
  await shows('home');
  await page.goBack();
  await page.waitForURL('about:blank');
});

test('the menu to export a conversation is within the screen, wherever the name ends', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  for (const name of ['a', 'a conversation with a name that fills the bar']) {
    await openWorkstream(page, name);
    model.when('keep it', say('Kept.'));
    await send(page, 'keep it');
    await page.locator('.answer', { hasText: 'Kept.' }).waitFor();
    await page.locator('summary[aria-label="Export"]').tap();
    await page.getByRole('link', { name: 'As a file to import' }).waitFor();
    assert.deepEqual([await isInView(page, '.head-menu[open] ul'), await tooSmall(page)], [true, []]);
  }
});

test('the button that copies an output does not cover any of its lines', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await openWorkstream(page, 'copies');
  model.when(
    'print it',
    callTools({ name: 'bash', arguments: { command: 'seq -s " " 1 60 | tee numbers' } }),
    say('Printed.'),
  );
  await send(page, 'print it');
  await button(page, 'Approve').tap();
  await page.locator('.answer', { hasText: 'Printed.' }).waitFor();
  const output = await page.locator('.output').boundingBox();
  const copy = await page.locator('.output-tools').getByRole('button', { name: 'Copy' }).boundingBox();
  assert.ok(output && copy && copy.y >= output.y + output.height, 'the copy button is below the output');
});

test('an approval in another workstream is shown on the button of the drawer', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await openWorkstream(page, 'asks');
  model.when('ask me', callTools({ name: 'bash', arguments: { command: 'echo asked | tee asked' } }), say('Thanks.'));
  await send(page, 'ask me');
  await page.locator('.approval.pending').waitFor();
  await openWorkstream(page, 'elsewhere');
  await button(page, 'Workstreams; one waits for you').tap();
  await page.getByRole('tab', { name: /asks/ }).first().tap();
  await button(page, 'Approve').tap();
  await page.locator('.answer', { hasText: 'Thanks.' }).waitFor();
});

test('the composer and the end of the conversation stay visible above an on-screen keyboard', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await openWorkstream(page, 'glass');
  model.when('at length', say('A line.\n\n'.repeat(40), 'The end.'));
  await send(page, 'at length');
  await state(page, 'idle');
  await page.setViewportSize({ width: 360, height: 400 });
  await page.waitForFunction(() => document.querySelector('.desk')?.clientHeight === 400);
  assert.equal(await isInView(page, '.composer-box'), true);
  await page.locator('.answer').getByText('The end.').scrollIntoViewIfNeeded();
  assert.equal(await isInView(page, '.composer-box'), true);
  assert.equal(await page.evaluate(() => scrollY), 0, 'the page itself does not scroll');
});

test('dialogs fit on a phone, and the list of saved conversations scrolls within its dialog', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await openWorkstream(page, 'fits');
  model.when('fit in', say('It fits.'));
  await send(page, 'fit in');
  await page.locator('.answer', { hasText: 'It fits.' }).waitFor();
  await button(page, 'Start a new workstream').tap();
  assert.deepEqual([await isInView(page, 'dialog'), await tooSmall(page)], [true, []]);
  await button(page, 'Close').tap();
  await openDrawer(page);
  await button(page, 'Saved conversations').tap();
  await page.locator('.saved-row').first().waitFor();
  assert.deepEqual([await isInView(page, 'dialog'), await tooSmall(page)], [true, []]);
  assert.equal(await overflowOf(page), 0);
});

test('when a phone with an open drawer is turned, the list is beside the conversation', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await openDrawer(page);
  await page.locator('.drawn .rail').waitFor();
  await page.setViewportSize({ width: 844, height: 390 });
  await page.locator('.drawn').waitFor({ state: 'detached' });
  await page.waitForFunction(() => {
    const [rail, stage] = ['.rail', '.stage'].map((name) => document.querySelector(name)?.getBoundingClientRect());
    return rail && stage && rail.width > 0 && rail.left === 0 && stage.top === rail.top && stage.left === rail.right;
  });
  await page.getByRole('textbox', { name: 'Message' }).fill('it can be used');
});
