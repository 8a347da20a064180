import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { installedChromium } from '../../e2e/support/clients/chromium.ts';
import { type DaemonUnderTest, startDaemon } from '../../e2e/support/daemon/daemon.ts';
import { type ScriptedModel, startScriptedModel } from '../../e2e/support/model/scripted-model.ts';
import type { Programs } from '../stage.ts';

interface Measured {
  browser: Browser;
  page: Page;
  daemon: DaemonUnderTest;
  model: ScriptedModel;
}

/** Runs the work with a new browser and a daemon that has these conversations, given as names with numbers of messages. */
export async function usePage<T>(
  { product, seeds }: Pick<Programs, 'product' | 'seeds'>,
  conversations: Record<string, number>,
  work: (measured: Measured) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-page-'));
  const home = path.join(folder, 'home');
  const { conversation } = await seeds();
  for (const [name, messages] of Object.entries(conversations)) await conversation(home, name, messages);
  const model = await startScriptedModel();
  try {
    await using daemon = await startDaemon({ home, model: model.url, entry: product });
    const browser = await chromium.launch({ ...(await installedChromium()), args: ['--no-sandbox', '--disable-gpu'] });
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      page.setDefaultTimeout(60_000);
      return await work({ browser, page, daemon, model });
    } finally {
      await browser.close();
    }
  } finally {
    await model.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes the page's processor this many times slower. */
export async function slowDown(page: Page, times: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: times });
}
