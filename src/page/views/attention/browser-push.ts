import type { DeviceSubscription, PushDevice } from '../../state/attention/notifications.ts';

/** The service worker is registered when somebody switches notifications on, and not before. */
const WORKER = '/static/sw.js';

/** The notifications of the browser that shows the page. */
export const browserPush: PushDevice = {
  label: labelOf(navigator.userAgent),
  permission: () =>
    'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis
      ? Notification.permission
      : 'unsupported',
  async current() {
    const found = await (await navigator.serviceWorker.getRegistration('/'))?.pushManager.getSubscription();
    return found ? toOwn(found) : undefined;
  },
  async subscribe(publicKey) {
    if ((await Notification.requestPermission()) !== 'granted') throw new Error('Notifications were not allowed.');
    await navigator.serviceWorker.register(WORKER, { scope: '/', updateViaCache: 'none' });
    const { pushManager } = await navigator.serviceWorker.ready;
    const before = await pushManager.getSubscription();
    // One that was made with other keys of the daemon gets nothing any more.
    if (before && keyOf(before) !== publicKey) await before.unsubscribe();
    return toOwn(await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey }));
  },
  async unsubscribe() {
    const registration = await navigator.serviceWorker.getRegistration('/');
    await (await registration?.pushManager.getSubscription())?.unsubscribe();
    await registration?.unregister();
  },
};

function toOwn(subscription: globalThis.PushSubscription): DeviceSubscription {
  const { endpoint } = subscription;
  return {
    endpoint,
    keys: { p256dh: textOf(subscription.getKey('p256dh')), auth: textOf(subscription.getKey('auth')) },
  };
}

const keyOf = ({ options }: globalThis.PushSubscription): string => textOf(options.applicationServerKey);

/** Base64 for addresses. */
const textOf = (bytes: ArrayBuffer | null): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer())))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** As people call a browser. */
function labelOf(agent: string): string {
  const browser = /Edg|Firefox|Chrome|Safari/.exec(agent)?.[0] ?? 'Browser';
  const system = /Android|iPhone|iPad|Windows|Mac|Linux/.exec(agent)?.[0];
  const name = browser === 'Edg' ? 'Edge' : browser;
  return system === undefined ? name : `${name} on ${system}`;
}
