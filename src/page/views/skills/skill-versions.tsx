import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Skill, SkillVersion } from '../../../../protocol/methods/skills/skill.ts';
import { toVisibleLine, toVisibleText } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { App, Desk } from '../../state/app.ts';
import { Reading } from '../../state/reading/reading.ts';
import { changedFields } from '../../state/skills/skill-draft.ts';
import { toMoment } from '../../state/text/moment.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { useActors } from '../rows/use-actors.ts';

interface VersionsDialogProps {
  app: App;
  desk: Desk;
  skill: Skill;
  onClose(): void;
}

/** The states of a skill before its edits. Restoring one is an edit, too, so that nothing is lost. */
export function VersionsDialog({ app, desk, skill, onClose }: VersionsDialogProps) {
  const { skills: board } = agentPanelOf(desk);
  const versions = useSignal<readonly SkillVersion[] | undefined>(undefined);
  const reading = useMemo(() => new Reading(desk.client), [desk]);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(
    () =>
      void reading.read(
        () => board.versions(skill),
        (found) => {
          versions.value = found;
        },
      ),
    [skill.skillId, skill.revision],
  );
  const restore = async (version: SkillVersion) => {
    problem.value = undefined;
    problem.value = await board.restore(skill, version);
    if (problem.value === undefined) onClose();
  };
  const shown = versions.value ?? [];
  const actorWords = useActors(
    app,
    desk,
    shown.map(({ changedBy }) => changedBy),
  );
  return (
    <Dialog title={`Earlier versions of ${toVisibleLine(skill.name)}`} onClose={onClose}>
      <div class="skill-files">
        <ReadingNotice of={[reading]} />
        <p class="problem" role="alert">
          {problem.value}
        </p>
        <ul class="token-list" aria-label="Earlier versions">
          {shown.map((version, index) => (
            <VersionRow
              key={version.id}
              app={app}
              version={version}
              by={actorWords(version.changedBy)}
              after={shown[index - 1]?.snapshot ?? skill}
              onRestore={() => void restore(version)}
            />
          ))}
        </ul>
      </div>
    </Dialog>
  );
}

interface VersionRowProps {
  app: App;
  version: SkillVersion;
  /** Who made the edit. */
  by: string;
  /** What the edit made of it. */
  after: Skill;
  onRestore(): void;
}

const VersionRow = ({ app, version: { version, snapshot, createdAtMs }, by, after, onRestore }: VersionRowProps) => (
  <li>
    <div class="token-row">
      <details>
        <summary>{`Version ${version}`}</summary>
        <pre dir="auto">{toVisibleText(snapshot.content)}</pre>
      </details>
      <button type="button" class="quiet" aria-label={`Restore version ${version}`} onClick={onRestore}>
        Restore
      </button>
    </div>
    <p class="account-facts">
      {`until ${toMoment(createdAtMs, app.now())}, when ${by} changed ${changedFields(snapshot, after).join(', ') || 'something else'}`}
    </p>
  </li>
);
