import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import {
  NOTICE_CONTENTS,
  type NoticeContent,
  type PushSubscription,
} from '../../../../protocol/methods/channels/push.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import type { Notifications } from '../../state/attention/notifications.ts';
import css from '../../styles/notify.css?inline';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { browserPush } from './browser-push.ts';
import { notificationsOf } from './notifications-of.ts';
import { sound } from './sound.ts';

adoptStyles(css);

export { notificationsOf } from './notifications-of.ts';

const CONTENTS: Record<NoticeContent, string> = {
  none: 'Only that something waits',
  title: 'What kind of thing waits',
  full: 'All of it, and buttons after you have confirmed your login',
};

/** Chooses how this browser tells of what waits. Closed until somebody opens it. */
export function NotifySection({ app, desk }: { app: App; desk: Desk }) {
  const notifications = notificationsOf(desk);
  const isOpen = useSignal(false);
  useEffect(() => {
    if (isOpen.value) void notifications.read();
  }, [notifications, isOpen.value]);
  return (
    <details
      class="notify"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>Notify me</summary>
      <label class="check">
        <input
          type="checkbox"
          checked={sound.isOn.value}
          onChange={({ currentTarget }) => sound.set(currentTarget.checked)}
        />
        Play a sound in this browser when something begins to wait
      </label>
      {isOpen.value && app.rights.decide.value && <Browsers notifications={notifications} />}
    </details>
  );
}

function Browsers({ notifications }: { notifications: Notifications }) {
  const content = useSignal<NoticeContent>('title');
  const busy = useSignal(false);
  const said = useSignal<string | undefined>(undefined);
  const all = notifications.all.value;
  const own = all?.find((one) => notifications.isOwn(one));
  const run = (act: () => Promise<string | undefined>, done: string) => async () => {
    said.value = undefined;
    busy.value = true;
    said.value = (await act()) ?? done;
    busy.value = false;
  };
  return (
    <>
      <ReadingNotice of={[notifications.reading]} />
      {notifications.isLost && <p class="problem">This browser is not notified any more. Switch it on again.</p>}
      {browserPush.permission() === 'unsupported' ? (
        <p class="soft">This browser has no notifications here. They need https, or a page of this machine.</p>
      ) : (
        <p class="notify-on">
          <label>
            A notification says{' '}
            <select
              value={own?.content ?? content.value}
              onChange={({ currentTarget: { value } }) => {
                content.value = NOTICE_CONTENTS.find((one) => one === value) ?? 'title';
                if (own) void run(() => notifications.switchOn(content.value), 'Changed.')();
              }}
            >
              {NOTICE_CONTENTS.map((one) => (
                <option key={one} value={one}>
                  {CONTENTS[one]}
                </option>
              ))}
            </select>
          </label>
          {all && !own && (
            <button
              type="button"
              disabled={busy.value}
              onClick={run(() => notifications.switchOn(content.value), 'This browser is notified.')}
            >
              Notify this browser
            </button>
          )}
        </p>
      )}
      <ul aria-label="Browsers with notifications">
        {all?.map((one) => (
          <BrowserRow key={one.subscriptionId} one={one} isOwn={one === own}>
            <button type="button" disabled={busy.value} onClick={run(() => notifications.test(one), 'Sent.')}>
              Test
            </button>
            <button type="button" disabled={busy.value} onClick={run(() => notifications.remove(one), 'Switched off.')}>
              Switch off
            </button>
          </BrowserRow>
        ))}
      </ul>
      <p role="status">{said.value}</p>
    </>
  );
}

interface BrowserRowProps {
  one: PushSubscription;
  isOwn: boolean;
  children: ComponentChildren;
}

const BrowserRow = ({ one, isOwn, children }: BrowserRowProps) => (
  <li class="notify-browser">
    <span>
      {toVisibleLine(one.label || one.host)}
      {isOwn && ' (this browser)'}
      {one.isExpired && <span class="soft"> · its login has expired</span>}
      {one.problem !== undefined && <span class="problem">{` · ${toVisibleLine(one.problem)}`}</span>}
    </span>
    {children}
  </li>
);
