import { useSignal } from '@preact/signals';
import type { Skill } from '../../../../protocol/methods/skills/skill.ts';
import { toVisibleLine, toVisibleText } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { App, Desk } from '../../state/app.ts';
import type { SkillEntry } from '../../state/skills/skill-board.ts';
import { toCount } from '../panel.tsx';
import { RecordCard } from '../rows/record-card.tsx';
import { ScanReport } from './scan-report.tsx';

/** A dialog about a stored skill. */
export interface OpenedSkill {
  kind: 'edit' | 'files' | 'versions';
  skill: Skill;
}

interface CardProps {
  app: App;
  desk: Desk;
  entry: SkillEntry;
  open(what: OpenedSkill): void;
}

/** One skill, with what the person may do with it. */
export function SkillCard({ app, desk, entry, open }: CardProps) {
  const { skills: board } = agentPanelOf(desk);
  const { summary, stored } = entry;
  const problem = useSignal<string | undefined>(undefined);
  const name = toVisibleLine(summary.name);
  return (
    <RecordCard
      title={summary.name}
      tags={tagsOf(entry)}
      facts={factsOf(entry)}
      name={name}
      onEdit={stored && (() => open({ kind: 'edit', skill: stored }))}
      buttons={<UseButton app={app} desk={desk} entry={entry} onProblem={(text) => (problem.value = text)} />}
      toggle={stored && { isOn: stored.enabled, set: (isOn) => board.setEnabled(stored, isOn) }}
      removal={
        stored && {
          loss: 'with its earlier versions and files? Conversations that chose it keep its text. This cannot be undone.',
          remove: () => board.remove(stored),
          focusAfter: 'skills-title',
        }
      }
    >
      {summary.description !== '' && <p class="agent-record">{toVisibleLine(summary.description)}</p>}
      <p class="problem" role="alert">
        {problem.value}
      </p>
      {stored && <StoredBody desk={desk} skill={stored} open={open} />}
    </RecordCard>
  );
}

const USES: Record<Skill['activation'], string> = {
  named: 'by its name',
  default: 'in every conversation',
  search: 'models load it',
};
const KINDS: Record<Skill['kind'], string> = {
  any: '',
  interactive: 'not for coordinators',
  coordinator: 'for coordinators',
};

const tagsOf = ({ summary, stored }: SkillEntry) => [
  summary.isDefault && 'default',
  stored?.enabled === false && 'disabled',
  stored?.origin === 'source' && 'installed',
  stored !== undefined && (stored.autoApprove || stored.allowedTools.length > 0) && 'runs unasked',
];

function factsOf({ summary, stored }: SkillEntry): string {
  const { category, origin, author, version, tags } = summary;
  const facts = [
    ...(stored ? [USES[stored.activation], KINDS[stored.kind]] : [origin]),
    category,
    author === '' ? '' : `by ${author}`,
    version === '' ? '' : `version ${version}`,
    ...tags,
  ];
  return facts
    .filter((fact) => fact !== '')
    .map(toVisibleLine)
    .join(' · ');
}

interface UseButtonProps extends Pick<CardProps, 'app' | 'desk' | 'entry'> {
  onProblem(text: string | undefined): void;
}

/** Writes the command that gives the skill to the conversation in front. */
function UseButton({ app, desk, entry: { summary, stored }, onProblem }: UseButtonProps) {
  const front = desk.workstreams.front.value;
  if (front === undefined || !app.rights.write.value || stored?.enabled === false) return null;
  const use = () => {
    onProblem(undefined);
    if (front.draft.peek() !== '') return onProblem('The message field has a draft. Send or remove it first.');
    front.draft.value = `/skill ${summary.name}`;
    desk.workstreams.shown.value = 'conversation';
  };
  return (
    <button type="button" class="quiet" aria-label={`Use ${toVisibleLine(summary.name)}`} onClick={use}>
      Use
    </button>
  );
}

/** What administrators see of a skill. */
function StoredBody({ desk, skill, open }: { desk: Desk; skill: Skill; open: CardProps['open'] }) {
  const { name, origin, sourceUrl, digest, content, resourceCount, revision, wantedTools } = skill;
  const shown = toVisibleLine(name);
  const isWaiting = origin === 'source' && skill.activation === 'named';
  return (
    <div class="agent-record">
      {origin === 'source' && (
        <p class="account-facts">
          {'from '}
          <SourceLink url={sourceUrl} />
          {` · SHA-256 ${digest.slice(0, 12)}…`}
        </p>
      )}
      {isWaiting && (
        <p class="account-facts">Models do not load it. Read its text, and then change its use if you want that.</p>
      )}
      {wantedTools.length > 0 && (
        <p class="account-facts">{`Its author wants these tools to run unasked, which nothing grants: ${wantedTools.map(toVisibleLine).join(', ')}`}</p>
      )}
      <ScanReport desk={desk} skill={skill} />
      <details>
        <summary>Instructions</summary>
        <pre dir="auto">{toVisibleText(content)}</pre>
      </details>
      <p class="skill-more">
        <button
          type="button"
          class="quiet link"
          aria-label={`Files of ${shown}`}
          onClick={() => open({ kind: 'files', skill })}
        >
          {toCount(resourceCount, 'file') || 'No files'}
        </button>
        {revision > 1 && (
          <button
            type="button"
            class="quiet link"
            aria-label={`Earlier versions of ${shown}`}
            onClick={() => open({ kind: 'versions', skill })}
          >
            {toCount(revision - 1, 'earlier version')}
          </button>
        )}
      </p>
    </div>
  );
}

/** The place of the text of others: a link only where it is an address. */
const SourceLink = ({ url }: { url: string }) =>
  /^https:\/\//.test(url) ? (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {toVisibleLine(url)}
    </a>
  ) : (
    <bdi>{toVisibleLine(url)}</bdi>
  );
