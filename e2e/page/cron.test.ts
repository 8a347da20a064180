import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { ParamsInput } from '../../protocol/index.ts';
import { systemClock } from '../../src/clock.ts';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { button, hasValue, openDrawer, visit, visitAgain } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage({ config: { cron: { maxConcurrentRuns: 1 } } });

const client = await daemon.client();

/** Adds a job without the page; it is removed with the test. */
async function addJob(name: string, more: Partial<ParamsInput<'cron.add'>> = {}): Promise<string> {
  const { id } = await client.call('cron.add', {
    ...{ name, schedule: { kind: 'every', everyMs: 7_200_000 }, sessionTarget: 'isolated', wakeMode: 'next-heartbeat' },
    payload: { kind: 'agentTurn', message: name },
    ...more,
  });
  return id;
}

async function openSchedule(page: Page): Promise<void> {
  await openDrawer(page);
  await button(page, 'Schedule').click();
  await page.getByRole('heading', { name: 'Schedule', level: 1 }).waitFor();
}

const card = (page: Page, name: string) =>
  page.locator('.job').filter({ has: page.getByRole('heading', { name, exact: false }) });
const field = (page: Page, name: string) => page.getByRole('dialog').getByRole('textbox', { name });
const focusIsIn = (page: Page, selector: string) =>
  page.waitForFunction((wanted) => document.activeElement?.closest(wanted) !== null, selector);

test('an empty schedule view says what to do; a job is added with a preview of its next runs, and is listed', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openSchedule(page);
  await page.getByText('Nothing is scheduled').waitFor();
  await assertAccessible(page, 'empty schedule');
  await button(page, 'Add a job').click();
  await focusIsIn(page, '.schedule-text');
  await page.keyboard.type('0 9 * * 1-5 Asia/Tokyo');
  await page.locator('.schedule-preview li').nth(4).waitFor();
  await page.locator('.schedule-preview').getByText('at 09:00, Monday through Friday (Asia/Tokyo)').waitFor();
  const lines = await page.locator('.schedule-preview li').allInnerTexts();
  for (const line of lines) assert.match(line, /^(Mon|Tue|Wed|Thu|Fri), \w{3} \d+, \d{4}, 09:00 \(\+09:00\)$/);
  await page.locator('.schedule-preview').getByText('Times in Asia/Tokyo').waitFor();
  await assertAccessible(page, 'dialog with a preview');
  await field(page, 'What to do').fill('water the plants');
  await field(page, 'Name').fill('plants');
  await button(page, 'Add').click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await card(page, 'plants')
    .locator('.job-next', { hasText: /in \d+ (second|minute|hour|day)/ })
    .waitFor();
  await card(page, 'plants').getByText('No runs yet').waitFor();
  await page.locator('.calendar summary').click();
  await button(page, 'Later').click(); // this week may be over for the job
  await page.locator('.calendar-run', { hasText: 'plants planned' }).first().waitFor();
  await page
    .getByText(/^Times in .*A job may have a time zone of its own\.$|^Times in .*, as in this browser/)
    .waitFor();
  await button(page, 'List').click();
  await page.locator('.calendar-days.as-list').waitFor();
  await assertAccessible(page, 'schedule with a job');
  const { jobs } = await client.call('cron.list', {});
  assert.partialDeepStrictEqual(jobs, [
    { name: 'plants', schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Asia/Tokyo' }, sessionTarget: 'isolated' },
  ]);
  await button(page, 'Delete plants').click();
  await page.keyboard.press('Enter'); // the focus is on the button that changes nothing
  await button(page, 'Delete plants').click();
  const question = page.getByRole('alertdialog', { name: 'Delete plants?' });
  await question.getByText('The history is kept for a while').waitFor();
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Nothing is scheduled').waitFor();
});

test('an invalid schedule is reported at its field, and no job is added', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openSchedule(page);
  await button(page, 'Add a job').click();
  await button(page, 'Add').click();
  await page.getByText('Enter a schedule, such as every 15m').waitFor();
  await focusIsIn(page, '[aria-invalid=true]');
  await field(page, 'When').fill('whenever');
  await page.getByText('"whenever" is not a schedule').waitFor();
  assert.equal(await field(page, 'When').getAttribute('aria-invalid'), 'true');
  await field(page, 'What to do').fill('something');
  await button(page, 'Add').click();
  await focusIsIn(page, '.schedule-text');
  await assertAccessible(page, 'dialog with a problem');
  await field(page, 'When').fill('every 2h30m');
  await page.locator('.schedule-preview', { hasText: 'every 2 hours 30 minutes' }).waitFor();
  assert.equal(await page.getByText('is not a schedule').count(), 0);
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.deepEqual((await client.call('cron.list', { includeDisabled: true })).jobs, []);
});

test('a button starts a job, the page shows it running, and its history links to the conversation', async (t) => {
  const id = await addJob('tell a story');
  t.after(() => client.call('cron.remove', { id }));
  const rest = stall();
  model.when('tell a story', [say('Once upon a time '), rest, say('there was a gate.')]);
  const { page } = await visitAgain(t, daemon);
  await openSchedule(page);
  await button(page, 'Run tell a story now').click();
  await card(page, 'tell a story').getByText('running since').waitFor();
  assert.equal(await button(page, 'Run tell a story now').isDisabled(), true);
  rest.release();
  await card(page, 'tell a story').locator('.job-last .ok').waitFor();
  await button(page, 'History of tell a story').click();
  const run = page.locator('.run');
  await run.getByText('there was a gate.').waitFor();
  await run.getByText('by hand').waitFor();
  await assertAccessible(page, 'history');
  await run.getByRole('button', { name: 'Conversation' }).click();
  await page.locator('.answer', { hasText: 'Once upon a time there was a gate.' }).waitFor();
  await page.getByRole('tab', { selected: true }).waitFor();
});

test('a job that waits for a free slot is not shown as running', async (t) => {
  const ids = [await addJob('hold the line'), await addJob('wait in line')];
  t.after(() => Promise.all(ids.map((id) => client.call('cron.remove', { id }))));
  const rest = stall();
  model.when('hold the line', [rest, say('Done.')]);
  model.when('wait in line', say('At last.'));
  for (const id of ids) await client.call('cron.run', { id, mode: 'force', wait: false });
  const { page } = await visitAgain(t, daemon);
  await openSchedule(page);
  await button(page, 'History of wait in line').click();
  await page.locator('.run', { hasText: 'due' }).waitFor();
  rest.release();
  await page.locator('.run', { hasText: 'At last.' }).waitFor();
});

test('the number of missed runs to catch up is chosen with the policy, and shown again', async (t) => {
  const id = await addJob('catch up');
  t.after(() => client.call('cron.remove', { id }));
  const { page } = await visitAgain(t, daemon);
  await openSchedule(page);
  const openOptions = async () => {
    await button(page, 'Edit catch up').click();
    await page.getByText('More options').click();
  };
  await openOptions();
  const policy = page.getByRole('combobox', { name: 'If a run was missed' });
  await policy.selectOption('run the latest ones');
  await field(page, 'Maximum number of runs').fill('101');
  await button(page, 'Save').click();
  await page.getByText('Enter a number from 1 to 100').waitFor();
  await field(page, 'Maximum number of runs').fill('20');
  await button(page, 'Save').click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.partialDeepStrictEqual(await client.call('cron.list', { extended: true }), {
    jobs: [{ misfire: { all: 20 } }],
  });
  await openOptions();
  assert.deepEqual(
    [await policy.inputValue(), await field(page, 'Maximum number of runs').inputValue()],
    ['all', '20'],
  );
});

test('list and history show why a run failed', async (t) => {
  const id = await addJob('get lost');
  t.after(() => client.call('cron.remove', { id }));
  model.when('get lost', fail(400, { message: 'no such road' }));
  const { page } = await visit(t, daemon);
  await openSchedule(page);
  await button(page, 'Run get lost now').click();
  await card(page, 'get lost').locator('.job-reason', { hasText: 'no such road' }).waitFor();
  await button(page, 'History of get lost').click();
  await page.locator('.run-text.failed', { hasText: 'no such road' }).waitFor();
});

test('a job that keeps failing raises a visible alert; a missed one-time job says that it will not run', async (t) => {
  const id = await addJob('get nowhere');
  const past = { kind: 'at', atMs: systemClock.now() - 3_600_000 } as const;
  const late = await addJob('too late', { schedule: past, misfire: 'skip' });
  t.after(() => Promise.all([id, late].map((each) => client.call('cron.remove', { id: each }))));
  model.when('get nowhere', fail(400, { message: 'no such road' }));
  const { page } = await visit(t, daemon);
  await openSchedule(page);
  const missed = card(page, 'too late');
  await missed.getByText('Missed: it will not run').waitFor();
  await missed.locator('.job-reason', { hasText: 'its time had already passed when the job was added' }).waitFor();
  await missed.getByRole('switch').click();
  await missed.getByText('enabled: the only time of the job is over').waitFor();
  for (let errors = 1; errors <= 3; errors += 1) await client.call('cron.run', { id, mode: 'force' });
  await card(page, 'get nowhere').getByText('Alert: 3 errors in a row.').waitFor();
  await page.getByRole('status').getByText('A job keeps failing: get nowhere.').waitFor();
  await assertAccessible(page, 'an alert');
  model.when('get nowhere', say('There.'));
  await button(page, 'Run get nowhere now').click();
  await page.getByText('keeps failing').waitFor({ state: 'detached' });
});

test('a change on one page is shown on another at once', async (t) => {
  const id = await addJob('shared work');
  t.after(() => client.call('cron.remove', { id }).catch(() => undefined));
  const { page } = await visitAgain(t, daemon);
  const { page: other } = await visit(t, daemon);
  await openSchedule(page);
  await openSchedule(other);
  const toggle = (on: Page) => on.getByRole('switch', { name: 'shared work is on' });
  await toggle(page).click();
  await other.getByRole('switch', { name: 'shared work is on', checked: false }).waitFor();
  await button(other, 'Edit shared work').click();
  await hasValue(field(other, 'When'), 'every 2h');
  await field(other, 'Name').fill('work of two');
  await button(other, 'Save').click();
  await card(page, 'work of two').waitFor();
  await client.call('cron.remove', { id });
  for (const each of [page, other]) await card(each, 'work of two').waitFor({ state: 'detached' });
});

test('the schedule view can be opened and closed with the keyboard', async (t) => {
  const { page } = await visit(t, daemon);
  await page.locator('.composer').waitFor();
  await page.keyboard.press('Alt+s');
  await page.getByRole('heading', { name: 'Schedule', level: 1 }).waitFor();
  await focusIsIn(page, '.cron-head');
  await page.waitForFunction("document.title === 'Schedule · Headgate'"); // the title follows
  await page.keyboard.press('Escape');
  await focusIsIn(page, '#message');
  await page.keyboard.press('Alt+s');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Add a job' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Schedule', level: 1 }).waitFor();
  await page.keyboard.press('Alt+m');
  await focusIsIn(page, '#message');
});

test('with read-only access no controls for changes are shown', async (t) => {
  const id = await addJob('look at me');
  t.after(() => client.call('cron.remove', { id }));
  const { token } = await client.call('token.create', { name: 'reader', scope: 'read' });
  const { page, context } = await visit(t, daemon, { loggedIn: false });
  await context.request.post(new URL('/v1/api/auth/login', daemon.url).href, { data: { token } });
  await page.reload();
  await openSchedule(page);
  await card(page, 'look at me').waitFor();
  assert.deepEqual(await page.locator('.cron').getByRole('button').allInnerTexts(), ['', 'History']);
  assert.equal(await page.getByRole('switch').count(), 0);
});

test('the button that adds a job is legible under the mouse at every window width, light and dark', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openSchedule(page);
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [360, 760, 1100]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 740 });
      await button(page, 'Add a job').hover();
      const [text, ground] = await button(page, 'Add a job').evaluate((element) => {
        const { color, backgroundColor } = getComputedStyle(element);
        return [color, backgroundColor];
      });
      assert.notEqual(text, ground); // axe ignores text that has the colour of its background
      await assertAccessible(page, `${colorScheme} at ${width} pixels`);
    }
});

test('on a phone every control is large enough for a thumb, and nothing is wider than the screen', async (t) => {
  const id = await addJob('a job with a name that is much too long for the width of a small telephone');
  t.after(() => client.call('cron.remove', { id }));
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openSchedule(page);
  await page.locator('.job').waitFor();
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const tooSmall = () =>
    page
      .locator('button:visible, input:visible:not([type=checkbox]), select:visible, textarea:visible, summary:visible')
      .evaluateAll(
        (all) =>
          all.map((each) => each.getBoundingClientRect()).filter(({ width, height }) => Math.min(width, height) < 43.5)
            .length,
      );
  await page.locator('.job-more').tap();
  assert.deepEqual([await overflow(), await tooSmall()], [0, 0]);
  await assertAccessible(page, 'schedule on a phone');
  await button(page, 'Add a job').tap();
  await field(page, 'When').fill('every 15m');
  await page.locator('.schedule-preview li').first().waitFor();
  await page.getByText('More options').tap();
  assert.deepEqual([await overflow(), await tooSmall()], [0, 0]);
  await assertAccessible(page, 'dialog on a phone');
  await button(page, 'Cancel').tap();
  await openDrawer(page);
  await page.getByRole('tab', { name: 'main' }).tap();
  await page.locator('.composer').waitFor();
});
