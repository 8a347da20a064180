import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { button, openDrawer, openWorkstream, send, state, visitAgain } from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say, useTokens } from '../support/model/scripted-steps.ts';

const model = await startScriptedModel();
after(() => model.close());
model.onRequest(() => [useTokens({ prompt: 1_000, completion: 200, cached: 400 }), say('Done.')]);
const price = { input: 100, output: 500, cacheRead: 10 };
const lab = { provider: 'openai-compatible', baseUrl: model.url, model: 'scripted', price };
const daemon = await startDaemon({
  config: {
    models: { lab },
    defaultModel: 'lab',
    budgets: { workstream: { tokens: 1_200 }, day: { usd: 100 } },
  },
  env: { HEADGATE_MODEL: 'lab' },
});
after(() => daemon[Symbol.asyncDispose]());

test('a used-up budget asks in a card; Continue goes on, Stop here ends the run', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'spender');
  await send(page, 'one');
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
  await send(page, 'two');
  const card = page.locator('.approval.pending');
  await card.getByRole('heading', { name: /^Continue with [\d,]+ tokens more\?$/ }).waitFor();
  await card.getByText('The budget of this workstream (1,200 tokens) is used up: 1,200 tokens.').waitFor();
  await state(page, 'attention');
  await assertAccessible(page, 'a question about a budget');
  await page.keyboard.press('Alt+i');
  await page.locator('.inbox article h2', { hasText: /^Continue with [\d,]+ tokens more\?$/ }).waitFor();
  await page.keyboard.press('Escape');
  await button(page, 'Continue').click();
  await page.locator('.answer', { hasText: 'Done.' }).nth(1).waitFor();
  await page.locator('.outcome', { hasText: 'Continued beyond the budget' }).waitFor();
  await page.reload();
  await page.locator('.outcome', { hasText: 'Continued beyond the budget' }).waitFor();

  await openWorkstream(page, 'stopper');
  await send(page, 'one');
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
  await send(page, 'two');
  await button(page, 'Stop here').click();
  await page
    .getByText(/is used up, and the run was stopped/)
    .first()
    .waitFor();
});

test('/budget shows and replaces the budget of a workstream, and says how it is written', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'frugal');
  await send(page, '/budget');
  await page.locator('.note', { hasText: 'The budget of this workstream (1,200 tokens): 0 tokens used.' }).waitFor();
  await send(page, '/budget plenty');
  await page
    .getByText(/Usage: \/budget \[TOKENS \| \$USD \| off\]: 200000, \$2/)
    .first()
    .waitFor();
  await send(page, '/budget 5000 tokens');
  await page.locator('.note', { hasText: 'The budget of this workstream (5,000 tokens): 0 tokens used.' }).waitFor();
  for (const count of [1, 2]) {
    await send(page, 'go');
    await page
      .locator('.answer')
      .nth(count - 1)
      .waitFor();
    await state(page, 'idle');
  }
  assert.equal(await page.locator('.approval').count(), 0);
});

test('usage shows tokens and money by day, model and workstream, with the budgets of today', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'counted');
  await send(page, 'count me');
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
  await page.keyboard.press('Alt+U');
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
  const today = page.getByRole('row', { name: new RegExp(`^${new Date().toISOString().slice(0, 10)}`) });
  await today.waitFor();
  assert.ok((await today.locator('rect').count()) === 3, 'a bar of three parts');
  await page
    .getByRole('list', { name: 'Budgets' })
    .getByText(/^\$\d+\.\d\d of \$100\.00$/)
    .waitFor();
  const all = page.getByRole('row', { name: /^All / });
  const numbersOf = async (row: typeof all) => (await row.locator('td.number').allInnerTexts()).join(' ');
  assert.equal(await numbersOf(all), await numbersOf(today));
  await assertAccessible(page, 'usage by day');
  await button(page, 'Model').click();
  await page.getByRole('rowheader', { name: 'openai-compatible/scripted' }).waitFor();
  await button(page, 'Workstream').click();
  const counted = page.getByRole('row', { name: /^counted/ });
  assert.match((await counted.innerText()).replace(/\s+/g, ' '), /^counted 1 1,000 400 200 0 0\.16$/);
  await button(page, 'US$').click();
  await counted.locator('rect.use-money').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
});

test('an answer says what it took, also after a reload; the model list has the price', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'priced');
  await send(page, 'count me');
  const spent = page.locator('.answer-spent');
  const shown = () => spent.getAttribute('data-shown');
  await spent.waitFor({ state: 'attached' });
  assert.match((await shown()) ?? '', /^[\d.]+ m?s · scripted · \$0\.16$/);
  const before = await shown();
  await page.reload();
  await spent.waitFor({ state: 'attached' });
  assert.equal(await shown(), before);
  await page.locator('#model-picker option', { hasText: '$100 in, $500 out' }).waitFor({ state: 'attached' });
  await assertAccessible(page, 'an answer with its cost');
});

test('the dashboard shows what runs, today against the budgets, charts with tables, and the last day', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'seen');
  await send(page, 'count me');
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
  await page.keyboard.press('Alt+D');
  await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
  await page.getByText('Nothing runs. A message in a workstream').waitFor();
  await page.getByText(/^Today \(UTC\): \$\d+\.\d\d, [\d,]+ tokens$/).waitFor();
  await page.locator('.chart rect:not([height="0"])').first().waitFor();
  await page.getByRole('rowheader', { name: 'openai-compatible/scripted' }).waitFor();
  await button(page, 'Workstream').click();
  await page.getByRole('rowheader', { name: 'seen' }).waitFor();
  await page.getByText(/^Event loop: at most \d+ ms late/).waitFor();
  await page.getByText('Each hour as a table').click();
  await page.getByRole('columnheader', { name: 'Lag (ms)' }).waitFor();
  await assertAccessible(page, 'the dashboard');
  await button(page, 'Show nodes').click();
  await page.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor();
});

test('the dashboard fits on a phone', async (t) => {
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openDrawer(page);
  await button(page, 'Dashboard').tap();
  await page.getByText(/^Event loop: at most/).waitFor();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
  await assertAccessible(page, 'the dashboard on a phone');
});

test('usage fits on a phone', async (t) => {
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openDrawer(page);
  await button(page, 'Usage').tap();
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
  await page.locator('.usage-table tbody tr').first().waitFor();
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok((await overflow()) <= 0, `${await overflow()} pixels too wide`);
  await assertAccessible(page, 'usage on a phone');
  const numbers = () =>
    page
      .locator('thead th.number:visible')
      .allInnerTexts()
      .then((all) => all.filter(Boolean));
  assert.deepEqual(await numbers(), ['Tokens']);
  await button(page, 'US$').tap();
  assert.deepEqual(await numbers(), ['US$']);
  await button(page, 'User').tap();
  await button(page, 'operator').tap();
  await page.getByRole('list', { name: 'Filters' }).getByText('Only operator').waitFor();
  assert.ok((await overflow()) <= 0, 'with a filter');
  await assertAccessible(page, 'filtered usage on a phone');
});

test('an administrator chooses time and grouping by keyboard, and follows one user and one model', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'chosen');
  await send(page, 'count me');
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
  await page.keyboard.press('Alt+U');
  const choose = async (name: string) => {
    await button(page, name).focus();
    await page.keyboard.press('Space');
    await page.locator('[aria-pressed=true]', { hasText: name }).waitFor();
  };
  const heads = page.locator('tbody th');
  await choose('7 days');
  await page.getByText('the last 7 days').waitFor();
  await choose('Hour');
  await heads.getByText(/^\d{4}-\d\d-\d\d \d\d:00 UTC$/).waitFor();
  await choose('User');
  await heads.getByText('operator', { exact: true }).waitFor();
  await assertAccessible(page, 'usage by user');
  const sum = () => page.getByRole('row', { name: /^All / }).locator('td.number').allInnerTexts();
  const all = await sum();
  await button(page, 'operator').focus();
  await page.keyboard.press('Enter');
  const filters = page.getByRole('list', { name: 'Filters' });
  await filters.getByText('Only operator').waitFor();
  await heads.getByText(new Date().toISOString().slice(0, 10)).waitFor();
  assert.equal(await button(page, 'Workstream').count(), 0, 'a filter knows nothing of workstreams');
  assert.deepEqual(await sum(), all, 'nobody else has used a model');
  await choose('Model');
  await button(page, 'openai-compatible/scripted').press('Enter');
  await filters.getByText('Only openai-compatible/scripted').waitFor();
  await assertAccessible(page, 'usage of one user and one model');
  await button(page, 'Remove “Only operator”').press('Enter');
  await filters.getByText('Only operator').waitFor({ state: 'detached' });
  await button(page, 'Remove “Only openai-compatible/scripted”').press('Enter');
  await button(page, 'Workstream').waitFor();
  await page.keyboard.press('Escape'); // the focus is still on the page
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
});
