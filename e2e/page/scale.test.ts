import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { button, send, state, visit } from '../support/clients/browser.ts';
import { scrollThrough, watchPage } from '../support/clients/page-watch.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { storeLongConversation } from '../support/model/long-conversation.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const MESSAGES = 2_000;
/** Of the longest conversation; the others show the same with fewer. */
const MOST_MESSAGES = 10_000;
const MAX_BLOCKS = 200;

const folder = await mkdtemp(path.join(tmpdir(), 'headgate-scale-'));
const home = path.join(folder, 'home');
await storeLongConversation(home, 'long', MESSAGES);
await storeLongConversation(home, 'huge', MOST_MESSAGES);
const model = await startScriptedModel();
const daemon = await startDaemon({ home, model: model.url });
after(async () => {
  await daemon[Symbol.asyncDispose]();
  await model.close();
  await rm(folder, { recursive: true });
});

async function open(page: Page, name = 'long'): Promise<void> {
  await page.getByRole('tab', { name }).click();
  await page.locator('.answer').last().waitFor();
}

/** The position of an element in the view, in pixels. */
const topOf = (page: Page, text: string) =>
  page.getByRole('heading', { name: text, exact: true }).evaluate((element) => element.getBoundingClientRect().top);

test('a conversation of 10 000 messages opens at its end and can be scrolled to its start and back, with few of them in the document', async (t) => {
  const { page } = await visit(t, daemon);
  const watch = await watchPage(page);
  await page.reload();
  await open(page, 'huge');
  await page.getByRole('heading', { name: `Answer ${MOST_MESSAGES / 4}`, exact: true }).waitFor();
  await scrollThrough(page, -5_000);
  await page.locator('.block.user', { hasText: 'question 1:' }).waitFor();
  await scrollThrough(page, 30_000);
  await page.getByRole('heading', { name: `Answer ${MOST_MESSAGES / 4}`, exact: true }).waitFor();
  const { blocks, ...times } = await watch.look();
  t.diagnostic(`at most ${blocks} blocks; ${JSON.stringify(times)}`);
  assert.ok(blocks <= MAX_BLOCKS, `${blocks} blocks were in the document`);
});

test('each question and answer appears once and in order, regardless of the loading order', async (t) => {
  const { page } = await visit(t, daemon);
  await open(page);
  await scrollThrough(page, -5_000);
  const seen: number[] = [];
  for (let top = 0; top < 20_000; top += 300) {
    await scrollTo(page, top);
    const texts = await page.locator('.block.user').allTextContents();
    const numbers = texts.map((text) => Number(/question (\d+)/.exec(text)?.[1]));
    seen.push(...numbers.filter((number) => number > (seen.at(-1) ?? 0)));
  }
  assert.ok(seen.length > 20, `${seen.length} questions`);
  assert.deepEqual(
    seen,
    Array.from({ length: seen.length }, (_, index) => index + 1),
  );
});

test('keys still scroll after the focused card has been removed from the document', async (t) => {
  const { page } = await visit(t, daemon);
  await open(page);
  const card = page.locator('.tool-head').last();
  await card.focus();
  await page.evaluate(async () => {
    const view = document.querySelector('.transcript');
    for (let step = 0; view && step < 40; step += 1) {
      view.scrollTop -= 800;
      await new Promise(requestAnimationFrame);
    }
  });
  await page.waitForFunction(() => document.activeElement?.classList.contains('transcript'));
  const at = () => page.locator('.transcript').evaluate((view) => view.scrollTop);
  const before = await at();
  await page.keyboard.press('PageDown');
  await page.waitForFunction((from) => (document.querySelector('.transcript')?.scrollTop ?? 0) > from, before);
});

const scrollTo = (page: Page, top: number) =>
  page.locator('.transcript').evaluate(async (view, to) => {
    view.scrollTop = to;
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  }, top);

test('the visible text does not move while older messages load or an answer streams in at the end', async (t) => {
  const { page } = await visit(t, daemon);
  await open(page);
  const heading = 'Answer 490';
  await page.evaluate(async (name) => {
    const view = document.querySelector('.transcript');
    const find = () => [...document.querySelectorAll('h2')].find(({ textContent }) => textContent === name);
    for (let tries = 0; view && !find() && tries < 500; tries += 1) {
      view.scrollTop -= 200;
      await new Promise(requestAnimationFrame);
    }
    find()?.scrollIntoView({ block: 'center' });
  }, heading);
  const rest = stall();
  model.when('go on', [say('It begins. '), rest, say('It goes on.\n\n'.repeat(100)), say('It ends.')]);
  await page.getByRole('textbox', { name: 'Message' }).focus();
  const isOnePage = () => page.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight);
  assert.ok(await isOnePage(), 'only the conversation scrolls, never the page');
  const before = await settled(page, heading);
  const client = await daemon.client();
  const { workstreams } = await client.call('workstream.list', {});
  const wsId = workstreams.find(({ name }) => name === 'long')?.wsId ?? assert.fail('it is open');
  await client.call('workstream.send', { wsId, message: 'go on' });
  rest.release();
  await state(page, 'idle');
  assert.ok(Math.abs((await topOf(page, heading)) - before) < 2, 'an answer at the end does not move the view');
  const height = await heightOf(page);
  await button(page, 'Load earlier messages').evaluate((element) => {
    if (element instanceof HTMLElement) element.click();
  });
  await page.waitForFunction((was) => (document.querySelector('.transcript')?.scrollHeight ?? 0) > was, height);
  assert.ok(Math.abs((await settled(page, heading)) - before) < 2, 'loading an older page does not move the view');
  await button(page, 'Go to the latest message').click();
  await page.locator('.answer').getByText('It ends.').waitFor();
});

const heightOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.querySelector('.transcript')?.scrollHeight ?? 0);

/** The position of a heading once it no longer moves. */
async function settled(page: Page, heading: string): Promise<number> {
  let last = Number.NaN;
  for (let top = await topOf(page, heading); top !== last; top = await topOf(page, heading)) {
    last = top;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(resolve))));
  }
  return last;
}

test('the end stays in view while a person writes the next message, in one line and in many', async (t) => {
  const { page } = await visit(t, daemon);
  await open(page);
  const rest = stall();
  model.when('write on', [say('It is written. '), rest, say('It goes on.\n\n'.repeat(100)), say('It stops.')]);
  await send(page, 'write on');
  await page.locator('.answer').getByText('It is written.').waitFor();
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('one\n'.repeat(5));
  for (const key of ['a', 'Shift+Enter', 'b', 'Backspace', 'Backspace']) await field.press(key);
  rest.release();
  await page.locator('.answer').getByText('It stops.').waitFor();
  assert.equal(await button(page, 'Go to the latest message').count(), 0);
});

test('the end stays in view while an answer of 200 kB streams in, even when it is one block', async (t) => {
  const { page } = await visit(t, daemon);
  const watch = await watchPage(page);
  await page.reload();
  await open(page);
  const list = Array.from({ length: 4_000 }, (_, index) => `- item number ${index + 1} of **many**\n`);
  const pieces = Array.from({ length: 200 }, (_, at) => list.slice(at * 20, at * 20 + 20).join(''));
  model.when('list please', say(...pieces, '\nthe end of the list'));
  await send(page, 'list please');
  await page.locator('.answer').getByText('the end of the list').waitFor();
  await state(page, 'idle');
  await page.waitForFunction(() => {
    const view = document.querySelector('.transcript');
    return (
      view !== null &&
      document.querySelectorAll('.answer li').length >= 4_000 &&
      view.scrollHeight - view.scrollTop - view.clientHeight < 2
    );
  });
  t.diagnostic(JSON.stringify(await watch.look()));
});

test('of a long answer, only what is near the screen is in the document, until one scrolls there or searches', async (t) => {
  const { page } = await visit(t, daemon);
  await open(page);
  const parts = Array.from(
    { length: 300 },
    (_, n) => `### Part ${n}\n\n${n === 2 ? 'Zanzibar. ' : ''}${'Some **words** about it. '.repeat(10)}\n\n`,
  );
  model.when('parts please', say(...parts, 'the end of the parts'));
  await send(page, 'parts please');
  await page.locator('.answer').getByText('the end of the parts').waitFor();
  await state(page, 'idle');
  const untilFar = () => page.waitForFunction(() => document.querySelectorAll('.answer h3').length < 150);
  await untilFar();
  await page.getByText('Zanzibar').waitFor({ state: 'detached' });
  const above = await page.evaluate(() => {
    const view = document.querySelector('.transcript');
    const answer = [...document.querySelectorAll('.answer')].at(-1);
    return (view?.getBoundingClientRect().top ?? 0) - (answer?.getBoundingClientRect().top ?? 0);
  });
  assert.ok(above > 10_000, `${above} pixels above the screen`);

  await page.evaluate((pixels) => document.querySelector('.transcript')?.scrollBy(0, -pixels), above);
  await page.getByText('Zanzibar').waitFor();
  await untilFar();
  // Of a group that was never near the screen, the height is an estimate.
  const firstHeight = () =>
    page.evaluate(() => [...document.querySelectorAll('.answer')].at(-1)?.querySelector('.group')?.clientHeight);
  const drawn = await firstHeight();

  await page.getByRole('button', { name: 'Go to the latest message' }).click();
  await page.getByText('Zanzibar').waitFor({ state: 'detached' });
  assert.equal(await firstHeight(), drawn, 'a group that is not drawn has the same height');
  await page.keyboard.press('Control+f');
  await page.locator('.find-bar input').fill('zanzibar');
  await page.waitForFunction(() => CSS.highlights.get('sought')?.size === 1);
  await page.keyboard.press('Escape');
  await untilFar();
});

test('the page forgets old messages when the next answer comes, and reads them again when one scrolls up', async (t) => {
  const { page } = await visit(t, daemon);
  await open(page);
  await scrollThrough(page, -5_000);
  const first = page.locator('.block.user', { hasText: 'question 1:' });
  await first.waitFor();
  const earlier = page.locator('.earlier');
  await earlier.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Go to the latest message' }).click();
  model.when('one more', say('Here it is.'));
  await send(page, 'one more');
  await page.locator('.answer', { hasText: 'Here it is.' }).waitFor();
  await earlier.waitFor({ state: 'attached' });
  await scrollThrough(page, -5_000);
  await first.waitFor();
});
