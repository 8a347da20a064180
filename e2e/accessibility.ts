import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const script = await readFile(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

interface Violation {
  id: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

declare global {
  interface Window {
    axe: { run(): Promise<{ violations: Violation[] }> };
  }
}

/** Fails with what axe finds on the screen: names, roles, focus order, contrast. */
export async function assertAccessible(page: Page, screen: string): Promise<void> {
  await page.evaluate(script); // by the debugger, which the page's policy does not concern
  const violations = await page.evaluate(async () => {
    // What fades or slides in has its colours when it has arrived.
    await Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => undefined)));
    return (await window.axe.run()).violations;
  });
  const told = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)}: ${failureSummary}`),
  }));
  assert.deepEqual(told, [], screen);
}
