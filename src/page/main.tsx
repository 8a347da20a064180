import { render } from 'preact';
import { createHttpCalls } from '../../protocol/client/http-calls.ts';
import { systemTimers, wallClock } from '../../protocol/client/timers.ts';
import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import { LoginKeeper } from './state/accounts/login-keeper.ts';
import { App } from './state/app.ts';
import { Appearance } from './state/appearance.ts';
import { createFiles } from './state/files.ts';
import { createLogin } from './state/login.ts';
import { Page } from './views/page.tsx';
import { installParts } from './views/parts/browser-parts.ts';
import { followVisibleHeight } from './views/visible-height.ts';

installParts();
const contrast = window.matchMedia('(prefers-contrast: more)');
const appearance = new Appearance({
  memory: localStorage,
  asksForContrast: () => contrast.matches,
  apply(aspect, value) {
    document.documentElement.dataset[aspect] = value;
  },
});

const login = createLogin((...request) => window.fetch(...request));

const app = new App({
  login,
  files: createFiles(createHttpCalls({ baseUrl: location.origin })),
  openClient: ({ onStatus, onGap }) =>
    createGatewayClient({
      url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/ws`,
      client: { name: 'headgate-page', version: '1', mode: 'webchat' },
      onStatus,
      onGap,
    }),
  schedule: onNextFrame,
  isVisible: () => document.visibilityState === 'visible',
  memory: sessionStorage,
  lasting: localStorage,
  appearance,
  newKey: () =>
    Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(''),
  now: wallClock.now,
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  fragment: {
    read: () => location.hash.slice(1),
    clear: () => history.replaceState(null, '', location.pathname + location.search),
  },
  search: {
    read: () => location.search,
    clear: () => history.replaceState(null, '', location.pathname + location.hash),
  },
});

const keeper = new LoginKeeper({
  isNeeded: () => app.phase.peek().kind === 'desk' && document.visibilityState === 'visible',
  leftMs: login.leftMs,
  refresh: login.refresh,
  now: systemTimers.now,
});

function onReturn(): void {
  app.onVisible();
  void keeper.onReturn();
}

const root = document.getElementById('page');
if (root) render(<Page app={app} />, root);
window.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#login=')) void app.start();
});
window.addEventListener('storage', () => appearance.follow());
contrast.addEventListener('change', () => appearance.follow());
document.addEventListener('visibilitychange', onReturn);
window.addEventListener('online', onReturn);
for (const kind of ['keydown', 'pointerdown']) {
  window.addEventListener(kind, () => keeper.onActivity(), { capture: true, passive: true });
}
followVisibleHeight();
void app.start();

/** Uses a timer too: a hidden page draws no frames, but its title must still show that a decision is needed. */
function onNextFrame(run: () => void): void {
  let ran = false;
  const runOnce = () => {
    if (ran) return;
    ran = true;
    cancelTimer();
    run();
  };
  const cancelTimer = systemTimers.after(200, runOnce);
  requestAnimationFrame(runOnce);
}
