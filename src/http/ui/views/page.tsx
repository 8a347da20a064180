import { useEffect } from 'preact/hooks';
import type { App } from '../state/app.ts';
import { tabName } from '../state/tab.ts';
import { Banners } from './banners.tsx';
import { ConversationView } from './conversation-view.tsx';
import { LoginCard } from './login-card.tsx';
import { Rail } from './rail.tsx';

/** Everything on the screen. */
export function Page({ app }: { app: App }) {
  useTitle(app);
  const phase = app.phase.value;
  switch (phase.kind) {
    case 'starting':
      return <main class="alone" aria-busy="true" />;
    case 'login':
      return <LoginCard app={app} problem={phase.problem} />;
    case 'desk':
      return <DeskView app={app} desk={phase.desk} />;
  }
}

function DeskView({ app, desk }: { app: App; desk: Extract<App['phase']['value'], { kind: 'desk' }>['desk'] }) {
  const front = desk.workstreams.front.value;
  return (
    <div class="desk">
      <Rail app={app} desk={desk} />
      <main class="stage">
        <Banners app={app} desk={desk} />
        {front ? (
          <ConversationView key={front.wsId} app={app} desk={desk} tab={front} />
        ) : (
          <p class="empty">{app.connection.value.kind === 'open' ? 'No workstream is open.' : 'Connecting…'}</p>
        )}
      </main>
    </div>
  );
}

/** The title tells from another browser tab that somebody is asked. */
function useTitle(app: App): void {
  const phase = app.phase.value;
  const front = phase.kind === 'desk' ? phase.desk.workstreams.front.value : undefined;
  const mark = app.waiting.value > 0 ? '(!) ' : '';
  const title = `${mark}${front ? `${tabName(front)} · ` : ''}Headgate`;
  useEffect(() => {
    document.title = title;
  }, [title]);
}
