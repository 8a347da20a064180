import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { button, openWorkstream, send, state, visit, visitAgain } from '../support/clients/browser.ts';
import { focusedText } from '../support/clients/focus.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const model = await startScriptedModel({ modelId: 'qwen3-coder-30b' });
const daemon = await startDaemon({ model: model.url });
const demo = await startDaemon();
after(async () => {
  await demo[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
  await model.close();
});

const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });

for (const phone of [false, true]) {
  test(`a failed command shows the end of its output first, its exit code and its duration${phone ? ', on a phone' : ''}`, async (t) => {
    const { page } = await visit(t, daemon, { phone });
    await openWorkstream(page, `fails ${phone}`);
    model.when(`fail ${phone}`, bash('touch it; seq 1 30000; echo "the reason"; exit 3'), say('It failed.'));
    await send(page, `fail ${phone}`);
    await button(page, 'Approve').click();
    await page.locator('.answer', { hasText: 'It failed.' }).waitFor();
    await page.locator('.tool.failed').scrollIntoViewIfNeeded();
    const isReasonInView = () =>
      page.waitForFunction(() => {
        const output = document.querySelector('.tool .output');
        const walker = document.createTreeWalker(output ?? document, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); output && node; node = walker.nextNode()) {
          const at = node.textContent?.indexOf('the reason') ?? -1;
          if (at < 0) continue;
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 'the reason'.length);
          const [text, box] = [range.getBoundingClientRect(), output.getBoundingClientRect()];
          return text.height > 0 && text.top >= box.top && text.bottom <= box.bottom;
        }
        return false;
      });
    await isReasonInView();
    const phase = () => page.locator('.tool-phase').innerText();
    assert.match(await phase(), /^failed · exit code 3 · [\d.]+ (ms|s)$/);
    const told = await phase();
    await page.getByRole('button', { name: /^Show full output/ }).click();
    await page
      .locator('.output-frame.whole')
      .getByText(/^Page 3 of 3/)
      .waitFor();
    await isReasonInView();
    await page.reload();
    await page.locator('.tool.failed').scrollIntoViewIfNeeded();
    await isReasonInView();
    assert.equal(await phase(), told, 'the reloaded card shows the same phase');
  });
}

test('output scrolled up by the reader does not move when the command fails', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'scrolled');
  model.when('scroll', bash('touch it; seq 1 300; until [ -e go ]; do sleep 0.05; done; exit 1'), say('Over.'));
  await send(page, 'scroll');
  await button(page, 'Approve').click();
  const output = page.locator('.tool.running .output');
  await output.getByText('300').waitFor();
  await output.evaluate((element) => {
    element.scrollTop = 40;
  });
  await page.waitForFunction(() => document.querySelector('.tool .output')?.scrollTop === 40);
  await writeFile(path.join(daemon.home, 'workspace', 'go'), '');
  await page.locator('.answer', { hasText: 'Over.' }).waitFor();
  assert.equal(await page.locator('.tool.failed .output').evaluate((element) => element.scrollTop), 40);
});

test('the chip shows the name of the model, and its alias on hover', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'chip');
  const chip = page.locator('.fact').first();
  assert.equal(await chip.innerText(), 'qwen3-coder-30b');
  assert.match((await chip.getAttribute('title')) ?? '', /^Model qwen3-coder-30b, alias .+/);
});

test('Escape goes one step back from "Always allow" and "Deny", without stopping the run or closing the card', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'escape');
  model.when('escape', bash('echo escaped | tee asked'), say('It ran.'));
  await send(page, 'escape');
  await button(page, 'Always allow…').click();
  await button(page, 'Approve and allow').waitFor();
  await focusedText(page, 'Back'); // not the button that confirms
  await page.keyboard.press('Escape');
  await focusedText(page, 'Always allow…');
  await page.keyboard.press('Enter');
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  await page.keyboard.press('Escape');
  assert.equal(await button(page, 'Approve and allow').count(), 0, 'no confirmation is open, wherever the focus is');
  await button(page, 'Deny…').click();
  await button(page, 'Deny').focus();
  await page.keyboard.press('Escape');
  await focusedText(page, 'Deny…');
  assert.deepEqual([await button(page, 'Stop').count(), await page.locator('.approval.pending').count()], [1, 1]);
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'It ran.' }).waitFor();
  assert.equal(await page.locator('.banner', { hasText: 'without asking' }).count(), 0);
});

test('/clear resets the title and the token count, even after a reload and a restart', async (t) => {
  await using own = await startDaemon({ model: model.url });
  const { page } = await visit(t, own, { losesDaemon: true });
  model.when('a title of its own', say('Yes.'));
  const isNamed = (name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
  await isNamed('main');
  await send(page, 'a title of its own');
  await isNamed('a title of its own');
  await page.locator('.tokens', { hasText: '15' }).waitFor();
  await state(page, 'idle'); // while a run is in progress, /clear is refused
  await send(page, '/clear');
  await isNamed('main');
  const tokens = () => page.locator('.tokens').innerText();
  assert.equal(await tokens(), '');
  await page.reload();
  await isNamed('main');
  assert.equal(await tokens(), '');
  await own.restart();
  await page.reload();
  await isNamed('main');
  assert.equal(await tokens(), '');
  await send(page, 'a title of its own');
  await isNamed('a title of its own');
});

test('the demo model answers every suggestion of the empty page', async (t) => {
  const { page } = await visit(t, demo);
  await button(page, 'Not now').click(); // the first steps
  await page.locator('.welcome').waitFor();
  const suggestions = await page.locator('.welcome li').allInnerTexts();
  assert.ok(suggestions.length >= 3);
  for (const [index, suggestion] of suggestions.entries()) {
    await openWorkstream(page, `suggestion ${index}`);
    await page.locator('.welcome').getByRole('button', { name: suggestion }).click();
    await page.keyboard.press('Enter');
    await page.locator('.answer').first().waitFor();
    await state(page, 'idle');
    const text = (await page.locator('.answer').allInnerTexts()).join('\n');
    assert.doesNotMatch(text, /cannot answer|Write it like this|failed/, suggestion);
  }
});

test('the demo model answers every example of the README', async () => {
  const env = { HEADGATE_HOME: demo.home };
  for (const message of [
    'list the files here',
    'what is new here?',
    'help',
    'write notes.txt: hello',
    'run ls -l',
    'two touch a.txt && touch b.txt',
    'run touch it',
  ]) {
    const { code, stdout, stderr } = await runHeadgate(['run', message, '--approve', 'all'], env);
    assert.equal(code, 0, `${message}: ${stderr}`);
    assert.doesNotMatch(stdout, /cannot answer|Write it like this|failed/, message);
  }
  const { stdout } = await runHeadgate(['run', 'list the files here', '--approve', 'all'], env);
  assert.match(stdout, /notes\.txt/);
});
