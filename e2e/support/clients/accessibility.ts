import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

declare global {
  interface Window {
    axe: Pick<typeof axe, 'run'>;
  }
}

/** Fails if axe finds violations on the screen: names, roles, focus order, contrast. */
export async function assertAccessible(page: Page, screen: string): Promise<void> {
  await page.evaluate(axe.source); // with the debugger, to which the page's policy does not apply
  const violations = await page.evaluate(async () => {
    // Animated elements have their final colours only after the animation. What turns while something runs never ends.
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().iterations !== Infinity);
    await Promise.all(ending.map((animation) => animation.finished.catch(() => undefined)));
    return (await window.axe.run()).violations;
  });
  const told = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)}: ${failureSummary}`),
  }));
  assert.deepEqual(told, [], screen);
}
