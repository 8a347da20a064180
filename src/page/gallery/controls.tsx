import { useState } from 'preact/hooks';
import { HeadMenu } from '../views/conversation/head/head-menu.tsx';
import { CronStatusMark } from '../views/cron/cron-status-mark.tsx';
import { Dialog } from '../views/dialogs/dialog.tsx';
import { Icon, type IconName, PATHS } from '../views/icons.tsx';
import { Choice } from '../views/rows/choice.tsx';
import { FieldFrame } from '../views/rows/field-frame.tsx';
import { SearchField } from '../views/rows/search-field.tsx';
import { Choice as Buttons } from '../views/usage/usage-table.tsx';
import { Part } from './part.tsx';

const STATUSES = ['ok', 'error', 'skipped', 'missed', 'interrupted', 'running', 'retrying', 'due'] as const;
const nothing = () => undefined;
type Unit = 'tokens' | 'usd';

/** What is pressed, chosen and typed into, and the small marks. */
export function Controls() {
  const [isOpen, open] = useState(false);
  const [unit, choose] = useState<Unit>('tokens');
  return (
    <>
      <Part name="Buttons">
        {['', 'primary', 'danger', 'quiet'].map((kind) => (
          <button key={kind} type="button" class={kind}>
            {kind === '' ? 'Plain' : kind}
          </button>
        ))}
        <button type="button" class="primary" disabled>
          Disabled
        </button>
        <button type="button" class="quiet icon-only" aria-label="Close">
          <Icon name="close" />
        </button>
        <button type="button" class="quiet link">
          A link
        </button>
        <button type="button" class="switch" role="switch" aria-checked="true" aria-label="On">
          <span />
        </button>
        <button type="button" class="switch" role="switch" aria-checked="false" aria-label="Off">
          <span />
        </button>
        <Buttons<Unit>
          label="Unit"
          values={['tokens', 'usd']}
          chosen={unit}
          words={{ tokens: 'Tokens', usd: 'US$' }}
          choose={(value) => choose(value)}
        />
      </Part>
      <Part name="Icons">
        {(Object.keys(PATHS) as IconName[]).map((name) => (
          <span key={name} title={name}>
            <Icon name={name} />
          </span>
        ))}
      </Part>
      <Part name="Fields">
        <div class="account-form">
          <SearchField label="Search" value="" onChange={nothing} />
          <FieldFrame id="good" label="A field" problem={undefined}>
            <input id="good" value="every 2 hours" />
          </FieldFrame>
          <FieldFrame id="bad" label="A field with a problem" problem="“whenever” is not a schedule.">
            <input id="bad" value="whenever" aria-invalid="true" />
          </FieldFrame>
          <Choice
            label="A choice"
            value="one"
            options={[
              ['one', 'the first'],
              ['two', 'the second'],
            ]}
            onChoose={nothing}
          />
          <input disabled value="disabled" aria-label="Disabled" />
        </div>
      </Part>
      <Part name="Marks">
        <span class="tag">a tag</span>
        <span class="tag rating medium">medium risk</span>
        <span class="tag rating high">high risk</span>
        <span class="badge">3</span>
        {STATUSES.map((status) => (
          <CronStatusMark key={status} status={status} />
        ))}
      </Part>
      <Part name="Menu and dialog">
        <HeadMenu label="A menu" icon="shield" text="A menu" isMenu>
          {(close) =>
            ['First', 'Second'].map((name) => (
              <li key={name}>
                <button type="button" role="menuitem" class="quiet" onClick={close}>
                  {name}
                </button>
              </li>
            ))
          }
        </HeadMenu>
        <button type="button" onClick={() => open(true)}>
          Open a dialog
        </button>
        {isOpen && (
          <Dialog title="A dialog" onClose={() => open(false)}>
            <p class="gallery-text">It has the focus until it is closed.</p>
          </Dialog>
        )}
      </Part>
    </>
  );
}
