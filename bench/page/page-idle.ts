import type { CDPSession } from 'playwright-core';
import { pause, say } from '../../e2e/support/model/scripted-steps.ts';
import { systemClock } from '../../src/clock.ts';
import type { Programs } from '../stage.ts';
import { usePage } from './measured-page.ts';

/** Processor milliseconds per second of all processes of a browser with one page. */
export interface PageIdle {
  idle: number;
  /** While a run waits for its model, with everything that moves then. */
  running: number;
}

const SECONDS = 10;
const NEVER = new AbortController().signal;

export async function measureIdle(programs: Pick<Programs, 'product' | 'seeds'>): Promise<PageIdle> {
  return usePage(programs, { short: 40 }, async ({ browser, page, daemon, model }) => {
    const session = await browser.newBrowserCDPSession();
    await page.goto(daemon.loginLink());
    await page.locator('.answer').last().waitFor();
    const idle = await costOf(session);
    model.when('wait long', [pause(60_000), say('At last.')]);
    await page.locator('#message').fill('wait long');
    await page.locator('#message').press('Enter');
    await page.locator('.waiting').waitFor();
    const running = await costOf(session);
    return { idle, running };
  });
}

async function costOf(session: CDPSession): Promise<number> {
  await systemClock.sleep(1_000, NEVER); // what the last step began has ended
  const before = await cpuSeconds(session);
  await systemClock.sleep(SECONDS * 1_000, NEVER);
  return Math.round(((await cpuSeconds(session)) - before) * (1_000 / SECONDS));
}

async function cpuSeconds(session: CDPSession): Promise<number> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}
