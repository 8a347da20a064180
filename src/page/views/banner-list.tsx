import { useSignal, useSignalEffect } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { systemTimers } from '../../../protocol/client/timers.ts';
import type { App, Desk } from '../state/app.ts';
import type { Banner } from '../state/banners.ts';
import { HiddenBanners } from '../state/hidden-banners.ts';
import { Icon } from './icons.tsx';
import { useOtherTabs } from './use-other-tabs.ts';

/** Notices across the page. Information and warnings without an action can be hidden; errors cannot. */
export function BannerList({ app, desk }: { app: App; desk: Desk }) {
  const hidden = useMemo(() => new HiddenBanners(localStorage), []);
  useOtherTabs(hidden);
  const shown = app.banners.value.filter((banner) => !hidden.has(banner));
  return (
    <div class="banners" role="status" aria-label="Notices">
      {shown.map((banner) => (
        <p key={banner.id} class={`banner ${banner.level}`}>
          <Icon name={banner.level === 'info' ? 'info' : 'warning'} />
          <span>
            {banner.text} {banner.action === 'retry' && <Countdown app={app} />}
          </span>
          <BannerAction banner={banner} desk={desk} canApprove={app.rights.decide.value} />
          {(banner.level === 'info' || (banner.level === 'warning' && banner.action === undefined)) && (
            <button
              type="button"
              class="quiet icon-only"
              aria-label="Hide this notice"
              onClick={() => hidden.hide(banner)}
            >
              <Icon name="close" />
            </button>
          )}
        </p>
      ))}
    </div>
  );
}

function BannerAction({ banner, desk, canApprove }: { banner: Banner; desk: Desk; canApprove: boolean }) {
  if (banner.action === 'retry')
    return (
      <button type="button" onClick={() => desk.client.retryNow()}>
        Try now
      </button>
    );
  if (banner.action === 'reload')
    return (
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    );
  const front = desk.workstreams.front.value;
  if (banner.action !== 'ask-again' || !front || !canApprove) return null;
  return (
    <button type="button" onClick={() => void desk.actions.update(front, { autoApprove: false })}>
      Ask again
    </button>
  );
}

/** Counts down the seconds to the next connection attempt. */
function Countdown({ app }: { app: App }) {
  const seconds = useSignal(0);
  useSignalEffect(() => {
    const status = app.connection.value;
    if (status.kind !== 'waiting') return;
    const untilMs = systemTimers.now() + status.retryInMs;
    let cancel = (): void => undefined;
    const count = () => {
      seconds.value = Math.max(0, Math.ceil((untilMs - systemTimers.now()) / 1000));
      cancel = systemTimers.after(500, count);
    };
    count();
    return () => cancel();
  });
  // Not read aloud: a screen reader would hear every second.
  return (
    <span aria-hidden="true">
      {app.connection.value.kind === 'waiting' ? `Next attempt in ${seconds.value} s.` : 'Connecting…'}
    </span>
  );
}
