import type { Desk } from '../../state/app.ts';
import { Notifications } from '../../state/attention/notifications.ts';
import { browserPush } from './browser-push.ts';

const opened = new WeakMap<Desk, Notifications>();

/** Those of a desk. */
export function notificationsOf(desk: Desk): Notifications {
  const found =
    opened.get(desk) ?? new Notifications({ client: desk.client, device: browserPush, lasting: localStorage });
  opened.set(desk, found);
  return found;
}
