import type { BrowserContext, Page } from 'playwright-core';
import { launched } from '../clients/browser-profiles.ts';

interface Shown {
  url: string;
  /** What the page takes for the present. */
  nowMs: number;
  /** Default: nobody. */
  login?: object;
}

/** A page that is drawn in the same way each time: its time stands still, nothing moves, and it is in English and UTC. */
export async function openShownPage({ url, nowMs, login }: Shown): Promise<{ page: Page; context: BrowserContext }> {
  const context = await (await launched()).newContext({
    ...{ locale: 'en-US', timezoneId: 'UTC', colorScheme: 'light', reducedMotion: 'reduce' },
    viewport: { width: 1280, height: 800 },
  });
  context.setDefaultTimeout(60_000);
  await context.addInitScript(stopTime, nowMs);
  if (login !== undefined) {
    const answer = await context.request.post(new URL('/v1/api/auth/login', url).href, { data: login });
    if (!answer.ok()) throw new Error(`the login answered ${answer.status()}`);
  }
  const page = await context.newPage();
  await page.goto(url);
  return { page, context };
}

/** Runs in the page. */
function stopTime(nowMs: number): void {
  globalThis.Date = new Proxy(Date, {
    construct: (real, values) => Reflect.construct(real, values.length === 0 ? [nowMs] : values),
    get: (real, name) => (name === 'now' ? () => nowMs : Reflect.get(real, name)),
  });
  Object.defineProperty(performance, 'timeOrigin', { get: () => nowMs - performance.now() });
}
