import { type NotificationOptions, onChange, onPress, onPush, type Shown, type WorkerPort } from './worker.ts';

/* The service worker, a file of its own: /static/sw.js. Registered only when somebody switches notifications on. */

interface Lasting {
  waitUntil(work: Promise<unknown>): void;
}
interface PushEvent extends Lasting {
  data: { text(): string } | null;
}
interface ChangeEvent extends Lasting {
  oldSubscription?: { options: unknown } | null;
}
interface PressEvent extends Lasting {
  action: string;
  notification: Shown;
}

/** As much of its global scope as is used. The types of browsers have those of pages only. */
interface Scope {
  addEventListener(type: 'push', listener: (event: PushEvent) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: PressEvent) => void): void;
  addEventListener(type: 'pushsubscriptionchange', listener: (event: ChangeEvent) => void): void;
  addEventListener(type: 'install', listener: () => void): void;
  skipWaiting(): Promise<void>;
  registration: {
    showNotification(title: string, options: NotificationOptions): Promise<void>;
    getNotifications(): Promise<Shown[]>;
    pushManager: { subscribe(options: unknown): Promise<unknown> };
  };
  clients: {
    matchAll(options: { type: 'window'; includeUncontrolled: true }): Promise<Awaited<ReturnType<WorkerPort['tabs']>>>;
    openWindow(address: string): Promise<unknown>;
  };
  fetch: WorkerPort['fetch'];
  navigator: { setAppBadge?(count: number): Promise<void> };
  setTimeout(work: () => void, ms: number): unknown;
}

const isScope = (scope: object): scope is Scope => 'registration' in scope;
const scope: object = globalThis;
if (isScope(scope)) install(scope);

function install(worker: Scope): void {
  const { registration, clients, navigator } = worker;
  const port: WorkerPort = {
    show: (title, options) => registration.showNotification(title, options),
    shown: () => registration.getNotifications(),
    tabs: () => clients.matchAll({ type: 'window', includeUncontrolled: true }),
    open: (address) => clients.openWindow(address),
    fetch: (...request) => worker.fetch(...request),
    badge: async (count) => navigator.setAppBadge?.(count),
    after: (ms, work) => void worker.setTimeout(work, ms),
    subscribe: (options) => registration.pushManager.subscribe(options),
  };
  worker.addEventListener('install', () => void worker.skipWaiting()); // it keeps nothing that another version could misread
  worker.addEventListener('push', (event) => event.waitUntil(onPush(port, toMessage(event.data?.text()))));
  worker.addEventListener('pushsubscriptionchange', (event) =>
    event.waitUntil(onChange(port, event.oldSubscription?.options)),
  );
  worker.addEventListener('notificationclick', (event) => {
    event.notification.close();
    event.waitUntil(onPress(port, event.action, event.notification.data));
  });
}

/** Undefined for a message without a content, and for one that nobody can read. */
function toMessage(text: string | undefined): unknown {
  try {
    return text === undefined || text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
