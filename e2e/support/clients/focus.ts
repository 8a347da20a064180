import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Longer than any answer takes, shorter than the time limit of other waits, so that the test says what has the focus. */
const TIMEOUT_MS = 50_000;

/**
 * Waits until what has the focus matches the selector: an answer that moves it may come after the event that a test has
 * waited for.
 */
export async function focused(page: Page, selector: string): Promise<void> {
  await page
    .waitForFunction((wanted) => document.activeElement?.matches(wanted), selector, { timeout: TIMEOUT_MS })
    .catch(async () => assert.fail(`${await focusOf(page)} has the focus instead of ${selector}`));
}

/** Waits until what has the focus has this text and nothing else. */
export async function focusedText(page: Page, text: string): Promise<void> {
  await page
    .waitForFunction((wanted) => document.activeElement?.textContent?.trim() === wanted, text, { timeout: TIMEOUT_MS })
    .catch(async () => assert.fail(`${await focusOf(page)} has the focus instead of "${text}"`));
}

const focusOf = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200) ?? 'nothing');
