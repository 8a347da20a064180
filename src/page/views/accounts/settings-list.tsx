import { useEffect } from 'preact/hooks';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { SettingSection } from '../../state/accounts/settings-board.ts';
import type { Desk } from '../../state/app.ts';
import { Icon } from '../icons.tsx';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { SettingForm } from './setting-form.tsx';

/** The settings of config.json, by section and with a search. */
export function SettingsList({ desk }: { desk: Desk }) {
  const { settings: board } = accountsOf(desk);
  useEffect(() => void board.read(), [board]);
  const { sections } = board;
  const found = sections.reduce((sum, { entries }) => sum + entries.length, 0);
  return (
    <section class="account-list" aria-labelledby="settings-title">
      <header>
        <h2 id="settings-title" tabIndex={-1}>
          Settings
        </h2>
        <span class="panel-count" role="status">
          {toCount(found, 'setting')}
        </span>
      </header>
      <div class="saved-search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Search settings"
          placeholder="Search by name or description"
          autocomplete="off"
          value={board.query.value}
          onInput={({ currentTarget }) => {
            board.query.value = currentTarget.value;
          }}
        />
      </div>
      <ReadingNotice of={[board.reading]} />
      <p class={board.waiting.value.length > 0 ? 'panel-note' : 'verdict'} role="status">
        {board.waiting.value.length > 0 && `Restart Headgate for ${board.waiting.value.join(', ')} to take effect.`}
      </p>
      {board.entries.value && found === 0 && <p class="empty">No setting has this in its name or description.</p>}
      {sections.map((section) => (
        <SectionPart key={section.name} desk={desk} section={section} />
      ))}
    </section>
  );
}

function SectionPart({ desk, section: { name, entries } }: { desk: Desk; section: SettingSection }) {
  return (
    <section class="setting-section" aria-labelledby={`settings-${name}`}>
      <h3 id={`settings-${name}`}>{name}</h3>
      <ul>
        {entries.map((entry) => (
          <SettingForm key={entry.key} desk={desk} entry={entry} />
        ))}
      </ul>
    </section>
  );
}
