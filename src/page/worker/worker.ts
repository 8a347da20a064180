/*
 * Shows notifications of what waits for the person, also while no page is open. It stores nothing, answers no requests of the page, and knows no
 * secrets: the browser decrypts the messages, and sends the login with what it asks of the daemon.
 */

/** A notification that is shown. */
export interface Shown {
  tag: string;
  /** The `Place` that was passed when it was shown. */
  data: unknown;
  close(): void;
}

interface OpenPage {
  url: string;
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}

export interface NotificationOptions {
  body?: string;
  tag: string;
  icon: string;
  data: Place;
  /** No sound, and no vibration. */
  silent?: true;
  actions: { action: string; title: string }[];
}

/** As much of a service worker as it uses. */
export interface WorkerPort {
  show(title: string, options: NotificationOptions): Promise<void>;
  shown(): Promise<readonly Shown[]>;
  /** The open tabs of this daemon, also those that show its documentation. */
  tabs(): Promise<readonly OpenPage[]>;
  open(address: string): Promise<unknown>;
  fetch(path: string, init: object): Promise<{ ok: boolean }>;
  /** The number on the icon of the app, where there is one. */
  badge(count: number): Promise<unknown>;
  after(ms: number, work: () => void): void;
  /** Asks the push server for a new address. */
  subscribe(options: unknown): Promise<unknown>;
}

/** What a notification is about. Without an id: nothing in particular. */
export interface Place {
  id: string;
  ws: string;
  /** The entry of the inbox; absent: the one of the id. */
  at?: string;
  /** It only says that the question is decided. */
  isOver?: true;
}

/** What a notification without a content says. */
const UNTOLD = { title: 'Headgate', body: 'Something waits for you' };

/**
 * A message from the daemon (PushMessage in src/gateway/push/browsers.ts); undefined: one without a content. Each message shows
 * something: after messages that show nothing, some browsers tell the person so, and others withdraw the permission.
 */
export async function onPush(port: WorkerPort, message: unknown): Promise<void> {
  const { id, ws, at, title, body, act, gone } = fieldsOf(message);
  await closeThoseOver(port);
  if (gone === true) await showOver(port, textOf(id));
  else {
    const place = { id: textOf(id), ws: textOf(ws), ...(at !== undefined && { at: textOf(at) }) };
    const told = message === undefined ? UNTOLD : { title: textOf(title), body: textOf(body) };
    await port.show(told.title || UNTOLD.title, {
      ...(told.body !== '' && { body: told.body }),
      tag: place.id || UNTOLD_TAG, // it replaces an earlier one about the same
      icon: ICON,
      data: place,
      actions: act === true ? ACTIONS : [],
    });
  }
  // An open page counts more than the notifications; two numbers would replace each other.
  if (pagesOf(await port.tabs()).length === 0) await port.badge((await port.shown()).filter(waits).length);
}

const UNTOLD_TAG = 'headgate';
const ICON = '/static/icon.svg';

const ACTIONS = [
  { action: 'approve', title: 'Approve' },
  { action: 'deny', title: 'Deny' },
];

/** Browsers look for a notification after the event of its message, so it is not closed before. */
const OVER_MS = 5_000;

/** Replaces the question. A browser that ends the worker earlier keeps this until the next message. */
async function showOver(port: WorkerPort, id: string): Promise<void> {
  const data = { id: '', ws: '', isOver: true } as const;
  await port.show('Decided', { tag: id || UNTOLD_TAG, icon: ICON, data, silent: true, actions: [] });
  port.after(OVER_MS, () => void closeThoseOver(port));
}

const waits = ({ data }: Shown): boolean => fieldsOf(data).isOver !== true;

async function closeThoseOver(port: WorkerPort): Promise<void> {
  for (const shown of await port.shown()) if (!waits(shown)) shown.close();
}

/** A notification, or one of its buttons, was pressed. What the daemon refuses is decided on the page. */
export async function onPress(port: WorkerPort, action: string, data: unknown): Promise<void> {
  const { id, ws, at } = fieldsOf(data);
  const place = { id: textOf(id), ws: textOf(ws) };
  const entry = textOf(at) || place.id;
  if ((action === 'approve' || action === 'deny') && (await decide(port, place, action === 'approve'))) return;
  const [page] = pagesOf(await port.tabs());
  if (page === undefined)
    return void (await port.open(entry === '' ? '/#inbox' : `/#inbox=${encodeURIComponent(entry)}`));
  page.postMessage({ inbox: entry });
  await page.focus();
}

/**
 * The push server has given the browser a new address. Only a page with a login of the person may tell the daemon of it, as
 * when notifications were switched on: the worker has no login of its own. Without an open page, a notification asks to open one.
 */
export async function onChange(port: WorkerPort, options: unknown): Promise<void> {
  await port.subscribe(options).catch(() => undefined); // the page tries it again
  const pages = pagesOf(await port.tabs());
  for (const page of pages) page.postMessage({ renew: true });
  if (pages.length > 0) return;
  const body = 'Open Headgate once, so that notifications go on';
  await port.show(UNTOLD.title, { body, tag: UNTOLD_TAG, icon: ICON, data: { id: '', ws: '' }, actions: [] });
}

/** Those tabs that show the page itself. */
const pagesOf = (tabs: readonly OpenPage[]): OpenPage[] => tabs.filter(({ url }) => new URL(url).pathname === '/');

async function decide(port: WorkerPort, { id, ws }: Place, approved: boolean): Promise<boolean> {
  const body = JSON.stringify({ ws_id: ws, approval_id: id, approved, from_notification: true });
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, credentials: 'same-origin', body };
  return port.fetch('/v1/api/approve', init).then(
    ({ ok }) => ok,
    () => false, // no connection: the page says so
  );
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
