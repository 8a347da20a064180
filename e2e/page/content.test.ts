import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { button, hasValue, openWorkstream, send, state, untilCopied, visitAgain } from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await sharedStage();

const CODE = `import { readFile } from 'node:fs/promises';
// <img src=x onerror=window.injected=1>
export const total = (count: number) => count * 2;`;

/** The texts with this colour. */
const coloured = (within: Locator, className: string) => within.locator(`.${className}`).allInnerTexts();

test('a code block is highlighted once it is complete, and copied unchanged', async (t) => {
  const { page, context } = await visitAgain(t, daemon);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openWorkstream(page, 'code');
  const rest = stall();
  model.when('code', [say('```ts\n', CODE), rest, say('\n```\n\n```nonsense\nconst plain = 1;\n```\n')]);
  await send(page, 'code');
  const block = page.locator('.code').first();
  await block.getByText('const total').waitFor();
  assert.equal(
    await block.locator('[class^=hljs]').count(),
    0,
    'a code block that is still growing is not highlighted',
  );
  rest.release();
  await block.locator('.hljs-keyword').first().waitFor();
  assert.deepEqual(
    [await coloured(block, 'hljs-keyword'), await coloured(block, 'hljs-comment')],
    [['import', 'from', 'export', 'const'], ['// <img src=x onerror=window.injected=1>']],
  );
  await state(page, 'idle');
  const unknown = page.locator('.code', { hasText: 'nonsense' });
  assert.equal(await unknown.locator('[class^=hljs]').count(), 0);
  const told = block.getByRole('button', { name: 'Copied' }).waitFor(); // it says so only for a moment
  await block.getByRole('button', { name: 'Copy' }).click();
  await told;
  await untilCopied(page, CODE);
  assert.equal(await page.evaluate(() => 'injected' in window || document.querySelector('img') !== null), false);
});

const FILE = `${Array.from({ length: 30 }, (_, line) => `export const n${line + 1} = ${line + 1};`).join('\n')}\n`;

/** Lets the agent edit line 20 of a file. */
async function askForEdit(page: Page, name: string): Promise<void> {
  const folder = path.join(daemon.home, 'workspace');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, `${name}.ts`), FILE);
  const edit = { path: `${name}.ts`, old_string: 'n20 = 20;', new_string: 'n20 = 21;\nexport const more = 1;' };
  model.when(
    `edit ${name}`,
    callTools({ name: 'read_file', arguments: { path: `${name}.ts` } }),
    callTools({ name: 'edit_file', arguments: edit }),
    say('Changed.'),
  );
  await send(page, `edit ${name}`);
  await page.locator('.approval.pending .diff').waitFor();
}

/** The rows of a diff: line numbers, kind of change, text. */
const rowsOf = (diff: Locator) =>
  diff.locator('.diff-row').evaluateAll((rows) =>
    rows.map((row) => {
      const sides = row.matches('.diff-side') ? [row] : [...row.querySelectorAll('.diff-side')];
      return sides.map((side) => {
        const numbers = [...side.querySelectorAll('.diff-number')].map((number) => number.getAttribute('data-number'));
        const kind = ['same', 'removed', 'added', 'none'].find((name) => side.classList.contains(name));
        return [...numbers.filter(Boolean), kind, side.querySelector('.diff-text')?.textContent?.trim()]
          .join(' ')
          .trim();
      });
    }),
  );

test('an edit is shown before and after, with both line numbers, marked words and highlighted code', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'edits');
  await askForEdit(page, 'wide');
  const diff = page.locator('.approval.pending .diff');
  await diff.locator('.hljs-keyword').first().waitFor();
  assert.deepEqual(await rowsOf(diff), [
    ['17 same export const n17 = 17;', '17 same export const n17 = 17;'],
    ['18 same export const n18 = 18;', '18 same export const n18 = 18;'],
    ['19 same export const n19 = 19;', '19 same export const n19 = 19;'],
    ['20 removed export const n20 = 20;', '20 added export const n20 = 21;'],
    ['none', '21 added export const more = 1;'],
    ['21 same export const n21 = 21;', '22 same export const n21 = 21;'],
    ['22 same export const n22 = 22;', '23 same export const n22 = 22;'],
    ['23 same export const n23 = 23;', '24 same export const n23 = 23;'],
  ]);
  assert.deepEqual(await diff.locator('mark').allInnerTexts(), ['20', '21']);
  assert.match(await diff.innerText(), /16 unchanged lines/);
  await diff.getByRole('button', { name: 'One column' }).click();
  const rows = await rowsOf(diff);
  assert.deepEqual(rows.slice(3, 6).flat(), [
    '20 removed export const n20 = 20;',
    '20 added export const n20 = 21;',
    '21 added export const more = 1;',
  ]);
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'Changed.' }).waitFor();
  assert.equal(await page.locator('.tool .diff.unified').count(), 1, 'the card of the call shows the same diff');
  await page.reload();
  await page.locator('.tool .diff.unnumbered').waitFor();
  assert.deepEqual(
    (await rowsOf(page.locator('.tool .diff'))).flat().map((row) => row.replace(/^[\d ]+/, '')),
    ['removed n20 = 20;', 'added n20 = 21;', 'none', 'added export const more = 1;'],
  );
});

test('on a narrow screen a diff has one column', async (t) => {
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openWorkstream(page, 'narrow');
  await askForEdit(page, 'phone');
  await page.locator('.approval.pending .diff.unified').waitFor();
  assert.equal(
    await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
    0,
  );
});

test('a change of thousands of lines is shown page by page', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'big');
  const content = Array.from({ length: 2_000 }, (_, line) => `line ${line + 1}\n`).join('');
  model.when('big', callTools({ name: 'write_file', arguments: { path: 'big.txt', content } }), say('Written.'));
  await send(page, 'big');
  await button(page, 'Show all').click();
  const diff = page.locator('.approval.pending .diff');
  await diff.getByText('Page 1 of 7').waitFor();
  assert.equal(await diff.locator('.diff-row').count(), 300);
  await diff.getByRole('button', { name: 'Last page' }).click();
  await diff.getByText('line 2000', { exact: true }).waitFor();
  assert.equal(await diff.locator('.diff-row').count(), 200);
});

/** Runs a command in a new workstream and returns its output. */
async function run(page: Page, name: string, command: string): Promise<Locator> {
  await openWorkstream(page, name);
  model.when(
    `run ${name}`,
    callTools({ name: 'bash', arguments: { command: `touch it; ${command}` } }),
    say('It ran.'),
  );
  await send(page, `run ${name}`);
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'It ran.' }).waitFor();
  return page.locator('.tool .output');
}

test('command output keeps its colours but not overwritten text, and a copy contains neither', async (t) => {
  const { page, context } = await visitAgain(t, daemon);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const command = String.raw`printf '\033[1;31mred\033[0m \033[38;2;1;2;3mown\033[0m\n10%%\r50%%\r\033[Kdone\nab\bc\n'`;
  const output = await run(page, 'colours', command);
  const spans = await output
    .locator('span[class*=ansi]')
    .evaluateAll((all) =>
      all.map((span) => [
        span.textContent,
        span.className,
        span instanceof HTMLElement ? span.style.getPropertyValue('--ansi-front') : '',
      ]),
    );
  assert.deepEqual(spans, [
    ['red', 'ansi-bold ansi-on', 'var(--ansi-1)'],
    ['own', 'ansi-on', 'rgb(1 2 3)'],
  ]);
  assert.equal((await output.innerText()).trim(), 'red own\ndone\nab\\u0008c');
  await page.locator('.output-tools').getByRole('button', { name: 'Copy' }).click();
  await untilCopied(page, 'red own\ndone\nab\\u0008c\n');
});

test('quoted output in an answer keeps its colours; in code of a language the escape codes are shown', async (t) => {
  const { page, context } = await visitAgain(t, daemon);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openWorkstream(page, 'quoted');
  const red = '\u001b[31mred\u001b[0m <b>';
  model.when('quote it', say(`\`\`\`\n${red}\n\`\`\`\n\n\`\`\`js\n"${red}"\n\`\`\`\n`));
  await send(page, 'quote it');
  const fences = page.locator('.answer figure.code');
  await fences.nth(1).waitFor();
  await state(page, 'idle');
  assert.deepEqual(await fences.nth(0).locator('span[class*=ansi]').allInnerTexts(), ['red']);
  assert.deepEqual(
    (await fences.locator('pre').allInnerTexts()).map((text) => text.trim()),
    ['red <b>', `"${red}"`],
  );
  await fences.nth(0).getByRole('button', { name: 'Copy' }).click();
  await untilCopied(page, 'red <b>');
});

test('command output cannot become a link, an element or a reordered line', async (t) => {
  const { page } = await visitAgain(t, daemon);
  const command = String.raw`printf '\033]8;;javascript:window.injected=1\033\\click\033]8;;\033\\ <img src=x onerror=window.injected=1> \033[31m<script>window.injected=1</script>\033[0m \xe2\x80\xaegnp.exe\n'`;
  const output = await run(page, 'hostile', command);
  assert.equal(
    (await output.innerText()).trim(),
    String.raw`\u001b]8;;javascript:window.injected=1\u001b\click\u001b]8;;\u001b\ <img src=x onerror=window.injected=1> <script>window.injected=1</script> \u202egnp.exe`,
  );
  assert.deepEqual(
    await page.evaluate(() => [
      document.querySelectorAll('.tool a, .tool img, .tool script').length,
      'injected' in window,
    ]),
    [0, false],
  );
});

test('the page stays usable with a line of one megabyte, printed by a command or written by the model', async (t) => {
  const { page } = await visitAgain(t, daemon);
  const output = await run(page, 'one line', `head -c 1000000 /dev/zero | tr '\\0' x`);
  await output.waitFor();
  const code = `\`\`\`json\n"${'y'.repeat(1_000_000)}"\n\`\`\`\n\nthe end of it`;
  model.when('line please', say(...(code.match(/[\s\S]{1,50000}/g) ?? [])));
  await send(page, 'line please');
  await page.locator('.answer', { hasText: 'the end of it' }).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('still here');
  await hasValue(page.getByRole('textbox', { name: 'Message' }), 'still here');
});

test('a long output can be read page by page, searched and saved', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await run(page, 'long output', 'seq 1 100000');
  await page.getByRole('button', { name: 'Show full output (589 KB)' }).click();
  const whole = page.locator('.output-frame.whole');
  await whole.getByText('Page 1 of 9').waitFor();
  const shown = async () => (await whole.locator('.output').textContent()) ?? '';
  await whole.locator('.chunk').first().waitFor();
  assert.ok((await shown()).startsWith('1\n2\n3\n'));
  await whole.getByRole('button', { name: 'Next page' }).click();
  await whole.locator('.output[aria-busy=false]').waitFor();
  assert.ok((await shown()).length <= 70_000, 'the document contains only one page');
  await whole.getByRole('searchbox', { name: 'Find in the output' }).fill('77777');
  await button(page, 'Find next').click();
  await whole.getByText('Page 7 of 9').waitFor();
  await page.waitForFunction(() => CSS.highlights.get('found')?.size === 1);
  await whole.getByRole('searchbox', { name: 'Find in the output' }).fill('nowhere');
  await button(page, 'Find next').click();
  await whole.getByText('No further match').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download').click()]);
  const saved = await readFile(await download.path(), 'utf8');
  assert.equal(saved, Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join(''));
});

test('an output that was opened at the end of a conversation stays open while the person scrolls up', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'opened');
  for (const end of ['the first end', 'the second end', 'the third end']) {
    model.when(end, say(`${'one\n\n'.repeat(60)}${end}`));
    await send(page, end);
    await page.locator('.answer', { hasText: end }).waitFor();
  }
  await page.reload();
  await page.locator('.answer').last().waitFor();
  const print = callTools({ name: 'bash', arguments: { command: 'touch it; seq 1 100000' } });
  model.when('print', print, say('It ran.'));
  await send(page, 'print');
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'It ran.' }).waitFor();
  await page.getByRole('button', { name: 'Show full output (589 KB)' }).click();
  const whole = page.locator('.output-frame.whole');
  await whole.getByText('Page 1 of 9').waitFor();
  await page.locator('.answer', { hasText: 'It ran.' }).hover();
  await page.mouse.wheel(0, -60);
  for (const next of ['Page 2 of 9', 'Page 3 of 9', 'Page 4 of 9']) {
    await whole.getByRole('button', { name: 'Next page' }).click();
    await whole.getByText(next).waitFor();
  }
});
