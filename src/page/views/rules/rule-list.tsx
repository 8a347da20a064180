import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { toMatchWords } from '../../../../protocol/text/rule-words.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { App, Desk } from '../../state/app.ts';
import { toEndWords } from '../../state/rules/rule-end.ts';
import type { Simulation } from '../../state/rules/simulation.ts';
import { tabName } from '../../state/tab.ts';
import { toMoment } from '../../state/text/moment.ts';
import { Icon } from '../icons.tsx';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { RecordCard } from '../rows/record-card.tsx';
import { useActors } from '../rows/use-actors.ts';
import { WorkstreamLink } from '../rows/workstream-link.tsx';
import { TriedCalls } from './tried-calls.tsx';

interface RuleListProps {
  app: App;
  desk: Desk;
  /** Undefined: a new rule. */
  onEdit(rule: Rule | undefined): void;
}

/** The permission rules that the person may see, in the order in which they decide. */
export function RuleList({ app, desk, onEdit }: RuleListProps) {
  const { rules: board } = accountsOf(desk);
  useEffect(() => void board.read(), [board]);
  const rules = board.rules.value;
  const actorWords = useActors(app, desk, rules?.flatMap(({ createdBy, userId = '' }) => [createdBy, userId]) ?? []);
  return (
    <section class="account-list" aria-labelledby="rules-title">
      <header>
        <h2 id="rules-title" tabIndex={-1}>
          Rules
        </h2>
        <span class="panel-count">{toCount(rules?.length, 'rule')}</span>
        {app.rights.decide.value && (
          <button type="button" class="primary" onClick={() => onEdit(undefined)}>
            <Icon name="plus" />
            <span>Add a rule</span>
          </button>
        )}
      </header>
      <p class="soft">
        A rule says what runs, asks or is blocked by what a call does: its programs, files and hosts, in one workstream
        or in many. (A tool policy goes by the name of the tool.) A rule that blocks stands above all others.
      </p>
      <ReadingNotice of={[board.reading]} />
      {rules?.length === 0 && (
        <p class="empty">
          No rules yet. A rule allows or denies calls without a question, such as commands that begin with “npm test”.
          “Always allow…” on a question adds one.
        </p>
      )}
      <ul aria-label="Rules">
        {rules?.map((rule) => (
          <RuleRow key={rule.ruleId} {...{ app, desk, rule, actorWords }} onEdit={() => onEdit(rule)} />
        ))}
      </ul>
    </section>
  );
}

const VERBS: Record<Rule['action'], string> = { allow: 'Allows', ask: 'Asks about', deny: 'Blocks' };

interface FactsProps {
  app: App;
  desk: Desk;
  rule: Rule;
  actorWords(actor: string): string;
}

function RuleRow({ app, desk, rule, actorWords, onEdit }: FactsProps & { onEdit(): void }) {
  const { rules: board } = accountsOf(desk);
  const tried = useSignal<Simulation | undefined>(undefined);
  const title = `${VERBS[rule.action]} ${toMatchWords(rule.match)}`;
  const name = `“${title}”`;
  const tryWithout = async () => {
    tried.value = await board.tryWithout(rule.ruleId);
  };
  return (
    <RecordCard
      title={title}
      tags={[]}
      facts={<RuleFacts {...{ app, desk, rule, actorWords }} />}
      name={name}
      onEdit={app.rights.decide.value ? onEdit : undefined}
      buttons={
        <button type="button" class="quiet" aria-label={`Try without ${name}`} onClick={() => void tryWithout()}>
          Try without
        </button>
      }
      removal={
        app.rights.decide.value
          ? {
              kind: 'rule',
              loss: 'The other rules then decide about its calls. This cannot be undone.',
              remove: () => board.remove(rule.ruleId),
              focusAfter: 'rules-title',
            }
          : undefined
      }
    >
      <TriedCalls app={app} desk={desk} tried={tried.value} />
    </RecordCard>
  );
}

function RuleFacts({ app, desk, rule, actorWords }: FactsProps) {
  const { createdBy, createdAtMs, given } = rule;
  const now = app.now();
  return (
    <>
      {`${toPlace(rule, { desk, actorWords })} · given by ${actorWords(createdBy)} ${toMoment(createdAtMs, now)}`}
      {given && (
        <>
          {' with a decision in '}
          <WorkstreamLink desk={desk} wsId={given.wsId} />
        </>
      )}
      {toUse(rule, now).map((fact) => ` · ${fact}`)}
    </>
  );
}

function toPlace(
  { wsId, folder, userId }: Rule,
  { desk, actorWords }: Pick<FactsProps, 'desk' | 'actorWords'>,
): string {
  const tab = desk.workstreams.tabs.value.find((one) => one.wsId === wsId);
  const parts = [
    ...(wsId === undefined ? [] : [`in ${toVisibleLine(tab ? tabName(tab) : wsId)}`]),
    ...(folder === undefined ? [] : [`below ${toVisibleLine(folder)}`]),
    ...(userId === undefined ? [] : [userId === '' ? 'for the operator' : `for ${actorWords(userId)}`]),
  ];
  return parts.length === 0 ? 'everywhere' : parts.join(', ');
}

const toUse = ({ uses, usedAtMs, priority, ...rule }: Rule, now: number) => [
  toEndWords(rule, now),
  usedAtMs === undefined
    ? 'never used'
    : `used ${uses === 1 ? 'once' : `${uses} times`}, last ${toMoment(usedAtMs, now)}`,
  ...(priority === 0 ? [] : [`priority ${priority}`]),
];
