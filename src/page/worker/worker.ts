/*
 * Shows notifications of questions, also while no page is open. It stores nothing, answers no requests of the page, and knows no
 * secrets: the browser decrypts the messages, and sends the login with what it asks of the daemon.
 */

/** A notification that is shown. */
export interface Shown {
  tag: string;
  close(): void;
}

interface OpenPage {
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}

export interface NotificationOptions {
  body?: string;
  tag: string;
  icon: string;
  data: Place;
  actions: { action: string; title: string }[];
}

/** As much of a service worker as it uses. */
export interface WorkerPort {
  show(title: string, options: NotificationOptions): Promise<void>;
  shown(): Promise<readonly Shown[]>;
  /** The open pages of this daemon. */
  pages(): Promise<readonly OpenPage[]>;
  open(address: string): Promise<unknown>;
  fetch(path: string, init: object): Promise<{ ok: boolean }>;
  /** The number on the icon of the app, where there is one. */
  badge(count: number): Promise<unknown>;
}

/** The question that a notification is about. Without an id: none in particular. */
export interface Place {
  id: string;
  ws: string;
}

/** What a notification without a content says. */
const UNTOLD = { title: 'Headgate', body: 'Something waits for you' };

/** A message from the daemon (PushMessage in src/gateway/push/browsers.ts); undefined: one without a content. */
export async function onPush(port: WorkerPort, message: unknown): Promise<void> {
  const { id, ws, title, body, act, gone } = fieldsOf(message);
  if (gone === true) await closeThose(port, textOf(id));
  else {
    const place = { id: textOf(id), ws: textOf(ws) };
    const told = message === undefined ? UNTOLD : { title: textOf(title), body: textOf(body) };
    await port.show(told.title || UNTOLD.title, {
      ...(told.body !== '' && { body: told.body }),
      tag: place.id || 'headgate', // it replaces an earlier one about the same
      icon: '/static/icon.svg',
      data: place,
      actions: act === true ? ACTIONS : [],
    });
  }
  await port.badge((await port.shown()).length);
}

const ACTIONS = [
  { action: 'approve', title: 'Approve' },
  { action: 'deny', title: 'Deny' },
];

async function closeThose(port: WorkerPort, tag: string): Promise<void> {
  for (const shown of await port.shown()) if (shown.tag === tag) shown.close();
}

/** A notification, or one of its buttons, was pressed. What the daemon refuses is decided on the page. */
export async function onPress(port: WorkerPort, action: string, data: unknown): Promise<void> {
  const { id, ws } = fieldsOf(data);
  const place = { id: textOf(id), ws: textOf(ws) };
  if ((action === 'approve' || action === 'deny') && (await decide(port, place, action === 'approve'))) return;
  const [page] = await port.pages();
  if (page === undefined) return void (await port.open(place.id === '' ? '/#inbox' : `/#inbox=${place.id}`));
  page.postMessage({ inbox: place.id });
  await page.focus();
}

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
