import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

declare global {
  interface Window {
    axe: Pick<typeof axe, 'run'> | undefined;
  }
}

/** The minified file: `source` of the package has comments, and is more than twice as long. */
const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails if axe finds violations on the screen: names, roles, focus order, contrast. */
export async function assertAccessible(page: Page, screen: string): Promise<void> {
  if (await page.evaluate(() => window.axe === undefined)) {
    await page.evaluate(await source); // with the debugger, to which the page's policy does not apply
  }
  const violations = await page.evaluate(async () => {
    // Animated elements have their final colours only after the animation. What turns while something runs never ends.
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().iterations !== Infinity);
    await Promise.all(ending.map((animation) => animation.finished.catch(() => undefined)));
    // The same rules, without details about what passed. Only a rule that is off would need the styles as files.
    const found = await window.axe?.run({ resultTypes: ['violations'], preload: { assets: ['media'] } });
    return found?.violations.map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)}: ${failureSummary}`),
    }));
  });
  assert.deepEqual(violations, [], screen);
}
