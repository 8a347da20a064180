import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { installedChromium } from '../e2e/support/clients/chromium.ts';
import { type PageFigures, scrollThrough, watchPage } from '../e2e/support/clients/page-watch.ts';
import { startDaemon } from '../e2e/support/daemon/daemon.ts';
import { startScriptedModel } from '../e2e/support/model/scripted-model.ts';
import { pause, type Step, say } from '../e2e/support/model/scripted-steps.ts';
import type { Programs } from './stage.ts';

/** Measurements of the page while a person uses a long conversation. */
export interface PageScale {
  messages: number;
  opening: PageFigures;
  scrollingUp: PageFigures;
  scrollingDown: PageFigures;
  /** While an answer of 200 kB streams in at the end. */
  streaming: PageFigures;
}

const MESSAGES = 5_000;

/** Opens a conversation of 5,000 messages in a browser, scrolls to its start and back, and streams an answer into it. */
export async function measurePage({ product, seeds }: Pick<Programs, 'product' | 'seeds'>): Promise<PageScale> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-page-'));
  const home = path.join(folder, 'home');
  await (await seeds()).conversation(home, 'long', MESSAGES);
  const model = await startScriptedModel();
  try {
    await using daemon = await startDaemon({ home, model: model.url, entry: product });
    const browser = await chromium.launch({ ...(await installedChromium()), args: ['--no-sandbox', '--disable-gpu'] });
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      const watch = await watchPage(page);
      await page.goto(daemon.loginLink());
      await page.getByRole('tab', { name: 'long' }).click();
      await page.getByRole('heading', { name: `Answer ${MESSAGES / 4}` }).waitFor();
      const opening = await watch.look();
      await scrollThrough(page, -700);
      const scrollingUp = await watch.look();
      await scrollThrough(page, 2_500);
      const scrollingDown = await watch.look();
      model.when('stream please', flowing(longAnswer()));
      await streamInto(page);
      const streaming = await watch.look();
      return { messages: MESSAGES, opening, scrollingUp, scrollingDown, streaming };
    } finally {
      await browser.close();
    }
  } finally {
    await model.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Polls rarely and for simple selectors, because searching the page for a text would cost more than the answer. */
async function streamInto(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill('stream please');
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  const options = { timeout: 120_000, polling: 500 };
  await page.waitForFunction(() => document.querySelector('.answer[aria-busy=true]') !== null, undefined, options);
  await page.waitForFunction(() => document.querySelector('.state-word.idle') !== null, undefined, options);
}

/** Steps of a fast model that streams some words at a time. */
const flowing = (text: string): Step[] =>
  Array.from({ length: Math.ceil(text.length / CHUNK_CHARS) }, (_, at) => [
    say(text.slice(at * CHUNK_CHARS, (at + 1) * CHUNK_CHARS)),
    pause(5),
  ]).flat();

const CHUNK_CHARS = 200;

function longAnswer(): string {
  const part = (n: number) =>
    `### Part ${n}\n\nSome **words** about it, with \`code\` and more than one line of text. ${'And on it goes. '.repeat(20)}\n\n- a\n- b\n\n\`\`\`ts\n${`const line${n} = call(${n}); // comment\n`.repeat(15)}\`\`\`\n\n`;
  let text = '';
  for (let n = 1; text.length < 200_000; n += 1) text += part(n);
  return `${text}the very end\n`;
}
