import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { openWorkstream, send, state, untilCopied, visit, visitAgain } from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { callTools, say, stall, think } from '../support/model/scripted-steps.ts';

const { model, daemon } = await sharedStage();

/** Lets the model answer with this in a new workstream. */
async function answer(page: Page, name: string, markdown: string): Promise<void> {
  await openWorkstream(page, name);
  model.when(`answer ${name}`, say(markdown));
  await send(page, `answer ${name}`);
  await page.locator('.answer').waitFor();
  await state(page, 'idle');
}

test('a table has the alignment its Markdown gives', async (t) => {
  const { page } = await visitAgain(t, daemon);
  const wide = 'a header that is wider than all of its cells';
  const header = `| none ${wide} | left ${wide} | centre ${wide} | right ${wide} |`;
  await answer(page, 'table', `${header}\n|---|:--|:-:|--:|\n| 1 | 2 | 3 | 4 |\n`);
  const places = await page.locator('.answer td').evaluateAll((cells) =>
    cells.map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      const [text, box] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
      const [before, after] = [text.left - box.left, box.right - text.right];
      if (Math.abs(before - after) < 2) return 'centre';
      return before < after ? 'left' : 'right';
    }),
  );
  assert.deepEqual(places, ['left', 'left', 'centre', 'right']);
});

for (const phone of [true, false]) {
  test(`the box of a checklist item is next to the first line of its label, ${phone ? 'on a phone' : 'on a desktop'}`, async (t) => {
    const { page } = await visitAgain(t, daemon, { phone });
    const long = 'a label that goes on for more than one line of the screen, '.repeat(4);
    const lists = [`- [x] ${long}\n- [ ] short\n  - [ ] below it`, `- [ ] loose ${long}\n\n- [x] loose and short`];
    await answer(page, `checklist ${phone}`, `${lists.join('\n\nand\n\n')}\n`);
    const boxes = await page.locator('.answer li').evaluateAll((items) =>
      items.map((item) => {
        const box = item.querySelector('input')?.getBoundingClientRect();
        const range = document.createRange();
        const texts = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
        range.selectNodeContents(texts.nextNode() ?? item);
        const lines = [...range.getClientRects()];
        const [first] = lines;
        if (!box || !first) return 'no box or no label';
        const isBeside = box.right <= first.left && first.left - box.right < 16;
        const isOnLine = Math.abs(box.top + box.height / 2 - (first.top + first.height / 2)) < 4;
        const isHanging = lines.every((line) => Math.abs(line.left - first.left) < 1);
        const isSquare = Math.abs(box.width - box.height) < 1 && box.left >= 0;
        return { isBeside, isOnLine, isHanging, isSquare };
      }),
    );
    const good = { isBeside: true, isOnLine: true, isHanging: true, isSquare: true };
    assert.deepEqual(boxes, [good, good, good, good, good]);
  });
}

test('conversation and composer have the same edges next to a scrollbar, in wide and narrow windows', async (t) => {
  const { page } = await visit(t, daemon, { scrollbars: true });
  const edges = () =>
    page.evaluate(() => {
      const edgesOf = (selector: string) => {
        const { left, right } = document.querySelector(selector)?.getBoundingClientRect() ?? {};
        return [left, right];
      };
      const view = document.querySelector<HTMLElement>('.transcript');
      return {
        scrollbar: view ? view.offsetWidth - view.clientWidth > 0 : false,
        answer: edgesOf('.block.answer'),
        box: edgesOf('.composer-box'),
      };
    });
  await answer(page, 'edges', 'A line.\n\n'.repeat(80));
  for (const width of [1280, 900, 500]) {
    await page.setViewportSize({ width, height: 700 });
    const { scrollbar, answer: block, box } = await edges();
    assert.deepEqual([scrollbar, block], [true, box], `${width} px wide`);
  }
});

const LINES = 700;
const numbers = Array.from({ length: LINES }, (_, index) => index + 1);
const LONG: Record<string, { markdown: string; selector: string; count: number }> = {
  list: {
    markdown: numbers.map((n) => `- item ${n} is **bold** and \`code\`, in so many words\n`).join(''),
    ...{ selector: '.answer li strong', count: LINES },
  },
  'list below another': {
    markdown: `1. top\n${numbers.map((n) => `   - item ${n} is **bold** and \`code\`, in so many words\n`).join('')}`,
    ...{ selector: '.answer li li strong', count: LINES },
  },
  table: {
    markdown: `| n | what |\n|--:|---|\n${numbers.map((n) => `| ${n} | is **bold** and \`code\`, in so many words |\n`).join('')}`,
    ...{ selector: '.answer tbody tr strong', count: LINES },
  },
  quote: {
    markdown: numbers.map((n) => `> line ${n} is **bold** and \`code\`, in so many words\n>\n`).join(''),
    ...{ selector: '.answer blockquote p strong', count: LINES },
  },
  paragraph: {
    markdown: numbers.map((n) => `Line ${n} is **bold** and \`code\`, in so many words.\n`).join(''),
    ...{ selector: '.answer p strong', count: LINES },
  },
};

for (const [kind, { markdown, selector, count }] of Object.entries(LONG)) {
  test(`a ${kind} of ${Math.round(markdown.length / 1_000)} kB is formatted while it streams`, async (t) => {
    const { page } = await visitAgain(t, daemon);
    await openWorkstream(page, `long ${kind}`);
    const rest = stall();
    const pieces = markdown.match(/[\s\S]{1,200}/g) ?? [];
    model.when(`long ${kind}`, [say(...pieces), rest, say('\n\nthe end')]);
    await send(page, `long ${kind}`);
    await page.waitForFunction(([found, wanted]) => document.querySelectorAll(String(found)).length === wanted, [
      selector,
      count,
    ] as const);
    assert.equal(await page.locator('.answer[aria-busy=true]').count(), 1, 'it is still streaming');
    assert.equal(await page.locator('.answer .unformatted').count(), 0);
    const texts = await page.locator(selector).allInnerTexts();
    assert.ok(texts.every((text) => text === 'bold'));
    rest.release();
    await page.locator('.answer').getByText('the end', { exact: true }).waitFor();
    assert.equal(await page.locator(selector).count(), count);
  });
}

test('a growing answer redraws only its last block', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'redrawn');
  const rest = stall();
  const items = numbers.map((n) => `- item **${n}**\n`).join('');
  model.when('redraw', [say(items), rest, say('- one more\n- and another')]);
  await send(page, 'redraw');
  await page.locator('.answer').getByText(String(LINES), { exact: true }).waitFor();
  await page.evaluate(() => {
    const list = document.querySelector('.answer ul');
    const changed = new Set<Node>();
    new MutationObserver((records) => {
      for (const { target } of records) changed.add(target);
      const items = [...(list?.children ?? [])];
      document.body.dataset.changed = String(items.filter((item, index) => index < 690 && changed.has(item)).length);
    }).observe(document.querySelector('.answer') ?? document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  rest.release();
  await page.locator('.answer').getByText('and another').waitFor();
  await state(page, 'idle');
  assert.equal(await page.evaluate(() => document.body.dataset.changed), '0');
});

test('screen readers get a streaming answer sentence by sentence, each once', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'aloud');
  const sentences = Array.from({ length: 12 }, (_, index) => `Sentence ${index + 1} has **some** words.`);
  const text = `${sentences.join(' ')}\n\n\`\`\`ts\nconst a = 1;\n\`\`\`\n\nThe end`;
  const stalls = [stall(), stall()] as const;
  const words = text.match(/\S+\s*|\s+/g) ?? [];
  model.when('aloud', [
    think('Nobody has to hear this.'),
    say(...words.slice(0, 8)),
    stalls[0],
    say(...words.slice(8)),
    stalls[1],
  ]);
  const region = page.getByRole('log', { name: 'Answer' });
  assert.deepEqual([await region.getAttribute('aria-live'), await region.innerText()], ['polite', '']);
  await region.evaluate((log) => {
    const heard: string[] = [];
    new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const node of addedNodes) heard.push(node.textContent ?? '');
      document.body.dataset.heard = JSON.stringify(heard);
    }).observe(log, { subtree: true, childList: true, characterData: true });
  });
  const heard = (): Promise<string[]> => page.evaluate(() => JSON.parse(document.body.dataset.heard ?? '[]'));
  await send(page, 'aloud');
  await page.locator('.answer', { hasText: 'Sentence 2 has' }).waitFor();
  assert.deepEqual(await heard(), ['Sentence 1 has some words.'], 'an unfinished sentence is not read aloud yet');
  stalls[0].release();
  await page.locator('.answer', { hasText: 'The end' }).waitFor();
  assert.equal((await heard()).join(' ').includes('The end'), false);
  stalls[1].release();
  await state(page, 'idle');
  const all = await heard();
  assert.equal(all.join(' '), `${sentences.join(' ').replaceAll('**', '')} Code in ts, 1 line. The end`);
  assert.ok(all.length < words.length / 2, `${all.length} lines for ${words.length} tokens`);
  await page.reload();
  await page.locator('.answer', { hasText: 'The end' }).waitFor();
  assert.equal(await region.textContent(), '', 'stored messages are not read aloud');
});

test('formulas and footnotes are drawn without markup of the model, and a table is copied as it is written', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const table = '| a | b |\n|---|--:|\n| 1 | $x_1$ |';
  await answer(
    page,
    'formulas',
    `It costs $5 or $6[^1], $\\frac{1}{2}$ of it.\n\n$$\n\\href{https://example.com}{a} + \\text{<b>}\n$$\n\n${table}\n\n[^1]: A *note*.\n`,
  );
  await page.locator('mfrac').waitFor();
  assert.match(await page.locator('.answer p').first().innerText(), /^It costs \$5 or \$6/);
  assert.equal(await page.locator('.answer math a, .answer math b, .answer math [style]').count(), 0);
  await page.getByRole('button', { name: 'Footnote 1', exact: true }).click();
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('A note.'));
  await page.getByRole('button', { name: 'Copy table' }).focus();
  await page.keyboard.press('Enter');
  await untilCopied(page, table);
  await assertAccessible(page, 'formulas and footnotes');
});

test('text that would change the direction of its line is shown escaped in messages, formulas and checklists', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'directions');
  const list = { items: [{ text: 'then \u202egnp', status: 'in_progress' }] };
  const answered = stall();
  model.when('say \u202egnp', callTools({ name: 'todo', arguments: list }), [
    say('It is $\\text{a\u202eb}$ and $\\nothing{\u202ec}$.'),
    answered,
  ]);
  await send(page, 'say \u202egnp');
  await page.locator('.answer math').waitFor();
  const texts = (selector: string) => page.locator(selector).allInnerTexts();
  assert.deepEqual(
    [await texts('.block.user div'), await texts('.todo-text')],
    [[String.raw`say \u202egnp`], [String.raw`then \u202egnp`]],
  );
  assert.equal((await texts('.answer')).join().includes('\u202e'), false);
  answered.release();
  await state(page, 'idle');
});

test('a long diff whose last page is shown still has rows when it gets fewer pages', async (t) => {
  const { page } = await visitAgain(t, daemon);
  const pairs = Array.from({ length: 250 }, (_, line) => `-old ${line}\n+new ${line}`).join('\n');
  await answer(page, 'pages', `\`\`\`diff\n--- a/x.txt\n+++ b/x.txt\n@@ -1,250 +1,250 @@\n${pairs}\n\`\`\`\n`);
  const diff = page.locator('.answer .diff');
  const inOneColumn = diff.getByRole('button', { name: 'One column' });
  if ((await inOneColumn.count()) > 0) await inOneColumn.click();
  await diff.getByRole('button', { name: 'Last page' }).click();
  await diff.getByRole('button', { name: 'Side by side' }).click();
  await diff.getByText('new 249', { exact: true }).waitFor();
});
