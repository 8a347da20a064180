import type { TestContext } from 'node:test';
import { send, state, visit } from '../../support/clients/browser.ts';
import type { DaemonUnderTest } from '../../support/daemon/daemon.ts';
import type { Way } from './way.ts';

interface Pictured {
  /** Writes a picture of the page to this file. */
  picture(file: string): Promise<void>;
}

/** In a browser. */
export async function byPage(t: TestContext, daemon: DaemonUnderTest, workdir: string): Promise<Way & Pictured> {
  const client = await daemon.client();
  await client.call('workstream.create', { name: 'real task', workdir });
  const { page } = await visit(t, daemon);
  await page.getByRole('tab', { name: /real task/ }).click();
  const press = (name: string, text: string) =>
    page.locator('.approval.pending', { hasText: text }).getByRole('button', { name, exact: true }).click();
  const change = async (button: string, then: string) => {
    await page.getByRole('button', { name: 'Changes on disk', exact: true }).last().click();
    const dialog = page.getByRole('dialog', { name: 'Changes on disk' });
    await dialog.getByRole('button', { name: button }).click();
    await dialog.getByRole('button', { name: then, exact: true }).click();
    await dialog.getByText('2 files were changed.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  };
  return {
    say: (message) => send(page, message),
    allow: (tool) => press('Approve', tool),
    acceptPlan: () => press('Approve plan', 'Take off a percentage'),
    async answered(text) {
      await page.locator('.answer', { hasText: text }).waitFor();
      await state(page, 'idle');
    },
    undo: () => change('Undo the last run…', 'Undo'),
    redo: () => change('Redo…', 'Redo'),
    async picture(file) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.screenshot({ path: file });
    },
  };
}
