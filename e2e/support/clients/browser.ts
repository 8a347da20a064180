import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import type { DaemonUnderTest } from '../daemon/daemon.ts';
import { leaveProfile, openFirstTab, takeProfile } from './browser-profiles.ts';

interface VisitOptions {
  /** Whether the browser has a session. Default: true. */
  loggedIn?: boolean;
  /** Messages that the browser's console may contain. */
  expected?: readonly RegExp[];
  /** The daemon is stopped or killed during the test: the browser's console then reports each failed attempt to connect. */
  losesDaemon?: boolean;
  phone?: boolean;
  /** Scrollbars that take up space, as on most desktops. Default: none. */
  scrollbars?: boolean;
}

/** One visitor: a separate browser profile with one open tab. */
export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Another tab of the same profile. */
  openTab(): Promise<Page>;
}

/** What a page needs of its daemon. */
type Visited = Pick<DaemonUnderTest, 'url' | 'token' | 'port'>;

/**
 * Opens the daemon's page as a new visitor. After the test, fails if the console reported an error (such as a violated
 * policy), a script threw, or a request went to any other host than the daemon.
 */
export async function visit(t: TestContext, daemon: Visited, options: VisitOptions = {}): Promise<Visit> {
  const { context, openTab, takeTroubles, leave } = await openContext(daemon, options);
  t.after(async () => {
    await (t.passed ? leave() : endFailed(t, context));
    assert.deepEqual(takeTroubles(), []);
  });
  if (options.loggedIn ?? true) await logIn(context, daemon);
  return { page: await openTab(), context, openTab };
}

/** The pages that `visitAgain` keeps: at most one for desktops and one for phones. */
const kept = new Map<boolean, Kept>();

interface Kept extends Opened {
  url: string;
  page: Page;
}

/**
 * As `visit`, but the visitor and the tab of the last test that called it, if that test passed and had the same daemon.
 * For tests that leave nothing in the page except for a workstream of their own: opening the page takes a third of the
 * processor time of such a test.
 */
export async function visitAgain(
  t: TestContext,
  daemon: Visited,
  { phone = false }: Pick<VisitOptions, 'phone'> = {},
): Promise<Visit> {
  const known = kept.get(phone);
  kept.delete(phone);
  const visited = known?.url === daemon.url ? known : await openFirst(daemon, { phone });
  if (known !== visited) await known?.leave();
  const { context, page, openTab, takeTroubles } = visited;
  t.after(async () => {
    if (t.passed) {
      await closeOthers(visited);
      kept.set(phone, visited);
    } else {
      await endFailed(t, context);
    }
    assert.deepEqual(takeTroubles(), []);
  });
  return { page, context, openTab };
}

async function closeOthers({ context, page }: Kept): Promise<void> {
  for (const tab of context.pages()) if (tab !== page) await tab.close();
  await page.mouse.move(0, 0); // nothing is hovered
  if ((await page.locator(OVERLAYS).count()) > 0) await page.reload();
}

/** What a test may leave open, and would cover the page of the next one. */
const OVERLAYS = 'dialog[open], [popover]:popover-open';

async function endFailed(t: TestContext, context: BrowserContext): Promise<void> {
  for (const tab of context.pages()) t.diagnostic(await textOf(tab));
  await context.close();
}

async function openFirst(daemon: Visited, options: VisitOptions): Promise<Kept> {
  const opened = await openContext(daemon, options);
  await logIn(opened.context, daemon);
  return { ...opened, url: daemon.url, page: await opened.openTab() };
}

interface Opened extends Pick<Visit, 'context' | 'openTab'> {
  /** What the console and the requests had that they should not, since the last call. */
  takeTroubles(): string[];
  /** Leaves the profile to a later visitor. */
  leave(): Promise<void>;
}

async function openContext(daemon: Visited, options: VisitOptions): Promise<Opened> {
  const { phone = false, scrollbars = false, losesDaemon = false } = options;
  const expected = [...(options.expected ?? []), ...(losesDaemon ? LOST : [])];
  const profile = await takeProfile({ phone, scrollbars });
  const { context } = profile;
  const troubles: string[] = [];
  // The address and the login link may use different names for the same host.
  profile.hosts = [`127.0.0.1:${daemon.port}`, `localhost:${daemon.port}`];
  profile.tell = (trouble) => {
    if (!expected.some((pattern) => pattern.test(trouble))) troubles.push(trouble);
  };
  let tabs = 0;
  return {
    context,
    takeTroubles: () => troubles.splice(0),
    leave: () => leaveProfile(profile, daemon.url),
    async openTab() {
      tabs += 1;
      if (tabs === 1) return openFirstTab(profile, daemon.url);
      const page = await context.newPage();
      await page.goto(daemon.url);
      return page;
    },
  };
}

/** Opens and selects a new workstream by the dialog. Returns its id. */
export async function addWorkstream(page: Page, name: string): Promise<string> {
  await openDrawer(page);
  await button(page, 'New workstream').click();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await button(page, 'Create').click();
  return selected(page, name);
}

/**
 * Opens and selects a new workstream. Returns its id. A request of the page and a link take a third of the processor time
 * of the dialog, which `addWorkstream` uses.
 */
export async function openWorkstream(page: Page, name: string): Promise<string> {
  await page.locator('.link-open').waitFor({ state: 'attached' });
  await page.evaluate(async (wanted) => {
    const answer = await fetch('/v1/api/workstreams/new', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: wanted }),
    });
    const { ws_id } = await answer.json();
    location.replace(`#conversation=${ws_id}`); // without a step of the history
  }, name);
  const id = await selected(page, name);
  await page.getByRole('textbox', { name: 'Message' }).focus(); // as after the dialog
  return id;
}

/** The id of the workstream with this name, once it is selected. */
async function selected(page: Page, name: string): Promise<string> {
  await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  // On a phone the tab is in the closed drawer.
  const id = await page.getByRole('tab', { name, selected: true, includeHidden: true }).getAttribute('id');
  return id?.replace('tab-', '') ?? '';
}

/** On a phone the list of workstreams is a drawer. */
export async function openDrawer(page: Page): Promise<void> {
  // Loading tabs move the buttons below them, so an earlier click could miss its button.
  await page.getByRole('tab', { includeHidden: true }).first().waitFor({ state: 'attached' });
  const menu = page.getByRole('button', { name: /^Workstreams/ });
  if (await menu.isVisible()) await menu.tap();
}

/** Types a message and sends it by Enter. */
export async function send(page: Page, message: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(message);
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
}

/** Waits until the field contains exactly this text. */
export async function hasValue(field: Locator, text: string): Promise<void> {
  const element = await field.elementHandle();
  await field
    .page()
    .waitForFunction(([shown, wanted]) => shown !== null && 'value' in shown && shown.value === wanted, [
      element,
      text,
    ] as const)
    .catch(async () => assert.equal(await field.inputValue(), text));
}

/** The visible texts of the conversation's blocks, once all of them have been drawn. */
export async function blocksOf(page: Page): Promise<string[]> {
  const texts = await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const read = () => [...document.querySelectorAll<HTMLElement>('.block')].map((block) => block.innerText);
    let before: string[];
    let now = read();
    do {
      before = now;
      await frame();
      await frame();
      now = read();
    } while (now.join() !== before.join());
    return now;
  });
  return texts.map((text) => text.replace(/\s+/g, ' ').trim());
}

/** Waits until the selected workstream is in this state; `idle` is not shown. */
export const state = (page: Page, name: string) => page.locator(`.state-word.${name}`).waitFor({ state: 'attached' });

/** The button with exactly this name. */
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Depending on the moment, the same loss has different names. */
const LOST = [/WebSocket connection/, /net::ERR_(CONNECTION|SOCKET|EMPTY_RESPONSE|INCOMPLETE)/];
/** Logs in with the operator token, without the page. */
async function logIn(context: BrowserContext, { url, token }: Visited): Promise<void> {
  const answer = await context.request.post(new URL('/v1/api/auth/login', url).href, { data: { token } });
  assert.equal(answer.status(), 200);
}

const textOf = (page: Page) => page.locator('body').innerText({ timeout: 1_000 }).catch(String);

/** Resolves when the clipboard has the text. A button says for a moment only that it has copied, which a busy machine may miss. */
export const untilCopied = (page: Page, text: string) =>
  page.waitForFunction(async (wanted) => (await navigator.clipboard.readText()) === wanted, text);
