import type { Page } from 'playwright-core';
import { button } from '../clients/browser.ts';
import { conversation, type View } from './ways.ts';

/** Views beside a conversation. */

interface AsideView {
  name: string;
  /** The name of the conversation. */
  title: string;
  /** What is there once it is loaded. */
  loaded: string;
  opener(page: Page): Promise<unknown>;
}

/** On a narrow screen what was opened beside the conversation is a dialog, and a change of the width may close it: it is opened again. */
const aside = ({ name, title, loaded, opener }: AsideView): View => ({
  name,
  of: 'more',
  open: (page) => conversation(page, title),
  async arrange(page) {
    if ((await page.locator('.aside').count()) === 0) await opener(page);
    await page.locator('.aside').locator(loaded).first().waitFor();
  },
});

export const ASIDES: readonly View[] = [
  {
    name: 'plan',
    title: 'shed',
    loaded: 'h2',
    opener: (page: Page) => page.locator('.approval').getByRole('button', { name: 'Open the plan' }).click(),
  },
  {
    name: 'agent',
    title: 'harvest',
    loaded: '.tool',
    opener: (page: Page) => button(page, 'Open Count the apples').click(),
  },
  {
    name: 'command',
    title: 'harvest',
    loaded: '.output',
    opener: (page: Page) =>
      page
        .getByRole('button', { name: /^Open the output of/ })
        .first()
        .click(),
  },
].map((view) => aside({ ...view, name: `aside-${view.name}` }));
