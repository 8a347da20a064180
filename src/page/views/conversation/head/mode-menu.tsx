import { useSignal } from '@preact/signals';
import { isWide, MODES, type Mode } from '../../../../../protocol/events/modes.ts';
import { MODE_WORDS } from '../../../../../protocol/text/mode-words.ts';
import type { App, Desk } from '../../../state/app.ts';
import type { Conversation } from '../../../state/conversation/conversation.ts';
import type { Tab } from '../../../state/tab.ts';
import { toClock } from '../../../state/text/moment.ts';
import { Icon } from '../../icons.tsx';
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
      isMenu={!isSure.value}
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
            <ModeChoice
              key={one}
              mode={one}
              end={one === mode ? toEnd(app, conversation) : isWide(one) ? USUAL_END : ''}
              isChosen={one === mode}
              onChoose={() => {
                isSure.value = one === 'full' && mode !== 'full';
                if (isSure.peek()) return;
                close();
                if (one !== mode) set(one);
              }}
            />
          ))
        )
      }
    </HeadMenu>
  );
}

interface ModeChoiceProps {
  mode: Mode;
  /** When it ends. */
  end: string;
  isChosen: boolean;
  onChoose(): void;
}

const ModeChoice = ({ mode, end, isChosen, onChoose }: ModeChoiceProps) => (
  <li role="none">
    <button
      type="button"
      class={`quiet ${mode === 'full' ? 'danger' : ''}`}
      role="menuitemradio"
      aria-checked={isChosen}
      onClick={onChoose}
    >
      <b>
        {MODE_WORDS[mode].name}
        {isChosen && <Icon name="check" />}
      </b>
      <span>{`${MODE_WORDS[mode].means}${end}`}</span>
    </button>
  </li>
);

const SureAboutFull = ({ onYes, onNo }: { onYes(): void; onNo(): void }) => (
  <>
    <li>
      <p class="mode-warning">
        Every tool call in this workstream, of any kind, runs without asking, unless a rule forbids it (by default for
        eight hours).
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

const USUAL_END = '; ends by itself, by default after eight hours';

function toModeWords(app: App, conversation: Conversation): string {
  const { name, means } = MODE_WORDS[conversation.mode];
  return `${name} (${means}${toEnd(app, conversation)})`;
}

/** When the present mode ends. */
function toEnd({ now, timeZone }: App, { autoApprove: { untilMs } }: Conversation): string {
  return untilMs === undefined ? '' : `, until ${toClock(untilMs - (untilMs % 60_000), { nowMs: now(), timeZone })}`;
}
