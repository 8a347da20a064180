import type { Page } from 'playwright-core';
import { type PageFigures, scrollThrough, watchPage } from '../../e2e/support/clients/page-watch.ts';
import { callTools, pause, type Step, say } from '../../e2e/support/model/scripted-steps.ts';
import type { Programs } from '../stage.ts';
import { slowDown, usePage } from './measured-page.ts';

/** What a person does with a long conversation, in this order. */
const PHASES = [
  ...(['opening', 'scrollingUp', 'scrollingDown', 'searching'] as const),
  ...(['streaming', 'output', 'outputPages', 'switching'] as const),
] as const;
export type PageScale = Record<(typeof PHASES)[number], PageFigures>;

const MESSAGES = 5_000;
const MORE_MESSAGES = 10_000;
const OUTPUT_LINES = 10_000;

/**
 * Opens a conversation of 5,000 messages, scrolls to its start and back, searches it, streams an answer of 200 kB and an
 * output of 10,000 lines into it, turns the pages of that output, and changes to a conversation of 10,000 messages and back.
 */
export async function measurePage(
  programs: Pick<Programs, 'product' | 'seeds'>,
  { slowdown }: { slowdown: number },
): Promise<PageScale> {
  const conversations = { short: 4, long: MESSAGES, huge: MORE_MESSAGES };
  return usePage(programs, conversations, async ({ page, daemon, model }) => {
    const watch = await watchPage(page);
    await page.goto(daemon.loginLink());
    await show(page, 'short', 'Answer 1');
    await watch.look();
    await slowDown(page, slowdown);
    model.when('stream please', flowing(longAnswer()));
    model.when('print please', callTools({ name: 'bash', arguments: { command: PRINT } }), say(PRINT_END));
    const steps: Record<keyof PageScale, () => Promise<void>> = {
      opening: () => show(page, 'long', lastOf(MESSAGES)),
      scrollingUp: () => scrollThrough(page, -700),
      scrollingDown: () => scrollThrough(page, 2_500),
      searching: () => search(page),
      streaming: () => ask(page, 'stream please', STREAM_END),
      output: () => ask(page, 'print please', PRINT_END),
      outputPages: () => turnPages(page),
      async switching() {
        await show(page, 'huge', lastOf(MORE_MESSAGES));
        await show(page, 'long', PRINT_END);
      },
    };
    const scale: Partial<PageScale> = {};
    for (const phase of PHASES) {
      await steps[phase]();
      scale[phase] = await watch.look();
    }
    return scale as PageScale; // every phase has been measured
  });
}

/** Looks for elements by simple selectors, and rarely: a search of the page for a text would cost more than its own work. */
async function show(page: Page, name: string, last: string): Promise<void> {
  await page.locator('[role=tab]', { hasText: name }).click();
  await untilLast(page, last);
}

/** Waits until the last answer in the document contains a text. */
const untilLast = (page: Page, text: string) =>
  page.waitForFunction(
    (wanted) => [...document.querySelectorAll('.answer')].at(-1)?.textContent?.includes(wanted),
    text,
    { timeout: 240_000, polling: 250 },
  );

/** Finds a word that most answers contain, and goes to the match before the last. */
async function search(page: Page): Promise<void> {
  await page.keyboard.press('Control+f');
  await page.locator('.find-bar input').fill('further');
  await page.locator('.find-count', { hasText: /\d/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.locator('.find-count', { hasText: /^\d.* of / }).waitFor();
  await page.keyboard.press('Escape');
}

async function ask(page: Page, message: string, end: string): Promise<void> {
  await page.locator('#message').fill(message);
  await page.locator('#message').press('Enter');
  await untilLast(page, end);
}

/** Shows the whole output, page by page. */
async function turnPages(page: Page): Promise<void> {
  await page.locator('button', { hasText: 'Show full output' }).last().click();
  const drawn = (line: number) =>
    page.waitForFunction(
      (wanted) => document.querySelector('.whole .output')?.textContent?.includes(wanted),
      `line ${line} `,
      {
        polling: 100,
      },
    );
  await drawn(1);
  for (let turn = 1; turn <= 5; turn += 1) {
    await page.locator('.whole [aria-label="Next page"]').click();
    await drawn(turn * 1_150 + 500);
  }
  await page.locator('button', { hasText: 'Show less' }).click();
}

const lastOf = (messages: number) => `Answer ${messages / 4}`;

const STREAM_END = 'the very end';
const PRINT_END = 'It is printed.';
const PRINT = `seq -f 'line %g of the output of a command that prints a lot' ${OUTPUT_LINES}`;

/** Steps of a fast model that streams some words at a time. */
const flowing = (text: string): Step[] =>
  Array.from({ length: Math.ceil(text.length / CHUNK_CHARS) }, (_, at) => [
    say(text.slice(at * CHUNK_CHARS, (at + 1) * CHUNK_CHARS)),
    pause(5),
  ]).flat();

const CHUNK_CHARS = 200;

function longAnswer(): string {
  const part = (n: number) =>
    [
      `### Part ${n}`,
      `Some **words** about it, with \`code\` and more than one line of text. ${'And on it goes. '.repeat(20)}`,
      '- a\n- b',
      `| part | state |\n|---|---|\n${`| ${n} | **open**, see \`part${n}\` |\n`.repeat(5)}`,
      `\`\`\`ts\n${`const line${n} = call(${n}); // comment\n`.repeat(15)}\`\`\``,
    ].join('\n\n');
  let text = '';
  for (let n = 1; text.length < 200_000; n += 1) text += `${part(n)}\n\n`;
  return `${text}${STREAM_END}\n`;
}
