import type { Page } from 'playwright-core';

/** Opens a part of the agent view by the keyboard and its button. */
export async function openPart(page: Page, name: string) {
  await page.locator('.link-open').waitFor({ state: 'attached' });
  await page.keyboard.press('Alt+g');
  await page.getByRole('heading', { name: 'Agent', level: 1 }).waitFor();
  const parts = page.getByRole('navigation', { name: 'Parts of the agent view' });
  await parts.getByRole('button', { name }).click();
  await page.getByRole('heading', { name, exact: true, level: 2 }).waitFor();
}

/** A card of a list, by its text. */
export const card = (page: Page, text: string) => page.locator('.panel-row', { hasText: text });
