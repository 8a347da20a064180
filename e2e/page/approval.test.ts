import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { blocksOf, button, openWorkstream, send, state, visit, visitAgain } from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

declare global {
  interface Window {
    /** Whether a finger could reach the button that approves, at each moment noted. */
    reached: string[];
  }
}

/** Without a sandbox, a card says so. */
const sandboxed = await needs('bubblewrap');
const { model, daemon } = await sharedStage();

const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });
const workFile = (name: string) => path.join(daemon.home, 'workspace', name);
const contentOf = (name: string) => readFile(workFile(name), 'utf8').catch(() => 'not there');

test('a command runs only after Approve, and its output is shown while it runs', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'approve');
  const untilReleased = 'until [ -e go.txt ]; do sleep 0.05; done';
  model.when(
    'please run',
    bash(`echo ran > ran.txt; echo first line; ${untilReleased}; echo last line`),
    say('It ran.'),
  );
  await send(page, 'please run');
  const card = page.locator('.approval.pending');
  await card.getByRole('heading', { name: 'May the agent do this?' }).waitFor();
  await state(page, 'attention');
  assert.match(await card.innerText(), /echo ran > ran\.txt/);
  assert.deepEqual(await card.getByRole('list', { name: 'Effects' }).getByRole('listitem').allInnerTexts(), [
    'Writes: ran.txt',
  ]);
  assert.match(await page.title(), /^\(\d+\) /);
  assert.equal(await contentOf('ran.txt'), 'not there');
  await button(page, 'Approve').click();
  await page.locator('.tool.running .output', { hasText: /^\s*first line\s*$/ }).waitFor();
  await state(page, 'running');
  await writeFile(workFile('go.txt'), '');
  await page.locator('.tool.done .output', { hasText: /first line\s*last line/ }).waitFor();
  await page.locator('.answer', { hasText: 'It ran.' }).waitFor();
  await state(page, 'idle');
  assert.equal(await contentOf('ran.txt'), 'ran\n');
  assert.equal(await page.locator('.approval').count(), 0);
  assert.doesNotMatch(await page.title(), /^\(\d+\)/);
});

test('Deny with feedback runs nothing and tells the model why', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'deny');
  model.when('denied', bash('echo ran > denied.txt'), say('As you wish.'));
  await send(page, 'denied');
  await button(page, 'Deny…').click();
  const feedback = page.getByLabel('What should it do instead? (optional)');
  await feedback.pressSequentially('use a branch');
  await feedback.press('Enter');
  await page.locator('.answer', { hasText: 'As you wish.' }).waitFor();
  await page.locator('.outcome.denied', { hasText: 'Denied: bash' }).waitFor();
  await page.locator('.tool.denied').waitFor();
  const told = model.requests.at(-1)?.body.messages.at(-1);
  assert.deepEqual(
    { role: told?.role, content: told?.content },
    { role: 'tool', content: 'Denied by user: use a branch' },
  );
  assert.equal(await contentOf('denied.txt'), 'not there');
});

test('Always allow asks for confirmation, stops approvals here and shows a banner; Ask again restores them', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'always');
  model.when('one', bash('echo 1 >> always.txt'), say('one done'));
  model.when('two', bash('echo 2 >> always.txt'), say('two done'));
  model.when('three', bash('echo 3 >> always.txt'), say('three done'));
  await send(page, 'one');
  await button(page, 'Always allow…').click();
  await button(page, 'Everything here…').click();
  assert.equal(await contentOf('always.txt'), 'not there');
  await button(page, 'Yes, never ask here').click();
  await page.locator('.answer', { hasText: 'one done' }).waitFor();
  const banner = page.locator('.banner', {
    hasText: /^This workstream runs every call without asking until \w+ \d\d:\d\d\./,
  });
  await banner.waitFor();
  await state(page, 'idle');
  await send(page, 'two');
  await page.locator('.answer', { hasText: 'two done' }).waitFor();
  assert.equal(await contentOf('always.txt'), '1\n2\n');
  await state(page, 'idle');
  await button(page, 'Ask again').click();
  await banner.waitFor({ state: 'detached' });
  await send(page, 'three');
  await page.locator('.approval.pending').waitFor();
  assert.equal(await contentOf('always.txt'), '1\n2\n');
});

test('a decision by another client closes the card', async (t) => {
  const { page } = await visitAgain(t, daemon);
  const wsId = await openWorkstream(page, 'elsewhere');
  model.when('elsewhere', bash('echo decided > elsewhere.txt'), say('thanks'));
  await send(page, 'elsewhere');
  await page.locator('.approval.pending').waitFor();
  const { status } = await daemon.post('/v1/api/approve', { ws_id: wsId, approved: true });
  assert.equal(status, 200);
  await page.locator('.outcome.approved', { hasText: 'Approved: bash' }).waitFor();
  await page.locator('.answer', { hasText: 'thanks' }).waitFor();
  assert.equal(await button(page, 'Approve').count(), 0);
});

test(
  'a second tab and another browser see the approval; one decides and the others see the decision',
  sandboxed,
  async (t) => {
    const { page, openTab } = await visitAgain(t, daemon);
    await openWorkstream(page, 'together');
    const { page: elsewhere } = await visit(t, daemon);
    const second = await openTab();
    const others = [second, elsewhere];
    for (const other of others) await other.getByRole('tab', { name: 'together' }).click();
    model.when('together', bash('echo together | tee together.txt'), say('We agree.'));
    await send(page, 'together');
    for (const other of others) await other.locator('.approval.pending', { hasText: 'echo together' }).waitFor();
    await button(second, 'Approve').click();
    for (const each of [page, ...others]) {
      await each.locator('.answer', { hasText: 'We agree.' }).waitFor();
      await state(each, 'idle');
    }
    const told = [
      'You: together',
      'Approved: bash',
      'bash echo together | tee together.txt done together Open Copy',
      'We agree.',
    ];
    assert.deepEqual(await Promise.all([page, ...others].map(blocksOf)), [told, told, told]);
  },
);

test('a new approval does not catch keystrokes: typing continues, and Enter approves nothing', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'typing');
  const rest = stall();
  model.when('slowly', [say('Let me see.'), rest, bash('echo ran > typed.txt')], say('Never mind.'));
  await send(page, 'slowly');
  await page.locator('.answer', { hasText: 'Let me see.' }).waitFor();
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.pressSequentially('my next ');
  rest.release();
  await page.locator('.approval.pending').waitFor();
  await page.keyboard.type('thought');
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Waiting messages' }).getByText('my next thought').waitFor();
  await button(page, 'Take back').click();
  await field.fill('');
  await page.locator('.approval.pending').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  await button(page, 'Deny…').click();
  await page.keyboard.type('not now');
  await page.keyboard.press('Enter');
  await page.locator('.outcome.denied', { hasText: 'not now' }).waitFor();
  assert.equal(await contentOf('typed.txt'), 'not there');
});

test('a reader further up is notified of an approval, and Review scrolls to it', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'review');
  const rest = stall();
  model.when('at length', [say('A line.\n\n'.repeat(60)), rest, bash('echo > reviewed.txt')]);
  await send(page, 'at length');
  await page.locator('.answer', { hasText: 'A line.' }).waitFor();
  await page.locator('.transcript').focus();
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: 'Go to the latest' }).waitFor();
  await page.waitForFunction(() => document.querySelector('.transcript')?.scrollTop === 0); // it scrolls smoothly
  rest.release();
  await page.locator('.review', { hasText: 'May the agent do this?' }).waitFor();
  await button(page, 'Review').click();
  await page.locator('.review').waitFor({ state: 'detached' });
  await button(page, 'Approve').click({ trial: true });
});

test('on a phone, while a question is open, one line of a draft is shown until it is edited, and messages can be sent', async (t) => {
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openWorkstream(page, 'one line');
  const field = page.getByRole('textbox', { name: 'Message' });
  const height = () => field.evaluate((element) => element.clientHeight);
  const rest = stall();
  model.when('ask later', [say('Hm.'), rest, bash('echo > later.txt')], say('Done.'));
  await send(page, 'ask later');
  await page.locator('.answer', { hasText: 'Hm.' }).waitFor();
  await field.fill('one\ntwo\nthree');
  const whole = await height();
  await field.blur();
  rest.release();
  await page.locator('.approval.pending').waitFor();
  assert.equal(await height(), 44);
  await field.tap();
  assert.equal(await height(), whole);
  await button(page, 'Approve').tap({ trial: true });
  assert.equal(await height(), whole, 'nothing moves when the field loses the focus');
  model.when('one\ntwo\nthree', say('Four.'));
  await button(page, 'Send').tap();
  await page.getByRole('list', { name: 'Waiting messages' }).waitFor();
  await button(page, 'Approve').tap();
  await page.locator('.answer', { hasText: 'Four.' }).waitFor();
});

test('a press that was meant for something else approves nothing', async (t) => {
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openWorkstream(page, 'guarded');
  model.when('ask', bash('echo > guarded.txt'), say('Done.'));
  await page.evaluate(() => {
    const note = (event: string) => {
      const approve = document.querySelector('.approves');
      if (!approve) return;
      const { left, top, width, height } = approve.getBoundingClientRect();
      const isReached = document.elementFromPoint(left + width / 2, top + height / 2) === approve;
      window.reached.push(`${event}: ${approve.textContent} ${isReached ? 'reached' : 'not reached'}`);
    };
    window.reached = [];
    const appears = new MutationObserver(() => {
      if (!document.querySelector('.approves')) return;
      appears.disconnect();
      note('appears');
    });
    appears.observe(document.body, { childList: true, subtree: true });
    document.addEventListener('click', () => note('press'));
  });
  await send(page, 'ask');
  const settings = button(page, 'Model settings');
  await button(page, 'Approve').tap({ trial: true });
  await settings.tap();
  await button(page, 'Approve').tap({ trial: true });
  await settings.tap();
  await button(page, 'Always allow…').tap();
  await button(page, 'Approve and allow').tap({ trial: true });
  await button(page, 'Everything here…').tap();
  await button(page, 'Yes, never ask here').tap({ trial: true });
  assert.deepEqual(await page.evaluate(() => window.reached), [
    'appears: Approve not reached',
    'press: Approve not reached',
    'press: Approve not reached',
    'press: Approve and allow not reached',
    'press: Yes, never ask here not reached',
  ]);
  await button(page, 'Back').tap();
  await button(page, 'Approve').tap();
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
});

test('Stop ends an answer while it streams and keeps the partial text', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'stop');
  model.when('talk on', [say('Once upon ', 'a time'), stall()]);
  await send(page, 'talk on');
  await page.locator('.answer', { hasText: 'Once upon a time' }).waitFor();
  await button(page, 'Stop').click();
  await page.locator('.answer', { hasText: /Once upon a time\s*Stopped here\./ }).waitFor();
  await state(page, 'idle');
  await button(page, 'Send').waitFor();
});

test('Stop withdraws a pending approval', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'withdraw');
  model.when('withdrawn', bash('echo ran > withdrawn.txt'));
  await send(page, 'withdrawn');
  await page.locator('.approval.pending').waitFor();
  await button(page, 'Stop').click();
  await page.locator('.outcome.withdrawn', { hasText: 'Cancelled before a decision: bash' }).waitFor();
  await state(page, 'idle');
  assert.equal(await contentOf('withdrawn.txt'), 'not there');
});

test('Force stop abandons a command that does not end', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'force');
  model.when('stubborn', bash("trap '' TERM; echo holding | tee holding.txt; while :; do sleep 1; done"));
  await send(page, 'stubborn');
  await button(page, 'Approve').click();
  await page.locator('.tool.running .output', { hasText: 'holding' }).waitFor();
  await button(page, 'Stop').click();
  await button(page, 'Force stop').click();
  await page.locator('.tool.cancelled').waitFor();
  await state(page, 'idle');
});
