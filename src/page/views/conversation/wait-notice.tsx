import { type ModelWait, toWaitText } from '../../../../protocol/text/wait-words.ts';
import type { App, Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { Icon } from '../icons.tsx';
import { useNow } from '../use-now.ts';

/** Why the model does not answer yet, when it is asked again, and the ways out. */
export function WaitNotice({ wait, app, desk, tab }: { wait: ModelWait; app: App; desk: Desk; tab: Tab }) {
  const now = useNow(app.now);
  return (
    <section class="block wait" aria-label="Waiting for the model">
      <Icon name="clock" />
      <div class="wait-text">
        <p>{toWaitText(wait, now.value)}</p>
        <p class="detail">{showHidden(wait.message)}</p>
      </div>
      <div class="wait-buttons">
        <button type="button" onClick={() => void desk.actions.tryNow(tab)}>
          Try now
        </button>
        <button type="button" class="quiet" onClick={() => void desk.actions.cancel(tab, false)}>
          Stop
        </button>
      </div>
    </section>
  );
}
