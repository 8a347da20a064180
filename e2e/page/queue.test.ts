import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { blocksOf, button, hasValue, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

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

  // By keys: the message keeps the focus, its place is announced, and the workstream stays the same.
  await items.nth(0).focus();
  await other.keyboard.press('Alt+ArrowDown');
  await other.keyboard.press('Alt+ArrowDown');
  await other.getByRole('status').getByText('Moved to 3 of 3.').waitFor();
  await other.keyboard.press('Alt+ArrowDown');
  await other.getByRole('status').getByText('It stays 3 of 3.').waitFor();
  await other.waitForFunction(() => document.activeElement?.textContent?.startsWith('second'));
  const order = page.getByRole('list', { name: 'Waiting messages' }).locator('.queue-text');
  await shows(order, ['thrid', 'never', 'second']);
  // By dragging, which Escape ends.
  await drag(page, { from: 2, to: 0 });
  await page.keyboard.press('Escape');
  await page.mouse.up();
  assert.deepEqual(await order.allInnerTexts(), ['thrid', 'never', 'second']);
  await drag(page, { from: 2, to: 0 });
  await page.mouse.up();
  await page.getByRole('status').getByText('Moved to 1 of 3.').waitFor();
  await shows(items.locator('.queue-text'), ['second', 'thrid', 'never']);
  await assertAccessible(other, 'waiting messages');
  // A message that is taken back while it is dragged.
  await send(page, 'gone');
  await items.nth(3).waitFor();
  await drag(other, { from: 3, to: 1 });
  await page.getByRole('list', { name: 'Waiting messages' }).getByRole('button', { name: 'Take back' }).nth(3).click();
  await other.getByRole('alert').getByText('That message no longer waits: it was sent or taken back').waitFor();
  await other.mouse.up();
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('');
  await shows(items.locator('.queue-text'), ['second', 'thrid', 'never']);

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

test('an image without words that is taken back is in the composer again, and can be sent', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'images');
  const held = stall();
  model.when('work', [held, say('Done.')]);
  await send(page, 'work');
  await held.reached;
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'shot.png', mimeType: 'image/png', buffer: png });
  await page.locator('.chip-name', { hasText: 'shot.png' }).waitFor();
  await button(page, 'Send').click();
  const waiting = page.getByRole('list', { name: 'Waiting messages' });
  await waiting.getByText('+ shot.png').waitFor();
  await waiting.getByRole('button', { name: 'Take back' }).click();
  await waiting.waitFor({ state: 'detached' });
  await page.locator('.chip-name', { hasText: 'shot.png' }).waitFor();
  model.when('look', say('I see.'));
  await send(page, 'look');
  await waiting.getByText('look + shot.png').waitFor();
  held.release();
  await page.getByText('I see.').first().waitFor();
});

const shows = async (texts: Locator, wanted: readonly string[]) => {
  for (const [place, text] of wanted.entries()) await texts.nth(place).getByText(text, { exact: true }).waitFor();
  assert.equal(await texts.count(), wanted.length);
};

/** Presses the grip of one message and moves it to the place of another. Places count from 0. */
async function drag(page: Page, { from, to }: { from: number; to: number }): Promise<void> {
  const grips = page.locator('.queue-grip');
  const [start, end] = await Promise.all([from, to].map((place) => grips.nth(place).boundingBox()));
  assert.ok(start && end);
  await page.mouse.move(start.x + 5, start.y + start.height / 2);
  await page.mouse.down();
  await page.mouse.move(start.x + 5, end.y + (from > to ? 1 : end.height - 1), { steps: 3 });
  await page.locator('.drop-before, .drop-after').waitFor();
}

test('a waiting message steers the run with a click, and a new one with Ctrl+Enter', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'steering');
  const { page: other } = await visit(t, daemon);
  await other.getByRole('tab', { name: /steering/ }).click();
  const held = stall();
  model.when('survey', [held, callTools({ name: 'list_directory', arguments: {} })]);
  model.when('shorter', say('In short.'));
  model.when('afterwards', say('Last.'));
  await send(page, 'survey');
  await held.reached;
  for (const text of ['afterwards', 'be brief']) await send(page, text);
  const items = other.getByRole('list', { name: 'Waiting messages' }).getByRole('listitem');
  await items.nth(1).getByRole('button', { name: 'Steer with this message' }).click();
  await items.nth(0).getByText('be brief').waitFor();
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('and shorter');
  await page.keyboard.press('Control+Enter');
  await items.nth(1).getByText('and shorter').waitFor();
  assert.deepEqual(await items.allInnerTexts(), [
    'Before the next step\nbe brief',
    'Before the next step\nand shorter',
    'afterwards',
  ]);

  held.release();
  await other.locator('.answer', { hasText: 'Last.' }).waitFor();
  await state(other, 'idle');
  const shown = await blocksOf(other);
  const places = ['survey', 'be brief', 'and shorter', 'In short.', 'afterwards', 'Last.'];
  assert.deepEqual(shown.filter((text) => places.some((place) => text.includes(place))).length, places.length);
  await page.locator('.answer', { hasText: 'Last.' }).waitFor();
  await state(page, 'idle');
  await page.reload();
  await page.locator('.answer', { hasText: 'Last.' }).waitFor();
  await page.locator('.block.user', { hasText: 'survey' }).waitFor(); // blocks far from the end are drawn last
  const questions = (await blocksOf(page)).filter((text) => text.startsWith('You:'));
  assert.deepEqual(
    questions.map((text) => places.find((place) => text.includes(place))),
    ['survey', 'be brief', 'and shorter', 'afterwards'],
  );
});

test('on a phone, waiting messages are changed with a finger, and nothing is covered', async (t) => {
  const { page } = await visit(t, daemon, { phone: true });
  await openWorkstream(page, 'queue by touch');
  const held = stall();
  model.when('hold', [held, say('Held.')]);
  for (const text of ['walrus', 'otter']) model.when(text, say(`About the ${text}.`));
  const write = async (text: string) => {
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill(text);
    await button(page, 'Send').tap();
    await page.getByRole('textbox', { name: 'Message', exact: true }).and(page.locator(':placeholder-shown')).waitFor();
  };
  await write('hold');
  await held.reached;
  for (const text of ['walrus', 'otter', 'never']) await write(text);
  const items = page.getByRole('list', { name: 'Waiting messages' }).getByRole('listitem');
  await items.nth(2).waitFor();
  for (const control of await items.getByRole('button').all()) {
    await control.scrollIntoViewIfNeeded();
    const box = await control.boundingBox();
    assert.ok(
      box && box.width >= 44 && box.height >= 44,
      `${await control.getAttribute('aria-label')}: ${JSON.stringify(box)}`,
    );
    await control.tap({ trial: true });
  }
  assert.deepEqual(
    await items.nth(1).getByRole('button').allInnerTexts(),
    ['Steer', 'Earlier', 'Later', 'Edit', 'Take back'],
    'titles are not shown on a touch screen, so the words are',
  );
  const box = await page.locator('.composer-box').boundingBox();
  assert.ok(box && box.y + box.height <= (page.viewportSize()?.height ?? 0), JSON.stringify(box));
  await items.nth(2).getByRole('button', { name: 'Take back' }).tap();
  await items.nth(2).waitFor({ state: 'detached' });
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('');
  await items.nth(1).getByRole('button', { name: 'Send earlier' }).tap();
  await items.nth(0).getByText('otter').waitFor();
  const [walrus, otter] = await Promise.all(
    [1, 0].map((place) => page.locator('.queue-grip').nth(place).boundingBox()),
  );
  assert.ok(walrus && otter && walrus.width >= 44 && walrus.height >= 44);
  const touch = await page.context().newCDPSession(page);
  const [x, y] = [walrus.x + 20, walrus.y + 20];
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
  for (const at of [y - 10, otter.y + 10, otter.y])
    await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x, y: at }] });
  await page.locator('.drop-before').waitFor();
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await items.nth(0).getByText('walrus').waitFor();
  // Taps would be the second of a double tap for the browser, on a quick machine, after the touches that were sent to it directly.
  await items.nth(1).getByRole('button', { name: 'Send earlier' }).click();
  await items.nth(0).getByText('otter').waitFor();
  await items.nth(1).getByRole('button', { name: 'Steer with this message' }).click();
  await items.nth(0).getByText('walrus').waitFor();
  held.release();
  await page.locator('.answer', { hasText: 'About the otter.' }).waitFor();
  await state(page, 'idle');
  const told = model.requests.at(-1)?.body.messages ?? [];
  assert.deepEqual(
    told.filter(({ role }) => role === 'user').map(({ content }) => content),
    ['hold', 'walrus', 'otter'],
  );
});
