import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import type { Locator } from 'playwright-core';
import { needs } from '../../src/testing/needs.ts';
import { button, send, visit } from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await sharedStage();
const run = promisify(execFile);
model.when('where', say('In `src/a.ts:30`, as [described](docs/b.md).'));
model.when('explain', say('I see'));

/** A workstream in a folder with a long file, as a page shows it. */
async function openFolder(t: Parameters<typeof visit>[0], width: number) {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'headgate-page-files-')));
  after(() => rm(folder, { recursive: true, force: true }));
  await mkdir(path.join(folder, 'src'));
  await mkdir(path.join(folder, 'docs'));
  const lines = Array.from({ length: 60 }, (_, index) => `const line${index + 1} = ${index + 1};\n`);
  await writeFile(path.join(folder, 'src/a.ts'), lines.join(''));
  await writeFile(path.join(folder, 'docs/b.md'), 'described here\n');
  const client = await daemon.client();
  const name = path.basename(folder);
  await client.call('workstream.create', { workdir: folder, name });
  const { page } = await visit(t, daemon);
  await page.setViewportSize({ width, height: 900 });
  await page.getByRole('tab', { name }).click();
  await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  return { page, folder, lines };
}

test('a file named in an answer opens at its line beside the conversation, and the tree shows the others', async (t) => {
  const { page } = await openFolder(t, 1_920);
  await send(page, 'where is it?');
  await page.getByRole('button', { name: 'src/a.ts:30' }).click();
  const pane = page.getByRole('complementary', { name: 'Files' });
  const viewer = pane.getByRole('region', { name: 'File src/a.ts' });
  await viewer.locator('.file-mark[data-line="30"]').waitFor();
  const [top, lineTop] = await viewer.evaluate((element) => {
    const mark = element.querySelector('.file-mark')?.getBoundingClientRect();
    const range = document.createRange();
    const walker = document.createTreeWalker(element.querySelector('.file-text') ?? element, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode;
      const at = text.textContent?.indexOf('line30') ?? -1;
      if (at < 0) continue;
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      break;
    }
    const line = range.getBoundingClientRect();
    return [mark?.top ?? 0, line.top + line.height / 2];
  });
  assert.ok(lineTop > top && lineTop < top + 20, `the mark at ${top} is on line 30 at ${lineTop}`);
  assert.equal(await page.locator('#message').isVisible(), true, 'the conversation is still there');
  await button(page, 'described').click();
  await pane.getByText('described here').waitFor();
  await button(page, 'All files').click();
  await pane.getByRole('button', { name: 'src', exact: true }).click();
  await pane.getByRole('button', { name: /^a\.ts/ }).click();
  await viewer.waitFor();
  await button(page, 'All files').click();
  await pane.getByLabel('Find a file').fill('sats');
  await pane.getByRole('button', { name: 'src/a.ts' }).waitFor();
  await page.keyboard.press('Enter');
  await viewer.waitFor();
  await page.keyboard.press('Alt+p');
  await pane.waitFor({ state: 'detached' });
});

test('a mention is completed and attached with its lines', async (t) => {
  const { page, lines } = await openFolder(t, 1_280);
  await page.locator('#message').pressSequentially('explain @sats');
  await page.getByRole('option', { name: 'src/a.ts' }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.locator('#message').inputValue(), 'explain @src/a.ts');
  await page.locator('#message').pressSequentially('#20-21');
  await page.keyboard.press('Enter');
  await page.locator('.answer[aria-busy=false]').waitFor();
  assert.match(await page.locator('.block.user').innerText(), /a\.ts \(lines 20-21\)/);
  const content = JSON.stringify(model.requests.at(-1)?.body.messages.at(-1)?.content);
  assert.ok(content.includes(JSON.stringify(lines.slice(19, 21).join('')).slice(1, -1)) && !content.includes('line22'));
  await send(page, 'and @src/a.ts#99?');
  await page.getByRole('alert').filter({ hasText: '@src/a.ts has 60 lines' }).waitFor();
  assert.equal(await page.locator('#message').inputValue(), 'and @src/a.ts#99?');
});

test('the changes since the last commit are compared; 100 columns do not wrap', await needs('git'), async (t) => {
  const { page, folder } = await openFolder(t, 1_920);
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args], { cwd: folder });
  await git('init', '-q', '-b', 'main');
  await git('add', '.');
  await git('commit', '-qm', 'first');
  await writeFile(path.join(folder, 'docs/b.md'), `${'x'.repeat(100)}\n`);
  await page.keyboard.press('Alt+p');
  const pane = page.getByRole('complementary', { name: 'Files' });
  await pane.getByRole('button', { name: 'Changes', exact: true }).click();
  await pane.getByText('branch main').waitFor();
  await pane.getByRole('button', { name: /^docs\/b\.md/ }).click();
  const text = pane.locator('.diff-text', { hasText: 'xxxx' });
  await text.waitFor();
  const { height, lineHeight } = await text.evaluate((element) => ({
    height: element.getBoundingClientRect().height,
    lineHeight: Number.parseFloat(getComputedStyle(element).lineHeight),
  }));
  assert.ok(height < 1.5 * lineHeight, `one line: ${height} of ${lineHeight}`);
  await pane.getByText('No run of this workstream has changed files yet.').waitFor();
  await undoesAndBringsBack(pane, path.join(folder, 'docs/b.md'));
  await page.setViewportSize({ width: 1_000, height: 800 });
  const dialog = page.getByRole('dialog', { name: 'Files' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

/** A file goes back to the last commit after a question, and is brought back; one that changes meanwhile stays. */
async function undoesAndBringsBack(pane: Locator, file: string): Promise<void> {
  const changed = await readFile(file, 'utf8');
  const press = (name: string) => pane.getByRole('button', { name, exact: true }).click();
  const question = pane.getByText('Put docs/b.md back as it is in the last commit?');
  await press('Undo docs/b.md…');
  await press('Cancel');
  await question.waitFor({ state: 'detached' });
  await press('Undo docs/b.md…');
  await question.waitFor(); // the diff was read
  await writeFile(file, 'meanwhile\n');
  await press('Undo');
  await pane.getByText('docs/b.md has changed since you looked at it. Nothing was changed.').waitFor();
  assert.equal(await readFile(file, 'utf8'), 'meanwhile\n');
  await writeFile(file, changed);
  await press('Undo docs/b.md…');
  await press('Undo');
  await pane.getByText('docs/b.md is as in the last commit.').waitFor();
  assert.notEqual(await readFile(file, 'utf8'), changed);
  await press('Bring back docs/b.md');
  await pane.getByText('docs/b.md is as it was.').waitFor();
  assert.equal(await readFile(file, 'utf8'), changed);
  await pane.getByRole('button', { name: 'Undo docs/b.md…', exact: true }).waitFor();
}
