import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { SkillSummary } from '../../../../protocol/methods/skills/skill.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { App, Desk } from '../../state/app.ts';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { RecordCard } from '../rows/record-card.tsx';
import { SearchField } from '../rows/search-field.tsx';

/** The skills that a workstream can have. */
export function SkillList({ app, desk }: { app: App; desk: Desk }) {
  const { skills: board } = agentPanelOf(desk);
  useEffect(() => void board.read(), [board]);
  const all = board.skills.value;
  const found = board.found;
  return (
    <section class="account-list" aria-labelledby="skills-title">
      <header>
        <h2 id="skills-title" tabIndex={-1}>
          Skills
        </h2>
        <span class="panel-count" role="status">
          {toCount(found?.length, 'skill')}
        </span>
      </header>
      <p class="soft">
        Instructions for tasks of one kind. A workstream has those of its skill; <code>/skill NAME</code> in its
        conversation changes that.
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
        <p class="empty">{all?.length === 0 ? 'There are no skills yet.' : 'No skill has these words.'}</p>
      )}
      <ul aria-label="Skills">
        {found?.map((skill) => (
          <SkillCard key={skill.name} app={app} desk={desk} skill={skill} />
        ))}
      </ul>
    </section>
  );
}

function SkillCard({ app, desk, skill }: { app: App; desk: Desk; skill: SkillSummary }) {
  const { name, category, description, tags, isDefault, origin, author, version } = skill;
  const problem = useSignal<string | undefined>(undefined);
  const front = desk.workstreams.front.value;
  const facts = [
    category,
    origin,
    author === '' ? '' : `by ${author}`,
    version === '' ? '' : `version ${version}`,
    ...tags,
  ];
  const use = () => {
    if (front === undefined) return;
    if (front.draft.peek() !== '') {
      problem.value = 'The message field has a draft. Send or remove it first.';
      return;
    }
    front.draft.value = `/skill ${name}`;
    desk.workstreams.shown.value = 'conversation';
  };
  return (
    <RecordCard
      title={name}
      tags={[isDefault && 'default']}
      facts={facts
        .filter((fact) => fact !== '')
        .map(toVisibleLine)
        .join(' · ')}
      name={toVisibleLine(name)}
      onEdit={undefined}
      buttons={
        front &&
        app.rights.write.value && (
          <button type="button" class="quiet" aria-label={`Use ${toVisibleLine(name)}`} onClick={use}>
            Use
          </button>
        )
      }
      removal={undefined}
    >
      {description !== '' && <p class="agent-record">{toVisibleLine(description)}</p>}
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </RecordCard>
  );
}
