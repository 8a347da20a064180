import type { Page } from 'playwright-core';
import { type PageFigures, scrollThrough, watchPage } from '../../e2e/support/clients/page-watch.ts';
import { callTools, pause, type Step, say } from '../../e2e/support/model/scripted-steps.ts';
import type { Programs } from '../stage.ts';
import { slowDown, usePage } from './measured-page.ts';

/** What a person does with a long conversation, in this order. */
const PHASES = ['opening', 'scrollingUp', 'scrollingDown', 'searching', 'streaming', 'output', 'switching'] as const;
export type PageScale = Record<(typeof PHASES)[number], PageFigures>;

const MESSAGES = 5_000;
const MORE_MESSAGES = 10_000;
const OUTPUT_LINES = 10_000;

/**
 * Opens a conversation of 5,000 messages, scrolls to its start and back, searches it, streams an answer of 200 kB and an
 * output of 10,000 lines into it, and changes to a conversation of 10,000 messages and back.
 */
export async function measurePage(
  programs: Pick<Programs, 'product' | 'seeds'>,
  { slowdown }: { slowdown: number },
): Promise<PageScale> {
  const conversations = { short: 4, long: MESSAGES, huge: MORE_MESSAGES };
  return usePage(programs, conversations, async ({ page, daemon, model }) => {
    const watch = await watchPage(page);
    await page.goto(daemon.loginLink());
    await show(page, 'short', 4);
    await watch.look();
    await slowDown(page, slowdown);
    model.when('stream please', flowing(longAnswer()));
    model.when('print please', callTools({ name: 'bash', arguments: { command: PRINT } }), say('It is printed.'));
    const steps: Record<keyof PageScale, () => Promise<void>> = {
      opening: () => show(page, 'long', MESSAGES),
      scrollingUp: () => scrollThrough(page, -700),
      scrollingDown: () => scrollThrough(page, 2_500),
      searching: () => search(page),
      streaming: () => streamInto(page),
      output: () => printInto(page),
      async switching() {
        await show(page, 'huge', MORE_MESSAGES);
        await page.getByRole('tab', { name: 'long' }).click();
        await page.locator('.answer', { hasText: 'It is printed.' }).waitFor();
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

async function show(page: Page, name: string, messages: number): Promise<void> {
  await page.getByRole('tab', { name }).click();
  await page.getByRole('heading', { name: `Answer ${messages / 4}`, exact: true }).waitFor();
}

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

/** Polls rarely and for simple selectors, because searching the page for a text would cost more than the answer. */
async function streamInto(page: Page): Promise<void> {
  await sendMessage(page, 'stream please');
  await untilIdle(page);
}

async function printInto(page: Page): Promise<void> {
  await sendMessage(page, 'print please');
  await untilIdle(page);
  await page.locator('.answer', { hasText: 'It is printed.' }).waitFor();
}

async function sendMessage(page: Page, message: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(message);
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  const isBusy = () => document.querySelector('.state-word.idle') === null;
  await page.waitForFunction(isBusy, undefined, WAIT);
}

const untilIdle = (page: Page) =>
  page.waitForFunction(() => document.querySelector('.state-word.idle') !== null, undefined, WAIT);

const WAIT = { timeout: 240_000, polling: 500 };

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
  return `${text}the very end\n`;
}
