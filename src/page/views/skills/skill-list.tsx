import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { App, Desk } from '../../state/app.ts';
import { Icon } from '../icons.tsx';
import { type Overlay, useOwnOverlay } from '../overlay.ts';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { SearchField } from '../rows/search-field.tsx';
import { type OpenedSkill, SkillCard } from './skill-card.tsx';
import { SkillDialog } from './skill-dialog.tsx';
import { FilesDialog } from './skill-files.tsx';
import { VersionsDialog } from './skill-versions.tsx';
import { SourceDialog } from './source-dialog.tsx';

/** What the open dialog is about. */
type Opened = OpenedSkill | { kind: 'source' } | { kind: 'new' };

interface SkillListProps {
  app: App;
  desk: Desk;
  overlay: Overlay;
}

/** The skills that a workstream can have; for those who may, with the forms to change them. */
export function SkillList({ app, desk, overlay }: SkillListProps) {
  const { skills: board } = agentPanelOf(desk);
  const mayChange = app.rights.changeSkills.value;
  const opened = useSignal<Opened>({ kind: 'new' });
  useEffect(() => void board.show({ mayChange }), [board, mayChange]);
  const dialog = useOwnOverlay(overlay, 'agent', mayChange);
  const all = board.entries.value;
  const found = board.found;
  const open = (what: Opened) => {
    opened.value = what;
    dialog.open();
  };
  return (
    <section class="account-list" aria-labelledby="skills-title">
      <header class="servers-head">
        <h2 id="skills-title" tabIndex={-1}>
          Skills
        </h2>
        <span class="panel-count" role="status">
          {toCount(found?.length, 'skill')}
        </span>
        {mayChange && <HeadButtons open={open} />}
      </header>
      <p class="soft">
        Instructions for tasks of one kind. A workstream has those of its skill; <code>/skill NAME</code> in its
        conversation changes that.{!mayChange && ' Administrators add and change them.'}
      </p>
      {all !== undefined && all.length > 0 && (
        <SearchField
          label="Search skills"
          value={board.query.value}
          onChange={(query) => {
            board.query.value = query;
          }}
        />
      )}
      <ReadingNotice of={[board.reading]} />
      {found?.length === 0 && (
        <p class="empty">{all?.length === 0 ? emptyWords(mayChange) : 'No skill has these words.'}</p>
      )}
      <ul aria-label="Skills">
        {found?.map((entry) => (
          <SkillCard key={entry.summary.name} app={app} desk={desk} entry={entry} open={open} />
        ))}
      </ul>
      {dialog.isOpen && <OpenedDialog app={app} desk={desk} opened={opened} onClose={dialog.close} />}
    </section>
  );
}

const emptyWords = (mayChange: boolean): string =>
  `No skills yet. A skill is a text that teaches the agent one kind of task, such as your way to write a release note. ${mayChange ? 'Add one, or look for those of others.' : 'An administrator can add one.'}`;

const HeadButtons = ({ open }: { open(what: Opened): void }) => (
  <div class="row-actions">
    <button type="button" class="quiet" onClick={() => open({ kind: 'source' })}>
      Skills of others…
    </button>
    <button type="button" class="primary" onClick={() => open({ kind: 'new' })}>
      <Icon name="plus" />
      <span>Add a skill</span>
    </button>
  </div>
);

interface OpenedDialogProps {
  app: App;
  desk: Desk;
  opened: Signal<Opened>;
  onClose(): void;
}

function OpenedDialog({ app, desk, opened, onClose }: OpenedDialogProps) {
  const { skills: board } = agentPanelOf(desk);
  const what = opened.value;
  if (what.kind === 'source') return <SourceDialog desk={desk} onClose={onClose} />;
  if (what.kind === 'new') return <SkillDialog desk={desk} skill={undefined} onClose={onClose} />;
  // As it is now: it may be changed while the dialog is open.
  const skill = board.entries.value?.find(({ stored }) => stored?.skillId === what.skill.skillId)?.stored ?? what.skill;
  const common = { app, desk, skill, onClose };
  if (what.kind === 'files') return <FilesDialog {...common} />;
  if (what.kind === 'versions') return <VersionsDialog {...common} />;
  return <SkillDialog desk={desk} skill={what.skill} onClose={onClose} />;
}
