import type { Page } from 'playwright-core';
import type { ClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { openShownPage } from '../support/views/shown-page.ts';
import { VIEWS } from '../support/views/views.ts';
import { KINDS, type Kind, type View } from '../support/views/ways.ts';
import { PASSWORD } from './fill.ts';
import type { ViewStage } from './stage.ts';

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
  for (const kind of KINDS)
    for (const person of PEOPLE) {
      const views = VIEWS.filter((view) => (view.of ?? 'full') === kind && personOf(view) === person);
      const shown = views.filter(({ needs }) => needs === undefined || stage.hasGit);
      const groups = groupsOf(shown)
        .map((group) =>
          group.map((view) => ({ view, widths: widthsOf(view).filter((width) => isWanted(view, width)) })),
        )
        .filter((group) => group.some(({ widths }) => widths.length > 0));
      if (groups.length === 0) continue;
      await visitSome({ daemon: await stage.daemonOf(kind), kind, person }, groups, look);
    }
}

/** Who looks: somebody who may do everything, somebody who may only read, and somebody who is not logged in. */
const PEOPLE = ['ada', 'lin', 'nobody'] as const;
type PersonName = (typeof PEOPLE)[number];
const personOf = ({ isOut, isReader }: View): PersonName => (isOut ? 'nobody' : isReader ? 'lin' : 'ada');

/** Of a login that is older than changes of rights allow. */
const LATE_MS = 6 * 60_000;

interface Wanted {
  view: View;
  widths: readonly number[];
}

/** Each view with the steps that follow it. */
export function groupsOf(views: readonly View[]): View[][] {
  const groups: View[][] = [];
  for (const view of views)
    if (view.isStep) groups.at(-1)?.push(view);
    else groups.push([view]);
  return groups;
}

interface Visited {
  daemon: ClockedDaemon;
  kind: Kind;
  person: PersonName;
}

/** Views of one daemon and one person. */
async function visitSome({ daemon, kind, person }: Visited, groups: readonly Wanted[][], look: Look): Promise<void> {
  const login = kind === 'empty' ? { token: daemon.token } : { username: person, password: PASSWORD };
  const { page, context } = await openShownPage({
    ...{ url: daemon.url, nowMs: daemon.clock.now() },
    ...(person !== 'nobody' && { login }),
  });
  for (const group of groups) {
    const last = group.findLastIndex(({ widths }) => widths.length > 0);
    for (const { view, widths } of group.slice(0, last + 1)) {
      if (view.isLate) daemon.clock.jump(LATE_MS);
      await openView(page, view);
      for (const width of widths.toReversed()) {
        await resize(page, width);
        await view.arrange?.(page, width);
        await look(page, view, width);
      }
      await resize(page, 1280);
    }
    await page.evaluate(() => sessionStorage.clear()); // the next view does not begin where this one ended
    await page.reload();
  }
  await context.close();
}

async function openView(page: Page, view: View): Promise<void> {
  try {
    if (view.isStep) {
      await view.open(page);
      return;
    }
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
