import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { blocksOf, button, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';

/** Without a sandbox, the card of a command says so. */
const sandboxed = await needs('bubblewrap');
const { model, daemon } = await openStage();

const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });
const workFile = (name: string) => path.join(daemon.home, 'workspace', name);
const contentOf = (name: string) => readFile(workFile(name), 'utf8').catch(() => 'not there');

/** A page that loses its daemon: the browser logs every attempt to reconnect. */
async function visitForKill(t: TestContext, name: string) {
  const { page } = await visit(t, daemon, { losesDaemon: true });
  await openWorkstream(page, name);
  return page;
}

test('killed during an answer: a banner appears, the page reconnects automatically, and the answer is complete and shown once', async (t) => {
  const page = await visitForKill(t, 'mid-answer');
  model.when('tell me', [say('Once upon ', 'a time'), stall()]);
  await send(page, 'tell me');
  await page.locator('.answer', { hasText: 'Once upon a time' }).waitFor();
  await daemon.kill9();
  const banner = page.locator('.banner.warning', { hasText: 'Disconnected. Nothing is lost' });
  await banner.waitFor();
  assert.equal(await page.locator('.answer', { hasText: 'Once upon a time' }).isVisible(), true);
  model.when('tell me', say('Once upon a time there was a gate.'));
  await daemon.restart();
  await page.locator('.answer', { hasText: 'there was a gate.' }).waitFor();
  await state(page, 'idle');
  await banner.waitFor({ state: 'detached' });
  assert.deepEqual(await blocksOf(page), ['You: tell me', 'Once upon a time there was a gate.']);
});

test('a message written while the daemon is down is sent once after it returns', async (t) => {
  const page = await visitForKill(t, 'away');
  model.when('are you there', say('I am back.'));
  await daemon.kill9();
  await page.locator('.banner.warning', { hasText: 'Disconnected' }).waitFor();
  await send(page, 'are you there');
  await page.locator('.user.sending', { hasText: 'are you there' }).waitFor();
  await daemon.restart();
  await page.locator('.answer', { hasText: 'I am back.' }).waitFor();
  await state(page, 'idle');
  assert.deepEqual(await blocksOf(page), ['You: are you there', 'I am back.']);
});

test(
  'killed while an approval is pending: the same approval is there afterwards and can be decided',
  sandboxed,
  async (t) => {
    const page = await visitForKill(t, 'question');
    model.when('ask me', bash('echo ran | tee -a asked.txt'), say('All done.'));
    await send(page, 'ask me');
    const card = page.locator('.approval.pending');
    const idOf = () => card.getByRole('heading').getAttribute('id');
    const asked = await idOf();
    await daemon.kill9();
    await page.locator('.banner', { hasText: 'Disconnected' }).waitFor();
    await daemon.restart();
    await page.locator('.link-open').waitFor();
    assert.equal(await idOf(), asked);
    await button(page, 'Approve').click();
    await page.locator('.answer', { hasText: 'All done.' }).waitFor();
    assert.equal(await contentOf('asked.txt'), 'ran\n');
    assert.deepEqual(await blocksOf(page), [
      'You: ask me',
      'Approved: bash',
      'bash echo ran | tee -a asked.txt done ran Open Copy',
      'All done.',
    ]);
  },
);

for (const { name, press, ran, settled } of [
  { name: 'Run again', press: 'Run again', ran: 'ran\nran\n', settled: 'Run again: bash' },
  { name: 'Skip', press: 'Skip', ran: 'ran\n', settled: 'Skipped: bash' },
]) {
  test(`killed while a command runs: the outcome is unknown, and a person is asked; ${name}`, async (t) => {
    const page = await visitForKill(t, name);
    const file = `${press.replace(' ', '-')}.txt`;
    // The first run would take a minute; the second one finds the file.
    const command = `echo ran >> ${file}; echo up; [ -e ${file}.again ] || sleep 60; echo slept`;
    model.when(`interrupt ${press}`, bash(command), say('Moving on.'));
    await send(page, `interrupt ${press}`);
    await button(page, 'Approve').click();
    await page.locator('.tool.running .output', { hasText: 'up' }).waitFor();
    await daemon.kill9();
    await daemon.restart();
    await page.locator('.approval.pending', { hasText: 'Run this again?' }).waitFor();
    await page.locator('.tool.unknown').waitFor();
    assert.equal(await contentOf(file), 'ran\n');
    await writeFile(workFile(`${file}.again`), '');
    await button(page, press).click();
    await page.locator('.answer', { hasText: 'Moving on.' }).waitFor();
    await page.locator('.outcome', { hasText: settled }).waitFor();
    assert.equal(await contentOf(file), ran);
  });
}

test(
  'a reload and a restart show the same as before: run errors, decisions with their feedback, and command output',
  sandboxed,
  async (t) => {
    const page = await visitForKill(t, 'told');
    model.when('deny me', bash('echo no | tee asked'), say('As you wish.'));
    model.when('allow me', bash('echo yes | tee asked'), say('It ran.'));
    model.when('fail me', fail(400));
    await send(page, 'deny me');
    await button(page, 'Deny…').click();
    await page.getByLabel('What should it do instead? (optional)').fill('use a branch');
    await page.keyboard.press('Enter');
    await page.locator('.answer', { hasText: 'As you wish.' }).waitFor();
    await send(page, 'allow me');
    await button(page, 'Approve').click();
    await page.locator('.answer', { hasText: 'It ran.' }).waitFor();
    await send(page, '/nmae');
    await page.locator('.note.info', { hasText: 'Did you mean /name?' }).waitFor();
    await send(page, 'fail me');
    await page.locator('.note.error', { hasText: 'answered 400' }).waitFor();
    await state(page, 'error');
    const shown = await blocksOf(page);
    assert.equal(shown.filter((block) => block.startsWith('Denied: bash')).length, 1);
    await page.reload();
    await page.locator('.note.error').waitFor();
    assert.deepEqual(await blocksOf(page), shown);
    await daemon.kill9();
    await page.locator('.banner', { hasText: 'Disconnected' }).waitFor();
    await daemon.restart();
    await page.locator('.link-open').waitFor();
    await page.reload();
    await page.locator('.note.error').waitFor();
    assert.deepEqual(await blocksOf(page), shown);
  },
);
