import type { Page } from 'playwright-core';
import type { ClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { openShownPage } from '../support/views/shown-page.ts';
import { VIEWS, type View } from '../support/views/views.ts';
import { PASSWORD, type ViewStage } from './stage.ts';

/** The sizes that views are looked at, by their width. */
const HEIGHTS: Readonly<Record<number, number>> = { 390: 844, 768: 1024, 1280: 800, 1920: 1080 };
export const WIDTHS = Object.keys(HEIGHTS).map(Number);

type Look = (page: Page, view: View, width: number) => Promise<void>;

/** The widths at which a view is looked at, those of the view itself if it has any. */
export const widthsOf = (view: View): readonly number[] => view.widths ?? WIDTHS;

/** Opens each view in turn, and shows it to `look` at each width. */
export async function visitViews(
  stage: ViewStage,
  look: Look,
  isWanted: (view: View, width: number) => boolean = () => true,
): Promise<void> {
  for (const kind of ['full', 'empty'] as const)
    for (const isOut of [false, true]) {
      const views = VIEWS.filter((view) => (view.of ?? 'full') === kind && (view.isOut ?? false) === isOut);
      const wanted = views
        .map((view) => ({ view, widths: widthsOf(view).filter((width) => isWanted(view, width)) }))
        .filter(({ widths }) => widths.length > 0);
      if (wanted.length > 0) await visitSome({ daemon: stage[kind], kind, isOut }, wanted, look);
    }
}

interface Visited {
  daemon: ClockedDaemon;
  kind: 'full' | 'empty';
  isOut: boolean;
}

interface Wanted {
  view: View;
  widths: readonly number[];
}

/** Views of one daemon and one person. */
async function visitSome({ daemon, kind, isOut }: Visited, wanted: readonly Wanted[], look: Look): Promise<void> {
  const login = kind === 'full' ? { username: 'ada', password: PASSWORD } : { token: daemon.token };
  const { page, context } = await openShownPage({
    ...{ url: daemon.url, nowMs: daemon.clock.now() },
    ...(!isOut && { login }),
  });
  for (const { view, widths } of wanted) {
    await openView(page, view);
    for (const width of widths.toReversed()) {
      await resize(page, width);
      await look(page, view, width);
    }
    await resize(page, 1280);
    await page.evaluate(() => sessionStorage.clear()); // the next view does not begin where this one ended
    await page.reload();
  }
  await context.close();
}

async function openView(page: Page, view: View): Promise<void> {
  try {
    if (!view.isOut) await page.locator('.link-open').waitFor({ state: 'attached' });
    if (!view.isOut && !view.hasNotices) await hideNotices(page);
    await view.open(page);
  } catch (error) {
    throw new Error(`the view ${view.name} did not open`, { cause: error });
  }
}

async function hideNotices(page: Page): Promise<void> {
  await page.locator('.banner').first().waitFor();
  const hide = page.getByRole('button', { name: 'Hide this notice' });
  while ((await hide.count()) > 0) await hide.first().click();
}

async function resize(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: HEIGHTS[width] ?? 800 });
  await page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );
}
