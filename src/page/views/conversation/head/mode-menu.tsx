import { useSignal } from '@preact/signals';
import { MODES, type Mode } from '../../../../../protocol/events/modes.ts';
import { MODE_WORDS } from '../../../../../protocol/text/mode-words.ts';
import type { App, Desk } from '../../../state/app.ts';
import type { Conversation } from '../../../state/conversation/conversation.ts';
import type { Tab } from '../../../state/tab.ts';
import { toClock } from '../../../state/text/moment.ts';
import { HeadMenu } from './head-menu.tsx';

interface ModeMenuProps {
  app: App;
  desk: Desk;
  tab: Tab;
  conversation: Conversation;
}

/** Shows what runs without asking in this workstream; who may decide can change it. */
export function ModeMenu({ app, desk, tab, conversation }: ModeMenuProps) {
  const { mode } = conversation;
  const isSure = useSignal(false);
  const label = `Mode: ${toModeWords(app, conversation)}`;
  const text = MODE_WORDS[mode].name;
  if (!app.rights.decide.value)
    return (
      <span class={`fact mode ${mode}`} title={label}>
        <span class="hidden-text">Mode: </span>
        {text}
      </span>
    );
  const set = (next: Mode) => void desk.actions.update(tab, { mode: next });
  return (
    <HeadMenu
      label={label}
      icon="shield"
      text={text}
      class={`mode ${mode}`}
      onClose={() => {
        isSure.value = false;
      }}
    >
      {(close) =>
        isSure.value ? (
          <SureAboutFull
            onYes={() => {
              close();
              set('full');
            }}
            onNo={close}
          />
        ) : (
          MODES.map((one) => (
            <li key={one}>
              <button
                type="button"
                class={`quiet ${one === 'full' ? 'danger' : ''}`}
                aria-pressed={one === mode}
                onClick={() => {
                  isSure.value = one === 'full' && mode !== 'full';
                  if (isSure.peek()) return;
                  close();
                  if (one !== mode) set(one);
                }}
              >
                <b>{MODE_WORDS[one].name}</b>
                <span>{MODE_WORDS[one].means}</span>
              </button>
            </li>
          ))
        )
      }
    </HeadMenu>
  );
}

const SureAboutFull = ({ onYes, onNo }: { onYes(): void; onNo(): void }) => (
  <>
    <li>
      <p class="mode-warning">
        Every tool call in this workstream, of any kind, runs without asking (by default for eight hours).
      </p>
    </li>
    <li>
      <button type="button" class="quiet" ref={(element) => element?.focus()} onClick={onNo}>
        Keep asking
      </button>
    </li>
    <li>
      <button type="button" class="quiet danger" onClick={onYes}>
        Yes, never ask here
      </button>
    </li>
  </>
);

function toModeWords({ now, timeZone }: App, { mode, autoApprove }: Conversation): string {
  const { name, means } = MODE_WORDS[mode];
  const { untilMs } = autoApprove;
  const end =
    untilMs === undefined ? '' : `, until ${toClock(untilMs - (untilMs % 60_000), { nowMs: now(), timeZone })}`;
  return `${name} (${means}${end})`;
}
