import { after } from 'node:test';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core';
import { installedChromium } from './chromium.ts';

/** A browser profile and its first tab. */
export interface Profile {
  context: BrowserContext;
  page: Page;
  /** Runs on everything that the console and the requests should not have, until the next visitor has the profile. */
  tell: (trouble: string) => void;
  /** What requests of the profile may go to. */
  hosts: readonly string[];
  /** Whether a test has changed the profile in a way that cannot be taken back. */
  isAltered: boolean;
  kind: ProfileKind;
  /** For what is done between two visitors. */
  session: CDPSession;
}

interface ProfileKind {
  phone: boolean;
  scrollbars: boolean;
}

const DESKTOP = { viewport: { width: 1100, height: 760 } };
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
const optionsOf = ({ phone }: ProfileKind): BrowserContextOptions => (phone ? PHONE : DESKTOP);

/** How many profiles of a kind are kept for later visitors; a test seldom has more visitors at once. */
const KEPT = 3;
const empty: Profile[] = [];

/**
 * An empty profile: a new one, or an earlier one that was emptied. The process of the earlier one has the page's code compiled
 * already, so that opening the page takes half of the processor time.
 */
export async function takeProfile(kind: ProfileKind): Promise<Profile> {
  const at = empty.findIndex((one) => one.kind.phone === kind.phone && one.kind.scrollbars === kind.scrollbars);
  const [known] = at < 0 ? [] : empty.splice(at, 1);
  return known ?? makeProfile(kind);
}

/** Empties the profile for the next visitor, or closes it if a test has altered it. */
export async function leaveProfile(profile: Profile, url: string): Promise<void> {
  profile.tell = () => undefined;
  // In a phone that had a visitor before, a drag by touches of the debugger drops nothing.
  const mayKeep = !profile.kind.phone && !profile.isAltered && empty.length < KEPT;
  const isKept = mayKeep && (await emptied(profile, url).catch(() => false));
  if (isKept) empty.push(profile);
  else await profile.context.close();
}

async function makeProfile(kind: ProfileKind): Promise<Profile> {
  const context = await (await launched(kind)).newContext(optionsOf(kind));
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Page.enable'); // else its scripts do not run
  const profile: Profile = { context, page, tell: () => undefined, hosts: [], isAltered: false, kind, session };
  watch(profile);
  noteAlterations(profile);
  return profile;
}

/** Methods whose effect stays. */
const ALTERING = {
  context: ['addInitScript', 'route', 'routeWebSocket', 'newCDPSession', 'setOffline', 'grantPermissions'],
  page: ['addInitScript', 'route', 'routeWebSocket'],
} as const;

function noteAlterations(profile: Profile): void {
  const note = <Name extends string>(target: Record<Name, (...given: never[]) => unknown>, name: Name) => {
    const real = target[name].bind(target);
    target[name] = (...given: never[]) => {
      profile.isAltered = true;
      return real(...given);
    };
  };
  for (const name of ALTERING.context) note(profile.context as never, name);
  for (const name of ALTERING.page) note(profile.page as never, name);
}

/** Whether the profile is as empty as a new one: no other tabs, cookies, stored data, or history. */
async function emptied({ context, page, kind, session }: Profile, url: string): Promise<boolean> {
  if (page.isClosed()) return false;
  for (const tab of context.pages()) if (tab !== page) await tab.close();
  // A script of the page may leave it without another process, which `page.goto` would start because of the page's policy.
  await page.evaluate(() => location.replace('about:blank'));
  await page.waitForURL('about:blank');
  await page.emulateMedia({ colorScheme: null, reducedMotion: null, forcedColors: null, contrast: null, media: null });
  const { viewport } = optionsOf(kind);
  if (viewport != null) await page.setViewportSize(viewport);
  await page.mouse.move(0, 0);
  await session.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes: 'all' });
  await session.send('Page.resetNavigationHistory');
  await context.clearCookies();
  return true;
}

/** Opens the address in the first tab, which begins without what the page has kept for this tab. */
export async function openFirstTab({ page, session }: Profile, url: string): Promise<Page> {
  const source = 'if (self === top) sessionStorage.clear();';
  const { identifier } = await session.send('Page.addScriptToEvaluateOnNewDocument', { source });
  await page.goto(url);
  await session.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
  return page;
}

function watch(profile: Profile): void {
  const { context } = profile;
  const tell = (trouble: string) => profile.tell(trouble);
  const isKnown = (url: string) => profile.hosts.includes(new URL(url).host);
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') tell(`console: ${message.text()}`);
  });
  context.on('weberror', (thrown) => tell(`thrown: ${thrown.error().stack}`));
  context.on('request', (request) => {
    if (!request.url().startsWith('data:') && !isKnown(request.url())) tell(`request: ${request.url()}`);
  });
  const watchSockets = (page: Page) =>
    page.on('websocket', (socket) => {
      if (!isKnown(socket.url())) tell(`socket: ${socket.url()}`);
    });
  for (const page of context.pages()) watchSockets(page);
  context.on('page', watchSockets);
}

const FLAGS = [
  '--process-per-site', // tabs of a profile share compiled code
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const browsers = new Map<boolean, Promise<Browser>>();

/** One browser for all tests of a process, and another for tests with scrollbars. */
export function launched({ scrollbars = false } = {}): Promise<Browser> {
  const known = browsers.get(scrollbars);
  if (known !== undefined) return known;
  const left = scrollbars ? ['--hide-scrollbars'] : [];
  const browser = installedChromium().then((installed) =>
    chromium.launch({ ...installed, args: FLAGS, ignoreDefaultArgs: left }),
  );
  browsers.set(scrollbars, browser);
  return browser;
}

after(async () => {
  for (const browser of browsers.values()) await (await browser).close();
});
