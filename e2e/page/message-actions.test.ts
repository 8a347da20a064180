import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import {
  blocksOf,
  button,
  openWorkstream,
  send,
  state,
  untilCopied,
  visit,
  visitAgain,
} from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await sharedStage();

test('a message can be answered again, edited, copied with its conversation, and removed, in all open pages', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'taking back');
  const { page: other } = await visit(t, daemon);
  await other.getByRole('tab', { name: /taking back/ }).click();
  model.when('first', say('First.'));
  model.when('second', say('Second.'));
  await send(page, 'first');
  await page.locator('.answer', { hasText: 'First.' }).waitFor();
  await send(page, 'second');
  await page.locator('.answer', { hasText: 'Second.' }).waitFor();
  await state(page, 'idle');

  model.when('second', say('Better.'));
  await button(page, 'Answer again').click();
  await other.locator('.answer', { hasText: 'Better.' }).waitFor();
  await state(page, 'idle');
  assert.deepEqual(await blocksOf(other), await blocksOf(page));

  model.when('third', say('Third.'));
  await button(page, 'Edit and send again').first().focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Edited message').fill('third');
  await page.keyboard.press('Control+Enter');
  await other.locator('.answer', { hasText: 'Third.' }).waitFor();
  await state(page, 'idle');
  const edited = await blocksOf(page);
  assert.deepEqual([edited.length, await other.locator('.answer', { hasText: 'Better.' }).count()], [2, 0]);
  await page.reload();
  await page.locator('.answer', { hasText: 'Third.' }).waitFor();
  assert.deepEqual(await blocksOf(page), edited);

  model.when('poison', fail(400));
  await send(page, 'poison');
  await button(page, 'Remove').click();
  await page.getByText('poison').waitFor({ state: 'detached' });
  assert.deepEqual(await blocksOf(page), edited);

  await button(page, 'Continue in a copy').click();
  await page.getByRole('tab', { selected: true, name: /third|ws-/ }).waitFor();
  await page.locator('.answer', { hasText: 'Third.' }).waitFor();
});

test('on a phone, the actions of a message open on a tap, are large enough for a finger, and cover nothing before', async (t) => {
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openWorkstream(page, 'by touch');
  model.when('tap', say('Tapped.'));
  await send(page, 'tap');
  await page.locator('.answer', { hasText: 'Tapped.' }).waitFor();
  await state(page, 'idle');
  const again = button(page, 'Answer again');
  assert.equal(await again.isVisible(), false);
  await button(page, 'What to do with this message').tap();
  const box = await again.boundingBox();
  assert.ok(box && box.width >= 44 && box.height >= 44, JSON.stringify(box));
  await page.keyboard.press('Escape');
  await again.waitFor({ state: 'hidden' });
  await button(page, 'What to do with this message').tap();
  model.when('tap', say('Tapped again.'));
  await again.tap();
  await page.locator('.answer', { hasText: 'Tapped again.' }).waitFor();
  await again.waitFor({ state: 'hidden' });
});

test('a message shows when it was sent, and the whole answer is copied as Markdown, by mouse and by keyboard', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const wsId = await openWorkstream(page, 'copying');
  model.when(
    'two parts',
    [say('First **part**.'), callTools({ name: 'list_directory', arguments: {} })],
    say('Second `part`:\n\n- a\n- b'),
  );
  await send(page, 'in two parts');
  await page.locator('.answer', { hasText: 'Second part' }).waitFor();
  await state(page, 'idle');
  const answer = 'First **part**.\n\nSecond `part`:\n\n- a\n- b';

  const time = page.locator('.message-time');
  const row = page.locator('.message-row');
  assert.equal(await row.evaluate((element) => getComputedStyle(element).opacity), '0');
  await page.locator('.block.user').hover();
  await page.waitForFunction(() => {
    const shown = document.querySelector('.message-row');
    return shown !== null && getComputedStyle(shown).opacity === '1';
  });
  const sentMs = async () => Date.parse((await time.getAttribute('datetime')) ?? '');
  const { messages } = await (await daemon.client()).call('workstream.history', { wsId });
  const isStoredTime = async () => Math.abs((await sentMs()) - (messages[0]?.created_ms ?? 0)) < 1_000;
  assert.equal(await isStoredTime(), true);
  const shown = await time.evaluate(
    (element, ms) => {
      const at = new Date(ms);
      return {
        title: element.getAttribute('title') === at.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' }),
        text: getComputedStyle(element, '::before').content.includes(
          at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' }),
        ),
      };
    },
    await sentMs(),
  );
  assert.deepEqual(shown, { title: true, text: true });

  const last = messages.at(-1)?.created_ms ?? 0;
  const answered = page.locator('.answer', { hasText: 'Second part' }).locator('.answer-time');
  const isTimeOfAnswer = async () =>
    Math.abs(Date.parse((await answered.getAttribute('datetime')) ?? '') - last) < 1_000;
  assert.deepEqual([await answered.isVisible(), await isTimeOfAnswer()], [true, true]);

  await button(page, 'Copy the answer').click();
  await untilCopied(page, answer);
  await page.getByRole('textbox', { name: 'Message' }).focus();
  await button(page, 'Copy this message').focus();
  await page.keyboard.press('Enter');
  await untilCopied(page, 'in two parts');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await untilCopied(page, answer);
  await page.reload();
  await page.locator('.answer', { hasText: 'Second part' }).waitFor();
  assert.equal(await isStoredTime(), true);
  assert.equal(await isTimeOfAnswer(), true);
});

test('on a phone, the time and both copies are in the menu of the message, large enough for a finger', async (t) => {
  const { page } = await visitAgain(t, daemon, { phone: true });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await openWorkstream(page, 'copying by touch');
  model.when('poem', say('A *poem*.'));
  await send(page, 'a poem');
  await page.locator('.answer', { hasText: 'A poem.' }).waitFor();
  await state(page, 'idle');
  assert.equal(await page.locator('.message-time').isVisible(), false);
  assert.equal(await page.locator('.answer-time').isVisible(), true, 'without any action');
  for (const [name, text] of [
    ['Copy the answer', 'A *poem*.'],
    ['Copy this message', 'a poem'],
  ] as const) {
    await button(page, 'What to do with this message').tap();
    await page.locator('.message-time').waitFor();
    const box = await button(page, name).boundingBox();
    const row = await page.locator('.message-row').boundingBox();
    assert.ok(box && box.width >= 44 && box.height >= 44, JSON.stringify(box));
    assert.ok(row && row.x >= 0 && row.x + row.width <= (page.viewportSize()?.width ?? 0), JSON.stringify(row));
    await button(page, name).tap();
    await page.waitForFunction(async (copied) => (await navigator.clipboard.readText()) === copied, text);
    await page.locator('.message-row').waitFor({ state: 'hidden' });
  }
});

test('the checklist of the agent is shown while it works, after a reload, and until it is cleared', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'checklist');
  const held = stall();
  const items = [
    { text: 'find the <b>bug</b>', status: 'done' },
    { text: 'mend it', status: 'in_progress' },
    { text: 'rest' },
  ];
  model.when('work through it', callTools({ name: 'todo', arguments: { items } }), [held, say('Half of it.')]);
  await send(page, 'work through it');
  await held.reached;
  const list = page.getByRole('list', { name: 'Checklist' }).getByRole('listitem');
  const shown = async () => {
    await list.nth(2).waitFor();
    return (await list.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
  };
  const expected = ['find the <b>bug</b> done', 'mend it in progress', 'rest to do'];
  assert.deepEqual(await shown(), expected);
  held.release();
  await state(page, 'idle');
  await page.reload();
  assert.deepEqual(await shown(), expected);
  assert.equal(await page.locator('.todo summary').innerText(), 'Checklist 1 of 3 done');
  await send(page, '/clear');
  await list.first().waitFor({ state: 'detached' });
});

test('an image that a tool has read is shown in the card of the call, also after a reload', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'pictures');
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const folder = path.join(daemon.home, 'workspace');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'dot.png'), Buffer.from(png, 'base64'));
  model.when('show the dot', callTools({ name: 'read_file', arguments: { path: 'dot.png' } }));
  model.when('that read_file has read', say('A dot.'));
  await send(page, 'show the dot');
  await page.locator('.answer', { hasText: 'A dot.' }).waitFor();
  const widths = async () => {
    await page.locator('.tool .tool-head').click();
    const image = page.locator('.tool .attachments img');
    await image.waitFor();
    return image.evaluate((img: HTMLImageElement) => img.decode().then(() => [img.alt, img.naturalWidth]));
  };
  assert.deepEqual(await widths(), ['dot.png', 1]);
  await state(page, 'idle');
  await page.reload();
  await page.locator('.answer', { hasText: 'A dot.' }).waitFor();
  assert.deepEqual(await widths(), ['dot.png', 1]);
});

test('the changes of a run are shown with their diff, and taken back after a question about each conflict', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'changing files');
  const [mine, yours] = ['undo-mine.txt', 'undo-yours.txt'].map((name) => path.join(daemon.home, 'workspace', name));
  const command = `echo one > ${mine}; echo two > ${yours}`;
  model.when('write them', callTools({ name: 'bash', arguments: { command } }), say('Written.'));
  await send(page, 'write them');
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'Written.' }).waitFor();
  await state(page, 'idle');
  await writeFile(yours ?? '', 'by a person\n');
  await button(page, 'Changes on disk').click();
  const dialog = page.getByRole('dialog', { name: 'Changes on disk' });
  const files = dialog.getByRole('list', { name: 'Changed files' }).getByRole('listitem');
  await files.first().waitFor();
  assert.deepEqual(await files.allTextContents(), ['undo-mine.txtnew+1Take back', 'undo-yours.txtnew+1Take back']);
  await dialog.locator('.diff-rows', { hasText: 'two' }).waitFor();
  await dialog.getByRole('button', { name: 'Undo the last run…' }).click();
  const question = dialog.getByRole('list', { name: 'What will change' });
  await question.getByText('undo-mine.txt').waitFor();
  await dialog.getByLabel('What happens to undo-yours.txt').selectOption('keep');
  await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
  await dialog.getByText('1 file was changed. Left as they are: undo-yours.txt.').waitFor();
  assert.deepEqual([existsSync(mine ?? ''), await readFile(yours ?? '', 'utf8')], [false, 'by a person\n']);
  await dialog.getByRole('button', { name: 'Redo…' }).waitFor();
});
